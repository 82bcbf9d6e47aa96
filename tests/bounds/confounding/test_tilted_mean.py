"""The least mean of everyone under a limit: closed forms, programs, and what is monotone."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from boundit.bounds.confounding.tilted_mean import (
    find_least_mean_of_others,
    find_least_tilted_mean,
)
from boundit.counts.named_array import Floats


def find_greatest(e: float, law: Floats, values: Floats, limit: float) -> float:
    return -float(find_least_tilted_mean(np.array(e), law, law, -values, limit))


def solve_weights(e: float, law: Floats, values: Floats, limit: float) -> float:
    """The greatest ``e E[Y w | x]``, w in its range and of mean 1/e, by linear programming."""
    others = 1 / e - 1
    found = linprog(
        -e * law * values,
        A_eq=[law],
        b_eq=[1 / e],
        bounds=[(1 + others / limit, 1 + others * limit)] * len(law),
    )
    return float(-found.fun)


def test_a_binary_reward_has_the_closed_form_of_dorn_and_guo() -> None:
    """``min(q (e + (1-e) L), 1 - (1-q)(e + (1-e)/L))``; the lower end by ``1 - Y``."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        e, q, limit = rng.uniform(0.01, 1), rng.random(), 1 + rng.exponential(2)
        law = np.array([1 - q, q])
        upper = min(q * (e + (1 - e) * limit), 1 - (1 - q) * (e + (1 - e) / limit))
        lower = 1 - min((1 - q) * (e + (1 - e) * limit), 1 - q * (e + (1 - e) / limit))
        assert find_greatest(e, law, np.arange(2.0), limit) == pytest.approx(upper)
        found = find_least_tilted_mean(np.array(e), law, law, np.arange(2.0), limit)
        assert float(found) == pytest.approx(lower)


def test_more_values_equal_the_program_over_weights() -> None:
    rng = np.random.default_rng(2)
    for _ in range(60):
        e, limit = rng.uniform(0.02, 0.98), 1 + rng.exponential(2)
        law, values = rng.dirichlet(np.ones(5)), rng.random(5)
        wanted = solve_weights(e, law, values, limit)
        assert find_greatest(e, law, values, limit) == pytest.approx(wanted, abs=1e-7)


def test_no_confounding_gives_the_mean_and_no_limit_the_natural_bounds() -> None:
    law, values = np.array([0.2, 0.5, 0.3]), np.array([0.0, 0.4, 1.0])

    assert find_greatest(0.3, law, values, 1.0) == pytest.approx(law @ values)
    natural = 0.3 * (law @ values) + 0.7
    assert find_greatest(0.3, law, values, np.inf) == pytest.approx(natural)
    assert find_greatest(0.3, law, values, 1e9) == pytest.approx(natural)


def test_a_value_never_had_stays_impossible_at_every_finite_limit() -> None:
    """At q = 0 the upper end is 0 however large the limit, and 1 - e without one."""
    law = np.array([1.0, 0.0])

    assert find_greatest(0.4, law, np.arange(2.0), 1e6) == pytest.approx(0)
    assert find_greatest(0.4, law, np.arange(2.0), np.inf) == pytest.approx(0.6)


