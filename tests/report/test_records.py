import numpy as np
import pytest

from boundit.core.interval import Interval
from boundit.report.errors import UnevenCurve
from boundit.report.records import Curve, IntervalSeries, Ladder, TruthComparison

KEY = ((1,), ())


def test_curves_take_arrays_and_keep_plain_numbers() -> None:
    curve = Curve("UCB", np.arange(3), np.ones(3), np.zeros(3), np.ones(3))  # type: ignore[arg-type]

    assert curve.at == (0.0, 1.0, 2.0)
    assert hash(curve)


@pytest.mark.parametrize(
    ("at", "mean", "low", "high"),
    [
        ((), (), (), ()),
        ((1, 2), (1,), (), ()),
        ((1,), (1,), (0,), ()),
        ((1,), (1,), (0, 0), (1,)),
    ],
)
def test_uneven_curves_are_refused(
    at: tuple[float, ...],
    mean: tuple[float, ...],
    low: tuple[float, ...],
    high: tuple[float, ...],
) -> None:
    with pytest.raises(UnevenCurve, match="'UCB'"):
        Curve("UCB", at, mean, low, high)


def test_uneven_ladders_are_refused() -> None:
    with pytest.raises(UnevenCurve):
        Ladder("A", (1, 2), (0.1,), (0.2,))
    with pytest.raises(UnevenCurve):
        Ladder("A", (), (), ())


def test_a_printed_interval_is_read_to_its_digits() -> None:
    printed = IntervalSeries("printed", {KEY: Interval(0.246, 0.385)}, rounding=0.0005)

    assert not printed.has_missed(KEY, 0.3854)
    assert printed.has_missed(KEY, 0.3856)
    assert printed.has_missed(KEY, 0.2454)
    assert not printed.has_missed(KEY, 0.2456)
    assert not printed.has_missed(((0,), ()), 9.0), "nothing is said of it"


def test_a_comparison_counts_misses_and_knows_every_row() -> None:
    spans = IntervalSeries("ours", {KEY: Interval(0.1, 0.2)})
    comparison = TruthComparison(("X",), (), (spans,), truth={KEY: 0.3, ((0,), ()): 0.1})

    assert comparison.keys == (KEY, ((0,), ()))
    assert comparison.count_misses(spans) == 1
