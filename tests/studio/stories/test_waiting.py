"""Stories of a slow server: what comes late is never taken for something else."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.studio.stories.clicks import CONFOUNDED, ask_of_clicks, write_log
from tests.studio.stories.kit import (
    HOLD,
    PHONE,
    RunningStudio,
    View,
    Visit,
    listen,
    run_studio,
    visit,
)
from tests.studio.stories.test_answers import fill_number

READ, WRITE = "/api/graph/read", "/api/graph/write"


def test_nothing_is_typed_into_text_that_the_drawing_is_about_to_write(visitor: Visit) -> None:
    visitor.begin_empty()
    visitor.type_text("Old -> Older")
    expect(visitor.find(".node")).to_have_count(2)
    area = visitor.find("#graph-text")
    with visitor.hold(WRITE):
        visitor.node("Old").press("Delete")
        expect(area).not_to_be_editable()
        visitor.open_example("empty")  # which needs nothing of the server
        expect(area).to_be_editable()
        expect(area).to_have_value("")
        visitor.type_text("New -> Newer")
    expect(visitor.node("Newer")).to_be_visible()
    expect(area).to_have_value("New -> Newer")
    visitor.node("New").press("Delete")
    expect(area).to_have_value(re.compile(r"^\s*Newer\s*$"))
    expect(area).to_be_editable()


@pytest.mark.view(PHONE)
def test_text_that_is_read_late_stays_out_of_another_project(visitor: Visit) -> None:
    visitor.begin_empty()
    with visitor.hold(READ) as held:
        visitor.type_text("Old -> Older")
        held.wait()
        visitor.open_example("pharmacy")
    expect(visitor.find(".node")).to_have_count(6)
    expect(visitor.node("Old")).to_have_count(0)
    assert "Old" not in visitor.read_text()


def test_text_is_read_when_the_hand_leaves_it(visitor: Visit) -> None:
    """What is drawn before the text was read does not write over it."""
    visitor.begin_empty()
    with visitor.hold(READ) as held:
        visitor.type_text("Arm -> Reward")
        visitor.page.keyboard.press("F6")
        held.wait()
        visitor.page.keyboard.press("n")
        visitor.page.keyboard.press("Enter")
    expect(visitor.find(".node")).to_have_count(2)
    expect(visitor.find("#graph-text")).to_have_value("Arm -> Reward")
    expect(visitor.find("#text-note")).to_contain_text("Undo brings it back")
    visitor.undo()
    expect(visitor.node("A")).to_be_visible()


def test_an_answer_that_comes_late_stays_out_of_another_project(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.go("ask")
    with visitor.hold("/api/jobs") as held:
        visitor.find("#answers button.primary").click()
        held.wait()
        visitor.open_example("empty")
    expect(visitor.find("#say-ask")).to_have_text("no question yet")
    expect(visitor.find("#answers .job-inside")).to_have_count(3)
    for each in visitor.find("#answers .job-inside").all():
        expect(each).to_be_hidden()
    expect(visitor.find("#answers .verdict")).to_have_count(0)


def test_what_was_found_for_one_question_goes_with_it(visitor: Visit, tmp_path: Path) -> None:
    ask_of_clicks(visitor, tmp_path, CONFOUNDED)
    visitor.go("whatif")
    visitor.find("[data-key=stress]").click()
    expect(visitor.find(".ranked .lead").first).to_be_visible()
    visitor.open_example("pharmacy")
    visitor.go("whatif")

    expect(visitor.find(".ranked .lead")).to_have_count(0)
    expect(visitor.find("#whatif-body .interval")).to_have_count(0)
    visitor.undo()
    expect(visitor.node("Ad")).to_be_visible()
    expect(visitor.find(".ranked .lead")).to_have_count(0)


def test_a_log_that_comes_late_stays_out_of_another_project(
    visitor: Visit, tmp_path: Path
) -> None:
    visitor.begin_empty()
    with visitor.hold("/api/files/upload") as held:
        visitor.go("data")
        visitor.find("#log-file").set_input_files(write_log(tmp_path / "clicks.csv"))
        held.wait()
        visitor.open_example("empty")
    assert visitor.read_project()["data"]["file"] is None
    expect(visitor.find("#data-body .state")).to_contain_text("Choose the log")


def test_a_look_that_comes_late_is_not_shown_for_another_log(visitor: Visit) -> None:
    with visitor.hold("/api/jobs") as held:
        visitor.open_example("pharmacy")
        held.wait()
        visitor.open_example("empty")
        visitor.go("data")
        expect(visitor.find("#data-body .state")).to_contain_text("Choose the log")
    expect(visitor.find("#data-body .state")).to_contain_text("Choose the log")
    expect(visitor.find("#data-body .column")).to_have_count(0)


def test_a_layout_that_comes_late_moves_no_other_project(visitor: Visit) -> None:
    visitor.begin_empty()
    visitor.type_text("Age -> Refill -> Kept; Age -> Kept")
    expect(visitor.find(".node")).to_have_count(3)
    with visitor.hold("/api/graph/layout") as held:
        visitor.find("#tool-layout").click()
        held.wait()
        visitor.open_example("pharmacy")
        place = visitor.node("Age").get_attribute("transform")
    expect(visitor.node("Age")).to_have_attribute("transform", place or "")
    expect(visitor.find("#undo")).to_have_attribute("title", re.compile("^Undo: open"))


def test_an_example_that_is_not_waited_for_does_not_come(visitor: Visit) -> None:
    visitor.begin_empty()
    visitor.type_text("Mine -> Yours")
    expect(visitor.find(".node")).to_have_count(2)
    visitor.page.get_by_role("button", name="Open", exact=True).click()
    with visitor.hold("/api/examples/open") as held:
        visitor.find("[data-example=pharmacy]").click()
        held.wait()
        visitor.page.keyboard.press("Escape")
        expect(visitor.find("#start")).to_be_hidden()
    expect(visitor.find(".node")).to_have_count(2)
    visitor.type_text("Mine -> Yours -> Theirs")
    expect(visitor.find(".node")).to_have_count(3)


def test_a_link_is_in_the_address_until_it_is_opened(
    browser: Browser, visitor: Visit, view: View, tmp_path: Path
) -> None:
    """A reload before that begins again; nothing is typed into the old project meanwhile."""
    visitor.open_example("pharmacy")
    visitor.go("take")
    visitor.page.get_by_role("button", name="Link", exact=True).click()
    link = visitor.find(".link-out code").inner_text()
    with run_studio(tmp_path) as other, visit(browser, other, view) as guest:
        guest.begin_empty()
        read = "/api/project/read"
        guest.page.evaluate(HOLD, read)
        guest.page.goto(other.link.split("?")[0] + link)
        expect(guest.find(".work[inert]")).to_be_attached()
        assert guest.page.url.endswith(link)
        guest.page.reload()  # nothing is held any more
        expect(guest.find(".node")).to_have_count(6)
        expect(guest.find(".work[inert]")).to_have_count(0)
        guest.page.wait_for_url(lambda url: "#" not in url)


def test_what_is_being_typed_stays_while_answers_come(visitor: Visit, tmp_path: Path) -> None:
    visitor.begin_empty()
    with visitor.hold(READ) as held:
        visitor.type_text("Age -> Ad -> Click")
        visitor.find("#project-name").press_sequentially("Half a na")
        held.wait()
    expect(visitor.find(".node")).to_have_count(3)
    expect(visitor.find("#project-name")).to_have_value("Half a na")

    visitor.go("data")
    visitor.find("#log-file").set_input_files(write_log(tmp_path / "clicks.csv", grouped=True))
    column = visitor.find("[data-column=Age]")
    column.get_by_text("Further levels").click()
    field = column.get_by_label("A further level of Age")
    with visitor.hold("/api/jobs") as held:
        visitor.find("#missing").select_option("level")
        held.wait()
        field.press_sequentially("anc")
    expect(field).to_have_value("anc")
    expect(field).to_be_focused()
    field.press_sequentially("ient")
    field.press("Enter")
    assert visitor.read_project()["data"]["levels"] == {"Age": ["ancient"]}
    expect(field).to_have_value("")


def test_the_newest_state_is_kept_however_late_the_others_come(visitor: Visit) -> None:
    visitor.begin_empty()
    with visitor.hold("/api/draft") as held:
        visitor.type_text("A -> B")
        held.wait()
        visitor.type_text("A -> B -> C")
        expect(visitor.find(".node")).to_have_count(3)
        visitor.wait_until("() => !document.querySelector('#graph-text').readOnly")
    assert len(visitor.read_project()["graph"]["nodes"]) == 3


def test_two_windows_do_not_take_each_other_s_work(
    visitor: Visit, studio: RunningStudio, tmp_path: Path
) -> None:
    """Jobs of one go on beside those of the other; the shared draft is told of."""
    ask_of_clicks(visitor, tmp_path, CONFOUNDED)
    visitor.go("policy")
    fill_number(visitor, "rounds", 1_000_000)
    fill_number(visitor, "runs", 1_000)
    visitor.read_project()
    visitor.find("[data-key=play]").click()
    expect(visitor.find("#policy-body .job-inside")).to_be_visible()
    other = open_window(visitor, studio)
    other.go("policy")
    fill_number(other, "rounds", 100)
    fill_number(other, "runs", 2)
    other.find("[data-key=play]").click()

    expect(other.find("#policy-body .curve").first).to_be_visible()
    expect(visitor.find("#policy-body .job-inside")).to_be_visible()
    expect(visitor.find("#status")).to_contain_text("Another window")
    visitor.find("#policy-body [data-key=cancel]").click()
    expect(visitor.find("#policy-body .picture")).to_contain_text("Cancelled")
    other.require_sound()


def open_window(visitor: Visit, studio: RunningStudio) -> Visit:
    """Open the same studio in a second window of the same browser."""
    page: Page = visitor.page.context.new_page()
    found = Visit(page, visitor.view)
    listen(found)
    page.goto(studio.link)
    expect(found.find("body[data-ready]")).to_be_attached()
    return found
