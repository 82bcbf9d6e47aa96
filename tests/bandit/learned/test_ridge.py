import numpy as np
import pytest

from boundit.bandit.kernels.ridge import learn_row, locate_version
from boundit.bandit.kernels.simd import pad_rows
from boundit.bandit.learned.ridge import Ridge, RidgeStack


def test_from_statistics() -> None:
    model = Ridge.from_statistics(np.diag([2.0, 4.0]), np.array([1.0, 1.0]))

    assert model.theta.tolist() == [0.5, 0.25]
    assert model.inverse.tolist() == [[0.5, 0.0], [0.0, 0.25]]


def test_nothing_seen() -> None:
    model = Ridge.make_untrained(2, 2.0)

    assert model.A.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert model.inverse.tolist() == [[0.5, 0.0], [0.0, 0.5]]
    assert not model.b.any()
    assert not model.theta.any()


def test_models_keep_their_slots_as_more_come() -> None:
    stack = RidgeStack(3)
    rng = np.random.default_rng(0)
    models = [Ridge.from_statistics(np.eye(3) * (i + 1), rng.random(3)) for i in range(11)]

    slots = [stack.push(model) for model in models]

    assert slots == [i * stack.block for i in range(11)]
    for slot, model in zip(slots, models, strict=True):
        found = stack.get_model(slot)
        for name in ("A", "b", "inverse", "theta"):
            assert (getattr(found, name) == getattr(model, name)).all()


@pytest.mark.parametrize("ridge", [0.1, 1.0, 10.0])
def test_a_times_its_inverse_is_one(ridge: float) -> None:
    """Cold and warm alike: a stored inverse that starts wrong stays wrong."""
    rng = np.random.default_rng(0)
    stack = RidgeStack(4)
    slot = stack.push(Ridge.make_untrained(4, ridge))
    for _ in range(50):
        model = stack.get_model(slot)
        np.testing.assert_allclose(model.A @ model.inverse, np.eye(4), atol=1e-10)
        learn_row(
            stack.models,
            slot,
            pad_rows(rng.normal(size=4)),
            0,
            stack.n_features,
            float(rng.random()),
        )
    assert stack.models[slot + locate_version(stack.width)] == 50


def test_the_estimate_is_that_of_a_solve_on_all_rows() -> None:
    rng = np.random.default_rng(1)
    rows, y = rng.normal(size=(200, 5)), rng.random(200)
    stack = RidgeStack(5)
    slot = stack.push(Ridge.make_untrained(5, 0.5))
    x = pad_rows(rows).ravel()
    for i, reward in enumerate(y):
        learn_row(stack.models, slot, x, 8 * i, stack.n_features, float(reward))

    gram, at, model = 0.5 * np.eye(5) + rows.T @ rows, rng.normal(size=5), stack.get_model(slot)
    assert model.b == pytest.approx(rows.T @ y)
    assert at @ model.theta == pytest.approx(at @ np.linalg.solve(gram, rows.T @ y))
    assert at @ model.inverse @ at == pytest.approx(at @ np.linalg.solve(gram, at))


def test_collinear_rows_do_not_wear_the_model_out() -> None:
    """Within one arm its own features are constant, so columns repeat each other."""
    rng = np.random.default_rng(2)
    stack = RidgeStack(5)
    slot = stack.push(Ridge.make_untrained(5, 1.0))
    for u1, u2, y in rng.integers(0, 2, size=(20_000, 3)):
        learn_row(
            stack.models,
            slot,
            np.array([1.0, u1, u2, 1.0, 0.0, 0.0, 0.0, 0.0]),
            0,
            stack.n_features,
            float(y),
        )

    model = stack.get_model(slot)
    assert np.abs(model.inverse - np.linalg.inv(model.A)).max() < 1e-10
    assert np.abs(model.theta - np.linalg.solve(model.A, model.b)).max() < 1e-10
