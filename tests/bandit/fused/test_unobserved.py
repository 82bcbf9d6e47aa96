"""Particles: what rewards alone teach, against a posterior written out."""

import math

import numpy as np
import pytest

from boundit.bandit.fused.beliefs import score_fused
from boundit.bandit.fused.layout import BIAS, FusedArrays
from boundit.bandit.fused.unobserved import (
    break_sticks,
    predict_unit,
    spread_particles,
    sum_unit,
)
from boundit.results.fused_plan import FusedPlan
from tests.bandit.fused.plain_fused import PlainFused, draw_plan, predict
from tests.bandit.fused.plans import add_particles, learn, list_columns, list_pairs, make_arrays


class PlainParticles:
    """One factor of two values: particles of each pair, and what its rewards say of them."""

    def __init__(self, plan: FusedPlan) -> None:
        (self.factor,), self.plan, self.plain = plan.factors, plan, PlainFused(plan)
        self.us = [(i + 0.5) / 200 for i in range(200)]
        self.rewards = [[0.0, 0.0] for _ in plan.pairs]

    def chance(self, pool: int, u: float) -> float:
        """How likely the second value is."""
        if self.factor.shares is None:
            return u
        q = [share + 0.5 for share in self.factor.shares[pool]]
        odds = q[1] / q[0] * (u / (1 - u)) ** 1.5
        return float(odds / (1 + odds))

    def beta(self, pair: int, tau: float, u: float) -> tuple[float, float]:
        pool = self.factor.pools[pair][0]
        cells = [self.plain.count_rows(cell, tau) for cell in self.plan.cells[pair]]
        x = [a / (a + b) for a, b in cells]
        v = [a * b / (a + b) ** 2 / (a + b + 1) for a, b in cells]
        p = self.chance(pool, u)
        mean, variance = (1 - p) * x[0] + p * x[1], (1 - p) ** 2 * v[0] + p**2 * v[1]
        if self.factor.shares is not None:
            slope = p * (1 - p) * (x[1] - x[0])
            size = min(tau, 1e3)
            variance += slope**2 * sum(
                1 / (n + 0.5) + size**2 / 2 for n in self.factor.shares[pool]
            )
        n = max(mean * (1 - mean) / variance - 1, 2.0)
        return mean * n, (1 - mean) * n

    def weigh(self) -> tuple[dict[tuple[float, int], np.ndarray], np.ndarray]:
        """Weights of particles under each tau and unknown; and of the taus."""
        unknown = [-1 if self.factor.shares else pools[0] for pools in self.factor.pools]
        logs = {(tau, u): np.zeros(200) for tau in self.plain.taus for u in unknown}
        for (tau, one), found in logs.items():
            for pair, (s, f) in enumerate(self.rewards):
                if unknown[pair] == one:
                    for j, u in enumerate(self.us):
                        a, b = self.beta(pair, tau, u)
                        found[j] += log_beta(a + s, b + f) - log_beta(a, b)
        taus = np.log(self.plain.weights)
        for (tau, _), found in logs.items():
            taus[self.plain.taus.index(tau)] += math.log(np.exp(found).mean())
        weights = np.exp(taus - taus.max())
        posterior = {of: np.exp(v) / np.exp(v).sum() for of, v in logs.items()}
        return posterior, weights / weights.sum()


def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def teach(plan: FusedPlan, a: FusedArrays, order: list[int], *, seed: int = 0) -> None:
    rng, pairs = np.random.default_rng(seed), list_pairs(plan)
    rounds = [(int(rng.integers(len(pairs))), float(rng.random() < 0.4)) for _ in order]
    for i in order:
        learn(a, *pairs[rounds[i][0]], rounds[i][1], -1)


