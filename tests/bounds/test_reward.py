import pytest

from boundit.bounds.reward import (
    NeedsRange,
    NoRange,
    OutsideRange,
    is_binary,
    may_be_binary,
    settle_reward_range,
)
from boundit.counts.read import read_log
from boundit.counts.table import CountTable


def counted(*rewards: float) -> CountTable:
    return read_log({"Y": list(rewards)}).count([], reward="Y")


def test_a_reward_of_0_and_1_needs_no_range() -> None:
    assert settle_reward_range([counted(0, 1, 1)], None) == (0, 1)
    assert settle_reward_range(
        [read_log({"Y": [True, False]}).count([], reward="Y")], None
    ) == (0, 1)
    assert settle_reward_range([read_log({"X": [0]}).count(["X"])], None) == (0, 1)


@pytest.mark.parametrize("rewards", [(0, 0.5, 1), (0, 2), (-1, 1), (0.6, 1.2)])
def test_any_other_reward_needs_one(rewards: tuple[float, ...]) -> None:
    """0.6 and 1.2 have the same sum as sum of squares, and are not binary for all that."""
    assert not is_binary(counted(*rewards))
    with pytest.raises(NeedsRange, match="declare what it can be with reward_range"):
        settle_reward_range([counted(*rewards)], None)
    assert settle_reward_range([counted(*rewards)], (-1, 2)) == (-1, 2)


def test_a_reward_beyond_its_range_is_refused_with_its_value() -> None:
    with pytest.raises(OutsideRange, match=r"the log has Y = 3, outside reward_range=\(0, 2\)"):
        settle_reward_range([counted(0, 1), counted(0, 3)], (0, 2))


@pytest.mark.parametrize(
    "declared", [(1, 0), (1, 1), (0, float("nan")), (0, float("inf")), 5, (0, 1, 2), ("a", "b")]
)
def test_what_is_no_range_is_refused(declared: tuple[float, float]) -> None:
    with pytest.raises(NoRange, match="low < high"):
        settle_reward_range([counted(0, 1)], declared)


def test_a_reward_is_a_0_1_variable_only_on_its_own_scale() -> None:
    assert may_be_binary(None)
    assert may_be_binary((0, 1))
    assert not may_be_binary((0, 2))
