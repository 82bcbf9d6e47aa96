"""Indices of the fused policy against formulas written out, and against draws."""

import numpy as np
import pytest

from boundit.bandit.fused.arrays import BIAS_EVIDENCE, make_counts
from boundit.bandit.fused.indices import sum_up, write_doubts
from boundit.bandit.fused.layout import PRIOR, TAUS, lay_out_plan
from boundit.terms.fused_plan import Factor, FusedPlan
from tests.bandit.fused.plain_fused import PlainFused, draw_plan


@pytest.mark.parametrize("sizes", [(), (2,), (3,), (2, 3), (2, 2, 2)])
@pytest.mark.parametrize("known", [False, True])
def test_means_and_variances_are_those_of_the_formulas(
    sizes: tuple[int, ...], known: bool
) -> None:
    plan = draw_plan(4, sizes, known=known)
    layout = lay_out_plan(plan, TAUS, PRIOR)
    layout.tied[:] = 0
    counts, plain = make_counts(layout, len(plan.pairs)), PlainFused(plan, TAUS, PRIOR, 0.5)
    scratch = np.empty((6, layout.starts.size + plan.n_leaves))
    for pair in range(len(plan.pairs)):
        for i, tau in enumerate(TAUS):
            found = sum_up(layout, counts, pair, i, False, scratch)
            assert found == pytest.approx(plain.moments(pair, tau, own=False), rel=1e-12)


def test_the_variance_is_that_of_draws_also_where_branches_meet() -> None:
    """One law for both values of the first variable, and cells that do not hang on it."""
    law = draw_plan(1, (2, 2), arms=1, contexts=1, rows=40, known=True)
    first, second = law.factors
    assert second.pools == ((0, 0),)
    cells = FusedPlan(law.pairs, law.factors, ((0, 1, 0, 1),), law.n[:2], law.sums[:2])
    apart = Factor(("W1",), second.cells, ((0, 1),), (second.counts[0], (9, 3)))
    free = FusedPlan(law.pairs, (first, apart), law.cells, law.n, law.sums)
    some = FusedPlan(law.pairs, (first, apart), ((0, 1, 2, 0),), law.n[:3], law.sums[:3])
    rng = np.random.default_rng(0)
    for plan in (free, law, cells, some):
        layout = lay_out_plan(plan, (0.0,), (1.0,))
        counts = make_counts(layout, 1)
        mean, variance = sum_up(layout, counts, 0, 0, False, np.empty((6, 20)))
        draws = _draw_means(plan, 200_000, rng)
        assert mean == pytest.approx(draws.mean(), abs=4 * draws.std() / 200_000**0.5)
        assert variance == pytest.approx(draws.var(), rel=0.03)


def test_doubt_is_that_a_pair_or_its_arm_is_wrong() -> None:
    """Evidence against an arm makes it doubted in all contexts, and other arms no more."""
    plan = draw_plan(4, (2,), arms=2, contexts=2)
    layout = lay_out_plan(plan, TAUS, PRIOR)
    counts, log_odds = make_counts(layout, len(plan.pairs)), np.log(0.1 / 0.9)
    first = [write_doubts(layout, counts, pair, log_odds)[0] for pair in range(4)]
    assert first == pytest.approx([0.19] * 4)
    counts.shifts[layout.arms[0]] = 5.0, 2.0, -3.0
    counts.pairs[1, BIAS_EVIDENCE] = counts.shifts[1, 0] = 2.0
    found = [write_doubts(layout, counts, pair, log_odds)[0] for pair in range(4)]
    whole = np.exp([5.0, 2.0, -3.0]).mean() / 9
    alone = (np.exp(2.0) + np.exp([2.0, 0.0, 0.0]).mean()) / 2 / 9
    assert found[0] == pytest.approx(1 - 0.9 / (1 + whole))
    assert found[1] == pytest.approx(1 - 1 / (1 + whole) / (1 + alone))
    assert found[2:] == first[2:]
    assert write_doubts(layout, counts, 0, -np.inf) == (0.0, 0.0)


def _draw_means(plan: FusedPlan, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw cells and laws from their beliefs, and what the first pair then earns."""
    one, two = plan.factors
    x = np.stack(
        [rng.beta(1 + s, 1 + m - s, n) for m, s in zip(plan.n, plan.sums, strict=True)]
    )
    p = rng.dirichlet(1 + np.array(one.counts[one.pools[0][0]]), n)
    laws = [rng.dirichlet(1 + np.array(counts), n) for counts in two.counts]
    found = np.zeros(n)
    for i in range(2):
        for k in range(2):
            cell = plan.cells[0][2 * i + k]
            found += p[:, i] * laws[two.pools[0][i]][:, k] * x[cell]
    return found
