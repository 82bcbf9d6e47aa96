"""Stories of the log: a wrong column, missing values, bins that are moved and taken back."""

import random
from pathlib import Path

from playwright.sync_api import expect

from tests.studio.stories.clicks import CONFOUNDED, GRAPH, ask_of_clicks, write_log
from tests.studio.stories.kit import Visit


def test_a_dropped_file_with_a_wrong_column_is_mended_on_the_page(
    visitor: Visit, tmp_path: Path
) -> None:
    visitor.begin_empty()
    visitor.type_text(GRAPH)
    expect(visitor.find(".node")).to_have_count(3)
    drop_file(visitor, write_log(tmp_path / "clicks.csv", age="years"))

    lost = visitor.find(".lost [data-node=Age]")
    expect(visitor.find("#data-body .state")).to_contain_text("300 rows")
    expect(lost.locator(".fault")).to_contain_text("Age")
    lost.get_by_label("Column of Age").select_option("years")
    expect(visitor.find(".lost")).to_have_count(0)
    assert visitor.read_project()["data"]["columns"] == {"Age": "years"}
    visitor.undo()
    expect(lost).to_be_visible()


def test_a_node_that_is_renamed_keeps_its_column_and_its_answer(
    visitor: Visit, tmp_path: Path
) -> None:
    ask_of_clicks(visitor, tmp_path, GRAPH)
    before = visitor.read_intervals()
    visitor.node("Ad").dblclick()
    visitor.find(".rename").fill("Advertisement")
    visitor.page.keyboard.press("Enter")

    expect(visitor.find(".query-text")).to_have_value("Click | do(Advertisement)")
    visitor.wait_for_answer()
    assert visitor.read_intervals() == before
    assert visitor.read_project()["data"]["columns"] == {"Advertisement": "Ad"}
    visitor.node("Advertisement").dblclick()
    visitor.find(".rename").fill("Ad")
    visitor.page.keyboard.press("Enter")
    expect(visitor.node("Ad")).to_be_visible()
    assert visitor.read_project()["data"]["columns"] == {}


def test_a_limit_on_hidden_causes_goes_with_its_edge(visitor: Visit, tmp_path: Path) -> None:
    """It keeps to an edge whose node is renamed, and goes with one that is taken away."""
    ask_of_clicks(visitor, tmp_path, CONFOUNDED)
    visitor.go("whatif")
    visitor.find("[data-key='limit Ad <-> Click on']").check()
    visitor.wait_for_new_answer()
    limited = visitor.read_intervals()
    visitor.node("Ad").dblclick()
    visitor.find(".rename").fill("The ad")
    visitor.page.keyboard.press("Enter")
    expect(visitor.node("The ad")).to_be_visible()

    assert visitor.read_project()["settings"]["confounding_limit"] == {'"The ad" <-> Click': 2}
    visitor.go("whatif")
    slider = visitor.find("[data-key^='limit'][type=checkbox]")
    expect(slider).to_be_checked()
    visitor.wait_for_new_answer()
    assert visitor.read_intervals() == limited
    hidden = visitor.edge("<->", "Click", "The ad")
    expect(hidden).to_have_count(1)
    visitor.type_text('Age -> "The ad" -> Click; Age -> Click')
    expect(hidden).to_have_count(0)
    assert visitor.read_project()["settings"]["confounding_limit"] == {}
    visitor.undo()
    assert visitor.read_project()["settings"]["confounding_limit"] == {'"The ad" <-> Click': 2}


def test_a_limit_is_written_for_a_node_named_like_a_word_of_the_text(
    visitor: Visit, tmp_path: Path
) -> None:
    ask_of_clicks(visitor, tmp_path, CONFOUNDED)
    visitor.node("Ad").dblclick()
    visitor.find(".rename").fill("hidden")
    visitor.page.keyboard.press("Enter")
    expect(visitor.node("hidden")).to_be_visible()
    visitor.go("whatif")
    visitor.find("[data-key^='limit'][type=checkbox]").check()
    visitor.wait_for_new_answer()

    (limited,) = visitor.read_project()["settings"]["confounding_limit"]
    assert '"hidden"' in limited
    expect(visitor.find("#answers .fault")).to_have_count(0)


def test_bins_are_moved_by_keys_and_taken_back(visitor: Visit, tmp_path: Path) -> None:
    visitor.begin_empty()
    visitor.type_text(GRAPH)
    expect(visitor.find(".node")).to_have_count(3)
    visitor.go("data")
    visitor.find("#log-file").set_input_files(write_log(tmp_path / "clicks.csv"))
    column = visitor.find("[data-column=Age]")
    column.get_by_role("button", name="Add a cut").click()
    first = read_bins(visitor)
    column.get_by_role("slider").focus()
    visitor.page.keyboard.press("Shift+ArrowRight")
    moved = read_bins(visitor)

    assert first["Age"] != moved["Age"]
    expect(column.get_by_role("slider")).to_be_focused()
    for _ in range(2):  # both changes are one where they follow each other closely
        if read_bins(visitor):
            visitor.page.keyboard.press("Control+z")
    assert read_bins(visitor) == {}


