import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.bounds.binary_reward import SUCCESS, BinaryReward
from boundit.counts.read import read_log

REWARDS = st.lists(st.tuples(st.integers(0, 1), st.floats(-2, 5)), min_size=1, max_size=20)


@given(REWARDS)
def test_successes_come_as_often_as_the_reward_is_high(rows: list[tuple[int, float]]) -> None:
    columns = {"X": [x for x, _ in rows], "Y": [y for _, y in rows]}
    table = read_log(columns).count(["X"], reward="Y")
    reward = BinaryReward(table, "Y", -2, 5, binary=False)
    counted = reward.marginalize(frozenset({"X", "Y"}))

    for i, x in enumerate(table.levels["X"]):
        chances = np.array([(y + 2) / 7 for value, y in rows if value == x])
        assert counted.at({"X": i}).values == pytest.approx(
            [(1 - chances).sum(), chances.sum()], abs=1e-9
        )
        squares = reward.sum_squares(frozenset({"X", "Y"})).at({"X": i}).values
        assert squares == pytest.approx(
            [((1 - chances) ** 2).sum(), (chances**2).sum()], abs=1e-8
        )
    assert reward.marginalize(frozenset({"X"})).values.sum() == len(rows)


def test_a_reward_of_0_and_1_is_its_own_success() -> None:
    table = read_log({"X": [0, 0, 1], "Y": [0, 1, 1]}).count(["X"], reward="Y")
    reward = BinaryReward(table, "Y", 0, 1)

    assert reward.names == {"X", "Y"}
    assert reward.n_levels == {"X": 2, "Y": 2}
    assert reward.marginalize(frozenset("Y")).values[SUCCESS] == 2


def test_a_table_without_the_reward_is_as_it_is() -> None:
    table = read_log({"X": [0, 0, 1]}).count(["X"])
    reward = BinaryReward(table, None, 0, 1)

    assert reward.names == {"X"}
    assert reward.marginalize(frozenset("X")).values.tolist() == [2, 1]


def test_laws_are_given_a_reward_only_where_the_success_is_the_reward_itself() -> None:
    table = read_log({"Y": [0, 1]}).count([], reward="Y")
    assert BinaryReward(table, "Y", 0, 1).is_variable
    assert not BinaryReward(table, "Y", 0, 1, binary=False).is_variable
    five = read_log({"Y": [0, 5]}).count([], reward="Y")
    assert not BinaryReward(five, "Y", 0, 5).is_variable
