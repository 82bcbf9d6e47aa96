"""Beliefs counted anew are those counted round by round."""

import numpy as np
import pytest

from boundit.bandit.fused.beliefs import FusedBeliefs
from boundit.bandit.fused.policy import Fused
from tests.bandit.fused.plain_fused import draw_plan


@pytest.mark.parametrize("sizes", [(), (2,), (2, 3)])
def test_counted_anew_is_counted_alike(sizes: tuple[int, ...]) -> None:
    plan, rng = draw_plan(8, sizes, known=True), np.random.default_rng(2)
    beliefs = FusedBeliefs(plan, (0.0, 1.0), trusting=False)
    n = plan.n_leaves
    for _ in range(120):
        leaf = int(rng.integers(n)) if rng.random() < 0.7 or n == 1 else -1
        pair = int(rng.integers(len(plan.pairs)))
        beliefs._learn(None, pair, float(rng.random()), leaf, np.ones(n, np.bool_))
    again = beliefs.refit(plan, (0.0, 1.0), None)
    for name in ("cells", "pools", "own", "leaves", "totals"):
        mine, theirs = getattr(again.counts, name), getattr(beliefs.counts, name)
        assert mine == pytest.approx(theirs)
    assert again.counts.pairs[: len(plan.pairs)] == pytest.approx(
        beliefs.counts.pairs[: len(plan.pairs)]
    )
    assert again.counts.taus[:, 1] == pytest.approx(beliefs.counts.taus[:, 1], rel=1e-8)
    assert again.has_particles == beliefs.has_particles


def test_contexts_of_which_nothing_is_known_leave_no_trace() -> None:
    policy = Fused(arms=["A", "B"], seed=1)
    known = policy.decide(0.5)
    policy.learn(known, 1.0)
    for visitor in range(50):
        policy.decide(visitor / 50)

    assert list(policy.statistics._score_tables) == [(0.5,)]