def test_what_an_answer_refuses_is_told_beside_the_column(
    visitor: Visit, tmp_path: Path
) -> None:
    visitor.begin_empty()
    visitor.type_text(GRAPH)
    expect(visitor.find(".node")).to_have_count(3)
    visitor.go("data")
    visitor.find("#log-file").set_input_files(write_log(tmp_path / "clicks.csv"))
    visitor.go("ask")
    for role, name in (("treatment", "Ad"), ("outcome", "Click")):
        visitor.choose(role, name)
    visitor.find("#answers button.primary").click()
    expect(visitor.find("#answers .fault")).to_contain_text("Age")
    visitor.find("[data-key=mend]").click()

    column = visitor.find("[data-column=Age]")
    expect(column.locator(".fault")).to_contain_text("continuous")
    column.get_by_role("button", name="Add a cut").click()
    visitor.go("ask")
    visitor.wait_for_answer()


def test_a_file_that_is_no_log_is_refused_beside_the_choice(
    visitor: Visit, tmp_path: Path
) -> None:
    visitor.begin_empty()
    odd = tmp_path / "notes.docx"
    odd.write_bytes(b"PK\x03\x04 not a table")
    visitor.go("data")
    visitor.find("#log-file").set_input_files(odd)

    expect(visitor.find("#data-body .state .fault")).to_be_visible()
    expect(visitor.find("#log-choice")).to_have_value("")


def test_a_reward_in_amounts_is_asked_for_its_range(visitor: Visit, tmp_path: Path) -> None:
    ask_of_amounts(visitor, tmp_path)
    expect(visitor.find("#answers .fault")).to_contain_text("range of the outcome")
    visitor.find("[data-key=mend]").click()

    column = visitor.find("[data-column=Spent]")
    expect(column.locator(".fault").first).to_contain_text("is numeric")
    expect(column.get_by_role("button", name="Add a cut")).to_have_count(0)
    visitor.page.get_by_label("The least that Spent can be").fill("90")
    most = visitor.page.get_by_label("The most that Spent can be")
    most.fill("80")
    most.press("Tab")
    expect(column.locator(".range .fault")).to_have_text("The least must be below the most.")
    visitor.page.get_by_label("The least that Spent can be").fill("0")
    visitor.page.get_by_label("The least that Spent can be").press("Tab")
    visitor.go("ask")
    visitor.wait_for_answer()
    assert visitor.read_project()["settings"]["outcome_range"] == [0, 80]
    assert all(0 <= low <= high <= 80 for low, high in visitor.read_intervals().values())
    visitor.undo()
    assert visitor.read_project()["settings"]["outcome_range"] is None


def test_a_level_that_the_log_lacks_is_declared_and_taken_back(
    visitor: Visit, tmp_path: Path
) -> None:
    visitor.begin_empty()
    visitor.type_text(GRAPH)
    expect(visitor.find(".node")).to_have_count(3)
    visitor.go("data")
    visitor.find("#log-file").set_input_files(write_log(tmp_path / "clicks.csv", grouped=True))
    column = visitor.find("[data-column=Age]")
    column.get_by_text("Further levels").click()
    field = column.get_by_label("A further level of Age")
    for typed, fault in (("old", "The log has old already."), (" ", "Type the value first.")):
        field.fill(typed)
        field.press("Enter")
        expect(column.locator(".further .fault")).to_have_text(fault)
    field.fill("ancient")
    field.press("Enter")
    expect(column.get_by_text("Further levels: 1")).to_be_visible()
    expect(field).to_be_focused()
    visitor.require_accessible()

    assert visitor.read_project()["data"]["levels"] == {"Age": ["ancient"]}
    visitor.page.get_by_label("Take away ancient of Age").click()
    assert visitor.read_project()["data"]["levels"] == {}
    visitor.undo()
    assert visitor.read_project()["data"]["levels"] == {"Age": ["ancient"]}


def test_another_question_does_not_keep_the_old_answer(visitor: Visit, tmp_path: Path) -> None:
    visitor.open_example("pharmacy")
    visitor.ask()
    visitor.open_example("empty")
    ask_of_amounts(visitor, tmp_path, begun=True)

    expect(visitor.find("#answers .fault")).to_contain_text("range of the outcome")
    expect(visitor.find("#answers .intervals")).to_have_count(0)
    expect(visitor.find("#answers .verdict")).to_have_count(0)


def ask_of_amounts(visitor: Visit, folder: Path, *, begun: bool = False) -> None:
    """Ask what ads earn, in money, with no word on how much that can be."""
    if not begun:
        visitor.begin_empty()
    visitor.type_text("Ad -> Spent")
    expect(visitor.find(".node")).to_have_count(2)
    path, draw = folder / "spent.csv", random.Random(2)
    rows = (f"{draw.choice('AB')},{draw.randint(1, 60)}" for _ in range(300))
    path.write_text("\n".join(["Ad,Spent", *rows]) + "\n")
    visitor.go("data")
    visitor.find("#log-file").set_input_files(path)
    expect(visitor.find("#data-body .state")).to_contain_text("rows")
    visitor.go("ask")
    for role, name in (("treatment", "Ad"), ("outcome", "Spent")):
        visitor.choose(role, name)
    visitor.find("#answers button.primary").click()


def read_bins(visitor: Visit) -> dict[str, list[float]]:
    found: dict[str, list[float]] = visitor.read_project()["data"]["bins"]
    return found


def drop_file(visitor: Visit, path: Path) -> None:
    """Drop a file on the page as a hand does."""
    visitor.go("data")
    transfer = visitor.page.evaluate_handle(
        """([name, text]) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([text], name, {type: "text/csv"}));
          return transfer;
        }""",
        [path.name, path.read_text()],
    )
    for event in ("dragenter", "dragover", "drop"):
        visitor.find(".drop").dispatch_event(event, {"dataTransfer": transfer})
