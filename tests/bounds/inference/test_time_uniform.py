"""Intervals of adaptive logs: e-values have mean 1 whatever a policy does, by enumeration."""

from collections.abc import Callable, Sequence
from itertools import product
from math import exp, prod

import numpy as np
import pytest
from numpy.typing import NDArray

from boundit.bounds.inference.cells import bound_mean, clopper_pearson
from boundit.bounds.inference.time_uniform import (
    EndPair,
    bound_mean_adaptively,
    bound_share_adaptively,
    weigh_mean,
    weigh_share,
    weigh_spread,
)

Past = Sequence[tuple[int, float]]
Policy = Callable[[Past], int | None]
"""From the arms tried and what they earned to the next arm, or None to stop."""


def try_greedily(past: Past) -> int:
    tried = [[y for arm, y in past if arm == which] for which in (0, 1)]
    means = [np.mean(ys) if ys else 2.0 for ys in tried]
    return int(means[1] > means[0])


def drop_losers(past: Past) -> int | None:
    """Try arm 0 until it has earned less than half, then arm 1; stop at two rewards of it."""
    of_first = [y for arm, y in past if arm == 0]
    if all(sum(of_first[: i + 1]) >= (i + 1) / 2 for i in range(len(of_first))):
        return 0
    return None if sum(y for arm, y in past if arm == 1) >= 2 else 1


def go_on_until_it_looks_good(past: Past) -> int | None:
    earned = sum(y for _, y in past)
    return None if past and earned / len(past) > 0.6 else 0


def alternate(past: Past) -> int:
    return len(past) % 2


POLICIES = [try_greedily, drop_losers, go_on_until_it_looks_good, alternate]


def list_logs(
    policy: Policy, laws: Sequence[dict[float, float]], rounds: int
) -> list[tuple[float, Past]]:
    """List every log that a policy can write in some rounds, with its chance."""
    found = list[tuple[float, Past]]()
    waiting: list[tuple[float, list[tuple[int, float]]]] = [(1.0, [])]
    while waiting:
        chance, past = waiting.pop()
        arm = policy(past) if len(past) < rounds else None
        if arm is None:
            found.append((chance, past))
            continue
        waiting += [(chance * p, [*past, (arm, y)]) for y, p in laws[arm].items()]
    return found


def sum_arm(past: Past, which: int) -> list[NDArray[np.float64]]:
    ys = np.array([y for arm, y in past if arm == which])
    return [np.array(float(of)) for of in (ys.sum(), (ys**2).sum(), ys.size)]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("chances", [(0.5, 0.5), (0.2, 0.9), (0.01, 0.6), (0.97, 0.3)])
def test_the_e_value_of_0_1_rewards_has_mean_1_whatever_a_policy_does(
    policy: Policy, chances: tuple[float, float]
) -> None:
    logs = list_logs(policy, [{1.0: p, 0.0: 1 - p} for p in chances], rounds=6)
    assert sum(chance for chance, _ in logs) == pytest.approx(1)
    for arm, p in enumerate(chances):
        mean = mean_of_failures = 0.0
        for chance, past in logs:
            k, _, n = sum_arm(past, arm)
            mean += chance * exp(weigh_share(k, n, np.array(p)))
            mean_of_failures += chance * exp(weigh_share(n - k, n, np.array(1 - p)))
        assert mean == pytest.approx(1, abs=1e-12)
        assert mean_of_failures == pytest.approx(1, abs=1e-12)


LAWS = [
    {0.0: 0.3, 0.5: 0.4, 1.0: 0.3},
    {0.4: 0.5, 0.6: 0.5},
    {0.0: 0.9, 1.0: 0.1},
    {0.0: 0.05, 0.7: 0.9, 1.0: 0.05},
    {0.9: 0.5, 1.0: 0.5},
]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("first", LAWS)
def test_e_values_of_rewards_between_0_and_1_have_mean_at_most_1(
    policy: Policy, first: dict[float, float]
) -> None:
    laws = [first, LAWS[0]]
    logs = list_logs(policy, laws, rounds=5)
    for arm, law in enumerate(laws):
        m = np.array(sum(y * p for y, p in law.items()))
        means = np.zeros(4)
        for chance, past in logs:
            total, squared, n = sum_arm(past, arm)
            for i, (s, q, at) in enumerate(
                [(total, squared, m), (n - total, n - 2 * total + squared, 1 - m)]
            ):
                means[i] += chance * exp(weigh_share(s, n, at))
                means[2 + i] += chance * exp(weigh_mean(s, n, weigh_spread(s, q, n), at))
        assert (means <= 1 + 1e-12).all()


def test_the_e_value_falls_in_the_mean_and_is_small_from_there_on() -> None:
    for n in (1, 2, 7, 40):
        for k in np.linspace(0, n, 2 * n + 1):
            m = np.linspace(1e-9, 1 - 1e-9, 4001)
            found = weigh_share(np.full_like(m, k), np.full_like(m, n), m)
            below = m <= k / (n + 1)
            assert (np.diff(found[below]) <= 1e-9).all()
            assert (found[~below] <= 1 + 1e-9).all()


def stop_when_refuted(
    bound: Callable[..., EndPair], p: float, alpha: float, rounds: int
) -> float:
    """Compute the chance that somebody who waits for an interval to miss sees it miss."""
    alive, missed = np.array([1.0]), 0.0
    for n in range(1, rounds + 1):
        alive = np.append(alive * (1 - p), 0) + np.insert(alive * p, 0, 0)
        k = np.arange(n + 1.0)
        low, high = bound(k, np.full(n + 1, float(n)), alpha)
        out = (p < low) | (p > high)
        missed += alive[out].sum()
        alive[out] = 0
    return float(missed)


