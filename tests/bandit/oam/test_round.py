"""Algorithm 5, line by line, on hand-made visits."""

import math

import numpy as np
import pytest

from boundit.bandit.oam.allocation import SMALLEST_GAP
from boundit.bandit.oam.round import (
    BRANCHES,
    EXPLOIT,
    FORCED,
    START,
    UNWASTED,
    WASTED,
    Branch,
    ContextArms,
    MatchingChoice,
    MatchingConstants,
    choose,
    choose_for_visitor,
    compute_gaps,
    compute_width,
    estimate,
    find_least_gap,
)
from tests.bandit import plain_oam

KNOWN = ContextArms(
    means=np.array([0.5, 0.3, 0.1]),
    spreads=np.array([0.001, 0.001, 0.001]),
    unseen=np.zeros(3),
    pulls=np.array([50.0, 20.0, 10.0]),
    needed=np.array([40.0, 20.0, 5.0]),
    lower=np.full(3, -math.inf),
    upper=np.full(3, math.inf),
)
WIDE = KNOWN._replace(spreads=np.array([0.001, 0.5, 0.001]))


def chosen(
    visit: ContextArms, *, quota: float = 0.0, index_width: float = 1.0
) -> MatchingChoice:
    return choose(visit, 0.2, 10.0, index_width, quota)


def test_an_arm_outside_everything_pulled_so_far_comes_first() -> None:
    """D-32."""
    found = chosen(KNOWN._replace(unseen=np.array([0, 0.9, 0]), spreads=np.array([0, 9e5, 0])))

    assert (found.branch, found.place) == (START, 1)


def test_it_exploits_when_every_arm_is_known_well_enough_for_its_gap() -> None:
    """Lines 4 to 9: the limit is max(smallest gap, own gap) squared, divided by the width."""
    edge = np.array([0.2**2, 0.2**2, 0.4**2]) / 10.0
    under, over = KNOWN._replace(spreads=edge * 0.999), KNOWN._replace(spreads=edge * 1.001)

    assert (chosen(under).branch, chosen(under).place) == (EXPLOIT, 0)
    assert chosen(over).branch != EXPLOIT
    for i in range(3):
        one = edge * 0.999
        one[i] *= 1.01
        assert chosen(KNOWN._replace(spreads=one)).branch != EXPLOIT


def test_exploiting_clips_the_means_to_both_ends() -> None:
    """Line 7: the best estimate is capped below an arm whose lower end is higher."""
    clipped = KNOWN._replace(lower=np.array([0.0, 0.45, 0.0]), upper=np.array([0.4, 0.9, 0.2]))

    found = chosen(clipped)

    assert (found.branch, found.place) == (EXPLOIT, 1)
    assert found.scores.tolist() == [0.4, 0.45, 0.1]


def test_ties_at_the_cap_go_to_the_uncapped_mean() -> None:
    """D-5."""
    tied = KNOWN._replace(means=np.array([0.4, 0.5, 0.1]), upper=np.array([0.3, 0.3, 0.3]))

    assert chosen(tied).place == 1
    assert chosen(tied._replace(means=np.array([0.5, 0.5, 0.1]))).place == 0


def test_where_all_have_their_share_exploration_is_optimistic() -> None:
    """Lines 13 and 14, eq. (16); a cap takes the widest arm out of the race (D-30)."""
    found = chosen(WIDE)

    assert (found.branch, found.place) == (WASTED, 1)
    assert found.scores[1] == pytest.approx(0.3 + math.sqrt(0.5))
    assert chosen(WIDE._replace(upper=np.array([1.0, 0.4, 1.0]))).place == 0
    assert chosen(WIDE, index_width=0.0).place == 0


def test_an_arm_that_was_hardly_pulled_is_forced() -> None:
    """Lines 16 to 19: the least pulled arm, if its count is at most the quota."""
    short = WIDE._replace(needed=np.array([400.0, 20.0, 5.0]))

    assert (chosen(short, quota=10.0).branch, chosen(short, quota=10.0).place) == (FORCED, 2)
    assert chosen(short, quota=9.9).branch == UNWASTED


def test_otherwise_the_arm_furthest_behind_its_share_is_pulled() -> None:
    """Lines 20 to 22, eq. (17); an arm that needs no pulls is never behind."""
    short = WIDE._replace(needed=np.array([100.0, 80.0, 0.0]))

    assert (chosen(short).branch, chosen(short).place) == (UNWASTED, 1)
    none = short._replace(pulls=np.array([50.0, 60.0, 10.0]))
    assert chosen(none).place == 0