@pytest.mark.parametrize("tilt", [False, True])
def test_particles_are_weighed_by_bayes_rule(tilt: bool) -> None:
    plan = draw_plan(7, (2,), tilt=tilt)
    a, plain = make_arrays(plan, blind=True), PlainParticles(plan)
    teach(plan, a, list(range(50)))
    pairs = list_pairs(plan)
    plain.rewards = [a.pairs[c, k, :2].tolist() for c, k in pairs]

    weights, taus = plain.weigh()

    assert a.unseen.taus[:, 1] == pytest.approx(taus, rel=1e-4)
    for i, (c, k) in enumerate(pairs):
        unknown, (s, f) = -1 if tilt else plan.factors[0].pools[i][0], plain.rewards[i]
        chance, unit = 0.0, a.unseen.units[c, k]
        for t, tau in enumerate(plain.plain.taus):
            betas = np.array([plain.beta(i, tau, u) for u in plain.us]) + np.array([s, f])
            w, n = weights[tau, unknown], betas.sum(axis=1)
            x = betas[:, 0] / n
            mean = (w * x).sum()
            variance = (w * (x**2 + x * (1 - x) / (n + 1))).sum() - mean**2
            assert sum_unit(a.unseen, unit, t) == pytest.approx((mean, variance), rel=1e-3)
            half = (w * [predict(0.3, *beta) for beta in betas]).sum()
            chance += taus[t] * half
        assert predict_unit(a.unseen, unit, 0.3)[0] == pytest.approx(chance, rel=1e-3)


@pytest.mark.parametrize(
    ("sizes", "known"), [((2,), False), ((3,), False), ((2, 2), False), ((2, 3), True)]
)
def test_weights_are_a_function_of_the_rewards_bit_for_bit(
    sizes: tuple[int, ...], known: bool
) -> None:
    """In another order, and worked out at once by arrays that are made again."""
    plan = draw_plan(3, sizes, known=known)
    one, two = make_arrays(plan, blind=True), make_arrays(plan, blind=True)
    order = list(range(60))
    teach(plan, one, order)
    teach(plan, two, order[::-1])
    again = add_particles(plan, two)

    for name in ("weights", "evidence", "taus", "sums"):
        assert (getattr(one.unseen, name) == getattr(two.unseen, name)).all()
    columns = list_columns(plan)
    for a in (two, again):
        score_fused(a, 1, columns, 0, columns.size)
    beliefs = [a.belief for a in (two, again)]
    assert (beliefs[0] == beliefs[1]).all()
    assert not (one.pairs[..., BIAS] == two.pairs[..., BIAS]).all()


def test_a_chain_of_what_the_log_tells_has_the_variance_of_draws() -> None:
    """A known factor, then one up to particles: given a particle, cells and weights vary."""
    plan = draw_plan(11, (2, 2), arms=1, contexts=1, known=True, rows=90)
    first, second = plan.factors
    hidden = tuple((0,) * len(row) for row in second.counts)
    plan = FusedPlan(
        plan.pairs,
        (first, second.__class__(second.variables, second.cells, second.pools, hidden)),
        plan.cells,
        tuple(n + 20 for n in plan.n),
        plan.sums,
    )
    a = make_arrays(plan, doubt=0.0, blind=True)
    rng, u, tables = np.random.default_rng(0), a.unseen, spread_particles(plan, a)[1]
    n = 200_000
    p = rng.dirichlet(1.0 + np.array(first.counts[0]), n)
    x = np.array(
        [rng.beta(1 + plan.sums[c], 1 + plan.n[c] - plan.sums[c], n) for c in plan.cells[0]]
    )
    for j in (5, 100, 190):
        inner = [tables.values[tables.places[0, 0, node], j, :2] for node in (1, 2)]
        drawn = sum(p[:, i] * inner[i][k] * x[2 * i + k] for i in range(2) for k in range(2))
        wins, losses = u.betas[0, 0, :, j].tolist()
        mean = wins / (wins + losses)
        assert mean == pytest.approx(np.mean(drawn), abs=1e-3)
        assert mean * (1 - mean) / (wins + losses + 1) == pytest.approx(np.var(drawn), rel=0.05)


def test_particles_are_spread_evenly_and_reach_the_corners() -> None:
    sticks = break_sticks(np.random.default_rng(0).random((100_000, 2)))
    assert sticks.sum(axis=1) == pytest.approx(1.0)
    assert sticks.mean(axis=0) == pytest.approx([1 / 3] * 3, abs=5e-3)
    plan = draw_plan(3, (3,))
    values = spread_particles(plan, make_arrays(plan))[1].values
    assert (values[0].max(axis=1) == 1.0).sum() == 3
