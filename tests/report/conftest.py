"""A browser and the pages it opens, for the tests that look as a reader does."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from boundit.report.bounds import write_bounds_page
from boundit.report.chart import Curve, LineChart
from boundit.report.page import Page
from boundit.report.sections import Drawing, Figure, Notes, Prose, Table
from tests.paper import FIGURE_2
from tests.report.browser import chromium
from tests.report.examples import curves, large_table, small_table, worldly_graph, worldly_table


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of bounds, one of every kind of section, two with many arms and contexts."""
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, make in MADE.items():
        found[name] = folder / f"{name}.html"
        found[name].write_text(make(), encoding="utf-8")
    return found


def bounds() -> str:
    table = small_table()
    command = "boundit bound g q l"
    return write_bounds_page(table, graph=FIGURE_2, command=command, choice=table.choose())


def large() -> str:
    return write_bounds_page(large_table(), command="boundit bound " + "long.csv " * 40)


def worldly() -> str:
    table, command = worldly_table(), f"boundit bound {'x' * 200}"
    return write_bounds_page(
        table, graph=worldly_graph(), command=command, choice=table.choose()
    )


def everything() -> str:
    head = ("policy", "regret", *(f"after {n} rounds" for n in (1, 2, 3)))
    limits = tuple(
        LineChart(name, (Curve(name, (1, 2, 4, 10), (), (0.3, 0.2, 0.1, 0), (0.4, 0.5, 0.6, 1)),),
                  "limit G", y_range=(0, 1))
        for name in ("Angebot der Woche, Frühstück, nördlich", "ランチ, hors de l'agglomération")
    )  # fmt: skip
    names = ("LinUCB", "LinUCB-PCB", "OAM", "a policy with a rather long name of its own")
    page = Page(
        "Every kind of section",
        ("In short.", "And at length."),
        (
            Prose("What this is", (f"Long formulas break: {'P(Y | do(X), Z) ' * 12}",)),
            Drawing("Causal graph", FIGURE_2, ("X1", "X2"), outcomes=("Y",)),
            Figure("Regret", (LineChart("Regret", tuple(curves(*names)), y_label="regret"),)),
            Figure("Sensitivity", limits, "On one axis.", "G is a limit."),
            Table("Policies", head, (("LinUCB", *["72 ± 36"] * 4), ("UCB", *["706 ± 14"] * 4))),
            Table("Claims", ("place", "claim"), (("Theorem 3", "P(Y) is bounded " * 6),)),
            Notes("Caveats", ("note: a < b",)),
        ),
        ("critical: the data contradict the graph",),
    )
    return page.write(command="boundit reproduce", settings={"seed": 0})


MADE = {"bounds": bounds, "everything": everything, "large": large, "worldly": worldly}
