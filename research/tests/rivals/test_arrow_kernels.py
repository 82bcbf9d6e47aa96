"""The weight of a log is learned; whole decisions are held against a plain form elsewhere."""

import numpy as np
import pytest

from boundit_research.rivals.arrow_kernels import (
    WEIGHTS,
    compute_weight,
    decide_arrow,
    find_greedy_row,
    learn_arrow,
)
from boundit_research.rivals.columns import FEATURES, LOG_ROWS, LOG_TOTAL, PLAYS, TOTAL


def make_block() -> np.ndarray:
    """The log prefers the first arm, rounds the second."""
    block = np.zeros((2, FEATURES))
    block[:, LOG_ROWS], block[:, LOG_TOTAL] = 100, [80, 20]
    block[:, PLAYS], block[:, TOTAL] = 100, [30, 60]
    return block


def list_weights(explore: float = 0.05) -> list[float]:
    return [compute_weight(i, explore) for i in range(WEIGHTS)]


def test_weights_go_from_the_log_alone_to_rounds_alone() -> None:
    found, middle = list_weights(0.1), 0.1 / 1.1

    assert found == sorted(found)
    assert (found[0], found[-1]) == (0.0, 1.0)
    assert found[4] == pytest.approx(middle)
    assert found[1] == pytest.approx(middle / 8)
    assert found[6] == pytest.approx(1 - (1 - middle) / 4)


def test_the_greedy_arm_goes_over_from_the_log_to_rounds() -> None:
    found = [find_greedy_row(make_block(), weight) for weight in list_weights()]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, 1)


def test_costs_count_by_propensity_for_those_who_would_have_chosen_the_arm() -> None:
    block, costs = make_block(), np.zeros(WEIGHTS)
    learn_arrow(block, costs, 1.0, 0, 1.0)
    assert not costs.any()
    learn_arrow(block, costs, 1.0, 0, 0.0)
    greedy = np.array([find_greedy_row(block, weight) for weight in list_weights()])

    assert (costs > 0).tolist() == (greedy == 0).tolist()
    assert costs.max() == pytest.approx(1 / 0.975)
    explored = np.zeros(WEIGHTS)
    learn_arrow(block, explored, 1.0, 1, 0.0)
    assert explored.max() == pytest.approx(1 / 0.025)


def test_the_log_is_believed_until_another_weight_costs_less() -> None:
    stream = np.uint64(2**63 - 1)
    costs = np.zeros(WEIGHTS)
    assert decide_arrow(make_block(), costs, 1e-9, stream) == 0
    costs[:-1] = 1.0
    assert decide_arrow(make_block(), costs, 1e-9, stream) == 1


def test_a_share_of_rounds_explores() -> None:
    streams = np.random.default_rng(0).integers(0, 2**63, 4_000, dtype=np.uint64)
    costs = np.zeros(WEIGHTS)
    found = [decide_arrow(make_block(), costs, 2.0, stream) for stream in streams]
    usual = find_greedy_row(make_block(), 0.0)

    assert np.mean(np.array(found) != usual) == pytest.approx(0.05, abs=0.015)
