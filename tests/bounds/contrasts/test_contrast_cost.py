"""What differences of arms cost where cells hold only as extremes."""

from dataclasses import dataclass

import pytest

from boundit.bounds.contrasts.contrast_cost import find_contrast_cost
from boundit.estimand.language.expression import Expression, P
from boundit.estimand.query import EffectQuery
from boundit.terms.names import Nodes

QUERY = EffectQuery(("Y",), ("X",), ("C",))
LEVELS = {"X": 3, "C": 4, "W": 2, "M": 2}


@dataclass(frozen=True)
class Reader:
    """A rule that reads some formulas."""

    formulas: tuple[Expression, ...]
    extremes: Nodes = frozenset("W")


def mean(given: str) -> P:
    return P(frozenset("Y"), frozenset(given))


LINK = P(frozenset("M"), frozenset("XC"))


@pytest.mark.parametrize(
    ("rules", "term", "cost"),
    [
        ([Reader((mean("XCW"),))], mean("XCW"), 1),
        ([Reader((mean("XCW"),))] * 2, mean("XCW"), 2),
        ([Reader((mean("XW"),))], mean("XW"), 1),  # contexts do not differ at all
        ([Reader((mean("MW"), LINK))], mean("MW"), 3.5 * 4),  # all arms and contexts share rows
        ([Reader((mean("XMW"), LINK))], mean("XMW"), 4),
        ([Reader((mean("XCW"),)), Reader((LINK,))], mean("XCW"), 1),
    ],
)
def test_every_rule_arm_and_context_that_shares_a_row_is_counted(
    rules: list[Reader], term: P, cost: float
) -> None:
    assert find_contrast_cost({term: frozenset("W")}, rules, QUERY, LEVELS) == cost


def test_cells_that_hold_at_once_cost_nothing() -> None:
    rules = [Reader((mean("XCW"),))]

    assert find_contrast_cost({mean("XCW"): frozenset()}, rules, QUERY, LEVELS) == 0
    assert find_contrast_cost({}, rules, QUERY, LEVELS) == 0
