"""One browser and one studio for the stories of a file; every story begins with nothing kept.

``make test`` tells each story once; ``make stories`` at every width, light and dark, and heavy
ones too: it sets BOUNDIT_STORIES.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.report.browser import chromium
from tests.studio.stories.kit import (
    DESKTOP,
    EVERY,
    PATIENCE,
    VIEWS,
    RunningStudio,
    View,
    Visit,
    run_studio,
    visit,
)

expect.set_options(timeout=PATIENCE)


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known by which a story names the view that it is told at once."""
    config.addinivalue_line("markers", "view(view): where ``make test`` tells this story")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tell a story that takes a view at one of them, or at all."""
    if "view" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("view")
        once = [mark.args[0]] if mark else [DESKTOP]
        metafunc.parametrize("view", VIEWS if EVERY else once, ids=str, scope="function")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def studio(
    browser: Browser,  # noqa: ARG001, where there is none, nothing needs a server
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RunningStudio]:
    with run_studio(tmp_path_factory.mktemp("studio")) as found:
        yield found


@pytest.fixture
def visitor(browser: Browser, studio: RunningStudio, view: View) -> Iterator[Visit]:
    studio.forget()
    with visit(browser, studio, view) as found:
        yield found
