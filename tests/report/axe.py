"""What axe, a checker of accessibility, finds on a page: headings, contrast, names, tables."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_OPEN = """() => {
  for (const kind of [".reason", "details:not(.reason)"])
    for (const e of [...document.querySelectorAll(kind)].slice(0, 3)) e.open = true;
}"""


def list_violations(page: Page) -> list[str]:
    """List what axe finds, of any impact, and some things opened that open with a click."""
    page.evaluate(_OPEN)
    found = Axe().run(page).response["violations"]
    return [
        f"{each['impact']}: {each['help']}: {node['html'][:90]}"
        for each in found
        for node in each["nodes"][:3]
    ]
