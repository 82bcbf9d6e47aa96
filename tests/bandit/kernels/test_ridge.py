"""The compiled ridge against plain NumPy, on any number of features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.ridge import (
    compute_spread,
    dot_padded,
    learn_row,
    locate_version,
    predict_mean,
)
from boundit.bandit.kernels.simd import pad_rows
from boundit.bandit.learned.ridge import Ridge, RidgeStack


@compile_kernel
def predict(models: Floats, model: int, x: Floats, row: int, d: int) -> tuple[float, float]:
    scratch = np.empty(x.size // 3)
    return predict_mean(models, model, x, row, scratch.size), compute_spread(
        models, model, x, row, d, scratch
    )


@compile_kernel
def dot_alone(one: Floats, two: Floats) -> float:
    return dot_padded(one, 0, two, 0, one.size)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_rows_are_learned_as_numpy_learns_them(d: int, seed: int) -> None:
    """Sherman and Morrison, and the estimate as inverse(A) b; the model before is untouched."""
    rng, stack = np.random.default_rng(seed), RidgeStack(d)
    first, slot = (stack.push(Ridge.make_untrained(d, 1.0)) for _ in range(2))
    p, gram, b = stack.width, np.eye(d), np.zeros(d)
    for n in range(1, 7):
        x, reward = rng.normal(size=(2, d)), rng.random()
        learn_row(stack.models, slot, pad_rows(x).ravel(), p, d, reward)
        gram, b = gram + np.outer(x[1], x[1]), b + reward * x[1]

        model, at = stack.get_model(slot), rng.normal(size=(3, d))
        np.testing.assert_allclose(model.A, gram)
        assert model.b == pytest.approx(b)
        assert model.inverse == pytest.approx(np.linalg.inv(gram), abs=1e-10)
        assert model.theta == pytest.approx(np.linalg.solve(gram, b), abs=1e-10)
        mean, wide = predict(stack.models, slot, pad_rows(at).ravel(), p, d)
        assert mean == pytest.approx(at[1] @ np.linalg.solve(gram, b), abs=1e-9)
        assert wide == pytest.approx(np.sqrt(at[1] @ np.linalg.solve(gram, at[1])))
        assert stack.models[slot + locate_version(p)] == n
    assert (model.inverse == model.inverse.T).all()
    assert (stack.get_model(first).inverse == np.eye(d)).all()
    assert not stack.get_model(first).theta.any()
    assert np.count_nonzero(stack.models[slot:]) <= 2 * (d * d + d) + 1


def test_a_dot_is_four_sums_joined() -> None:
    """The order of the additions is part of the result: the other orders round otherwise."""
    one, two = np.array([1e16, 1.0, -1e16, 1.0, 1.0, 1.0, 1.0, 1.0]), np.ones(8)

    assert dot_alone(one, two) == ((1e16 + 1) + (1.0 + 1)) + ((-1e16 + 1) + (1.0 + 1))
