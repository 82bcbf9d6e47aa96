"""How the program is scaled and reduced; that it is solved is shown in ``test_allocation``."""

import math

import numpy as np

from boundit.bandit.oam import allocation_kernel as kernel


def test_vectors_keep_their_products_in_fewer_coordinates() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(9, 3)) @ rng.normal(size=(3, 6))
    gaps = np.array([0.0, *rng.random(8)])

    short, base = kernel._reduced(x, gaps, 10.0)

    scale = np.square(x).sum(axis=1).max()
    assert short.shape == (9, 3)
    np.testing.assert_allclose(short @ short.T, x @ x.T / scale, atol=1e-12)
    np.testing.assert_allclose(base, 10.0 * np.outer(short[0], short[0]), atol=1e-12)


def test_with_an_infinite_cap_what_the_best_arms_measure_is_taken_out() -> None:
    x = np.array([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [5.0, 0.0, 0.0]])

    short, base = kernel._reduced(x, np.array([0.0, 0.3, 0.2]), math.inf)

    assert short.shape == (3, 1)
    np.testing.assert_allclose(np.abs(short.ravel()), [0, 0.2, 0], atol=1e-12)
    assert not base.any()


def test_pulls_cost_and_ratio_come_back_in_the_programs_own_units() -> None:
    """Two unit vectors, one best: f / gap^2 pulls, at the gap each."""
    pulls, cost, proven, worst = kernel.allocated(
        np.eye(2), np.array([0.0, 0.5]), np.ones(2, np.bool_), 8.0, 100.0, 0.002
    )

    np.testing.assert_allclose(pulls, [3200, 32], rtol=2e-6)
    assert 16.0 * (1 - 1e-9) <= cost <= 16.0 * (1 + 2e-6)
    assert proven <= cost
    assert worst <= 1.0
