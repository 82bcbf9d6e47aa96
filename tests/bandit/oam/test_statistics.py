"""What optimal allocation matching remembers."""

import copy
from itertools import pairwise

import numpy as np
import pytest

from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadFeatures
from boundit.bandit.kernels.dense import Numbers
from boundit.bandit.oam.round import MatchingConstants, estimate
from boundit.bandit.oam.statistics import MatchingStatistics
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm, Context
from boundit.terms.bound_table import BoundTable

CONSTANTS = MatchingConstants(1000.0, 0.0, 0.25, 0.01, 0.002)
SPEC = BanditSpec((("A",), ("B",)), (("A", "B"),), ("Age",), ((0, 1),))


def take(
    statistics: MatchingStatistics, context: Context, arm: Arm, x: Numbers, reward: float
) -> None:
    statistics.take(Decision("", arm, context, tuple(x.tolist()), {}), reward)


def estimate_with(statistics: MatchingStatistics, x: Numbers) -> tuple[Numbers, ...]:
    size = x.shape[1]
    return estimate(x, *(statistics.rows or (np.zeros((size, size)), np.zeros(size))))


def filled(rounds: int, seed: int = 0) -> MatchingStatistics:
    rng, statistics = np.random.default_rng(seed), MatchingStatistics(SPEC, None)
    for _ in range(rounds):
        context, arm = (int(rng.integers(2)),), ("AB"[rng.integers(2)],)
        take(statistics, context, arm, statistics.encode(context, arm), float(rng.random()))
    return statistics


def test_the_estimate_is_least_squares() -> None:
    rng, statistics = np.random.default_rng(1), MatchingStatistics(SPEC, None)
    rows, rewards = [], []
    for _ in range(40):
        context, arm = (int(rng.integers(2)),), ("AB"[rng.integers(2)],)
        rows.append(statistics.encode(context, arm))
        rewards.append(float(rng.random()))
        take(statistics, context, arm, rows[-1], rewards[-1])

    theta, spreads, unseen = estimate_with(statistics, np.array(rows))

    exact = np.linalg.lstsq(np.array(rows), np.array(rewards), rcond=None)[0]
    assert theta == pytest.approx(exact, abs=1e-5)
    assert spreads.sum() == pytest.approx(3, abs=1e-4)  # leverages add up to the rank
    assert unseen.max() < 1e-5


def test_what_was_never_pulled_is_unseen_until_its_direction_is() -> None:
    """D-32: the third vector is the sum of the first two."""
    statistics = MatchingStatistics(SPEC, lambda *_: [1.0, 0.0])
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])

    assert estimate_with(statistics, x)[2] == pytest.approx([1, 1, 1])
    take(statistics, (0,), ("A",), x[0], 0.5)
    assert estimate_with(statistics, x)[2] == pytest.approx([0, 1, 0.5], abs=1e-4)
    take(statistics, (0,), ("B",), x[1], 0.5)
    assert estimate_with(statistics, x)[2] == pytest.approx([0, 0, 0], abs=1e-4)


def test_pairs_are_those_of_contexts_met_and_arms_not_ruled_out() -> None:
    """D-34: B is out in context 1, where its upper end is below A's lower end."""
    table = BoundTable.from_rows(
        [
            {"Arm": "A", "Age": 1, "lower": 0.5, "upper": 0.9},
            {"Arm": "B", "Age": 1, "lower": 0.1, "upper": 0.4},
        ],
        outcome="Y",
        treatments=["Arm"],
        context=["Age"],
        outcome_range=(0, 1),
    )
    statistics = MatchingStatistics(SPEC, None)
    assert statistics.find_pairs(PriorBounds()).keys == ()

    take(statistics, (1,), ("A",), statistics.encode((1,), ("A",)), 1.0)
    assert statistics.find_pairs(PriorBounds()).keys == (((1,), ("A",)), ((1,), ("B",)))
    assert statistics.find_pairs(PriorBounds(table)).keys == (((1,), ("A",)),)

    take(statistics, (0,), ("B",), statistics.encode((0,), ("B",)), 1.0)
    take(statistics, (0,), ("C",), np.array([1.0, 0.0, 0.0]), 1.0)
    with pytest.raises(BadFeatures):
        statistics.find_pairs(PriorBounds())