@pytest.mark.parametrize("p", [0.05, 0.5, 0.8])
def test_who_stops_when_an_interval_misses_finds_one_of_binomial_counts_but_not_ours(
    p: float,
) -> None:
    alpha = 0.1
    assert stop_when_refuted(clopper_pearson, p, alpha, rounds=120) > 2 * alpha
    ours = stop_when_refuted(bound_share_adaptively, p, alpha, rounds=120)
    assert 0 < ours <= alpha


def test_each_end_alone_misses_with_half_the_chance() -> None:
    def bound_below(k: NDArray[np.float64], n: NDArray[np.float64], a: float) -> EndPair:
        return bound_share_adaptively(k, n, a)[0], np.ones_like(n)

    for p in (0.1, 0.5):
        assert stop_when_refuted(bound_below, p, 0.2, rounds=80) <= 0.1


def test_intervals_hold_the_estimate_and_mirror_each_other() -> None:
    rng = np.random.default_rng(0)
    n = rng.integers(0, 300, 200).astype(float)
    k = np.floor(rng.random(200) * (n + 1))
    low, high = bound_share_adaptively(k, n, 0.05)
    assert (low <= k / np.maximum(n, 1)).all()
    assert (k / np.maximum(n, 1) <= high).all()
    assert ((low == 0) & (high == 1))[n == 0].all()
    mirrored_low, mirrored_high = bound_share_adaptively(n - k, n, 0.05)
    assert np.allclose([1 - mirrored_high, 1 - mirrored_low], [low, high])
    inner_low, inner_high = clopper_pearson(k, n, 0.05)
    assert ((low <= inner_low) & (high >= inner_high)).all()
    once = bound_share_adaptively(np.array([5e7]), np.array([1e8]), 0.05)
    assert 0 < once[1][0] - once[0][0] < 6e-4


def test_rewards_that_spread_little_have_narrow_intervals() -> None:
    n = np.array([500.0])
    by_squares = bound_mean_adaptively(n * 0.5, n * 0.251, n, 0.05)
    by_sums = bound_share_adaptively(n * 0.5, n, 0.05)
    assert by_squares[1] - by_squares[0] < 0.4 * (by_sums[1] - by_sums[0])
    fixed = bound_mean(n, n * 0.5, n * 0.251, 0.05)
    assert by_squares[1] - by_squares[0] < 2.5 * (fixed[1] - fixed[0])


def draw_beta(rng: np.random.Generator, a: NDArray[np.float64]) -> NDArray[np.float64]:
    return rng.beta(a[..., 0] + 1, a[..., 1] + 1)


def simulate_logs(
    name: str, chances: Sequence[float], rounds: int, n_logs: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Let a learning policy write many logs at once: successes and rows of each arm."""
    rng = np.random.default_rng(seed)
    p, logs = np.array(chances), np.arange(n_logs)
    k, n = (np.zeros((n_logs, len(p))) for _ in range(2))
    dropped = np.zeros(k.shape, dtype=bool)
    for t in range(rounds):
        mean = k / np.maximum(n, 1)
        if t < len(p):
            arm = np.full(n_logs, t)
        elif name == "ucb":
            arm = (mean + np.sqrt(2 * np.log(t + 1) / n)).argmax(axis=1)
        elif name == "greedy":
            arm = (mean + 1e-9 * rng.random(mean.shape)).argmax(axis=1)
        elif name == "thompson":
            arm = draw_beta(rng, np.stack([k, n - k], axis=-1)).argmax(axis=1)
        else:  # an arm that looks bad by a test is never tried again; the last takes the rest
            dropped |= mean + 2 * np.sqrt(0.25 / n) < 0.5
            dropped[:, -1] = False
            arm = np.where(dropped, np.inf, n).argmin(axis=1)
        earned = rng.random(n_logs) < p[arm]
        n[logs, arm] += 1
        k[logs, arm] += earned
    return k, n


@pytest.mark.parametrize("name", ["ucb", "greedy", "thompson", "drop"])
def test_intervals_hold_for_logs_of_policies_that_learn(name: str) -> None:
    alpha, p = 0.1, 0.5
    k, n = simulate_logs(name, [p] * 3, rounds=300, n_logs=2_000, seed=1)
    missed = dict[str, float]()
    for bound in (clopper_pearson, bound_share_adaptively):
        low, high = bound(k, n, alpha)
        missed[bound.__name__] = ((low > p) | (high < p)).mean(axis=0).max()
        missed[f"{bound.__name__} above"] = (high < p).mean(axis=0).max()
    assert missed["bound_share_adaptively"] <= alpha
    assert missed["bound_share_adaptively above"] <= alpha / 2
    # Binomial intervals miss more than they may: beyond three standard errors.
    if name == "thompson":
        assert missed["clopper_pearson above"] > alpha / 2 + 0.015
    if name == "drop":
        assert missed["clopper_pearson"] > 1.5 * alpha
        assert missed["clopper_pearson above"] > 2 * alpha / 2


def test_every_log_of_a_few_rows_is_listed() -> None:
    logs = list_logs(alternate, [{0.0: 0.5, 1.0: 0.5}] * 2, rounds=3)
    assert len(logs) == prod([2] * 3)
    found = {tuple(past) for _, past in logs}
    wanted = product([0.0, 1.0], repeat=3)
    assert found == {((0, a), (1, b), (0, c)) for a, b, c in wanted}
