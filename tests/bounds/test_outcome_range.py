import numpy as np
import pytest
from scipy.stats import multinomial

from boundit.bounds.evidence import (
    NeedsRange,
    OutsideRange,
    has_two_values,
    is_binary,
    settle_outcome_range,
)
from boundit.bounds.inference.cells import bound_mean, clopper_pearson
from boundit.core.errors import OptionError
from boundit.counts.log import read_log
from boundit.counts.table import CountTable


def counted(*rewards: float) -> CountTable:
    return read_log({"Y": list(rewards)}).count([], reward="Y")


def test_a_reward_of_0_and_1_needs_no_range() -> None:
    assert settle_outcome_range([counted(0, 1, 1)], None) == (0, 1)
    assert settle_outcome_range(
        [read_log({"Y": [True, False]}).count([], reward="Y")], None
    ) == (0, 1)
    assert settle_outcome_range([read_log({"X": [0]}).count(["X"])], None) == (0, 1)


@pytest.mark.parametrize("rewards", [(0, 0.5, 1), (0, 2), (-1, 1), (0.6, 1.2)])
def test_any_other_reward_needs_one(rewards: tuple[float, ...]) -> None:
    """0.6 and 1.2 have the same sum as sum of squares, and are not binary for all that."""
    assert not is_binary(counted(*rewards))
    with pytest.raises(NeedsRange, match="Declare its possible range with outcome_range"):
        settle_outcome_range([counted(*rewards)], None)
    assert settle_outcome_range([counted(*rewards)], (-1, 2)) == (-1, 2)


def test_a_reward_beyond_its_range_is_refused_with_its_value() -> None:
    with pytest.raises(
        OutsideRange, match=r"The data have Y = 3, outside outcome_range=\(0, 2\)"
    ):
        settle_outcome_range([counted(0, 1), counted(0, 3)], (0, 2))


@pytest.mark.parametrize(
    "declared", [(1, 0), (1, 1), (0, float("nan")), (0, float("inf")), 5, (0, 1, 2), ("a", "b")]
)
def test_what_is_no_range_is_refused(declared: tuple[float, float]) -> None:
    with pytest.raises(OptionError, match="low < high"):
        settle_outcome_range([counted(0, 1)], declared)


@pytest.mark.parametrize(
    ("rewards", "low", "high", "two"),
    [
        ((0, 5, 5), 0, 5, True),
        ((0, 0), 0, 5, True),
        ((0, 5, 2), 0, 5, False),
        ((-0.1, 0.3, 0.3) * 1000, -0.1, 0.3, True),
        ((-0.1, 0.3, 0.3) * 1000 + (0.29,), -0.1, 0.3, False),
        ((0, 1), 0, 5, False),
        ((0, 1), 0, 1, True),
        ((0, 0.5, 1), 0, 1, False),
    ],
)
def test_two_values_are_seen_by_the_sums_of_squares(
    rewards: tuple[float, ...], low: float, high: float, *, two: bool
) -> None:
    assert has_two_values(counted(*rewards), low, high) is two
    assert has_two_values(read_log({"X": [0]}).count(["X"]), low, high)


@pytest.mark.parametrize("alpha", [0.3, 0.1])
@pytest.mark.parametrize("n", [1, 3, 8, 20])
@pytest.mark.parametrize("middle", [0.1, 0.5, 0.9])
def test_values_between_that_were_not_seen_do_no_harm(
    alpha: float, n: int, middle: float
) -> None:
    """All logs of ``n`` rewards 0, middle or 1: a share if all are 0 or 1, else a mean."""
    counts = [(k, b) for k in range(n + 1) for b in range(n + 1 - k)]
    ends = []
    for k, b in counts:
        total, squared = np.array(float(k + middle * b)), np.array(k + middle**2 * b)
        rows = np.array(float(n))
        ends.append(
            bound_mean(rows, total, squared, alpha)
            if b
            else clopper_pearson(total, rows, alpha)
        )
    lows, highs = np.array(ends, dtype=float).T
    tops, middles = np.array(counts).T
    shown = np.stack([tops, middles, n - tops - middles], axis=-1)
    for between in (0.001, 0.02, 0.1, 0.5):
        for top in np.linspace(0.01, 0.99 - between, 9):
            mean = top + middle * between
            chances = multinomial.pmf(shown, n, [top, between, 1 - top - between])
            assert chances[lows > mean].sum() <= alpha / 2
            assert chances[highs < mean].sum() <= alpha / 2