def test_over_intervals_the_end_is_at_the_least_chance_and_the_lowest_law() -> None:
    """No chance and law within the intervals goes beyond the one evaluation."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        centre, values = rng.dirichlet(np.ones(4)), rng.random(4)
        low, high = (centre - 0.1).clip(0), (centre + 0.1).clip(0, 1)
        e, limit = rng.uniform(0.1, 0.8), 1 + rng.exponential(2)
        end = float(find_least_tilted_mean(np.array(e), low, high, values, limit))
        for _ in range(30):
            law = (centre + rng.uniform(-0.1, 0.1, 4)).clip(low, high)
            law /= law.sum()
            if ((law < low - 1e-12) | (law > high + 1e-12)).any():
                continue
            more = np.array(rng.uniform(e, 1))
            assert end <= float(find_least_tilted_mean(more, law, law, values, limit)) + 1e-12


def search_three_arms(e: Floats, q: Floats, limit: float, aim: Floats) -> float:
    """The greatest ``aim`` of three arms' means over models with a grid of ``P(. | u)``.

    An unseen kind has chances of the arms within the limit, and a reward of 0 or 1 for each.
    """
    thirds = [np.array([i, j, 20 - i - j]) / 20 for i in range(1, 19) for j in range(1, 20 - i)]
    odds = [p / (1 - p) / (e / (1 - e)) for p in thirds]
    within = [
        p
        for p, o in zip(thirds, odds, strict=True)
        if (o <= limit + 1e-9).all() and (o >= 1 / limit - 1e-9).all()
    ]
    kinds = [(p, np.array(y)) for p in within for y in product((0, 1), repeat=3)]
    rows = np.array([[1, *p[:2], *(p * y)] for p, y in kinds]).T
    worth = np.array([aim @ y for _, y in kinds])
    found = linprog(-worth, A_eq=rows, b_eq=[1, *e[:2], *(e * q)])
    return float(-found.fun)


def test_three_arms_have_the_ends_of_which_no_model_has_all() -> None:
    """Each end is found by a search from inside; the difference of two, .1111, is not."""
    e, q = np.full(3, 1 / 3), np.array([1 / 3, 2 / 3, 1 / 2])
    ends = []
    for arm in range(3):
        law = np.array([1 - q[arm], q[arm]])
        most = find_greatest(e[arm], law, np.arange(2.0), 2)
        least = float(find_least_tilted_mean(e[arm], law, law, np.arange(2.0), 2))
        aim = np.eye(3)[arm]
        assert search_three_arms(e, q, 2, aim) == pytest.approx(most)
        assert -search_three_arms(e, q, 2, -aim) == pytest.approx(least)
        ends.append((least, most))
    assert ends[0][1] - ends[1][0] == pytest.approx(1 / 9)
    found = search_three_arms(e, q, 2, np.array([1.0, -1.0, 0.0]))
    assert found == pytest.approx(0.0741, abs=1e-4)


def test_others_alone_are_what_everyone_is_when_nobody_got_the_arm() -> None:
    law, values = np.array([0.7, 0.3]), np.arange(2.0)
    others = find_least_mean_of_others(law, values, np.array(0.3), 2.0)

    assert float(others) == pytest.approx(0.15)
    assert float(find_least_tilted_mean(np.array(0.0), law, law, values, 2.0)) == float(others)


def bound_by_rosenbaum(e: float, q: float, gamma: float) -> float:
    """The upper end where two alike differ in odds by ``gamma`` at most.

    Yadlowsky, Namkoong, Basu, Duchi and Tian (2022), for a binary reward: the odds of others
    are ``gamma`` times those of people who got the arm.
    """
    return e * q + (1 - e) * gamma * q / (gamma * q + 1 - q)


def test_rosenbaums_closed_form_lies_between_the_limits_root_gamma_and_gamma() -> None:
    """His model allows for less than a limit of Gamma, and for all that its root allows for."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        e, q, gamma = rng.uniform(0.02, 0.98), rng.uniform(0.01, 0.99), 1 + rng.exponential(3)
        law = np.array([1 - q, q])
        inner, outer = (
            find_greatest(e, law, np.arange(2.0), limit) for limit in (gamma**0.5, gamma)
        )
        assert inner - 1e-12 <= bound_by_rosenbaum(e, q, gamma) <= outer + 1e-12
        # Where both branches of ours meet, the narrower limit attains his.
        q = 1 / (1 + gamma**0.5)
        met = find_greatest(e, np.array([1 - q, q]), np.arange(2.0), gamma**0.5)
        assert met == pytest.approx(bound_by_rosenbaum(e, q, gamma))


def test_models_at_rosenbaums_limit_attain_his_form_and_keep_to_ours() -> None:
    """The unseen cause is what the arm would earn; it moves odds by the factor Gamma."""
    rng = np.random.default_rng(6)
    for _ in range(200):
        share, low, gamma = (
            rng.uniform(0.05, 0.95),
            rng.uniform(0.05, 0.9),
            1 + rng.exponential(3),
        )
        odds = np.array([low / (1 - low), low / (1 - low) / gamma])  # of the arm, by the cause
        arm, cause = odds / (1 + odds), np.array([1 - share, share])
        e = float(arm @ cause)
        q = float(arm[1] * share / e)
        average = e / (1 - e)

        assert bound_by_rosenbaum(e, q, gamma) == pytest.approx(share)
        keeps = max((odds / average).max(), (average / odds).max())
        assert keeps <= gamma + 1e-9
        assert find_greatest(e, np.array([1 - q, q]), np.arange(2.0), keeps) >= share - 1e-9
