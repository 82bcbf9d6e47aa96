"""One context of a comparison, with what the log did."""

from dataclasses import replace

import pytest

from boundit.core.interval import EmptyInterval, Interval
from boundit.decisions.compare.logged import LoggedMeans
from boundit.decisions.compare.measured import LOGGED, Measured
from boundit.decisions.compare.one_context import (
    AnswersContradict,
    compare_in_context,
    make_interval,
)
from boundit.decisions.compare.policies import read_side
from boundit.results.bound_table import BoundTable
from tests.decisions.compare.tables import make_table

WHOLE = Interval(1, 1)


def make_logged(low: float, high: float, *, is_lottery: bool) -> LoggedMeans:
    rows = [{"C": c, "lower": low, "upper": high} for c in (0, 1)]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=[], context=["C"], outcome_range=(0, 1)
    )
    return LoggedMeans(table, is_lottery, is_selected=True)


def bound(logged: LoggedMeans, *, turned: bool = False) -> Interval:
    table = make_table()
    arm = read_side("b", table, table.contexts, "new")
    sides = (LOGGED, arm) if turned else (arm, LOGGED)
    return compare_in_context(table, sides, (0,), WHOLE, logged).difference


def test_what_the_log_did_is_subtracted() -> None:
    found = bound(make_logged(0.2, 0.3, is_lottery=False))
    assert found.lower == pytest.approx(0.1)
    assert found.upper == pytest.approx(0.4)
    turned = bound(make_logged(0.2, 0.3, is_lottery=False), turned=True)
    assert turned.lower == pytest.approx(-0.4)


def test_a_lottery_lies_between_the_arms() -> None:
    """The arm itself stands for the log at worst, so that nothing is lost."""
    found = bound(make_logged(0.0, 1.0, is_lottery=True))
    assert found.lower == pytest.approx(0, abs=1e-9)
    assert found.upper == pytest.approx(0.5)


def test_ends_that_exclude_each_other_refute_or_are_left_to_chance() -> None:
    plain = make_logged(0.9, 1.0, is_lottery=True)
    found = bound(plain)
    assert found.upper == pytest.approx(-0.3)
    sure = replace(plain, table=replace(plain.table, confidence=0.95))
    with pytest.raises(AnswersContradict, match="the rows of the log"):
        bound(sure)


def test_measured_values_are_left_to_all_contexts() -> None:
    table = make_table()
    sides = (read_side("b", table, table.contexts, "new"), Measured(0.3))
    found = compare_in_context(table, sides, (0,), WHOLE, None).difference
    assert found.lower == pytest.approx(0.4)


def test_ends_may_cross_by_rounding_alone() -> None:
    assert make_interval(1e-12, 0.0).lower == 0
    with pytest.raises(EmptyInterval):
        make_interval(0.1, 0.0)


def test_no_difference_is_written_without_a_sign() -> None:
    table = make_table()
    same = read_side("a", table, table.contexts, "new")

    found = compare_in_context(table, (same, same), (0,), WHOLE, None).difference
    assert str(found) == "[0.000, 0.000]"
