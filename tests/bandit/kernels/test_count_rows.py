"""Rewards counted at once are those counted one by one."""

import numpy as np

from boundit.bandit.kernels.count_rows import count_rewards


def test_sums_are_added_in_order() -> None:
    rng = np.random.default_rng(0)
    rewards, places = rng.random(1000), rng.integers(3, size=1000)
    found, expected = np.ones((6, 2)), np.ones((6, 2))

    count_rewards(found, np.array([5, 0, 2]), places, rewards)

    for place, reward in zip(places, rewards, strict=True):
        expected[[5, 0, 2][place]] += 1.0, reward
    assert (found == expected).all()
