"""What optimal allocation matching looks at."""

import math

import numpy as np
import pytest

from boundit.bandit.oam.candidates import CandidateArms, CandidatePairs, Shares, worthwhile
from boundit.bandit.ranked_arms import RankedArm, RankedArms


def test_gaps_are_taken_within_each_context() -> None:
    x = np.array([[0.1], [0.5], [0.9], [0.2]])
    pairs = CandidatePairs(tuple(((i,), ()) for i in range(4)), x, np.array([0, 2, 4]))

    assert pairs.gaps(np.array([1.0])) == pytest.approx([0.4, 0, 0, 0.7])


def test_an_arm_without_a_share_needs_all_there_are() -> None:
    """A context met for the first time is in no allocation yet."""
    lineup = RankedArms.of([RankedArm(("A",), 0, 1, 0), RankedArm(("B",), 0, 1, 1)])
    offer = CandidateArms(lineup, lineup, np.eye(2))
    shares: Shares = {((1,), ("B",)): 7.0}

    assert offer.needs((0,), {}).tolist() == [math.inf, math.inf]
    assert offer.needs((1,), shares).tolist() == [math.inf, 7.0]
    assert offer.needs((1,), shares) is offer.needs((1,), shares)


def test_an_upper_end_that_equals_the_best_lower_end_stays() -> None:
    tied = [RankedArm(("A",), 0.5, 0.9, 1), RankedArm(("B",), 0.1, 0.5, 0)]

    assert [entrant.arm for entrant in worthwhile(tied)] == [("B",), ("A",)]
