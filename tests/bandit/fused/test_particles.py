"""Particles: laws that spread evenly, and moments by formulas written out."""

import numpy as np
import pytest

from boundit.bandit.fused.arrays import FusedLayout
from boundit.bandit.fused.layout import PRIOR, TAUS, lay_out_plan
from boundit.bandit.fused.particles import (
    N_PARTICLES,
    ParticleLaws,
    Particles,
    break_sticks,
    make_no_particles,
    spread_points,
)
from boundit.terms.fused_plan import FusedPlan
from tests.bandit.fused.plain_fused import draw_plan


def test_laws_are_uniform_over_all_laws() -> None:
    """Dirichlet(1, 1, 1): mean 1/3, and the square of a share is 1/6 on average."""
    laws = break_sticks(spread_points(4000, 2))
    assert laws.sum(axis=1) == pytest.approx(1)
    assert laws.min() >= 0
    assert laws.mean(axis=0) == pytest.approx(1 / 3, abs=0.003)
    assert (laws**2).mean(axis=0) == pytest.approx(1 / 6, abs=0.003)
    assert (laws[:, 0] * laws[:, 1]).mean() == pytest.approx(1 / 12, abs=0.003)


def test_more_than_two_cells_have_corners_where_one_has_it_all() -> None:
    plan = draw_plan(1, (3,), arms=2, contexts=1)
    layout = lay_out_plan(plan, TAUS, PRIOR)
    particles = Particles.of(plan, layout, TAUS)
    means = particles.laws.wins / particles.laws.trials
    assert means.shape[2] == N_PARTICLES + 3
    cells = layout.wins / (layout.wins + layout.losses)
    for pair, unit in enumerate(particles.laws.units.tolist()):
        for tau in range(len(TAUS)):
            found = cells[tau, layout.cells[pair]]
            assert means[tau, unit].min() == pytest.approx(found.min())
            assert means[tau, unit].max() == pytest.approx(found.max())


def test_moments_of_two_cells_are_those_of_the_formula() -> None:
    for tilt in (False, True):
        plan = draw_plan(5, (2,), tilt=tilt)
        layout = lay_out_plan(plan, TAUS, PRIOR)
        laws = Particles.of(plan, layout, TAUS).laws
        assert laws.groups.max() == (0 if tilt else plan.factors[0].n_pools - 1)
        for pair in range(len(plan.pairs)):
            for i, tau in enumerate(TAUS):
                for j in (3, 250):
                    _hold_against_formula(plan, layout, laws, pair, i, tau, j, tilt=tilt)


def _hold_against_formula(
    plan: FusedPlan,
    layout: FusedLayout,
    laws: ParticleLaws,
    pair: int,
    i: int,
    tau: float,
    j: int,
    *,
    tilt: bool,
) -> None:
    u = (j + 0.5) / N_PARTICLES
    p, more = np.array([1 - u, u]), 0.0
    c = layout.cells[pair]
    a, b = layout.wins[i, c], layout.losses[i, c]
    x = a / (a + b)
    if tilt:
        q = np.array((plan.factors[0].shares or ())[plan.factors[0].pools[pair][0]]) + 0.5
        odds = q[1] / q[0] * np.exp(1.5 * np.log(u / (1 - u)))
        p = np.array([1 / (1 + odds), odds / (1 + odds)])
        slope = p[0] * p[1] * (x[1] - x[0])
        more = slope**2 * (1 / q[0] + 1 / q[1] + min(tau, 1e3) ** 2)
    mean = p @ x
    variance = (p**2) @ (x * (1 - x) / (a + b + 1)) + more
    n = max(mean * (1 - mean) / variance - 1, 2.0)
    unit = laws.units[pair]
    assert laws.trials[i, unit, j] == pytest.approx(n)
    assert laws.wins[i, unit, j] == pytest.approx(mean * n)


def test_a_law_that_the_log_knows_needs_no_particles() -> None:
    plan = draw_plan(5, (2, 2), known=True)
    laws = Particles.of(plan, lay_out_plan(plan, TAUS, PRIOR), TAUS).laws
    assert laws.groups.max() == 0
    assert (np.ptp(laws.wins, axis=2) == 0).all()
    assert make_no_particles()[1].taus.size == 0
