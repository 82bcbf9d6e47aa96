"""The allocation program: against SLSQP, against its own optimality conditions, by hand."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from boundit.bandit.ids import Floats
from boundit.bandit.oam import allocation
from boundit.bandit.oam.allocation import SMALLEST_GAP, Allocation


def allocate(
    x: Floats,
    gaps: Floats,
    *,
    width: float,
    cap: float = 100.0,
    tested: NDArray[np.bool_] | None = None,
) -> Allocation:
    asked = np.ones(len(gaps), np.bool_) if tested is None else tested
    return allocation.allocate(np.ascontiguousarray(x), gaps, asked, width, cap, SMALLEST_GAP)


def random_pairs(rng: np.random.Generator, *, linear: bool = True) -> tuple[Floats, Floats]:
    """Up to 30 pairs in up to 6 dimensions, their gaps those of a random linear reward."""
    n_features, n_contexts = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    n_arms = int(rng.integers(2, 30 // n_contexts + 1))
    shape = (n_contexts * n_arms, n_features)
    x = (
        rng.normal(size=shape)
        if rng.random() < 0.5
        else rng.integers(0, 3, shape).astype(float)
    )
    theta = rng.normal(size=n_features) * 10.0 ** rng.uniform(-2, 0)
    means = x @ theta if linear else rng.random(len(x))
    means = means.reshape(n_contexts, n_arms)
    return x, (means.max(axis=1, keepdims=True) - means).ravel()


def slsqp(x: Floats, gaps: Floats, width: float, cap: float) -> float | None:
    """The cost by a solver of another kind, derivatives given; None where it gives up."""
    worse = gaps > 1e-9
    floored = np.maximum(gaps[worse], SMALLEST_GAP)
    unit = width / floored.min() ** 2
    known = cap * x[~worse].T @ x[~worse]
    limits = (floored / floored.min()) ** 2

    def products(pulls: Floats) -> Floats:
        metric = known + (x[worse].T * pulls) @ x[worse]
        # A little more than nothing, or a direction without pulls would stop the search.
        metric[np.diag_indices_from(metric)] += 1e-12
        return np.asarray(x[worse] @ np.linalg.solve(metric, x[worse].T))

    found = minimize(
        lambda pulls: float(floored @ pulls),
        2.0 / limits,
        jac=lambda _: floored,
        bounds=[(0, None)] * len(floored),
        constraints={
            "type": "ineq",
            "fun": lambda pulls: 1 - products(pulls).diagonal() / limits,
            "jac": lambda pulls: products(pulls) ** 2 / limits[:, None],
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    met = (products(found.x).diagonal() <= limits * (1 + 1e-7)).all()
    return float(found.fun * unit) if found.success and met else None


def test_the_cost_is_that_of_another_solver() -> None:
    """Eqs. (18), (19). SLSQP gives up on some; where it does not, both agree.

    It takes seconds where there are many pairs, so that only some of those are tried.
    """
    rng = np.random.default_rng(0)
    compared = 0
    for i in range(60):
        x, gaps = random_pairs(rng, linear=bool(rng.integers(2)))
        if np.linalg.matrix_rank(x) < x.shape[1] or (len(x) > 20 and i % 10):
            continue
        ours = allocate(x, gaps, width=3.0)
        theirs = slsqp(x, gaps, 3.0, 100.0)
        unit = 3.0 / np.maximum(gaps[gaps > 1e-9], SMALLEST_GAP).min()
        if theirs is not None and ours.cost > 1e-3 * unit:
            compared += 1
            assert ours.cost == pytest.approx(theirs, rel=1e-5)
    assert compared > 12


def test_every_solution_meets_its_constraints_and_proves_its_cost() -> None:
    """The ratio is recomputed here from the pulls, with the floor on gaps in place."""
    rng = np.random.default_rng(1)
    for i in range(300):
        x, gaps = random_pairs(rng, linear=i % 2 == 0)

        found = allocate(x, gaps, width=2.0)

        worse = gaps > 1e-9
        floored = np.maximum(gaps, SMALLEST_GAP)
        if not worse.any():
            continue
        unit = 2.0 / floored[worse].min()
        assert found.worst_ratio <= 1.0
        assert found.cost == pytest.approx(found.pulls[worse] @ floored[worse])
        assert found.least_cost <= found.cost * (1 + 1e-12)
        assert found.cost - found.least_cost <= 1e-5 * found.cost + 2e-9 * unit
        information = np.linalg.pinv((x.T * found.pulls) @ x, rcond=1e-13, hermitian=True)
        left = np.einsum("ij,jk,ik->i", x, information, x)[worse]
        assert (left <= floored[worse] ** 2 / 2.0 * (1 + 1e-6)).all()


def test_prices_balance_costs_at_the_solution() -> None:
    """The conditions of Karush, Kuhn and Tucker, with multipliers fitted to the tight rows."""
    rng = np.random.default_rng(2)
    seen = 0
    while seen < 15:
        x, gaps = random_pairs(rng)
        worse = gaps > 0.02
        if np.linalg.matrix_rank(x) < x.shape[1] or (~worse & (gaps > 0)).any():
            continue
        found = allocate(x, gaps, width=1.0)
        if found.cost < 0.01 / gaps[worse].min():
            continue
        seen += 1
        metric = (x.T * found.pulls) @ x
        products = x[worse] @ np.linalg.solve(metric, x[worse].T)
        slopes = products**2 / gaps[worse, None] ** 2
        tight = products.diagonal() > gaps[worse] ** 2 * (1 - 1e-4)
        used = found.pulls[worse] * gaps[worse] > 1e-3 * found.cost
        prices = np.linalg.lstsq(slopes[tight][:, used].T, gaps[worse][used], rcond=1e-6)[0]
        assert slopes[tight][:, used].T @ prices == pytest.approx(gaps[worse][used], rel=2e-2)


def test_one_unknown_direction_is_measured_where_it_is_cheapest() -> None:
    """With the best arm known, the constraint is a straight line, and the answer is by hand."""
    x = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 1.0]])
    gaps = np.array([0.0, 0.4, 0.1])

    found = allocate(x, gaps, width=1.0, cap=math.inf)

    # T_1 2^2 + T_2 1^2 must reach max(2^2 / 0.4^2, 1 / 0.1^2) = 100; both cost 0.1 a unit.
    assert found.cost == pytest.approx(10.0, rel=2e-6)
    assert np.isinf(found.pulls[0])


def test_what_the_best_arms_measure_need_not_be_explored() -> None:
    """Context diversity: when the best arms of the contexts span the space, nothing is owed."""
    x = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.5, 0.4]])
    gaps = np.array([0.0, 0.2, 0.0, 0.3])

    assert allocate(x, gaps, width=5.0).cost == 0.0
    assert allocate(x, gaps, width=5.0, cap=math.inf).cost == 0.0


def test_a_higher_cap_never_costs_more_and_tends_to_the_infinite_one() -> None:
    rng = np.random.default_rng(3)
    for _ in range(15):
        x, gaps = random_pairs(rng)
        costs = [allocate(x, gaps, width=1.0, cap=cap).cost for cap in (10, 1e3, 1e6, math.inf)]
        unit = 1.0 / max(float(gaps[gaps > 1e-9].min(initial=1.0)), SMALLEST_GAP)
        assert all(b <= a * (1 + 2e-6) + 1e-6 * unit for a, b in pairwise(costs))
        assert costs[2] == pytest.approx(costs[3], rel=1e-3, abs=1e-3 * unit)


def test_pulls_grow_with_the_width_and_with_nothing_else() -> None:
    rng = np.random.default_rng(4)
    x, gaps = random_pairs(rng)

    one, ten = allocate(x, gaps, width=1.0), allocate(x, gaps, width=10.0)

    assert ten.pulls == pytest.approx(10 * one.pulls)
    assert ten.cost == pytest.approx(10 * one.cost)


def test_a_pair_that_is_not_tested_can_still_be_the_cheapest_to_pull() -> None:
    x = np.array([[1.0, 0.0], [0.0, 10.0], [0.0, 1.0]])
    gaps = np.array([0.0, 1.0, 0.1])
    tested = np.array([True, False, True])

    with_it = allocate(x, gaps, width=2.0, cap=math.inf, tested=tested)
    without = allocate(x[[0, 2]], gaps[[0, 2]], width=2.0, cap=math.inf)

    assert with_it.cost == pytest.approx(2.0, rel=2e-6)
    assert without.cost == pytest.approx(20.0, rel=2e-6)


@pytest.mark.parametrize("gaps", [[0.0, 0.0], [0.0, 1e-12]])
def test_without_gaps_there_is_nothing_to_tell_apart(gaps: list[float]) -> None:
    found = allocate(np.eye(2), np.array(gaps), width=1.0)

    assert (found.cost, found.least_cost, found.worst_ratio) == (0.0, 0.0, 0.0)
    assert np.isinf(found.pulls).all()


def test_vectors_that_span_less_than_the_space_are_solved_in_their_span() -> None:
    """The same program with a column of zeros and a column twice."""
    rng = np.random.default_rng(5)
    x, gaps = rng.normal(size=(8, 3)), np.array([0, 0.1, 0.2, 0.3, 0.1, 0.5, 0.4, 0.2])
    wide = np.hstack([x, np.zeros((8, 1)), x[:, :1]])
    turned = np.hstack([x * [math.sqrt(2), 1, 1]])

    assert allocate(wide, gaps, width=1.0).cost == pytest.approx(
        allocate(turned, gaps, width=1.0).cost, rel=3e-6
    )


def test_a_gap_below_the_floor_counts_as_the_floor() -> None:
    found = allocate(np.eye(2), np.array([0.0, 1e-7]), width=1.0)

    assert found.pulls[1] == pytest.approx(SMALLEST_GAP**-2, rel=1e-5)
