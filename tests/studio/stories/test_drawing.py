"""Stories of drawing: by mouse, by keyboard alone, by text; and what each edge claims."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

import boundit as bd
from tests.paper import FIGURE_2
from tests.studio.stories.kit import PHONE, Visit

DAGITTY = (Path(__file__).parents[3] / "docs" / "data" / "pharmacy.dagitty").read_text()
PLACES = {
    "U1": (0.2, 0.15),
    "X1": (0.2, 0.5),
    "I1": (0.42, 0.8),
    "Y": (0.75, 0.5),
    "U2": (0.55, 0.12),
    "X2": (0.8, 0.15),
    "S": (0.15, 0.85),
}
ARROWS = ("U1 X1", "X1 I1", "I1 Y", "U1 Y", "U2 X2", "X2 Y", "I1 S")
ROLES = {
    "X1": "Treatment",
    "X2": "Treatment",
    "Y": "Outcome",
    "U1": "Subgroup",
    "U2": "Subgroup",
}


def test_the_paper_s_graph_is_drawn_from_nothing_with_a_mouse(visitor: Visit) -> None:
    visitor.begin_empty()
    expect(visitor.find("graph-editor .empty")).to_contain_text("Double-click")
    for name, place in PLACES.items():
        add_node(visitor, name, place)
    for tail, head in map(str.split, ARROWS):
        connect(visitor, tail, head)
    connect(visitor, "I1", "Y", both=True)
    for name, role in {**ROLES, "S": "Selection"}.items():
        visitor.node(name).click()
        visitor.find("#inspector").get_by_role("button", name=role, exact=True).click()

    expect(visitor.find(".node .frame.selection")).to_have_count(1)
    expect(visitor.find(".edge")).to_have_count(8)
    visitor.wait_until("() => document.querySelector('#graph-text').value.includes('[S]')")
    assert bd.parse_graph(visitor.read_text()) == FIGURE_2
    expect(visitor.find(".query-text")).to_have_value("Y | do(X1, X2), U1, U2")


def test_a_first_node_stays_where_it_was_put(visitor: Visit) -> None:
    visitor.begin_empty()
    box = visitor.find("graph-editor").bounding_box()
    assert box is not None
    add_node(visitor, "First", (0.25, 0.3))

    found = visitor.node("First").bounding_box()
    assert found is not None
    assert abs(found["x"] + found["width"] / 2 - box["x"] - box["width"] * 0.25) < 12
    assert abs(found["y"] + found["height"] / 2 - box["y"] - box["height"] * 0.3) < 12


def test_a_graph_is_drawn_with_the_keyboard_alone(visitor: Visit) -> None:
    visitor.begin_empty()
    press = visitor.page.keyboard.press
    press("F6")
    for name in ("Arm", "Reward", "Kept"):
        press("n")
        visitor.page.keyboard.type(name)
        press("Enter")
    for key in ("Home", "c", "End", "Enter"):
        press(key)
    # Arm -> Kept was drawn and Kept has the focus: delete that edge again, draw the right ones.
    press("e")
    expect(visitor.edge("->", "Arm", "Kept")).to_be_focused()
    press("Delete")
    expect(visitor.find(".edge")).to_have_count(0)
    go_to(visitor, "Arm")
    press("1")
    connect_by_keys(visitor, "c", "Reward")
    press("2")
    connect_by_keys(visitor, "c", "Kept")
    press("5")
    go_to(visitor, "Arm")
    connect_by_keys(visitor, "b", "Reward")

    expect(visitor.node("Arm").locator(".frame.treatment")).to_be_visible()
    expect(visitor.node("Reward").locator(".frame.outcome")).to_be_visible()
    visitor.wait_until("() => document.querySelector('#graph-text').value.includes('<->')")
    wanted = bd.parse_graph("Arm -> Reward -> [Kept]; Arm <-> Reward")
    assert bd.parse_graph(visitor.read_text()) == wanted
    before = visitor.node("Reward").get_attribute("transform")
    press("Shift+ArrowRight")
    assert visitor.node("Reward").get_attribute("transform") != before
    press("Enter")
    press("Control+a")
    visitor.page.keyboard.type("Earned")
    press("Enter")
    expect(visitor.node("Earned")).to_be_focused()
    press("Control+z")
    expect(visitor.node("Reward")).to_be_visible()


def test_names_are_refused_where_they_are_typed(visitor: Visit) -> None:
    visitor.begin_empty()
    visitor.type_text("A -> B")
    visitor.node("B").click()
    visitor.page.keyboard.press("Enter")
    visitor.find(".rename").fill("A")
    visitor.page.keyboard.press("Enter")

    expect(visitor.find(".renaming .fault")).to_have_text("There is another A.")
    visitor.page.keyboard.press("Escape")
    expect(visitor.node("B")).to_be_visible()
    visitor.page.keyboard.press("Enter")
    visitor.find(".rename").fill("A")
    visitor.find("#project-name").click()
    expect(visitor.find("#notice")).to_have_text("There is another A. It stays B.")


@pytest.mark.view(PHONE)
def test_dagitty_text_is_opened_and_written_again(visitor: Visit) -> None:
    visitor.begin_empty()
    visitor.type_text(DAGITTY)

    expect(visitor.find(".node")).to_have_count(7)
    expect(visitor.node("Family").locator(".frame.hidden")).to_be_visible()
    expect(visitor.node("Kept").locator(".frame.selection").first).to_be_visible()
    visitor.go("take")
    with visitor.page.expect_download() as download:
        visitor.find("[data-format=dagitty]").click()
    again = Path(download.value.path()).read_text()
    assert bd.parse_graph(again) == bd.parse_graph(DAGITTY)


def test_text_that_cannot_be_read_is_told_by_line_and_column(visitor: Visit) -> None:
    visitor.begin_empty()
    visitor.type_text("A -> B")
    expect(visitor.find(".node")).to_have_count(2)
    visitor.type_text("A -> B\nB -> -> C")

    expect(visitor.find("#text-fault")).to_contain_text("Line 2, column")
    expect(visitor.find(".node")).to_have_count(2)
    visitor.type_text("A -> B\nB -> C")
    expect(visitor.find(".node")).to_have_count(3)
    expect(visitor.find("#text-fault")).to_be_hidden()


def test_every_edge_and_every_missing_edge_says_what_it_claims(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.node("Illness").click()
    expect(visitor.find("#inspector .claims li")).to_have_count(4)
    visitor.node("Age").click()
    visitor.node("Reminder").click(modifiers=["Shift"])

    missing = visitor.find("#inspector .missing")
    expect(missing.first).to_contain_text("Age")
    expect(missing.filter(has_text="No Age → Reminder")).to_have_count(1)
    missing.filter(has_text="No Age → Reminder").get_by_role("button", name="Add it").click()
    expect(visitor.edge("->", "Age", "Reminder")).to_be_attached()
    visitor.undo()
    expect(visitor.edge("->", "Age", "Reminder")).to_have_count(0)


def test_a_cycle_is_marked_where_it_is_drawn(visitor: Visit) -> None:
    visitor.begin_empty()
    visitor.type_text("A -> B -> C")
    expect(visitor.find(".node")).to_have_count(3)
    visitor.node("C").click()
    visitor.page.keyboard.press("c")
    visitor.node("A").click()

    expect(visitor.find(".edge.faulty")).to_have_count(3)
    visitor.page.keyboard.press("Escape")
    expect(visitor.find("#inspector .fault")).to_contain_text("cycle")


def add_node(visitor: Visit, name: str, place: tuple[float, float]) -> None:
    """Double-click on a place of the sheet, given as shares of it, and type a name."""
    box = visitor.find("graph-editor").bounding_box()
    assert box is not None
    x, y = box["x"] + place[0] * box["width"], box["y"] + place[1] * box["height"]
    visitor.page.mouse.dblclick(x, y)
    visitor.find(".rename").fill(name)
    visitor.page.keyboard.press("Enter")
    expect(visitor.node(name)).to_be_visible()


def connect(visitor: Visit, tail: str, head: str, *, both: bool = False) -> None:
    """Drag the dot at the side of a node to another."""
    visitor.node(tail).hover()
    start = visitor.node(tail).locator(".handle").bounding_box()
    end = visitor.node(head).locator(".frame").first.bounding_box()
    assert start is not None
    assert end is not None
    mouse, keyboard = visitor.page.mouse, visitor.page.keyboard
    mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    mouse.down()
    mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=4)
    if both:
        keyboard.down("Shift")
    mouse.up()
    if both:
        keyboard.up("Shift")


def go_to(visitor: Visit, name: str) -> None:
    """Go to a node with the keys Home and End and the arrows, as far as it takes."""
    press = visitor.page.keyboard.press
    names = [each.get_attribute("data-name") for each in visitor.find(".node").all()]
    press("Home" if names.index(name) < len(names) - 1 else "End")
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp") * 3:
        if visitor.node(name).evaluate("(each) => each === document.activeElement"):
            return
        press(key)
    raise AssertionError(f"no way to {name} by arrow keys")


def connect_by_keys(visitor: Visit, key: str, head: str) -> None:
    """Start an edge at the node with the focus, and end it at another."""
    visitor.page.keyboard.press(key)
    go_to(visitor, head)
    visitor.page.keyboard.press("Enter")


@pytest.mark.view(PHONE)
def test_what_cannot_be_connected_is_seen_where_one_looks(visitor: Visit) -> None:
    visitor.begin_empty()
    visitor.type_text("A -> B")
    expect(visitor.find(".node")).to_have_count(2)
    notice = visitor.find("#notice")
    visitor.go("draw")
    visitor.find("#tool-connect").click()
    expect(notice).to_contain_text("Select a node first")
    expect(notice).to_be_in_viewport()
    visitor.require_accessible()
    visitor.node("A").click()
    expect(notice).to_be_hidden()
    visitor.find("#tool-connect").click()
    visitor.node("A").click()
    expect(notice).to_contain_text("An edge needs two nodes")
    visitor.find("#tool-connect").click()
    visitor.node("B").click()
    expect(notice).to_contain_text("A → B is drawn already")


def test_a_fault_that_is_out_of_sight_is_shown_until_it_is_seen(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.page.set_viewport_size({"width": visitor.view.width, "height": 420})
    visitor.find("#graph-text").press("ControlOrMeta+a")
    visitor.find("#graph-text").press_sequentially("Age ->")
    visitor.find(".sheet").evaluate("each => { each.scrollTop = 0 }")
    fault, notice = visitor.find("#text-fault"), visitor.find("#notice")
    expect(notice).to_contain_text("Line 1")
    expect(notice).to_be_in_viewport()
    fault.scroll_into_view_if_needed()
    expect(notice).to_be_hidden()
