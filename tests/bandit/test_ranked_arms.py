from copy import deepcopy

import numpy as np

from boundit.bandit.kernels.score_table import LOWER, POSITION, UPPER
from boundit.bandit.ranked_arms import RankedArm, RankedArms

THREE = [
    RankedArm(("A",), 0.1, 0.3, 0),
    RankedArm(("B",), 0.2, 0.6, 1),
    RankedArm(("C",), 0.0, 0.6, 2),
]


def test_arms_come_by_decreasing_cap_and_in_call_order() -> None:
    ranked_arms = RankedArms.of(THREE)

    assert list(ranked_arms) == [THREE[1], THREE[2], THREE[0]]
    assert ranked_arms.arms == (("B",), ("C",), ("A",))
    assert ranked_arms.in_call_order == ((2, ("A",)), (0, ("B",)), (1, ("C",)))


def test_a_blank_table_has_ends_and_places() -> None:
    blank = RankedArms.of(THREE).blank_table

    assert blank[:, UPPER].tolist() == [0.6, 0.6, 0.3]
    assert blank[:, LOWER].tolist() == [0.2, 0.0, 0.1]
    assert blank[:, POSITION].tolist() == [1, 2, 0]
    assert not np.delete(blank, [UPPER, LOWER, POSITION], axis=1).any()


def test_beaten_arms_are_kept_aside() -> None:
    ranked_arms = RankedArms.of(THREE[1:], THREE[:1])

    assert ranked_arms.beaten == (THREE[0],)
    assert len(ranked_arms) == 2
    assert RankedArms(THREE).beaten == ()
    assert deepcopy(ranked_arms).beaten == ranked_arms.beaten
