"""Small dense matrices, against NumPy's."""

import numpy as np
import pytest

from boundit.bandit.kernels.dense import (
    Numbers,
    dot,
    factor,
    orthonormalize,
    solve_cholesky,
    solve_lower,
)


def make_definite(rng: np.random.Generator, n: int) -> Numbers:
    root = rng.normal(size=(n, n))
    return np.asarray(root @ root.T + 0.1 * np.eye(n))


@pytest.mark.parametrize("n", [1, 2, 5, 17])
def test_factors_solve_as_numpy_does(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b, x = make_definite(rng, n), rng.normal(size=n), rng.normal(size=(7, n))

    low = factor(np.tril(a))

    np.testing.assert_allclose(low, np.linalg.cholesky(a), atol=1e-10)
    np.testing.assert_allclose(solve_cholesky(low, b), np.linalg.solve(a, b), rtol=1e-8)
    lengths = np.square(solve_lower(low, x)).sum(axis=0)
    np.testing.assert_allclose(lengths, np.einsum("ij,ij->i", x, np.linalg.solve(a, x.T).T))


def test_nothing_moves_where_a_pivot_is_lost() -> None:
    """Two rows alike, one of them an ulp short: the solution stays finite and fits."""
    a = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-16]])

    assert solve_cholesky(factor(a), np.array([2.0, 2.0])).tolist() == [2.0, 0.0]


@pytest.mark.parametrize(("rows", "rank"), [((6, 4), 4), ((3, 5), 3), ((8, 6), 2), ((4, 4), 0)])
def test_rows_get_an_orthonormal_basis_of_the_rows(rows: tuple[int, int], rank: int) -> None:
    rng = np.random.default_rng(rank)
    n = min(*rows, rank)
    x = np.asarray(rng.normal(size=(rows[0], n)) @ rng.normal(size=(n, rows[1])))

    basis = orthonormalize(x, 1e-9)

    assert basis.shape == (rank, rows[1])
    np.testing.assert_allclose(basis @ basis.T, np.eye(rank), atol=1e-12)
    np.testing.assert_allclose(x @ basis.T @ basis, x, atol=1e-9)


def test_no_rows_have_no_basis() -> None:
    assert orthonormalize(np.empty((0, 3)), 1e-9).shape == (0, 3)
    assert dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])) == 11.0
