"""Indices cut to bounds; whole decisions are held against plain forms in test_policy."""

import numpy as np

from boundit_research.rivals.bounded_kernels import (
    count_plays,
    decide_b_kl_ucb,
    decide_b_ts,
    decide_glue,
    find_best_row,
)
from boundit_research.rivals.columns import (
    FEATURES,
    FREE,
    INDEX,
    LOWER,
    NOISE,
    PLAYS,
    TOTAL,
    UPPER,
)


def make_block(plays: list[float], total: list[float]) -> np.ndarray:
    block = np.zeros((len(plays), FEATURES))
    block[:, PLAYS], block[:, TOTAL] = plays, total
    block[:, UPPER], block[:, NOISE] = 1.0, 0.5
    return block


def test_no_index_passes_its_upper_end_and_ruled_out_arms_have_none() -> None:
    for decide in (decide_b_kl_ucb, decide_glue):
        block = make_block([5, 5, 5], [1, 4, 2])
        block[:, UPPER], block[:, LOWER] = [0.3, 0.9, 0.7], [0.0, 0.4, 0.0]
        assert decide(block, 1.0) == 1
        assert np.isnan(block[0, INDEX])
        assert (block[1:, INDEX] <= block[1:, UPPER]).all()
        assert block[2, FREE] > block[2, INDEX] == 0.7


def test_less_noise_and_a_smaller_scale_explore_less() -> None:
    block = make_block([50, 5], [30, 2])
    assert decide_glue(block, 1.0) == 1
    assert decide_glue(block, 0.2) == 0
    block[1, NOISE] = 0.05
    assert decide_glue(block, 1.0) == 0
    assert count_plays(block) == 55


def test_ties_go_to_the_higher_free_index_then_to_the_first() -> None:
    block = make_block([0, 0, 0], [0, 0, 0])
    block[:, INDEX], block[:, FREE] = [0.5, 0.5, 0.5], [0.6, 0.8, 0.8]
    assert find_best_row(block) == 1
    block[1, INDEX] = np.nan
    assert find_best_row(block) == 2


def test_draws_of_b_ts_keep_the_bounds() -> None:
    block = make_block([20, 20], [2, 18])
    block[:, LOWER], block[:, UPPER] = [0.4, 0.0], [0.5, 0.3]
    for i in range(200):
        assert decide_b_ts(block, 1.0, np.uint64(i)) == 0
        assert (block[:, INDEX] >= block[:, LOWER]).all()
        assert (block[:, INDEX] <= block[:, UPPER]).all()