def test_the_allocation_is_worked_out_on_a_geometric_schedule() -> None:
    statistics, solved = filled(50), []
    for _ in range(400):
        before = statistics.allocation
        statistics.count_exploration(PriorBounds(), CONSTANTS)
        if statistics.allocation is not before:
            solved.append(statistics.explorations)

    assert solved[:3] == [1, 2, 3]
    assert len(solved) < 100
    assert all(b <= 1.05 * a + 1 for a, b in pairwise(solved))
    assert set(statistics.allocation) == set(statistics.find_pairs(PriorBounds()).keys)


def test_two_statistics_add_up() -> None:
    shared = filled(10)
    one, two = (shared.restore(shared.to_record(), SPEC) for _ in range(2))
    both = shared.restore(shared.to_record(), SPEC)
    for i, statistics in enumerate((one, two)):
        arm = (("A",), ("B",))[i]
        for target in (statistics, both):
            take(target, (i,), arm, target.encode((i,), arm), 0.25 * (i + 1))
            target.count_exploration(PriorBounds(), CONSTANTS)

    joined = one.join(two, shared)

    x = np.eye(3)
    for a, b in zip(estimate_with(joined, x), estimate_with(both, x), strict=True):
        assert a == pytest.approx(b)
    assert joined.explorations == both.explorations == 2
    assert joined.counts.to_record() == both.counts.to_record()
    assert joined.allocation == {}
    joined.count_exploration(PriorBounds(), CONSTANTS)
    assert joined.allocation


def test_nothing_joined_with_nothing_is_nothing() -> None:
    empty = MatchingStatistics(SPEC, None)

    assert empty.join(empty, empty).rows is None


def test_a_record_gives_the_statistics_back() -> None:
    statistics = filled(30)
    statistics.count_exploration(PriorBounds(), CONSTANTS)

    again = MatchingStatistics(SPEC, None).restore(statistics.to_record(), SPEC)

    assert again.to_record() == statistics.to_record()
    assert again.allocation == statistics.allocation
    with pytest.raises(TypeError):
        statistics.restore([], SPEC)
    with pytest.raises(ValueError, match="do not fit"):
        statistics.restore({**statistics.to_record(), "moment": [1.0]}, SPEC)


def test_candidates_of_a_context_are_found_once() -> None:
    statistics, prior = filled(20), PriorBounds()
    ranked_arms = prior.rank(SPEC.arms, (1,), held=True)

    candidates = statistics.find_candidates((1,), ranked_arms)

    assert statistics.find_candidates((1,), ranked_arms) is candidates
    assert (
        statistics.find_candidates((1,), prior.rank(SPEC.arms, (1,), held=False))
        is not candidates
    )
    assert candidates.x.tolist() == [statistics.encode((1,), arm).tolist() for arm in SPEC.arms]
    assert copy.deepcopy(statistics).find_candidates((1,), ranked_arms) is not candidates


def test_features_of_two_lengths_are_refused() -> None:
    statistics = MatchingStatistics(SPEC, lambda _, arm: [1.0] * (1 + (arm == ("B",))))

    with pytest.raises(BadFeatures, match="are 2 numbers"):
        statistics.find_candidates((0,), PriorBounds().rank(SPEC.arms, (0,), held=True))


def test_a_regression_is_carried_over_to_more_levels() -> None:
    """Counts and explorations stay; arms that are held no more want no pulls."""
    statistics = MatchingStatistics(SPEC, None)
    for arm in "AB":
        x = tuple(statistics.encode((1,), (arm,)).tolist())
        statistics.take(Decision("", (arm,), (1,), x, {}), 1.0)
    spec = BanditSpec(
        (("A",), ("0",)), (("0", "A", "B"),), ("Age",), ((0, 1),), retired=(("B",),)
    )

    wide = statistics.widen(spec)

    assert statistics.widen(SPEC) is statistics
    assert wide.rows is not None
    both = np.array([wide.encode((1,), (arm,)) for arm in "AB"])
    assert wide.rows[0].tolist() == (both.T @ both).tolist()
    assert wide.rows[1].tolist() == both.sum(axis=0).tolist()
    assert {arm for _, arm in wide.find_pairs(PriorBounds()).keys} == {("A",), ("0",)}
