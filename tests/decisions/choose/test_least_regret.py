"""The lottery that regrets least at worst: against brute force, formulas and another solver."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from boundit.decisions.choose.least_regret import (
    bound_regret,
    certify_regret,
    find_least_regret,
    find_single,
)
from boundit.decisions.choose.mean_set import MeanSet
from boundit.results.bound import Arm
from tests.decisions.choose.test_mean_set import ARMS, list_corners, sets

SetParts = tuple[np.ndarray, np.ndarray, dict[Arm, dict[Arm, float]]]


def close(parts: SetParts) -> MeanSet:
    lowers, uppers, contrasts = parts
    return MeanSet.close(ARMS[: len(lowers)], list(lowers), list(uppers), contrasts)


def find_worst(corners: np.ndarray, chances: np.ndarray) -> float:
    """Find the worst regret of a lottery over all corners of a set of means."""
    return float((corners.max(axis=1) - corners @ chances).max())


def list_lotteries(n: int, steps: int) -> np.ndarray:
    """List every lottery over ``n`` arms whose chances are multiples of one step."""
    found = [t for t in product(range(steps + 1), repeat=n) if sum(t) == steps]
    return np.array(found) / steps


@given(sets())
def test_the_promise_is_the_worst_regret_over_all_corners(parts: SetParts) -> None:
    means, corners = close(parts), list_corners(*parts)

    chances = find_least_regret(means)

    assert chances.sum() == pytest.approx(1)
    regret, _ = bound_regret(means.find_leads(), chances)
    assert regret >= find_worst(corners, chances) - 1e-12
    assert regret == pytest.approx(find_worst(corners, chances), abs=1e-7)


@given(sets())
def test_no_lottery_of_a_fine_grid_regrets_less(parts: SetParts) -> None:
    means, corners = close(parts), list_corners(*parts)
    n = len(means.arms)
    steps = {2: 200, 3: 30, 4: 10}[n]

    regret, _ = bound_regret(means.find_leads(), find_least_regret(means))

    best = min(find_worst(corners, pi) for pi in list_lotteries(n, steps))
    assert regret <= best + 1e-7
    assert best <= regret + n / steps  # the grid comes near


@pytest.mark.parametrize("n", [3, 5, 12])
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_the_least_regret_is_that_of_another_solver(seed: int, n: int, linked: bool) -> None:
    rng = np.random.default_rng(seed)
    centre = rng.uniform(size=n)
    lowers, uppers = centre * rng.uniform(size=n), 1 - (1 - centre) * rng.uniform(size=n)
    lowers[0] = uppers[0] = centre[0]  # one arm is known
    arms: tuple[Arm, ...] = tuple((i,) for i in range(n))
    contrasts: dict[Arm, dict[Arm, float]] = {}
    for i, j in product(range(n), repeat=2):
        if linked and i != j:
            lead = float(centre[i] - centre[j] + rng.uniform(0, 0.3))
            contrasts.setdefault(arms[i], {})[arms[j]] = lead
    means = MeanSet.close(arms, list(lowers), list(uppers), contrasts)
    leads = means.find_leads()

    solved = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.column_stack([leads, -np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=[[1.0] * n + [0.0]],
        b_eq=[1.0],
        bounds=[(0, 1)] * n + [(None, None)],
    )

    regret, _ = bound_regret(leads, find_least_regret(means))
    assert regret == pytest.approx(solved.fun, abs=1e-8)


@given(st.lists(st.integers(0, 10), min_size=4, max_size=4))
def test_two_arms_are_mixed_by_manskis_formula(ends: list[int]) -> None:
    """Manski (2007): the chance of an arm is how much it may earn more, as a share."""
    (l1, u1), (l2, u2) = sorted(ends[:2]), sorted(ends[2:])
    means = MeanSet.close(ARMS[:2], [l1, l2], [u1, u2], {})
    first, second = max(u1 - l2, 0), max(u2 - l1, 0)

    chances = find_least_regret(means)
    regret, _ = bound_regret(means.find_leads(), chances)

    total = first + second
    assert regret == pytest.approx(first * second / total if total else 0.0)
    if first and second:
        assert chances[0] == pytest.approx(first / total)


@given(sets())
def test_arms_that_another_beats_are_never_drawn(parts: SetParts) -> None:
    means, corners = close(parts), list_corners(*parts)

    chances = find_least_regret(means)

    for one, other in product(range(len(means.arms)), repeat=2):
        if (corners[:, one] < corners[:, other] - 1e-6).all():
            assert chances[one] == 0


@given(sets())
def test_the_single_arm_is_the_best_of_all_arms(parts: SetParts) -> None:
    means, corners = close(parts), list_corners(*parts)
    each = np.eye(len(means.arms))

    found = find_single(means.find_leads(), means)

    assert sorted(found) == [0] * (len(found) - 1) + [1]
    least = min(find_worst(corners, arm) for arm in each)
    assert find_worst(corners, found) == pytest.approx(least, abs=1e-7)


def test_of_equal_arms_the_one_that_earns_more_at_least_is_taken() -> None:
    """Both regret at most .4: against each other."""
    means = MeanSet.close(ARMS[:2], [0.1, 0.2], [0.6, 0.5], {})

    np.testing.assert_array_equal(find_single(means.find_leads(), means), [0, 1])


def test_an_arm_is_taken_where_no_lottery_does_better() -> None:
    means = MeanSet.close(ARMS[:3], [0.5] * 3, [0.5] * 3, {})

    assert sorted(find_least_regret(means)) == [0, 0, 1]


def test_what_may_be_infinite_is_left_to_one_arm() -> None:
    means = MeanSet.close(ARMS[:2], [0.0, 0.0], [1.0, np.inf], {})

    chances = find_least_regret(means)

    assert list(chances) == [0, 1]
    assert bound_regret(means.find_leads(), chances) == (1.0, 0)


def test_equal_intervals_make_equal_chances() -> None:
    means = MeanSet.close(ARMS[:4], [0.0] * 4, [1.0] * 4, {})

    np.testing.assert_allclose(find_least_regret(means), 0.25)


@given(sets())
def test_a_certificate_meets_the_promise_and_no_lottery_is_below_it(parts: SetParts) -> None:
    """The game seen from both sides has one value."""
    means = close(parts)
    leads = means.find_leads()
    certified = certify_regret(leads)
    least, _ = bound_regret(leads, find_least_regret(means))

    assert certified is not None
    assert certified <= least + 1e-12
    assert abs(certified - least) < 1e-6
    for chances in list_lotteries(len(means.arms), 6):
        assert bound_regret(leads, chances)[0] >= certified - 1e-12


def test_what_may_be_infinite_has_no_certificate() -> None:
    assert certify_regret(np.array([[0.0, np.inf], [0.1, 0.0]])) is None
