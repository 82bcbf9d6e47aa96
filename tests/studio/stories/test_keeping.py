"""Stories of keeping: reload in the middle, undo, a project file, a link, a first start."""

import json
import re
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.studio.stories.kit import (
    DESKTOP,
    PHONE,
    RunningStudio,
    View,
    Visit,
    run_studio,
    visit,
)


def test_a_reload_in_the_middle_loses_nothing(visitor: Visit) -> None:
    visitor.begin_empty()
    visitor.type_text("A -> B")
    expect(visitor.find(".node")).to_have_count(2)
    visitor.node("A").click()
    visitor.page.keyboard.press("Shift+ArrowLeft")
    place = visitor.node("A").get_attribute("transform")
    visitor.find("#graph-text").press_sequentially("\nB -> -> half a thou")
    visitor.page.reload()

    expect(visitor.find("#start")).to_be_hidden()
    expect(visitor.node("A")).to_have_attribute("transform", place or "")
    expect(visitor.find("#graph-text")).to_have_value("A -> B\nB -> -> half a thou")
    expect(visitor.find("#text-fault")).to_contain_text("Line 2")
    visitor.undo()  # the history is there too
    expect(visitor.node("A")).not_to_have_attribute("transform", place or "")


def test_a_reload_right_after_a_change_loses_nothing(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.node("Age").click()
    visitor.page.keyboard.press("Delete")
    visitor.page.reload()

    expect(visitor.find(".node")).to_have_count(5)
    assert [node["name"] for node in visitor.read_project()["graph"]["nodes"]] == [
        "Answered",
        "Illness",
        "Kept",
        "Refill",
        "Reminder",
    ]


def test_everything_is_undone_and_done_again(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    before = visitor.read_project()
    visitor.go("whatif")
    visitor.find("[data-key='rate on']").check()
    visitor.find(".edge-toggles summary").click()
    visitor.find(".edge-toggles").get_by_label("Age → Illness").uncheck()
    visitor.find("#project-name").fill("Another name")
    visitor.find("#project-name").press("Tab")
    visitor.go("policy")
    visitor.find("[data-key='policy UCB']").click()
    after = visitor.read_project()
    assert after["settings"]["selection_rate"] == 0.5
    for _ in range(4):
        visitor.page.keyboard.press("Control+z")
    expect(visitor.find("#project-name")).to_have_value(before["name"])
    assert visitor.read_project() == before
    for _ in range(4):
        visitor.page.keyboard.press("Control+Shift+z")
    expect(visitor.find("#project-name")).to_have_value("Another name")
    assert visitor.read_project() == after


@pytest.mark.view(PHONE)
def test_a_project_file_is_kept_and_opened_again(visitor: Visit, tmp_path: Path) -> None:
    visitor.open_example("pharmacy")
    before = visitor.read_project()
    visitor.go("take")
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="Download project file").click()
    kept = tmp_path / "kept.json"
    download.value.save_as(kept)
    assert json.loads(kept.read_text())["format"] == "boundit project"
    visitor.open_example("empty")
    expect(visitor.find(".node")).to_have_count(0)
    visitor.find("#project-file").set_input_files(kept)

    expect(visitor.find(".node")).to_have_count(6)
    assert visitor.read_project() == before


def test_a_file_that_is_no_project_is_refused_where_it_was_chosen(
    visitor: Visit, tmp_path: Path
) -> None:
    visitor.open_example("pharmacy")
    visitor.find("#start-button").click()
    odd = tmp_path / "odd.json"
    odd.write_text('{"format": "boundit project", "version": 1, "secret": 1}')
    visitor.find("#project-file").set_input_files(odd)

    expect(visitor.find("#start-fault")).to_contain_text("secret")
    expect(visitor.find(".node")).to_have_count(6)


def test_a_link_opens_on_another_machine(
    browser: Browser, visitor: Visit, view: View, tmp_path: Path
) -> None:
    visitor.open_example("pharmacy")
    before = visitor.read_project()
    visitor.go("take")
    visitor.page.get_by_role("button", name="Link", exact=True).click()
    link = visitor.find(".link-out code").inner_text()
    assert link.startswith("#project=")
    with run_studio(tmp_path) as other, visit(browser, other, view) as guest:
        guest.page.goto(other.link.split("?")[0] + link)
        guest.page.reload()
        expect(guest.find(".node")).to_have_count(6)
        expect(guest.find("#start")).to_be_hidden()
        guest.page.wait_for_url(lambda url: "#" not in url)
        assert guest.read_project() == before


def test_a_first_start_shows_examples_and_a_tour(visitor: Visit) -> None:
    expect(visitor.find("#start")).to_be_visible()
    expect(visitor.find("#examples li")).to_have_count(3)
    visitor.require_accessible()
    visitor.page.get_by_role("button", name="Two-minute tour").click()
    card = visitor.find("#tour")
    for _ in range(7):
        expect(card.get_by_role("button", name="Next")).to_be_focused()
        visitor.page.keyboard.press("Enter")
    visitor.require_accessible()
    card.get_by_role("button", name="Done").click()
    expect(card).to_be_hidden()


def test_a_studio_that_ended_is_told_and_nothing_is_lost(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        run_studio(tmp_path) as studio,
        visit(browser, studio, DESKTOP, judge=False) as guest,
    ):
        guest.open_example("pharmacy")
        guest.read_project()
        studio.stop()
        guest.node("Age").click()
        guest.page.keyboard.press("Delete")
        expect(guest.find("#status")).to_contain_text("does not answer")
    assert json.loads(find_draft(tmp_path))["name"]


def test_a_server_that_dies_is_told_at_once_and_its_job_is_lost(
    browser: Browser, tmp_path: Path
) -> None:
    """Killed in the middle of a job; started again, the page goes on with what was changed."""
    with (
        run_studio(tmp_path) as studio,
        visit(browser, studio, PHONE, judge=False) as guest,
    ):
        port = re.findall(r":(\d+)/", studio.link)[0]
        play_for_long(guest)
        studio.process.kill()
        expect(guest.find("#lost")).to_contain_text("does not answer", timeout=8_000)
        expect(guest.find("#lost")).to_be_in_viewport()
        expect(guest.find("#policy-body .picture")).to_contain_text("was lost", timeout=8_000)
        expect(guest.find("#policy-body .job-inside")).to_be_hidden()
        expect(guest.find("#status")).not_to_have_text("Saved")
        guest.require_accessible()
        guest.node("Age").click()
        guest.page.keyboard.press("Delete")
        with run_studio(tmp_path, port):
            expect(guest.find("#lost")).to_be_hidden()
            expect(guest.find("#status")).to_have_text("Saved")
            assert "Age" not in {
                node["name"] for node in guest.read_project()["graph"]["nodes"]
            }


def test_a_server_that_is_silent_is_told_and_saved_to_when_it_is_back(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        run_studio(tmp_path) as studio,
        visit(browser, studio, DESKTOP, judge=False) as guest,
    ):
        guest.open_example("pharmacy")
        guest.read_project()
        studio.process.send_signal(signal.SIGSTOP)
        try:
            expect(guest.find("#lost")).to_contain_text("does not answer", timeout=15_000)
            guest.node("Age").click()
            guest.page.keyboard.press("Delete")
            expect(guest.find("#status")).not_to_have_text("Saved")
        finally:
            studio.process.send_signal(signal.SIGCONT)
        expect(guest.find("#lost")).to_be_hidden()
        assert "Age" not in {node["name"] for node in guest.read_project()["graph"]["nodes"]}


def play_for_long(guest: Visit) -> None:
    """Begin what takes a while."""
    guest.open_example("pharmacy")
    guest.go("policy")
    for name, value in (("rounds", 1_000_000), ("runs", 1_000)):
        guest.find(f"[data-key={name}]").fill(str(value))
        guest.find(f"[data-key={name}]").press("Tab")
    guest.read_project()
    guest.find("[data-key=play]").click()
    expect(guest.find("#policy-body .job-inside")).to_be_visible()


@pytest.mark.view(PHONE)
def test_an_example_takes_the_place_of_work_only_if_one_says_so(visitor: Visit) -> None:
    visitor.begin_empty()
    visitor.type_text("Mine -> Yours")
    expect(visitor.find(".node")).to_have_count(2)
    before = visitor.read_project()
    visitor.page.get_by_role("button", name="Open", exact=True).click()
    visitor.find("[data-example=pharmacy]").click()
    asked = visitor.page.get_by_role("dialog", name="Replace your drawing?")
    expect(asked).to_contain_text("2 nodes")
    expect(asked.get_by_role("button", name="Keep my drawing")).to_be_focused()
    visitor.require_accessible()
    visitor.page.keyboard.press("Escape")
    expect(asked).to_be_hidden()
    visitor.find("#start-close").click()
    assert visitor.read_project() == before
    visitor.open_example("pharmacy")
    expect(visitor.find(".node")).to_have_count(6)
    visitor.page.reload()
    expect(visitor.find(".node")).to_have_count(6)
    visitor.undo()  # it was replaced, and is not lost
    expect(visitor.find(".node")).to_have_count(2)
    assert visitor.read_project() == before


def test_a_link_takes_the_place_of_work_only_if_one_says_so(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.go("take")
    visitor.page.get_by_role("button", name="Link", exact=True).click()
    link = visitor.find(".link-out code").inner_text()
    visitor.open_example("empty")
    visitor.type_text("Mine -> Yours")
    expect(visitor.find(".node")).to_have_count(2)
    before = visitor.read_project()
    visitor.page.goto(visitor.page.url + "#project=none")  # nothing to ask about
    expect(visitor.find("#status")).to_contain_text("no project that can be read")
    visitor.page.wait_for_url(lambda url: "#" not in url)
    visitor.page.goto(visitor.page.url + link)
    visitor.page.reload()  # asks again
    visitor.page.get_by_role("button", name="Keep my drawing").click()
    visitor.page.wait_for_url(lambda url: "#" not in url)
    visitor.page.reload()
    expect(visitor.find(".node")).to_have_count(2)
    visitor.page.goto(visitor.page.url + link)
    visitor.page.get_by_role("button", name="Replace it").click()
    expect(visitor.find(".node")).to_have_count(6)
    visitor.undo()
    assert visitor.read_project() == before


def test_an_example_takes_the_place_of_another_window_s_work_only_if_one_says_so(
    visitor: Visit, studio: RunningStudio
) -> None:
    """A window from before it was drawn shows nothing of it, and its drawer is gone."""
    other = visitor.page.context.new_page()
    other.goto(studio.link)
    other.locator("#start-close").click()
    other.locator("#graph-text").fill("Mine -> Yours")
    expect(other.locator(".node")).to_have_count(2)
    other.close(run_before_unload=True)  # it may not have been saved yet
    visitor.find("[data-example=pharmacy]").click()
    asked = visitor.page.get_by_role("dialog", name="Replace your drawing?")
    expect(asked).to_contain_text("another window drew")
    asked.get_by_role("button", name="Keep my drawing").click()
    visitor.page.reload()
    expect(visitor.find(".node")).to_have_count(2)


def test_an_example_as_it_was_opened_is_replaced_without_a_question(visitor: Visit) -> None:
    visitor.open_example("pharmacy")
    visitor.page.get_by_role("button", name="Open", exact=True).click()
    visitor.find("[data-example=empty]").click()

    expect(visitor.find("#start")).to_be_hidden()
    expect(visitor.find(".node")).to_have_count(0)


def find_draft(folder: Path) -> str:
    (found,) = (folder / ".boundit-studio").glob("draft*.json")
    return found.read_text()


def test_no_draft_is_left_out_of_its_folder(visitor: Visit, studio: RunningStudio) -> None:
    visitor.open_example("empty")
    visitor.read_project()

    assert find_draft(studio.folder)
