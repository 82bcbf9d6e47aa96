"""Linear programs: the solver's answer is checked, and never trusted."""

import numpy as np
import pytest
from numpy.random import Generator, default_rng
from scipy.optimize import linprog

from boundit.bounds.lp.program import Program, SolveStatus, SparseMatrix
from boundit.counts.named_array import Floats
from tests.patience import PATIENCE


def draw_program(rng: Generator) -> tuple[Floats, Floats, Floats, Floats]:
    """A matrix with a row of ones, row ends around a feasible point, and a cost."""
    n_rows, n_columns = int(rng.integers(1, 8)), int(rng.integers(2, 15))
    matrix = rng.integers(0, 2, (n_rows, n_columns)).astype(float)
    matrix = np.vstack([matrix, np.ones(n_columns)])
    middle = matrix @ rng.dirichlet(np.ones(n_columns))
    slack = rng.choice([0.0, 0.05], n_rows + 1) * rng.random(n_rows + 1)
    slack[-1] = 0.0
    return matrix, middle - slack, middle + slack, rng.normal(size=n_columns)


def solve_by_scipy(matrix: Floats, lower: Floats, upper: Floats, cost: Floats) -> float:
    found = linprog(
        cost,
        A_ub=np.vstack([matrix, -matrix]),
        b_ub=np.concatenate([upper, -lower]) + 1e-12,
        method="highs-ipm",
    )
    return float(found.fun)


def test_both_ends_are_those_of_another_solver() -> None:
    for rng in default_rng(0).spawn(60):
        matrix, lower, upper, cost = draw_program(rng)
        program = Program(SparseMatrix.from_dense(matrix), lower=lower, upper=upper)

        least, most = program.minimise(cost), program.maximise(cost)

        assert least.status is most.status is SolveStatus.OPTIMAL
        assert least.bound == pytest.approx(
            solve_by_scipy(matrix, lower, upper, cost), abs=1e-7
        )
        assert most.bound == pytest.approx(
            -solve_by_scipy(matrix, lower, upper, -cost), abs=1e-7
        )
        assert least.bound <= least.value <= most.value <= most.bound


def test_a_program_asked_again_answers_like_a_fresh_one() -> None:
    for rng in default_rng(1).spawn(20):
        matrix, lower, upper, cost = draw_program(rng)
        warm = Program(SparseMatrix.from_dense(matrix), lower=lower, upper=upper)
        for _ in range(4):
            warm.minimise(cost)
            point, cost = rng.dirichlet(np.ones(len(cost))), rng.normal(size=len(cost))
            lower = upper = matrix @ point
            warm.set_ends(lower, upper)
            fresh = Program(SparseMatrix.from_dense(matrix), lower=lower, upper=upper)
            assert warm.minimise(cost).bound == pytest.approx(
                fresh.minimise(cost).bound, abs=1e-8
            )


def test_any_multipliers_prove_an_end_that_no_feasible_point_passes() -> None:
    """Weak duality: so neither a solver's tolerance nor its early stop makes a bound miss."""
    for rng in default_rng(2).spawn(60):
        matrix, lower, upper, cost = draw_program(rng)
        program = Program(SparseMatrix.from_dense(matrix), lower=lower, upper=upper)
        found = program.minimise(cost)
        tried = [rng.normal(size=len(lower)) for _ in range(5)]
        tried += [found.multipliers + 1e-6 * rng.normal(size=len(lower)), found.multipliers]
        for multipliers in tried:
            assert program.certify(cost, multipliers)[0] <= found.value


def test_ends_of_variables_stand_in_for_a_row_that_holds_all_of_them() -> None:
    rows = SparseMatrix.from_dense(np.array([[1.0, 0.0, 0.0]]))
    highest = np.array([1.0, 2.0, 3.0])
    program = Program(rows, lower=np.array([0.5]), upper=np.array([0.7]), highest=highest)

    assert program.maximise(np.array([1.0, 1.0, 1.0])).bound == pytest.approx(5.7)
    assert program.minimise(np.array([1.0, -1.0, 1.0])).bound == pytest.approx(-1.5)
    assert program.certify(np.array([0.0, -1.0, 0.0]), np.zeros(1))[0] == pytest.approx(-2.0)


def test_an_empty_program_comes_with_a_proof() -> None:
    for rng in default_rng(3).spawn(30):
        matrix, lower, upper, cost = draw_program(rng)
        lower, upper = lower.copy(), upper.copy()
        lower[-1] = upper[-1] = 1.0
        lower[0] = upper[0] = 1.5
        found = Program(SparseMatrix.from_dense(matrix), lower=lower, upper=upper).minimise(
            cost
        )

        assert found.status is SolveStatus.EMPTY
        y = found.multipliers
        ends = np.where(y > 0, y * lower, y * upper).sum()
        assert ends - (y @ matrix).max() > 0


def test_time_that_is_over_leaves_a_bound_that_holds() -> None:
    rng = default_rng(4)
    cells = rng.integers(0, 4, (8, 3_000))
    rows = np.concatenate([(cells + 4 * np.arange(8)[:, None]).ravel(), np.full(3_000, 32)])
    columns = np.tile(np.arange(3_000), 9)
    matrix = SparseMatrix(rows, columns, np.ones(len(rows)), (33, 3_000))
    weights = rng.dirichlet(np.ones(3_000))[columns]
    ends = np.bincount(rows, weights, 33).astype(np.float64)
    cost = rng.random(3_000)
    whole = Program(matrix, lower=ends, upper=ends)
    best = whole.maximise(cost)

    hurried = Program(matrix, lower=ends, upper=ends).maximise(cost, seconds=0.0)

    assert hurried.status is SolveStatus.UNFINISHED
    assert best.bound <= hurried.bound <= cost.max() + 1e-9
    assert np.isnan(hurried.value)
    assert whole.maximise(cost, seconds=PATIENCE).status is SolveStatus.OPTIMAL


def test_a_coefficient_can_be_changed_and_the_proof_follows() -> None:
    """Warm or fresh, the ends are the same, and multipliers prove the new rows."""
    rng = np.random.default_rng(3)
    dense = rng.uniform(0.5, 1.5, (3, 5))
    ends = {"lower": np.zeros(3), "upper": np.ones(3)}
    warm = Program(SparseMatrix.from_dense(dense), **ends)
    for value in (2.0, 0.25, 7.0):
        cost = rng.normal(size=5)
        dense[1, 2] = value
        warm.set_coefficient(1, 2, value)
        fresh = Program(SparseMatrix.from_dense(dense), **ends).maximise(cost)
        assert warm.maximise(cost).bound == pytest.approx(fresh.bound, abs=1e-9)
        assert warm.maximise(cost).value <= warm.maximise(cost).bound + 1e-9
