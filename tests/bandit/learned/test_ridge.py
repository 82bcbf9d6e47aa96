import numpy as np

from boundit.bandit.learned.ridge import Ridge


def test_from_statistics() -> None:
    model = Ridge.of(np.diag([2.0, 4.0]), np.array([1.0, 1.0]))

    assert model.theta.tolist() == [0.5, 0.25]
    assert model.mean(np.array([1.0, 2.0])) == 1.0
    assert model.spread(np.array([2.0, 0.0])) == np.sqrt(2.0)


def test_nothing_seen() -> None:
    model = Ridge.untried(2, 2.0)

    assert model.A.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert model.inverse.tolist() == [[0.5, 0.0], [0.0, 0.5]]
    assert model.spread(np.zeros(2)) == model.mean(np.ones(2)) == 0.0
