"""Chances by losses; whole decisions are held against a plain form in test_policy."""

import math

import numpy as np
import pytest

from boundit_research.rivals.columns import FEATURES, INDEX, LOSS, PLAYS
from boundit_research.rivals.exp3_kernels import decide_exp3_ix, learn_exp3_ix, write_chances


def test_chances_fall_with_losses_and_arms_are_drawn_by_them() -> None:
    block = np.zeros((3, FEATURES))
    block[:, LOSS], block[:, PLAYS] = [0, 20, 5], 30
    eta = write_chances(block, 1.0)
    chances = block[:, INDEX].copy()

    assert eta == pytest.approx(math.sqrt(math.log(3) / (3 * 91)))
    assert chances.sum() == pytest.approx(1)
    assert chances[0] > chances[2] > chances[1]
    streams = np.random.default_rng(0).integers(0, 2**63, 4_000, dtype=np.uint64)
    drawn = [decide_exp3_ix(block, 1.0, stream) for stream in streams]
    assert np.bincount(drawn) / 4_000 == pytest.approx(chances, abs=0.03)


def test_a_loss_is_divided_by_its_chance_and_a_little_more() -> None:
    block = np.zeros((2, FEATURES))
    learn_exp3_ix(block, 1.0, 1, 1.0)
    assert block[1, LOSS] == 0
    learn_exp3_ix(block, 1.0, 1, 0.0)
    assert block[1, LOSS] == pytest.approx(1 / (0.5 + math.sqrt(math.log(2) / 2) / 2))
