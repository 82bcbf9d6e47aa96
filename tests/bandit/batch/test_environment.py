from itertools import product

import numpy as np
import pytest

from boundit.bandit.batch.environment import SideObservation


def test_cells_come_as_often_as_they_are_likely_given_the_reward() -> None:
    law = np.array([[[[0.5, 0.0, 0.2, 0.3], [0.1, 0.4, 0.5, 0.0]]]])
    side = SideObservation(("V", "W"), ((0, 1), ("a", "b")), law.cumsum(axis=-1))
    uniforms = (np.arange(1000) + 0.5) / 1000

    for reward in (0, 1):
        seen = [tuple(side.observe(0, 0, float(reward), u).values()) for u in uniforms]
        shares = [seen.count(cell) / 1000 for cell in product((0, 1), "ab")]
        assert shares == pytest.approx(law[0, 0, reward].tolist())
    assert list(side.observe(0, 0, 1.0, 0.0)) == ["V", "W"]