def test_the_width_is_the_printed_formula() -> None:
    """After eq. (17); log(1/delta) with delta = 1/n is log n."""
    n, d = 1000, 4
    printed = 2 * (1 + 1 / math.log(n)) * math.log(n) + 3 * d * math.log(d * math.log(n))

    assert compute_width(1000.0, 1 / n, d, 3.0, 1.0) == pytest.approx(printed)
    assert compute_width(1000.0, 1 / n, d, 3.0, 0.25) == pytest.approx(printed / 4)
    assert compute_width(1.0, 1.0, 1, 0.0, 0.25) == 0.0


def test_the_smallest_gap_is_positive_and_has_a_floor() -> None:
    def least(
        gaps: list[float], *, most: float = math.inf, floor: float = SMALLEST_GAP
    ) -> float:
        return find_least_gap(np.array(gaps), most, floor)

    assert least([0.0, 0.3, 0.2]) == 0.2
    assert least([0.0, 1e-7, 0.2]) == SMALLEST_GAP
    assert least([0.0, 1e-15]) == SMALLEST_GAP
    assert least([0.0, 0.3], floor=0.5) == 0.5
    assert least([0.0, 0.3], most=0.1) == 0.1
    assert least([], most=math.inf) == SMALLEST_GAP


def test_branches_have_the_numbers_of_their_names() -> None:
    assert [BRANCHES[i] for i in (START, EXPLOIT, WASTED, FORCED, UNWASTED)] == list(Branch)


def random_visit(
    rng: np.random.Generator,
) -> tuple[plain_oam.Known, plain_oam.Arms, MatchingConstants]:
    """Some contexts with some arms, rows pulled so far, bounds or none."""
    d, n_contexts, n_arms = (int(n) for n in rng.integers([1, 1, 1], [7, 4, 6]))
    pairs = rng.integers(-1, 3, (n_contexts * n_arms, d)).astype(float)
    rows = pairs[rng.integers(len(pairs), size=int(rng.choice([0, 3, 40, 4000])))]
    rewards = (rng.random(len(rows)) < 0.5).astype(float)
    known = plain_oam.Known(
        rows.T @ rows,
        rows.T @ rewards,
        pairs,
        np.arange(0, len(pairs) + 1, n_arms),
        int(rng.integers(200)),
        int(rng.integers(5000)),
    )
    bounded, pulls = rng.random() < 0.5, rng.integers(0, 40, n_arms).astype(float)
    ends = np.sort(rng.random((2, n_arms)), axis=0) if bounded else [[-np.inf], [np.inf]]
    arms = plain_oam.Arms(
        pairs[:n_arms],
        pulls,
        np.where(rng.random(n_arms) < 0.5, rng.integers(0, 60, n_arms), np.inf),
        *(np.broadcast_to(end, n_arms).copy() for end in ends),
    )
    constants = MatchingConstants(
        5000.0, float(rng.choice([0, 1])), 0.25, float(rng.choice([0.01, np.nan])), 0.002
    )
    return known, arms, constants


def test_a_round_is_that_of_plain_numpy() -> None:
    """Algorithm 5 written with NumPy's own solver and sorts; every branch is met."""
    rng, met = np.random.default_rng(0), set[int]()
    for _ in range(400):
        known, arms, constants = random_visit(rng)

        ours = choose_for_visitor(
            constants,
            known.gram,
            known.moment,
            arms.x,
            (arms.pulls, arms.allocation, arms.lower, arms.upper),
            known.pairs,
            known.blocks,
            known.explorations,
            known.events,
        )

        branch, place, index = plain_oam.choose_for_visitor(constants, known, arms)
        met.add(ours.branch)
        assert BRANCHES[ours.branch] == branch
        np.testing.assert_allclose(ours.scores, index, rtol=1e-5, atol=1e-6)
        assert index[ours.place] == pytest.approx(index[place], rel=1e-5, abs=1e-6)
    assert met == set(range(5))


def test_estimates_are_those_of_an_inverse() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        known, arms, _ = random_visit(rng)

        ours = estimate(arms.x, known.gram, known.moment)

        for one, other in zip(ours, plain_oam.estimate(arms.x, known), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-8)


def test_gaps_are_taken_within_each_block() -> None:
    x = np.array([[0.1], [0.5], [0.9], [0.2]])

    gaps = compute_gaps(x, np.array([0, 2, 4]), np.array([1.0]))

    assert gaps == pytest.approx([0.4, 0, 0, 0.7])
