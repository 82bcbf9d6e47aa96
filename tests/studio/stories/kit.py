"""A running studio, and a visitor who opens its page in real Chromium."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    expect,
)

from tests.report.axe import list_violations
from tests.report.browser import Scheme

EVERY = os.environ.get("BOUNDIT_STORIES") == "all"
"""Whether stories are told at every width, light and dark, and heavy ones too."""
heavy = pytest.mark.skipif(not EVERY, reason="heavy: make stories tells it")
PATIENCE = 300_000
"""How many milliseconds a step may take at most on a slow and busy machine."""
HOLD = """(path) => {
  const { fetch } = window;
  const calls = [];
  const answers = [];
  window.countHeld = () => calls.length;
  window.fetch = (address, ...rest) => {
    if (!String(address).startsWith(path)) return fetch(address, ...rest);
    const answer = new Promise((go) => calls.push(go)).then(() => fetch(address, ...rest));
    answers.push(answer.then((found) => found.clone().text()).catch(() => ""));
    return answer;
  };
  window.releaseHeld = async () => {
    window.fetch = fetch;
    for (const go of calls) go();
    await Promise.all(answers);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  };
}"""
"""A script that holds calls of the page back until ``releaseHeld``, which waits for answers."""
_LINK = re.compile(r"http://127\.0\.0\.1:\d+/\?token=\S+")
_REFUSED = re.compile(r"status of 4\d\d")


@dataclass(frozen=True)
class View:
    """A width of the window in pixels, and light or dark."""

    width: int
    scheme: Scheme

    def __str__(self) -> str:
        return f"{self.width}-{self.scheme}"


DESKTOP, PHONE = View(1440, "light"), View(390, "dark")
VIEWS = (DESKTOP, View(1440, "dark"), View(390, "light"), PHONE)


@dataclass
class RunningStudio:
    """A studio in a process of its own, its folder, and the link that it printed."""

    folder: Path
    link: str
    process: subprocess.Popen[str]

    def stop(self) -> None:
        """End the studio, as when a terminal is closed."""
        self.process.terminate()
        self.process.wait()

    def forget(self) -> None:
        """Make the next visit a first one: no draft, no files."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


