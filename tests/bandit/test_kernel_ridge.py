"""The compiled ridge against plain NumPy, on any number of features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.bandit.compiled import compiled
from boundit.bandit.kernel_ridge import dot, see, spread
from boundit.bandit.lanes import padded
from boundit.bandit.stage import Floats


@compiled
def spread_of(inverse: Floats, m: int, x: Floats, at: int, d: int, work: Floats) -> float:
    return spread(inverse, m, x, at, d, work)


@compiled
def seen(
    inverse: Floats, theta: Floats, m: int, x: Floats, d: int, reward: float, work: Floats
) -> None:
    see(inverse, theta, m, x, 0, d, reward, work)


@compiled
def product(one: Floats, two: Floats) -> float:
    return dot(one, 0, two, 0, one.size)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_rows_are_learned_as_numpy_learns_them(d: int, seed: int) -> None:
    """Sherman and Morrison, and the estimate as inverse(A) b; the model before is untouched."""
    rng = np.random.default_rng(seed)
    p = padded(np.zeros(d)).size
    inverse, theta = np.zeros((2, p, p)), np.zeros((2, p))
    inverse[:, range(d), range(d)] = 1.0
    flat, estimate = inverse.reshape(-1), theta.reshape(-1)
    gram, b = np.eye(d), np.zeros(d)
    for _ in range(6):
        x, reward = rng.normal(size=d), rng.random()
        seen(flat, estimate, 1, padded(x), d, reward, np.empty(p))
        gram, b = gram + np.outer(x, x), b + reward * x

        at = rng.normal(size=(3, d))
        assert inverse[1, :d, :d] == pytest.approx(np.linalg.inv(gram), abs=1e-10)
        assert theta[1, :d] == pytest.approx(np.linalg.solve(gram, b), abs=1e-10)
        found = spread_of(flat, 1, padded(at).reshape(-1), p, d, np.empty(p))
        assert found == pytest.approx(np.sqrt(at[1] @ np.linalg.solve(gram, at[1])))
    assert (inverse[0, :d, :d] == np.eye(d)).all()
    assert (inverse[1] == inverse[1].T).all()
    assert not inverse[1, d:].any()
    assert not theta[0].any()


def test_a_dot_is_four_sums_joined() -> None:
    """The order of the additions is part of the result: the other orders round otherwise."""
    one, two = np.array([1e16, 1.0, -1e16, 1.0, 1.0, 1.0, 1.0, 1.0]), np.ones(8)

    assert product(one, two) == ((1e16 + 1) + (1.0 + 1)) + ((-1e16 + 1) + (1.0 + 1))
