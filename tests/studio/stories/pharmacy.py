"""The tutorial "The pharmacy without writing code", step by step, with its pictures."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.studio.stories.kit import Visit

Take = Callable[[str], None]
"""Takes a picture of the page as it is, under a name."""


def tell_pharmacy(visitor: Visit, take: Take) -> None:
    """Go through the tutorial as its reader does, and take the pictures that it shows."""
    expect(visitor.find("#start")).to_be_visible()
    take("studio-start")
    visitor.open_example("pharmacy")
    visitor.go("draw")
    visitor.node("Age").click()
    visitor.node("Reminder").click(modifiers=["Shift"])
    expect(visitor.find("#inspector .missing").first).to_be_visible()
    take("studio-graph")
    visitor.go("graph")
    expect(visitor.find("#say-graph")).to_have_text("not identified")
    visitor.find("#structure").get_by_text("Roles of nodes").click()
    visitor.find("#structure").get_by_text("Reminder <- Illness -> Refill").click()
    take("studio-structure")
    visitor.page.keyboard.press("F6")
    visitor.page.keyboard.press("Escape")
    visitor.ask()
    expect(visitor.find(".checks-list details").last).to_be_attached()
    take("studio-answer")
    visitor.find("#answers .interval[aria-label^='call where Age younger']").click()
    visitor.find(".reason .lights").first.click()
    expect(visitor.find("graph-editor .edge.path").first).to_be_visible()
    visitor.find(".reason").scroll_into_view_if_needed()
    take("studio-reason")
    visitor.go("whatif")
    visitor.find("[data-key='rate on']").check()
    visitor.wait_for_new_answer()
    expect(visitor.find("#whatif-body .before").first).to_be_attached()
    take("studio-what-if")
    visitor.undo()
    visitor.go("take")
    expect(visitor.find("#take-body .code").first).to_be_visible()
    take("studio-take-away")
