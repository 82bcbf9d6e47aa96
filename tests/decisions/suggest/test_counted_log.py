"""A log that was counted once gives the counts that its rows would."""

import numpy as np
import pytest

import boundit as bd
from boundit.counts.errors import NotACategory
from boundit.decisions.suggest.counted_log import CountedSource, hold_counts, split_by_reward
from boundit.simulation.environments import flipped_environment

ROWS = {
    "X": ["a", "b", "a", "b", "a"],
    "Z": [0, 1, 0, 1, 1],
    "Price": [1.5, 2.0, 0.5, 0.0, 4.0],
}
LOG = bd.read_log(ROWS)


@pytest.mark.parametrize("names", [["X"], ["Z"], ["Z", "X"], []])
def test_parts_are_counted_as_from_rows(names: list[str]) -> None:
    held = hold_counts(LOG.count(["X", "Z"], reward="Price"))
    one, other = (log.count(names, reward="Price") for log in (held, LOG))

    assert one.levels == other.levels
    for field in ("codes", "n", "sums", "squares", "lowest", "highest"):
        assert np.array_equal(getattr(one, field), getattr(other, field)), field


def test_a_0_1_reward_may_be_counted_as_a_variable() -> None:
    world = flipped_environment()
    log = world.log(2_000, seed=1)
    names = sorted(world.graph.observed)
    held = hold_counts(log.count([n for n in names if n != "Y"], reward="Y"))

    assert np.array_equal(held.count(names).n, log.count(names).n)
    assert held.count_levels(["Y", "Z"]) == {"Y": 2, "Z": 2}
    same = [bd.derive_bounds(world.graph, world.query, each).rows() for each in (log, held)]
    assert same[0] == same[1]


def test_other_rewards_are_no_variables() -> None:
    table = LOG.count(["X"], reward="Price")
    with pytest.raises(NotACategory, match="Price"):
        split_by_reward(table)
    with pytest.raises(NotACategory):
        split_by_reward(LOG.count(["X"]))


def test_a_log_may_be_taken_several_times() -> None:
    held = hold_counts(LOG.count(["X", "Z"], reward="Price"), times=3)

    assert held.count(["X"], reward="Price").n.tolist() == [9, 6]
    assert held.count(["X"], reward="Price").sum_rewards(()).values == 24


def test_an_exact_law_stays_exact() -> None:
    law = flipped_environment().exact_log().count(["Z"], reward="Y")
    held = hold_counts(law, times=4)

    assert held.exact
    assert held.count(["Z"], reward="Y").n == pytest.approx(law.n)
    source = CountedSource(law)
    assert source.find_oddity("Z") is None
    assert source.label == law.label
