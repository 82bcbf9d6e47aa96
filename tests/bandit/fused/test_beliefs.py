"""Moments and learning, number by number, against formulas written out."""

import numpy as np
import pytest

from boundit.bandit.fused.beliefs import find_doubts, find_moments
from boundit.bandit.fused.layout import BIAS, OWN, SHIFT, WEIGHT, FusedArrays
from boundit.results.fused_plan import Factor, FusedPlan
from tests.bandit.fused.plain_fused import PlainFused, draw_plan
from tests.bandit.fused.plans import learn, list_pairs, make_arrays

PLANS = [
    draw_plan(1, ()),
    draw_plan(2, (2,)),
    draw_plan(3, (2,), tilt=True),
    draw_plan(4, (3,), known=True),
    draw_plan(5, (2, 3), known=True),
]


def play(
    plan: FusedPlan, a: FusedArrays, plain: PlainFused, *, seen: float, fractions: bool
) -> None:
    """Learn 60 rounds with both."""
    rng, pairs = np.random.default_rng(0), list_pairs(plan)
    for _ in range(60):
        i = int(rng.integers(len(pairs)))
        y = float(rng.random() if fractions else rng.random() < 0.4)
        leaf = int(rng.integers(plan.n_leaves))
        shown = leaf if rng.random() < seen or not plan.factors else None
        learn(a, *pairs[i], y, -1 if shown is None else shown)
        plain.learn(i, y, shown)


@pytest.mark.parametrize("plan", PLANS, ids=range(len(PLANS)))
@pytest.mark.parametrize(("seen", "fractions"), [(1.0, False), (0.6, True)])
def test_all_numbers_are_those_of_the_formulas(
    plan: FusedPlan, seen: float, fractions: bool
) -> None:
    a, plain = make_arrays(plan), PlainFused(plan)
    play(plan, a, plain, seen=seen, fractions=fractions)

    for i, (c, k) in enumerate(list_pairs(plan)):
        for tau, size in enumerate(plain.taus):
            for own in (False, True):
                found = find_moments(a, c, k, tau, own)
                if not a.twins.size or (a.twins[c, k] == np.arange(a.twins.shape[2])).all():
                    assert found == pytest.approx(plain.moments(i, size, own=own), rel=1e-9)
        assert a.pairs[c, k, :2].tolist() == pytest.approx(plain.rewards[i])
        assert a.pairs[c, k, BIAS] == pytest.approx(plain.bias[i], abs=1e-9)
        assert a.pairs[c, k, SHIFT:] == pytest.approx(plain.shifts[plan.pairs[i]], abs=1e-9)
        if plan.factors:
            assert a.pairs[c, k, OWN] == pytest.approx(plain.evidence[i], abs=1e-9)
    for k, arm in enumerate(plan.arms):
        assert a.arm_shifts[k] == pytest.approx(plain.shifts[arm], abs=1e-9)
    assert a.taus[:, WEIGHT] == pytest.approx(plain.weights, rel=1e-9)
    for cell in range(len(plan.n)):
        counted = *plain.seen.get(cell, [0, 0]), *plain.guessed.get(cell, [0, 0])
        assert a.cells[cell] == pytest.approx(counted, abs=1e-9)
    assert a.totals.tolist() == [60, a.leaves[..., 0].sum()]


def test_branches_that_share_a_cell_or_a_distribution_vary_together() -> None:
    """Two steps to four leaves: both ways lead to the same two cells by the same weights."""
    factors = (
        Factor(("V",), ((0,), (1,)), ((0,),), ((6, 4),)),
        Factor(("W",), ((0,), (1,)), ((0, 0),), ((30, 10),)),
    )
    plan = FusedPlan((((0,), ()),), factors, ((0, 1, 0, 1),), (40, 60), (10.0, 45.0))
    a = make_arrays(plan, doubt=0.0)
    rng = np.random.default_rng(0)
    x = rng.beta(11, 31, 400_000), rng.beta(46, 16, 400_000)
    p = rng.beta(11, 31, 400_000)
    drawn = (1 - p) * x[0] + p * x[1]

    mean, variance = find_moments(a, 0, 0, 0, False)

    assert mean == pytest.approx(drawn.mean(), abs=1e-3)
    assert variance == pytest.approx(drawn.var(), rel=0.05)


def test_doubt_follows_the_evidence() -> None:
    a = make_arrays(draw_plan(2, (2,)))
    low = find_doubts(a, 0, 0, 0.02)
    assert low == pytest.approx((1 - 0.98**2, 0.02))
    a.pairs[0, 0, BIAS], a.pairs[0, 0, OWN] = 9.0, 9.0
    assert min(find_doubts(a, 0, 0, 0.02)) > 0.95
    assert find_doubts(a, 0, 0, 0.0) == (0.0, 0.0)
