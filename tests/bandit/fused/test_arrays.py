"""Counts of nothing learned."""

import pytest

from boundit.bandit.fused.arrays import WEIGHT, make_counts
from boundit.bandit.fused.layout import PRIOR, TAUS, lay_out_plan
from tests.bandit.fused.plain_fused import draw_plan


def test_counts_of_nothing_learned_are_zero_and_taus_as_believed_at_first() -> None:
    plan = draw_plan(0, (2, 3))
    counts = make_counts(lay_out_plan(plan, TAUS, PRIOR), 9)
    assert counts.pairs.shape == (9, 4)
    assert counts.own.shape == (6, 8)
    assert counts.leaves.shape == (6, 6, 4)
    assert not any(part.any() for part in counts if part is not counts.taus)
    assert counts.taus[:, WEIGHT] == pytest.approx(PRIOR)
