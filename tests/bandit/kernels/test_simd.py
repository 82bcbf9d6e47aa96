import numpy as np
import pytest

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.simd import pad_rows, pad_size, subtract_outer, sum_rows


@compile_kernel
def sum_eight(out: Floats, matrix: Floats, x: Floats, twice: int, n: int) -> None:
    sum_rows(out, 8, matrix, 3, 11, x, 2, twice, n)


@compile_kernel
def subtract_eight(matrix: Floats, g: Floats, s: float) -> None:
    subtract_outer(matrix, 5, g, 1, 4, s)


@pytest.mark.parametrize(("twice", "n"), [(0, 5), (3, 5), (0, 0), (5, 5)])
def test_weighted_rows_are_summed_in_their_order(twice: int, n: int) -> None:
    rng = np.random.default_rng(0)
    matrix, x, out = rng.normal(size=80), rng.normal(size=9), np.full(20, 7.0)

    sum_eight(out, matrix, x, twice, n)

    expected = np.zeros(8)
    for i in range(n):
        expected = expected + expected if i == twice else expected
        expected = expected + x[2 + i] * matrix[3 + 11 * i :][:8]
    expected = expected + expected if twice == n else expected
    assert out[8:16].tolist() == expected.tolist()
    assert (np.delete(out, range(8, 16)) == 7.0).all()


def test_eight_products_are_subtracted() -> None:
    rng = np.random.default_rng(1)
    matrix, g = rng.normal(size=16), rng.normal(size=12)
    expected = matrix.copy()
    expected[5:13] -= g[1] * g[4:12] * 0.3

    subtract_eight(matrix, g, 0.3)

    assert matrix.tolist() == expected.tolist()


def test_rows_are_padded_with_zeros() -> None:
    assert pad_rows(np.ones((2, 3))).tolist() == [[1.0] * 3 + [0.0] * 5] * 2
    assert [pad_size(n) for n in (1, 7, 8, 9)] == [8, 8, 8, 16]
