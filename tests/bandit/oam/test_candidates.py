"""What optimal allocation matching looks at."""

import math

import numpy as np

from boundit.bandit.oam.candidates import CandidateArms, Shares, drop_ruled_out
from boundit.bandit.ranked_arms import RankedArm, RankedArms


def test_an_arm_without_a_share_needs_all_there_are() -> None:
    """A context met for the first time is in no allocation yet."""
    ranked_arms = RankedArms.of([RankedArm(("A",), 0, 1, 0), RankedArm(("B",), 0, 1, 1)])
    candidates = CandidateArms(ranked_arms, ranked_arms, np.eye(2))
    shares: Shares = {((1,), ("B",)): 7.0}

    assert candidates.find_needs((0,), {}).tolist() == [math.inf, math.inf]
    assert candidates.find_needs((1,), shares).tolist() == [math.inf, 7.0]
    assert candidates.find_needs((1,), shares) is candidates.find_needs((1,), shares)


def test_an_upper_end_that_equals_the_best_lower_end_stays() -> None:
    tied = [RankedArm(("A",), 0.5, 0.9, 1), RankedArm(("B",), 0.1, 0.5, 0)]

    assert [ranked.arm for ranked in drop_ruled_out(tied)] == [("B",), ("A",)]
