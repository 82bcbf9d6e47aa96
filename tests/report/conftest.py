"""A browser and the pages it opens, for the tests that look as a reader does."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from boundit.report.figures.whiskers import Whiskers
from boundit.report.pages.bound_page import write_bound_page
from boundit.report.pages.origin import describe_origin
from boundit.report.pages.page import render_page
from boundit.report.pages.page_answer import PageAnswer
from boundit.report.pages.sections import (
    make_claims_section,
    make_comparison_section,
    make_curves_section,
    make_graph_section,
    make_intervals_section,
    make_prose,
    make_sensitivity_section,
    make_table_section,
)
from boundit.report.records import Grid, JudgedClaim, Ladder, TruthComparison
from tests.paper import FIGURE_2
from tests.report.browser import chromium
from tests.report.examples import (
    curves,
    large_table,
    naive,
    printed,
    small_table,
    truth_of,
    worldly_graph,
    worldly_table,
)

LADDERS = [
    Ladder(f"{arm} | {where}", (1, 1.25, 2, 10), (0.3, 0.2, 0.1, 0.1), (0.4, 0.5, 0.6, 0.9))
    for arm in ("Angebot der Woche, Frühstück", "ランチ")
    for where in ("nördlich", "hors de l'agglomération parisienne, Platinum")
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


class Pages(dict[str, Path]):
    """Files by the names of pages, each written when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, name: str) -> Path:
        self[name] = self.folder / f"{name}.html"
        self[name].write_text(MADE[name](), encoding="utf-8")
        return self[name]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """A page of bounds, one of everything there is, two with 30 arms in many contexts."""
    return Pages(tmp_path_factory.mktemp("pages"))


def bounds() -> str:
    return write_bound_page(small_table(), graph=FIGURE_2, command="boundit bound g q l")


def large() -> str:
    return write_bound_page(large_table(), command="boundit bound " + "long.csv " * 40)


def worldly() -> str:
    table, command = worldly_table(), f"boundit bound {'x' * 200}"
    return write_bound_page(
        table,
        graph=worldly_graph(),
        command=command,
        ladders=LADDERS,
        choice=table.choose(),
    )


def everything() -> str:
    table = small_table()
    truth = truth_of(table)
    spans = (printed(table, off=0.2), printed(table))
    comparison = TruthComparison(table.treatments, table.context, spans, (naive(table),), truth)
    grid = Grid(
        ("policy", "regret", *(f"after {n} rounds" for n in (1, 2, 3))),
        (("LinUCB", *["72 ± 36"] * 4), ("UCB", *["706 ± 14"] * 4)),
    )
    return render_page(
        "The paper, end to end",
        [
            make_prose("What this is", f"Long formulas break: {'P(Y | do(X), Z) ' * 12}"),
            make_graph_section(FIGURE_2, treatments=["X1", "X2"], outcomes="Y"),
            make_intervals_section(Whiskers(table, truth, [naive(table)], spans)),
            make_comparison_section(comparison),
            make_curves_section(curves("LinUCB", "LinUCB-PCB", "OAM", "UCB"), title="Regret"),
            make_sensitivity_section(LADDERS),
            make_table_section(grid, title="Policies"),
            make_claims_section(
                [JudgedClaim("Theorem 3", "P(Y) is bounded", "holds", "0 misses")]
            ),
        ],
        answer=PageAnswer("In short."),
        facts={"rows": "30,000"},
        origin=describe_origin("boundit reproduce", {"seed": 0}),
    )


MADE = {"bounds": bounds, "everything": everything, "large": large, "worldly": worldly}
