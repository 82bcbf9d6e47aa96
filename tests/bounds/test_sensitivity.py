from dataclasses import replace

import pytest

from boundit.bounds.selection_facts import FactsRefuted
from boundit.bounds.sensitivity import sensitivity_curve
from boundit.terms.bound_table import BoundTable
from boundit.terms.interval import Interval
from boundit.terms.sampling import EndSampling, RowSampling


def table(lower: float, upper: float) -> BoundTable:
    return BoundTable.from_rows(
        [{"X": 0, "lower": lower, "upper": upper, "lower_rule": f"at {lower:g}"}],
        outcome="Y",
        treatments=["X"],
        outcome_range=(0, 1),
    )


def test_intervals_never_widen_as_the_limit_gets_smaller() -> None:
    """Whatever holds under a limit holds under a smaller one."""
    found = {1.0: table(0.4, 0.5), 2.0: table(0.2, 0.7), 3.0: table(0.3, 0.8), 4.0: table(0, 1)}
    curve = sensitivity_curve(found.__getitem__, [4, 1, 3, 2, 2])

    assert list(curve.limits) == [1, 2, 3, 4]
    assert curve.intervals(0) == [
        (1, Interval(0.4, 0.5)),
        (2, Interval(0.3, 0.7)),
        (3, Interval(0.3, 0.8)),
        (4, Interval(0, 1)),
    ]
    assert curve.tables[1].bounds[(0,), ()].lower_rule == "at 0.3"


def test_an_end_that_is_kept_keeps_why_chance_moves_it() -> None:
    why, narrow = EndSampling(9.0, 0.0), EndSampling(5.0, 0.0)
    wide = explain(table(0.3, 0.8), RowSampling(why, why))
    curve = sensitivity_curve(
        {1.0: explain(table(0.2, 0.7), None), 2.0: wide}.__getitem__, [1, 2]
    )
    mixed = {1.0: explain(table(0.2, 0.7), RowSampling(narrow, narrow)), 2.0: wide}

    assert curve.tables[0].bounds[(0,), ()].sampling == RowSampling(why, None)
    found = sensitivity_curve(mixed.__getitem__, [1, 2]).tables[0].bounds[(0,), ()]
    assert found.sampling == RowSampling(why, narrow)


def test_what_the_other_method_would_give_is_said_of_rows_that_stay_as_they_are() -> None:
    key, near = ((0,), ()), Interval(0.4, 0.5)
    own = replace(table(0.2, 0.7), others={key: near})
    same = {1.0: own, 2.0: table(0.1, 0.8)}.__getitem__
    mixed = {1.0: own, 2.0: table(0.3, 0.8)}.__getitem__

    assert sensitivity_curve(same, [1, 2]).tables[0].others == {key: near}
    assert sensitivity_curve(mixed, [1, 2]).tables[0].others == {}


def explain(plain: BoundTable, sampling: RowSampling | None) -> BoundTable:
    bounds = {key: replace(row, sampling=sampling) for key, row in plain.bounds.items()}
    return replace(plain, bounds=bounds)


def test_limits_that_the_log_contradicts_are_named() -> None:
    def bounded(limit: float) -> BoundTable:
        if limit < 2:
            raise FactsRefuted(f"1/{limit:g} <= r <= {limit:g}")
        return table(0.2, 0.7) if limit < 3 else table(0.8, 0.9)

    curve = sensitivity_curve(bounded, [1, 1.5, 2.5, 3, 4])

    assert list(curve.limits) == [3, 4]
    assert list(curve.refuted) == [1, 1.5, 2.5]


def test_rows_say_their_limit_first() -> None:
    rows = sensitivity_curve(lambda _: table(0.1, 0.2), [2]).rows()

    assert list(rows[0])[:4] == ["limit", "X", "lower", "upper"]
    assert rows[0]["limit"] == pytest.approx(2)
