import pytest

from boundit.bounds.selection_facts import FactsRefuted
from boundit.bounds.sensitivity import sensitivity_curve
from boundit.results.bound_table import BoundTable


def table(lower: float, upper: float) -> BoundTable:
    return BoundTable.from_rows(
        [{"X": 0, "lower": lower, "upper": upper, "lower_rule": f"at {lower:g}"}],
        outcome="Y",
        treatments=["X"],
        outcome_range=(0, 1),
    )


def test_each_limit_has_the_table_that_is_stated_for_it() -> None:
    """A table is one statement at its confidence; tables of two limits are not intersected."""
    found = {1.0: table(0.4, 0.5), 2.0: table(0.2, 0.7), 3.0: table(0.3, 0.8), 4.0: table(0, 1)}
    curve = sensitivity_curve(found.__getitem__, [4, 1, 3, 2, 2])

    assert list(curve.limits) == [1, 2, 3, 4]
    assert curve.tables == tuple(found.values())


def test_limits_that_the_log_contradicts_are_named() -> None:
    def bounded(limit: float) -> BoundTable:
        if limit < 2:
            raise FactsRefuted(f"1/{limit:g} <= r <= {limit:g}")
        return table(0.2, 0.7) if limit < 3 else table(0.8, 0.9)

    curve = sensitivity_curve(bounded, [1, 1.5, 2.5, 3, 4])

    assert list(curve.limits) == [2.5, 3, 4]
    assert list(curve.refuted) == [1, 1.5]


def test_rows_say_their_limit_first() -> None:
    rows = sensitivity_curve(lambda _: table(0.1, 0.2), [2]).rows()

    assert list(rows[0])[:4] == ["limit", "X", "lower", "upper"]
    assert rows[0]["limit"] == pytest.approx(2)
