"""When particles decide, and what a round of a simulation shows."""

import numpy as np

from boundit.bandit.fused.runs import Sights, find_shown, is_blind


def test_particles_decide_while_fewer_than_one_in_ten_rounds_showed_all() -> None:
    assert not is_blind(np.array([0.0, 0.0]))
    assert is_blind(np.array([1.0, 0.0]))
    assert not is_blind(np.array([10.0, 1.0]))
    assert is_blind(np.array([11.0, 1.0]))


def test_a_round_shows_the_cell_whose_end_lies_above_its_luck() -> None:
    ends = np.array([[[0.2, 1.0], [0.7, 1.0]]])
    leaves, may_be = np.array([0, 1]), np.ones((2, 2), np.bool_)
    sights = Sights(np.array([[0.1, 0.5, np.nan]]), ends, leaves, may_be)
    assert [find_shown(sights, 0, t, 0, 0) for t in range(3)] == [0, 1, -1]
    assert [find_shown(sights, 0, t, 0, 1) for t in range(3)] == [0, 0, -1]
    nothing = sights._replace(luck=np.zeros((1, 0)))
    assert find_shown(nothing, 0, 0, 0, 0) == -1
