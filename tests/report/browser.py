"""Pages opened in a real browser: headless Chromium, as ``.ci/run`` installs it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.missing import leave_out
from tests.patience import PATIENCE

PHONE, DESKTOP = 360, 1280
Scheme = Literal["light", "dark"]
QUIET = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser, or skip where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        leave_out("no Chromium on this machine; .ci/run installs Debian's package chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(QUIET))
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page on the screen, and what it said and asked for."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked_for: list[str] = field(default_factory=list)

    def overflow(self) -> int:
        """How far the page can be scrolled sideways."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@contextmanager
def opened(
    browser: Browser,
    file: Path,
    *,
    width: int = DESKTOP,
    scheme: Scheme = "light",
    scripts: bool = True,
) -> Iterator[Opened]:
    """Open a file, listening to the console and the network."""
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        java_script_enabled=scripts,
        offline=True,
    )
    context.set_default_timeout(1000 * PATIENCE)
    found = Opened(context.new_page())
    found.page.on("console", lambda message: found.said.append(message.text))
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    found.page.on("request", lambda request: found.asked_for.append(request.url))
    found.page.goto(file.as_uri())
    yield found
    context.close()
