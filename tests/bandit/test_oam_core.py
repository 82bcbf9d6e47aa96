"""Algorithm 5, line by line, on hand-made visits."""

import math
from dataclasses import replace

import numpy as np
import pytest

from boundit.bandit.allocation import SMALLEST_GAP
from boundit.bandit.oam_core import Branch, Choice, Visit, choose, least_gap, width

KNOWN = Visit(
    means=np.array([0.5, 0.3, 0.1]),
    spreads=np.array([0.001, 0.001, 0.001]),
    unseen=np.zeros(3),
    pulls=np.array([50.0, 20.0, 10.0]),
    needed=np.array([40.0, 20.0, 5.0]),
    lower=np.full(3, -math.inf),
    upper=np.full(3, math.inf),
)
WIDE = replace(KNOWN, spreads=np.array([0.001, 0.5, 0.001]))


def chosen(visit: Visit, *, quota: float = 0.0, index_width: float = 1.0) -> Choice:
    return choose(visit, gap=0.2, width=10.0, index_width=index_width, quota=quota)


def test_an_arm_outside_everything_pulled_so_far_comes_first() -> None:
    """D-32."""
    found = chosen(replace(KNOWN, unseen=np.array([0, 0.9, 0]), spreads=np.array([0, 9e5, 0])))

    assert (found.branch, found.place) == (Branch.START, 1)


def test_it_exploits_when_every_arm_is_known_well_enough_for_its_gap() -> None:
    """Lines 4 to 9: the limit is max(smallest gap, own gap) squared, divided by the width."""
    edge = np.array([0.2**2, 0.2**2, 0.4**2]) / 10.0
    under, over = replace(KNOWN, spreads=edge * 0.999), replace(KNOWN, spreads=edge * 1.001)

    assert (chosen(under).branch, chosen(under).place) == (Branch.EXPLOIT, 0)
    assert chosen(over).branch is not Branch.EXPLOIT
    for i in range(3):
        one = edge * 0.999
        one[i] *= 1.01
        assert chosen(replace(KNOWN, spreads=one)).branch is not Branch.EXPLOIT


def test_exploiting_clips_the_means_to_both_ends() -> None:
    """Line 7: the best estimate is capped below an arm whose lower end is higher."""
    clipped = replace(KNOWN, lower=np.array([0.0, 0.45, 0.0]), upper=np.array([0.4, 0.9, 0.2]))

    found = chosen(clipped)

    assert (found.branch, found.place) == (Branch.EXPLOIT, 1)
    assert found.index.tolist() == [0.4, 0.45, 0.1]


def test_ties_at_the_cap_go_to_the_uncapped_mean() -> None:
    """D-5."""
    tied = replace(KNOWN, means=np.array([0.4, 0.5, 0.1]), upper=np.array([0.3, 0.3, 0.3]))

    assert chosen(tied).place == 1
    assert chosen(replace(tied, means=np.array([0.5, 0.5, 0.1]))).place == 0


def test_where_all_have_their_share_exploration_is_optimistic() -> None:
    """Lines 13 and 14, eq. (16); a cap takes the widest arm out of the race (D-30)."""
    found = chosen(WIDE)

    assert (found.branch, found.place) == (Branch.WASTED, 1)
    assert found.index[1] == pytest.approx(0.3 + math.sqrt(0.5))
    assert chosen(replace(WIDE, upper=np.array([1.0, 0.4, 1.0]))).place == 0
    assert chosen(WIDE, index_width=0.0).place == 0


def test_an_arm_that_was_hardly_pulled_is_forced() -> None:
    """Lines 16 to 19: the least pulled arm, if its count is at most the quota."""
    short = replace(WIDE, needed=np.array([400.0, 20.0, 5.0]))

    assert (chosen(short, quota=10.0).branch, chosen(short, quota=10.0).place) == ("forced", 2)
    assert chosen(short, quota=9.9).branch is Branch.UNWASTED


def test_otherwise_the_arm_furthest_behind_its_share_is_pulled() -> None:
    """Lines 20 to 22, eq. (17); an arm that needs no pulls is never behind."""
    short = replace(WIDE, needed=np.array([100.0, 80.0, 0.0]))

    assert (chosen(short).branch, chosen(short).place) == (Branch.UNWASTED, 1)
    none = replace(short, pulls=np.array([50.0, 60.0, 10.0]))
    assert chosen(none).place == 0


def test_the_width_is_the_printed_formula() -> None:
    """After eq. (17); log(1/delta) with delta = 1/n is log n."""
    n, d = 1000, 4
    printed = 2 * (1 + 1 / math.log(n)) * math.log(n) + 3 * d * math.log(d * math.log(n))

    assert width(n, 1 / n, d, c=3.0, sigma2=1.0) == pytest.approx(printed)
    assert width(n, 1 / n, d, c=3.0) == pytest.approx(printed / 4)
    assert width(1, 1.0, 1) == 0.0


def test_the_smallest_gap_is_positive_and_has_a_floor() -> None:
    assert least_gap(np.array([0.0, 0.3, 0.2])) == 0.2
    assert least_gap(np.array([0.0, 1e-7, 0.2])) == SMALLEST_GAP
    assert least_gap(np.array([0.0, 1e-15])) == SMALLEST_GAP
    assert least_gap(np.array([0.0, 0.3]), 0.5) == 0.5
