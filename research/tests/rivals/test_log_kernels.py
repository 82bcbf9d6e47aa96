"""Rows of a log as rewards; whole decisions are held against plain forms in test_policy."""

import numpy as np

from boundit_research.rivals.columns import (
    BIAS,
    FEATURES,
    INDEX,
    LOG_ROWS,
    LOG_TOTAL,
    NUMBER,
    PLAYS,
    TOTAL,
)
from boundit_research.rivals.log_kernels import decide_min_ucb, decide_vir_ucb, play_log_rows


def make_block(rows: list[float], total: list[float]) -> np.ndarray:
    block = np.zeros((len(rows), FEATURES))
    block[:, LOG_ROWS], block[:, LOG_TOTAL] = rows, total
    block[:, NUMBER] = range(len(rows))
    return block


def test_a_bias_bound_decides_whether_rows_count() -> None:
    """Of two arms with equal rewards, rows speak for the first; a wide V silences them."""
    block = make_block([10_000, 10_000], [6_000, 3_000])
    block[:, PLAYS], block[:, TOTAL] = 300, 150
    assert decide_min_ucb(block, 1.0) == 0
    narrow = block[:, INDEX].copy()
    block[:, BIAS] = 2.0
    decide_min_ucb(block, 1.0)
    assert block[0, INDEX] == block[1, INDEX]
    assert (narrow < block[:, INDEX]).all()


def test_virtual_plays_use_rows_up_and_keep_what_they_earned() -> None:
    block = make_block([500, 300], [400, 60])
    play_log_rows(block, 1.0, 7)
    left, played = block[:, LOG_ROWS], block[:, PLAYS]

    assert (left + played).tolist() == [500, 300]
    assert (block[:, LOG_TOTAL] + block[:, TOTAL]).tolist() == [400, 60]
    assert left[decide_vir_ucb(block, 1.0)] == 0
    assert left.sum() > 0
    again = make_block([500, 300], [400, 60])
    play_log_rows(again, 1.0, 7)
    assert np.array_equal(block, again)
