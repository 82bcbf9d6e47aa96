"""What optimal allocation matching looks at."""

import math

import numpy as np
import pytest

from boundit.bandit.lineup import Entrant, Lineup
from boundit.bandit.oam_offer import Offer, Pairs, Shares, worthwhile


def test_gaps_are_taken_within_each_context() -> None:
    x = np.array([[0.1], [0.5], [0.9], [0.2]])
    pairs = Pairs(tuple(((i,), ()) for i in range(4)), x, np.array([0, 2, 4]))

    assert pairs.gaps(np.array([1.0])) == pytest.approx([0.4, 0, 0, 0.7])


def test_an_arm_without_a_share_needs_all_there_are() -> None:
    """A context met for the first time is in no allocation yet."""
    lineup = Lineup.of([Entrant(("A",), 0, 1, 0), Entrant(("B",), 0, 1, 1)])
    offer = Offer(lineup, lineup, np.eye(2))
    shares: Shares = {((1,), ("B",)): 7.0}

    assert offer.needs((0,), {}).tolist() == [math.inf, math.inf]
    assert offer.needs((1,), shares).tolist() == [math.inf, 7.0]
    assert offer.needs((1,), shares) is offer.needs((1,), shares)


def test_an_upper_end_that_equals_the_best_lower_end_stays() -> None:
    tied = [Entrant(("A",), 0.5, 0.9, 1), Entrant(("B",), 0.1, 0.5, 0)]

    assert [entrant.arm for entrant in worthwhile(tied)] == [("B",), ("A",)]
