"""What leads of the old policy's arms cost, and that what is paid for holds."""

from dataclasses import replace

import numpy as np
import pytest

import boundit as bd
from boundit.decisions.compare.compare import compare
from boundit.decisions.compare.lead_price import price_leads
from boundit.decisions.compare.policies import read_side
from boundit.terms.bound_table import BoundTable
from tests.decisions.compare.tables import make_table

TOLD = replace(
    make_table(),
    contrasts={((1,), ("a",), ("b",)): -0.05},
    confidence=0.95,
    contrast_cost=1.0,
)


def price(table: BoundTable, old: object = "a") -> float | None:
    sides = [read_side(side, table, table.contexts, "new") for side in ("b", old)]
    return price_leads(table, (sides[0], sides[1]))


def test_half_of_the_error_more_is_paid_for_the_leads_of_one_of_two_arms() -> None:
    assert price(TOLD) == pytest.approx(0.025)
    assert price(replace(TOLD, contrast_cost=2.0)) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("table", "old"),
    [
        (replace(TOLD, joint=True), "a"),
        (replace(TOLD, confidence=None), "a"),
        (replace(TOLD, contrasts={}), "a"),
        (replace(TOLD, contrast_cost=2.5), "a"),
        (TOLD, {0: {"a": 0.5, "b": 0.5}, 1: "a"}),
        (TOLD, bd.LOGGED),
        (TOLD, TOLD.choose("maximin")),
        (TOLD, bd.UCB(prior=TOLD)),
    ],
)
def test_nothing_is_paid_where_leads_are_not_used(table: BoundTable, old: object) -> None:
    assert price(table, old) is None


@pytest.mark.full
def test_lower_ends_that_were_paid_for_hold_as_often_as_they_say() -> None:
    """Small logs at a low confidence, kept by what moves the reward, of arms that are alike."""
    graph = bd.parse_graph("W -> X -> Y; W -> Y; H <-> W; H -> Y; W -> [S]")
    rng, missed, paid = np.random.default_rng(5), 0, 0
    for _ in range(60):
        w = rng.integers(0, 2, 3000)
        x = (rng.random(3000) < np.where(w == 1, 0.3, 0.6)).astype(int)
        y = (rng.random(3000) < np.where(w == 1, 0.5, 0.2)).astype(int)
        kept = rng.random(3000) < np.where(w == 1, 0.3, 0.1)
        h = rng.integers(0, 2, 3000)
        log = {"W": w[kept], "H": h[kept], "X": x[kept], "Y": y[kept]}
        table = bd.derive_bounds(graph, "Y | do(X)", log, confidence=0.6)
        found = compare(table, 1, 0)
        assert found.confidence is not None
        paid += found.confidence < 0.6
        missed += found.interval.lower > 0
    assert paid > 50
    assert missed <= 60 * 0.4
