import numpy as np
import pytest

from boundit.bandit.ridge import Ridge


@pytest.mark.parametrize("ridge", [0.1, 1.0, 10.0])
def test_a_times_its_inverse_is_one(ridge: float) -> None:
    """Cold and warm alike: a stored inverse that starts wrong stays wrong."""
    rng = np.random.default_rng(0)
    model = Ridge.untried(4, ridge)
    for _ in range(50):
        np.testing.assert_allclose(model.A @ model.inverse, np.eye(4), atol=1e-10)
        model = model.seeing(rng.normal(size=4), rng.random())


def test_the_estimate_is_that_of_a_solve_on_all_rows() -> None:
    rng = np.random.default_rng(1)
    rows, y = rng.normal(size=(200, 5)), rng.random(200)
    model = Ridge.untried(5, 0.5)
    for x, reward in zip(rows, y, strict=True):
        model = model.seeing(x, float(reward))

    gram = 0.5 * np.eye(5) + rows.T @ rows
    at = rng.normal(size=5)
    assert model.mean(at) == pytest.approx(at @ np.linalg.solve(gram, rows.T @ y))
    assert model.spread(at) == pytest.approx(np.sqrt(at @ np.linalg.solve(gram, at)))


def test_collinear_rows_do_not_wear_the_inverse_out() -> None:
    """Within one arm its own features are constant, so columns repeat each other."""
    rng = np.random.default_rng(2)
    model = Ridge.untried(5, 1.0)
    for u1, u2 in rng.integers(0, 2, size=(20_000, 2)):
        model = model.seeing(np.array([1.0, u1, u2, 1.0, 0.0]), 0.5)

    drift = np.abs(model.inverse - np.linalg.inv(model.A)).max()
    assert drift < 1e-10


def test_from_statistics() -> None:
    model = Ridge.of(np.diag([2.0, 4.0]), np.array([1.0, 1.0]))

    assert model.theta.tolist() == [0.5, 0.25]
    assert Ridge.untried(2, 2.0).spread(np.zeros(2)) == 0.0
