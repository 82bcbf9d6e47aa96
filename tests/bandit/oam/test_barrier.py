"""The solver's parts: derivatives against differences, the path against its promises.

That the solutions are right is shown in ``test_allocation``.
"""

import numpy as np
import pytest

from boundit.bandit.kernels.dense import Numbers
from boundit.bandit.oam import barrier as kernel


def program(seed: int = 0) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Vectors, what is known beforehand, costs, and a point inside."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(7, 3))
    return y, 0.2 * np.eye(3), rng.random(7) + 0.1, 2.0 + rng.random(7)


ROWS = np.array([0, 2, 3, 6])


def known(y: Numbers, base: Numbers, u: Numbers) -> Numbers:
    """One over the left side of each constraint, by NumPy."""
    metric = base + (y.T * u) @ y
    return np.asarray(1 / np.einsum("ij,ij->i", y, np.linalg.solve(metric, y.T).T)[ROWS])


def test_a_point_knows_what_numpy_computes() -> None:
    y, base, _, u = program()

    here = kernel._evaluate_point(y, base, ROWS, u)

    np.testing.assert_allclose(here.known, known(y, base, u), rtol=1e-12)
    np.testing.assert_allclose(here.M, here.M.T, rtol=1e-12)


def test_slopes_are_the_first_derivative() -> None:
    y, base, _, u = program()
    steps = 1e-6 * np.eye(7)
    expected = [(known(y, base, u + h) - known(y, base, u - h)) / 2e-6 for h in steps]

    slopes = kernel._compute_slopes(ROWS, kernel._evaluate_point(y, base, ROWS, u))

    np.testing.assert_allclose(slopes, np.array(expected).T, rtol=1e-6)


def test_the_curvature_is_the_second_derivative() -> None:
    """Minus prices times the second derivative, plus what both barriers add."""
    y, base, _, u = program()
    rng = np.random.default_rng(1)
    here = kernel._evaluate_point(y, base, ROWS, u)
    prices = kernel._Multipliers(rng.random(4), rng.random(7))
    slopes, steps = kernel._compute_slopes(ROWS, here), 1e-5 * np.eye(7)
    bend = [
        prices.tests @ (known(y, base, u + h) - 2 * known(y, base, u) + known(y, base, u - h))
        for h in steps
    ]
    room = here.known - 1

    found = kernel._compute_curvature(ROWS, here, prices, slopes)

    expected = -np.array(bend) / 1e-10 + (prices.tests / room) @ slopes**2 + prices.signs / u
    np.testing.assert_allclose(found.diagonal(), expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_every_price_proves_a_cost_below_every_solution(seed: int) -> None:
    y, base, costs, u = program(seed)
    here = kernel._evaluate_point(y, base, ROWS, u)
    prices = np.random.default_rng(seed).random(4)

    proven = kernel._prove_least_cost(costs, ROWS, here, prices)
    best, at_least, worst = kernel.solve_barrier(y, base, costs, ROWS)

    assert proven <= at_least * (1 + 1e-9) + 1e-12
    assert at_least <= costs @ best <= at_least * (1 + 2e-6) + 1e-8
    assert worst <= 1.0


def test_a_step_never_leaves_the_constraints() -> None:
    y, base, _, u = program()
    here = kernel._evaluate_point(y, base, ROWS, u)

    there, walked = kernel._step_inside(y, base, ROWS, here, -10.0 * u)

    assert 0 < walked < 1
    assert (there.u > 0).all()
    assert (there.known > 1).all()


def test_reach_is_how_far_the_first_can_fall() -> None:
    assert kernel._find_reach(np.array([1.0, 2.0]), np.array([-0.5, -4.0])) == 0.5
    assert np.isinf(kernel._find_reach(np.array([1.0]), np.array([3.0])))
