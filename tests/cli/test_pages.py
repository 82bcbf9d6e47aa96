"""Every page that a command writes: judged by axe, silent, whole, the answer in sight."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from research.tests.small_reproduction import reproduce_small

from boundit.cli.main import main
from boundit_research.paper.reproduction_page import make_reproduction_page
from tests.report.axe import list_violations
from tests.report.browser import Scheme, chromium, opened
from tests.report.probes import HEADINGS

GRAPH, QUERY = "Z -> X -> Y; Z -> Y; X <-> Y; Z -> [S]", "Y | do(X), Z"
BASE = (GRAPH, QUERY, "log.csv")
COMMANDS = {
    "bound": ("bound", *BASE, "--out", "bounds.json"),
    "effect": ("effect", *BASE),
    "stress": ("stress", *BASE, "--time-limit", "60"),
    "suggest": ("suggest", *BASE),
    "compare": ("compare", "bounds.json", "--policy", "1", "--baseline", "0"),
    "choose": ("choose", "bounds.json"),
    "sensitivity": (
        "sensitivity",
        *BASE,
        *("--limit", "X <-> Y", "--arm", "1", "--context", "1", "--confidence", "none"),
    ),
}
IN_SIGHT = """() => {
  const box = document.querySelector(".verdict").getBoundingClientRect();
  return box.top >= 0 && box.bottom < 420;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of every command that writes one, by the command's name."""
    folder = tmp_path_factory.mktemp("pages")
    rows = [
        f"{z},{x},{int((i + 2 * x + z) % 5 > 2)}"
        for i in range(50)
        for z in (0, 1)
        for x in (0, 1)
    ]
    (folder / "log.csv").write_text("\n".join(["Z,X,Y", *rows]), encoding="utf-8")
    written = {name: folder / f"{name}.html" for name in (*COMMANDS, "reproduce")}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, command in COMMANDS.items():
            with pytest.raises(SystemExit) as left:
                main([*command, "--report", str(written[name])])
            assert left.value.code in (0, 1), name
    page = make_reproduction_page(reproduce_small(), command="boundit reproduce")
    written["reproduce"].write_text(page, encoding="utf-8")
    return written


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "light"), (390, "dark"), (1440, "light"), (1440, "dark")]
)
@pytest.mark.parametrize("name", [*COMMANDS, "reproduce"])
def test_axe_finds_no_fault_and_the_answer_is_in_sight(
    browser: Browser, pages: dict[str, Path], name: str, width: int, scheme: Scheme
) -> None:
    with opened(browser, pages[name], width=width, scheme=scheme) as found:
        assert found.page.evaluate(IN_SIGHT)
        ranks = found.page.evaluate(HEADINGS)
        assert ranks[0] == 1
        assert ranks.count(1) == 1
        assert found.page.locator("main").count() == 1
        assert found.overflow() <= 0
        assert list_violations(found.page) == []
        assert found.said == []
        asked = {url for url in found.asked_for if not url.startswith("data:,")}
        assert asked == {pages[name].as_uri()}
