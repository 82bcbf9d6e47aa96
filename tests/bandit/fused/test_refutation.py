"""The test of log against rounds: its level, its power, and what it names."""

import numpy as np
import pytest
from scipy.special import betaln

from boundit.bandit.fused.beliefs import FusedBeliefs
from boundit.bandit.fused.refutation import ALPHA, weigh_evidence
from boundit.bandit.prior.log_refutation import LogRefutation
from tests.bandit.fused.plain_fused import draw_plan


def test_evidence_is_two_mixtures_over_the_largest_likelihood() -> None:
    rows, seen = np.array([12.0, 30.0]), np.array([4.5, 1.5])
    p = 16.5 / 48
    by_hand = betaln(13, 31) + betaln(5.5, 2.5) - 16.5 * np.log(p) - 31.5 * np.log(1 - p)
    assert weigh_evidence(rows, seen) == pytest.approx(by_hand)


@pytest.mark.parametrize("numeric", [False, True])
def test_a_right_log_is_hardly_ever_refuted(numeric: bool) -> None:
    """Ever, over 300 rounds of one cell in each of 400 runs, looked at after every round."""
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(400):
        p = rng.uniform(0.05, 0.95)
        wins = rng.binomial(100, p)
        y = rng.beta(4 * p, 4 * (1 - p), 300) if numeric else rng.random(300) < p
        sums = np.cumsum(y)
        for t in range(0, 300, 5):
            seen = np.array([sums[t], t + 1 - sums[t]])
            if weigh_evidence(np.array([wins, 100.0 - wins]), seen) >= -np.log(ALPHA):
                alarms += 1
                break
    assert alarms <= 400 * ALPHA


def test_a_wrong_law_or_cell_is_refuted_and_named() -> None:
    plan = draw_plan(1, (2, 2), known=True, rows=4000)
    beliefs = FusedBeliefs(plan, (0.0, 1.0), trusting=False)
    leaf = (0, 1)
    cell = plan.cells[0][1]
    reward = 0.0 if plan.sums[cell] > plan.n[cell] / 2 else 1.0
    for _ in range(400):
        beliefs._learn(None, 0, reward, 1, np.ones(4, np.bool_))
    found = beliefs.evidence.refutation
    assert isinstance(found, LogRefutation)
    assert found.evidence >= 1 / ALPHA
    assert (found.arm, found.context) in plan.pairs
    assert found.values in {leaf, ()}
    assert "refuted at level 0.05" in str(found)
