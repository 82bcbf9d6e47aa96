from itertools import product

import numpy as np
import pytest

from boundit.bandit.batch.environment import FiniteEnvironment, SideObservation

MEANS = np.array([[0.2, 0.6], [0.9, 0.1]])


def test_an_arm_pays_where_the_uniform_lies_below_its_mean() -> None:
    environment = FiniteEnvironment(((0,), (1,)), (("A",), ("B",)), MEANS)
    contexts, pulls = np.array([[0, 0, 1], [1, 1, 0]]), np.array([[0, 1, 0], [1, 0, 1]])
    uniforms = np.array([[0.3, 0.3, 0.3], [0.05, 0.95, 0.6]])

    assert environment.compute_rewards(contexts, uniforms, pulls).tolist() == [
        [0, 1, 1],
        [1, 0, 0],
    ]
    assert environment.side_observation is None


def test_cells_come_as_often_as_they_are_likely_given_the_reward() -> None:
    law = np.array([[[[0.5, 0.0, 0.2, 0.3], [0.1, 0.4, 0.5, 0.0]]]])
    side = SideObservation(("V", "W"), ((0, 1), ("a", "b")), law.cumsum(axis=-1))
    uniforms = (np.arange(1000) + 0.5) / 1000

    for reward in (0, 1):
        seen = [tuple(side.observe(0, 0, float(reward), u).values()) for u in uniforms]
        shares = [seen.count(cell) / 1000 for cell in product((0, 1), "ab")]
        assert shares == pytest.approx(law[0, 0, reward].tolist())
    assert list(side.observe(0, 0, 1.0, 0.0)) == ["V", "W"]
