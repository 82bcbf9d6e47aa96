"""Stories of the answer: ask, read a reason and see its paths, suppose, stress, and cancel."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

import boundit as bd
from tests.studio.stories.clicks import CONFOUNDED, ask_of_clicks
from tests.studio.stories.kit import PHONE, RunningStudio, Visit, heavy

QUESTION = "Refill | do(Reminder), Age"


@pytest.mark.view(PHONE)
def test_the_pharmacy_s_question_is_answered_with_the_library_s_numbers(
    visitor: Visit, studio: RunningStudio
) -> None:
    visitor.open_example("pharmacy")
    expect(visitor.find(".query-text")).to_have_value(QUESTION)
    visitor.ask()

    graph = bd.parse_graph(visitor.read_text())
    table = bd.derive_bounds(
        graph, QUESTION, studio.folder / visitor.read_project()["data"]["file"]
    )
    assert visitor.read_intervals() == {
        f"{arm} where Age {age}": (float(f"{each.lower:.4g}"), float(f"{each.upper:.4g}"))
        for ((arm,), (age,)), each in table.bounds.items()
    }
    visitor.find("#answers").get_by_role("button", name="Show the table").click()
    expect(visitor.find("#answers tbody tr")).to_have_count(6)
    assert visitor.overflow() <= 0


def test_the_answer_opens_with_the_effect_and_takes_another_baseline(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.ask()
    expect(visitor.find("#answers .verdict").first).to_contain_text(
        "Compared with call, letter"
    )
    visitor.find("#baseline").select_option("letter")
    visitor.wait_for_new_answer()

    expect(visitor.find("#answers .verdict").first).to_contain_text(
        "Compared with letter, call"
    )
    expect(visitor.find("#answers .effect.better")).to_have_count(3)
    visitor.find("[data-key='goal min']").click()
    visitor.wait_for_new_answer()
    expect(visitor.find("#answers .effect.worse")).to_have_count(3)
    expect(visitor.find("#answers .choice")).to_contain_text("Lower is better.")


@pytest.mark.view(PHONE)
def test_the_graph_alone_answers_without_data(visitor: Visit) -> None:
    visitor.begin_empty()
    visitor.type_text("Age -> Ad -> Click; Age -> Click; Weather -> Click")
    expect(visitor.find(".node")).to_have_count(4)
    visitor.go("graph")
    for role, name in (("treatment", "Ad"), ("outcome", "Click")):
        visitor.choose(role, name)
    structure = visitor.find("#structure")
    expect(structure).to_contain_text("determine the effect")
    expect(structure.get_by_text("Minimal adjustment sets: 1")).to_be_visible()
    structure.get_by_text("Force variables in or out").click()
    structure.locator("[data-key='adjust_for type']").fill("Weather")
    expect(structure.get_by_text("Age, Weather")).to_be_visible()
    structure.locator("[data-key='adjust_for Weather']").click()
    expect(visitor.find("#say-graph")).to_have_text("identified")
    structure.get_by_text("Ad <- Age -> Click").click()

    expect(visitor.find("graph-editor .edge.path")).to_have_count(2)
    visitor.require_accessible()
    assert visitor.overflow() <= 0


def test_a_reason_lights_its_paths(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.ask()
    visitor.find("#answers .interval").first.press("Enter")
    expect(visitor.find(".reason h3")).to_contain_text("Why call")
    visitor.find(".reason .lights").first.click()

    expect(visitor.find("graph-editor .lit")).to_be_visible()
    assert visitor.find("graph-editor .edge.path").count() > 0
    visitor.find(".reason .lights").first.click()
    expect(visitor.find("graph-editor .edge.path")).to_have_count(0)


def test_the_check_is_told_on_the_pair_that_it_speaks_of(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.ask()

    expect(visitor.find(".canvas .check").first).to_be_attached()
    expect(visitor.find(".checks-list details").last).to_contain_text("contradicted")
    steps = visitor.find(".checks-list details").first.locator("li")
    assert "[object" not in " ".join(steps.all_text_contents())


def test_moving_the_selection_rate_moves_the_intervals(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.ask()
    before = visitor.read_intervals()
    visitor.go("whatif")
    visitor.find("[data-key='rate on']").check()
    visitor.find("[data-key='rate range']").press("ArrowLeft")
    expect(visitor.find("#whatif-body .before").first).to_be_attached()
    visitor.wait_for_new_answer()

    after = visitor.read_intervals()
    assert after != before
    assert visitor.read_project()["settings"]["selection_rate"] == 0.49
    visitor.find("[data-key='rate on']").uncheck()
    visitor.wait_for_new_answer()
    assert visitor.read_intervals() == before


def test_a_slider_is_dragged_all_the_way(visitor: Visit) -> None:
    """One that is off too: taking hold of it supposes it."""
    visitor.open_example("pharmacy")
    visitor.ask()
    visitor.go("whatif")
    slider = visitor.find("[data-key='rate range']")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    mouse = visitor.page.mouse
    mouse.move(box["x"] + box["width"] * 0.5, middle)
    mouse.down()
    for share in (0.6, 0.7, 0.8):
        mouse.move(box["x"] + box["width"] * share, middle, steps=3)
        visitor.wait_for_new_answer()  # which redraws the part
    mouse.up()

    rate = visitor.read_project()["settings"]["selection_rate"]
    assert 0.75 < rate < 0.88


def test_an_edge_is_supposed_absent_and_stays_in_the_drawing(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.ask()
    before = visitor.read_intervals()
    visitor.go("whatif")
    visitor.find(".edge-toggles summary").click()
    visitor.find(".edge-toggles").get_by_label("Illness → Kept").uncheck()
    visitor.wait_for_new_answer()

    expect(visitor.edge("->", "Illness", "Kept")).to_have_class(re.compile("without"))
    assert visitor.read_intervals() != before


def test_what_would_overturn_and_what_would_narrow_are_ranked(
    visitor: Visit, tmp_path: Path
) -> None:
    ask_of_clicks(visitor, tmp_path, CONFOUNDED)
    visitor.go("whatif")
    for kind in ("stress", "suggest"):
        visitor.find(f"[data-key={kind}]").click()
        part = visitor.find(".ranked-part").filter(has=visitor.find(f"[data-key={kind}]"))
        expect(part.locator(".ranked-list li").first).to_be_visible()
        expect(part.locator(".lead")).not_to_be_empty()


def test_what_would_narrow_is_shown_while_more_is_tried(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.ask()
    visitor.go("whatif")
    visitor.find("[data-key=suggest]").click()
    part = visitor.find(".ranked-part").filter(has=visitor.find("[data-key=suggest]"))
    expect(part.get_by_text("So far; more is being tried.")).to_be_visible()
    expect(part.locator(".ranked-list li").first).to_be_visible()
    part.locator("[data-key=cancel]").click()
    expect(part.get_by_text("This was found until then:")).to_be_visible()
    expect(part.locator(".ranked-list li").first).to_be_visible()


def test_a_contradiction_is_told_beside_the_button(visitor: Visit, tmp_path: Path) -> None:
    visitor.begin_empty()
    visitor.type_text("Age -> Ad; Ad -> Click")
    expect(visitor.find(".node")).to_have_count(3)
    path = tmp_path / "clicks.csv"
    clicks = {"old": (1, 0, 0, 0), "young": (1, 1, 1, 0)}
    rows = [f"{age},{ad},{one}" for age in clicks for ad in "AB" for one in clicks[age]] * 25
    path.write_text("\n".join(["Age,Ad,Click", *rows]) + "\n")
    visitor.go("data")
    visitor.find("#log-file").set_input_files(path)
    expect(visitor.find("#data-body .state")).to_contain_text("400 rows")
    visitor.go("ask")
    for role, name in (("treatment", "Ad"), ("outcome", "Click")):
        visitor.choose(role, name)
    visitor.ask()
    visitor.find("[data-key=contradicted]").click()

    expect(visitor.find(".statements .tag.bad").first).to_be_visible()
    expect(visitor.find("#inspector .what")).to_contain_text("Age and Click")
    visitor.require_accessible()


def test_a_long_game_is_cancelled_at_once(visitor: Visit, tmp_path: Path) -> None:
    ask_of_clicks(visitor, tmp_path, CONFOUNDED)
    visitor.go("policy")
    fill_number(visitor, "rounds", 1_000_000)
    fill_number(visitor, "runs", 1_000)
    visitor.find("[data-key=play]").click()
    visitor.find("#policy-body [data-key=cancel]").click()

    expect(visitor.find("#policy-body .job-inside")).to_be_hidden()
    expect(visitor.find("#policy-body .picture")).to_contain_text("Cancelled")
    visitor.undo()
    visitor.go("ask")
    expect(visitor.find("#say-ask")).to_have_text("answered")


@heavy
def test_policies_are_tried_with_and_without_bounds(visitor: Visit, tmp_path: Path) -> None:
    ask_of_clicks(visitor, tmp_path, CONFOUNDED)
    visitor.go("policy")
    fill_number(visitor, "rounds", 200)
    fill_number(visitor, "runs", 3)
    visitor.find("[data-key=play]").click()

    expect(visitor.find("#policy-body .curve")).to_have_count(3)
    expect(visitor.find("#policy-body tbody tr")).to_have_count(3)
    visitor.require_accessible()


def test_nothing_jumps_while_a_new_answer_is_worked_out(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.ask()
    expect(visitor.find(".checks-list details").last).to_be_visible()
    place = measure_answer(visitor)
    visitor.go("whatif")
    visitor.find("[data-key='confidence number']").fill("0.9")
    visitor.find("[data-key='confidence number']").press("Enter")
    visitor.go("ask")
    assert measure_answer(visitor) == place
    visitor.wait_for_answer()
    assert measure_answer(visitor) == place


def measure_answer(visitor: Visit) -> list[int]:
    """Measure where the answer begins in its part, below the progress, and its picture's size.

    A new answer's words may take fewer lines than the old one's.
    """
    script = """(each) => {
      const picture = each.querySelector(".picture");
      return [each.querySelector(".answer").offsetTop - each.closest(".panel").offsetTop,
        picture.offsetWidth, picture.offsetHeight];
    }"""
    found: list[int] = visitor.find("#answers").evaluate(script)
    return found


def fill_number(visitor: Visit, key: str, value: int) -> None:
    field = visitor.find(f"#policy-body [data-key={key}]")
    field.fill(str(value))
    field.press("Tab")