@contextmanager
def run_studio(folder: Path, port: str = "0") -> Iterator[RunningStudio]:
    """Start ``boundit studio`` on a port or any that is free, as a person would, and end it."""
    command = [sys.executable, "-m", "boundit", "studio", str(folder), "--port", port]
    with subprocess.Popen(
        [*command, "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        try:
            said = ""
            for line in process.stdout:
                said += line
                if found := _LINK.search(line):
                    yield RunningStudio(folder, found[0], process)
                    break
            else:
                raise AssertionError(f"no link was printed: {said}")
        finally:
            process.terminate()


@dataclass(frozen=True)
class HeldCalls:
    """Calls of a page that wait."""

    page: Page

    def wait(self) -> None:
        """Wait until the page has called."""
        self.page.wait_for_function("() => window.countHeld() > 0")

    def release(self) -> None:
        """Let the calls be answered, and the page hear and draw what was answered."""
        self.page.evaluate("() => window.releaseHeld()")


@dataclass
class Visit:
    """The page as a visitor has it, what its console said and what it asked the network for."""

    page: Page
    view: View
    said: list[str] = field(default_factory=list)
    asked_for: list[str] = field(default_factory=list)

    @property
    def is_phone(self) -> bool:
        return self.view.width < 900

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def open_example(self, name: str) -> None:
        if not self.find("#start").is_visible():
            self.page.get_by_role("button", name="Open", exact=True).click()
        self.find(f"[data-example='{name}']").click()
        asked_or_shown = (
            "document.querySelector('#replace[open], body:not(:has(#start[open]))')"
        )
        self.wait_until(f"() => {asked_or_shown}")
        if self.find("#replace").is_visible():
            self.find("#replace-go").click()
        expect(self.find("#start")).to_be_hidden()

    def begin_empty(self) -> None:
        """Leave the first page's choice for an empty sheet."""
        self.find("#start-close").click()
        expect(self.find("#start")).to_be_hidden()

    def go(self, panel: str) -> None:
        """Go to a part: draw, graph, data, ask, whatif, policy or take."""
        self.find(f"#go-{panel}").click()
        expect(
            self.find("graph-editor" if panel == "draw" else f"#panel-{panel}")
        ).to_be_visible()

    def choose(self, role: str, name: str) -> None:
        """Type a node's name where the question wants one."""
        self.find(f"#question [data-key='{role} type']").fill(name)
        expect(self.find(f"#question [data-key='{role} {name}']")).to_be_visible()

    def node(self, name: str) -> Locator:
        return self.find(f"graph-editor .node[data-name='{name}']")

    def edge(self, kind: str, tail: str, head: str) -> Locator:
        return self.find(f"""graph-editor [data-key='["{kind}","{tail}","{head}"]']""")

    def read_text(self) -> str:
        """Read the graph as its text says it, once drawing and text are in step."""
        self.wait_until("() => !document.querySelector('#graph-text[aria-invalid]')")
        return self.find("#graph-text").input_value()

    def type_text(self, text: str) -> None:
        self.find("#graph-text").fill(text)

    def read_project(self) -> dict[str, Any]:
        """Read the project as the server keeps it, once the page says that it is saved."""
        expect(self.find("#status")).to_have_text("Saved")
        found: dict[str, Any] = self.page.evaluate(
            "() => fetch('/api/start').then((each) => each.json())"
        )
        project: dict[str, Any] = found["draft"]
        return project

    def ask(self) -> None:
        """Ask, and wait for the intervals of the present question."""
        self.go("ask")
        self.find("#answers button.primary").click()
        self.wait_for_answer()

    def wait_for_answer(self) -> None:
        expect(self.find("#say-ask")).to_have_text("answered")
        expect(self.find("#answers .intervals")).to_be_visible()

    def wait_for_new_answer(self) -> None:
        """Wait until the intervals belong to the project as it is now, in any part."""
        self.wait_until("() => document.querySelector('#say-ask').textContent === 'answered'")

    def read_intervals(self) -> dict[str, tuple[float, float]]:
        """Read the intervals that are drawn, by what a screen reader is told of each."""
        found = {}
        for each in self.find("#answers .interval").all():
            said = each.get_attribute("aria-label") or ""
            name, _, rest = said.partition(": between ")
            low, high = re.findall(r"[\d.]+", rest)[:2]
            found[name] = float(low), float(high)
        return found

    def wait_until(self, script: str) -> None:
        self.page.wait_for_function(script)

    @contextmanager
    def hold(self, path: str) -> Iterator["HeldCalls"]:
        """Keep what the page asks the server for from being answered, as a slow machine does.

        It is answered when the block ends, or before that when ``release`` says so.
        """
        self.page.evaluate(HOLD, path)
        held = HeldCalls(self.page)
        yield held
        held.release()

    def undo(self) -> None:
        self.find("#undo").click()

    def overflow(self) -> int:
        """How far the page can be scrolled sideways."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))

    def require_sound(self) -> None:
        """Require that nothing was said in the console, and nothing asked for outside."""
        own = re.match(r"http://[^/]+/", self.page.url)
        assert own is not None
        inside = (own[0], f"blob:{own[0]}", "data:")
        outside = [url for url in self.asked_for if not url.startswith(inside)]
        assert not outside, "\n".join(outside)
        assert not self.said, "\n".join(self.said)

    def require_accessible(self) -> None:
        """Require that axe finds nothing."""
        found = list_violations(self.page)
        assert not found, "\n".join(found)


@contextmanager
def visit(
    browser: Browser, studio: RunningStudio, view: View, *, judge: bool = True
) -> Iterator[Visit]:
    """Open the studio's link in a fresh profile; what the console said is judged at the end.

    Not where the studio ends in the middle: Chromium notes every refused connection.
    """
    context = browser.new_context(
        viewport={"width": view.width, "height": 900 if view.width > 900 else 800},
        color_scheme=view.scheme,
        accept_downloads=True,
    )
    context.set_default_timeout(PATIENCE)
    found = Visit(context.new_page(), view)
    listen(found)
    found.page.goto(studio.link)
    expect(found.find("body[data-ready]")).to_be_attached()
    yield found
    expect(found.find("#status")).not_to_have_text("Saving …")  # or it would be kept later
    if judge:
        found.require_sound()
    context.close()


def listen(found: Visit) -> None:
    """Note what a page's console says and what the page asks for.

    A refusal, such as of half a line of text, is in the console too; Chromium writes it.
    """

    def note(message: ConsoleMessage) -> None:
        url = str(message.location.get("url", ""))
        if "/api/" in url and _REFUSED.search(message.text):
            return
        found.said.append(f"{message.type}: {message.text}")

    asked: Callable[[Request], None] = lambda request: found.asked_for.append(request.url)  # noqa: E731
    found.page.on("console", note)
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    found.page.on("request", asked)
