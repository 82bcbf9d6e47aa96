"""The weight of a log is learned; whole decisions are held against a plain form elsewhere."""

import numpy as np
import pytest

from boundit.studies.rivals.arrow_kernels import (
    WEIGHTS,
    decide_arrow,
    find_greedy_row,
    learn_arrow,
)
from boundit.studies.rivals.columns import FEATURES, LOG_ROWS, LOG_TOTAL, PLAYS, TOTAL


def make_block() -> np.ndarray:
    """The log prefers the first arm, rounds the second."""
    block = np.zeros((2, FEATURES))
    block[:, LOG_ROWS], block[:, LOG_TOTAL] = 100, [80, 20]
    block[:, PLAYS], block[:, TOTAL] = 100, [30, 60]
    return block


def test_the_greedy_arm_goes_over_from_the_log_to_rounds() -> None:
    found = [find_greedy_row(make_block(), weight) for weight in sorted(WEIGHTS)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, 1)


def test_rewards_count_by_propensity_for_those_who_would_have_chosen_the_arm() -> None:
    block, earned = make_block(), np.zeros(WEIGHTS.size)
    learn_arrow(block, earned, 1.0, 1, 1.0)
    greedy = np.array([find_greedy_row(block, weight) for weight in WEIGHTS])

    assert (earned > 0).tolist() == (greedy == 1).tolist()
    assert earned.max() == pytest.approx(1 / 0.025 if greedy[0] == 0 else 1 / 0.975)
    assert WEIGHTS[earned.argmax()] in WEIGHTS[greedy == 1]


def test_a_share_of_rounds_explores() -> None:
    streams = np.random.default_rng(0).integers(0, 2**63, 4_000, dtype=np.uint64)
    earned = np.zeros(WEIGHTS.size)
    found = [decide_arrow(make_block(), earned, 2.0, stream) for stream in streams]
    usual = find_greedy_row(make_block(), WEIGHTS[0])

    assert np.mean(np.array(found) != usual) == pytest.approx(0.05, abs=0.015)
