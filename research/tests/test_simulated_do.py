"""Means from people drawn under do(arm), against exact ones."""

import numpy as np
import pytest

from boundit.simulation import tables
from boundit.simulation.environments import paper_environment
from boundit_research.large_models import WorldShape, draw_large_world
from boundit_research.simulated_do import compute_true_means, simulate_means


@pytest.mark.parametrize("seed", range(4))
def test_simulated_means_agree_with_exact_ones(seed: int) -> None:
    """Five standard errors, which also are of the size they should be."""
    rng = np.random.default_rng(seed)
    world = draw_large_world(WorldShape(15, hidden=0.3, contexts=seed % 3), rng)
    exact = compute_true_means(world, rng)
    drawn = simulate_means(world, rng, people=60_000)

    assert exact.exact
    assert not drawn.exact
    assert exact.means.keys() == drawn.means.keys() == drawn.errors.keys()
    z = [(drawn.means[k] - exact.means[k]) / drawn.errors[k] for k in exact.means]
    assert max(map(abs, z)) < 5
    assert np.mean(np.square(z)) > 0.1


def test_what_elimination_cannot_do_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LARGEST", 2)
    found = compute_true_means(paper_environment(), np.random.default_rng(0), people=5000)

    assert not found.exact
    assert found.means[(0, 0), (0, 0)] == pytest.approx(0.254, abs=0.06)


def test_a_context_that_nobody_had_has_an_infinite_error() -> None:
    found = simulate_means(paper_environment(), np.random.default_rng(0), people=1)

    assert sum(np.isinf(error) for error in found.errors.values()) == 12
    assert all(error > 0 for error in found.errors.values())
