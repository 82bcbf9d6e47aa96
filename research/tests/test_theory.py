"""Theorems 5, 7 and 8 and their lemmas: the ceilings hold, and fall as bounds tighten."""

import math
from collections.abc import Mapping

import numpy as np
import pytest

from boundit.bandit.errors import BadOption
from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.ucb import UCB
from boundit.results.bound import Key
from boundit.results.bound_table import BoundTable
from boundit.simulation.environments import paper_environment
from boundit_research.theory import (
    OutsideTheorem,
    bound_log_volume,
    compute_confidence_radius,
    compute_lin_ucb_ceiling,
    compute_oam_ceiling,
    compute_oam_rate,
    compute_ucb_ceiling,
    count_ruled_out,
    find_largest_norm,
    find_ruled_out,
)


def bounded(means: Mapping[Key, float], uppers: Mapping[Key, float]) -> BoundTable:
    """A table over one treatment and one context variable; a missing upper end is 1."""
    rows = [
        {"A": arm[0], "C": context[0], "lower": 0.0, "upper": uppers.get((arm, context), 1.0)}
        for arm, context in means
    ]
    return BoundTable.from_rows(
        rows, outcome="Y", treatments=["A"], context=["C"], outcome_range=(0, 1)
    )


def random_means(rng: np.random.Generator, n_arms: int, n_contexts: int) -> dict[Key, float]:
    return {((a,), (c,)): float(rng.random()) for a in range(n_arms) for c in range(n_contexts)}


def nested_uppers(
    rng: np.random.Generator, means: Mapping[Key, float]
) -> tuple[dict[Key, float], dict[Key, float]]:
    """Valid upper ends, and valid ones that are at least as tight."""
    loose = {key: mean + (1 - mean) * float(rng.random()) for key, mean in means.items()}
    tight = {k: m + (loose[k] - m) * float(rng.random()) for k, m in means.items()}
    return loose, tight


def test_the_count_is_of_pairs_below_the_best_mean_of_their_own_context() -> None:
    """The sum that defines N_pcb, after Theorem 6."""
    means: dict[Key, float] = {
        ((0,), (0,)): 0.5,
        ((1,), (0,)): 0.2,
        ((0,), (1,)): 0.1,
        ((1,), (1,)): 0.9,
    }
    table = bounded(means, {((1,), (0,)): 0.4, ((0,), (1,)): 0.6})

    assert find_ruled_out(table, means) == (((1,), (0,)), ((0,), (1,)))
    assert count_ruled_out(table, means) == 2
    assert count_ruled_out(bounded(means, {}), means) == 0


def test_tighter_bounds_rule_out_more_and_lower_every_ceiling() -> None:
    """Theorem 8's sum and Theorem 5's L, with valid bounds that shrink."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        means = random_means(rng, 4, 2)
        features = {key: rng.normal(size=3).tolist() for key in means}
        loose, tight = (bounded(means, uppers) for uppers in nested_uppers(rng, means))

        assert count_ruled_out(loose, means) <= count_ruled_out(tight, means)
        ceilings = [
            compute_ucb_ceiling(means, horizon=100, bounds=b) for b in (None, loose, tight)
        ]
        norms = [find_largest_norm(features, means, b) for b in (None, loose, tight)]
        assert ceilings == sorted(ceilings, reverse=True)
        assert norms == sorted(norms, reverse=True)


def test_on_the_papers_example_no_valid_bound_lowers_the_norm() -> None:
    """D-27, with the paper's features; exact bounds rule out 12 of 16 pairs."""
    means = paper_environment().means()
    features = {(arm, context): (*context, *arm) for arm, context in means}
    exact = BoundTable.from_rows(
        [
            {
                **dict(zip(("X1", "X2", "U1", "U2"), arm + at, strict=True)),
                "lower": m,
                "upper": m,
            }
            for (arm, at), m in means.items()
        ],
        outcome="Y",
        treatments=["X1", "X2"],
        context=["U1", "U2"],
        outcome_range=(0, 1),
    )

    assert count_ruled_out(exact, means) == 12
    assert (
        find_largest_norm(features, means) == find_largest_norm(features, means, exact) == 2.0
    )


def test_squared_widths_and_the_determinant_stay_below_their_bounds() -> None:
    """Lemmas 3 and 4, for a ridge of max(1, L^2); vectors of any length up to L."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        n_features, rounds = int(rng.integers(1, 6)), int(rng.integers(1, 120))
        x = rng.normal(size=(rounds, n_features)) * 10.0 ** rng.uniform(-1, 1)
        norm = float(np.linalg.norm(x, axis=1).max())
        ridge = max(1.0, norm**2)
        seen, widths = ridge * np.eye(n_features), 0.0
        for row in x:
            widths += float(row @ np.linalg.solve(seen, row))
            seen = seen + np.outer(row, row)
        grown = float(np.linalg.slogdet(seen / ridge)[1])
        limit = bound_log_volume(horizon=rounds, n_features=n_features, norm=norm, ridge=ridge)

        assert grown <= limit * (1 + 1e-12)
        assert widths <= 2 * grown * (1 + 1e-12)


def test_the_coefficients_stay_in_the_ellipsoid() -> None:
    """Lemmas 2 and 5: normal noise, vectors chosen to be the widest so far; delta = 0.1."""
    rng = np.random.default_rng(2)
    left = 0
    for _ in range(100):
        theta = rng.normal(size=3)
        theta /= np.linalg.norm(theta)
        radius = compute_confidence_radius(
            horizon=60, n_features=3, norm=1.0, theta_norm=1.0, delta=0.1
        )
        seen, b, outside = np.eye(3), np.zeros(3), False
        for _ in range(60):
            x = rng.normal(size=(4, 3))
            x /= np.linalg.norm(x, axis=1, keepdims=True)
            row = x[np.argmax(np.einsum("ij,ij->i", x, np.linalg.solve(seen, x.T).T))]
            seen, b = seen + np.outer(row, row), b + row * (row @ theta + rng.normal())
            off = np.linalg.solve(seen, b) - theta
            outside |= bool(off @ seen @ off > radius**2)
        left += outside
    assert left <= 10


def test_linear_optimism_regrets_less_than_its_ceiling() -> None:
    """Theorem 5, one shared regression, alpha as the proof has it, features of length 1."""
    theta, rounds = np.array([0.6, 0.5]), 300
    arms = {i: (math.cos(i / 5), math.sin(i / 5)) for i in range(8)}
    means = {arm: float(np.dot(theta, x)) for arm, x in arms.items()}
    ceiling = compute_lin_ucb_ceiling(
        horizon=rounds, n_features=2, norm=1.0, theta_norm=0.8, delta=0.05
    )
    alpha = compute_confidence_radius(
        horizon=rounds, n_features=2, norm=1.0, theta_norm=0.8, delta=0.05
    )
    rng = np.random.default_rng(3)
    for _ in range(3):
        policy = LinUCB(alpha=alpha, shared=True, arms=[*arms], features=lambda _, a: arms[a])
        regret = 0.0
        for _ in range(rounds):
            decision = policy.decide()
            policy.learn(decision, float(rng.random() < means[decision.arm]))
            regret += max(means.values()) - means[decision.arm]
        assert regret <= ceiling


def test_a_regression_for_each_arm_costs_a_root_and_its_share_of_delta() -> None:
    """D-24."""
    one = compute_lin_ucb_ceiling(horizon=100, n_features=2, norm=1, theta_norm=1, delta=0.1)
    four = compute_lin_ucb_ceiling(
        horizon=100, n_features=2, norm=1, theta_norm=1, delta=0.1, regressions=4
    )
    finer = compute_lin_ucb_ceiling(
        horizon=100, n_features=2, norm=1, theta_norm=1, delta=0.025
    )

    assert one < four
    assert four == pytest.approx(2 * finer)


def test_the_ceiling_is_refused_where_its_lemma_does_not_hold() -> None:
    """D-26: the paper's features have length 2 and its ridge is 1."""
    with pytest.raises(OutsideTheorem, match="a ridge of at least 4 for features of length 2"):
        compute_lin_ucb_ceiling(horizon=100, n_features=4, norm=2.0, theta_norm=1.0, delta=0.1)


def test_without_shared_features_the_rate_is_two_over_each_gap() -> None:
    """Theorem 7 on unit vectors: the classical constant, without ruled-out arms (D-33)."""
    means: dict[Key, float] = {((0,), (0,)): 0.9, ((1,), (0,)): 0.5, ((2,), (0,)): 0.7}
    features = {key: np.eye(3)[i].tolist() for i, key in enumerate(means)}

    assert compute_oam_rate(features, means) == pytest.approx(2 / 0.4 + 2 / 0.2, rel=2e-6)
    table = bounded(means, {((1,), (0,)): 0.6})
    assert compute_oam_rate(features, means, table) == pytest.approx(2 / 0.2, rel=2e-6)


def test_the_printed_ceiling_is_the_rate_times_the_logarithm() -> None:
    """Theorem 7, and noise of a quarter of its variance proxy."""
    means: dict[Key, float] = {((0,), (0,)): 0.9, ((1,), (0,)): 0.5}
    features = {key: np.eye(2)[i].tolist() for i, key in enumerate(means)}

    printed = compute_oam_ceiling(features, means, horizon=100)
    assert printed == pytest.approx(2 / 0.4 * math.log(100), rel=2e-6)
    assert compute_oam_ceiling(features, means, horizon=100, sigma2=0.25) == pytest.approx(
        printed / 4
    )
    out = bounded(means, {((1,), (0,)): 0.6})
    assert compute_oam_ceiling(features, means, out, horizon=100) == 0.0


def test_ruling_out_an_informative_arm_raises_the_rate_unless_it_may_be_pulled() -> None:
    """Theorem 7 sums over fewer arms; a bad arm can be the cheapest way to learn of another."""
    means: dict[Key, float] = {((0,), (0,)): 1.0, ((1,), (0,)): 0.0, ((2,), (0,)): 0.9}
    features = dict(zip(means, [(1, 0), (0, 10), (0.8, 1)], strict=True))
    table = bounded(means, {((1,), (0,)): 0.5})

    without = compute_oam_rate(features, means)
    assert without == pytest.approx(2.0, rel=1e-5)
    assert compute_oam_rate(features, means, table) == pytest.approx(20.0, rel=1e-5)
    assert compute_oam_rate(features, means, table, pull_ruled_out=True) == pytest.approx(
        2.0, rel=1e-5
    )


def test_no_valid_bound_raises_the_rate_when_ruled_out_arms_may_be_pulled() -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        means = random_means(rng, 4, 2)
        features = {key: rng.normal(size=5).tolist() for key in means}
        loose, tight = (bounded(means, uppers) for uppers in nested_uppers(rng, means))

        rates = [
            compute_oam_rate(features, means, b, pull_ruled_out=True)
            for b in (None, loose, tight)
        ]

        assert rates[1] <= rates[0] * (1 + 3e-6) + 1e-6
        assert rates[2] <= rates[1] * (1 + 3e-6) + 1e-6


@pytest.mark.parametrize("uppers", [{}, {((2,), ()): 0.55, ((1,), ()): 0.5}])
def test_optimism_regrets_less_than_its_ceiling(uppers: dict[Key, float]) -> None:
    """Theorem 8, three coins, with and without bounds that rule out two of them."""
    means: dict[Key, float] = {((0,), ()): 0.8, ((1,), ()): 0.4, ((2,), ()): 0.5}
    table = BoundTable.from_rows(
        [{"A": a[0], "lower": 0, "upper": uppers.get((a, c), 1.0)} for a, c in means],
        outcome="Y",
        treatments=["A"],
        outcome_range=(0, 1),
    )
    rng, regrets = np.random.default_rng(5), []
    for _ in range(10):
        policy, regret = UCB(horizon=300, prior=table), 0.0
        for _ in range(300):
            decision = policy.decide()
            mean = means[decision.arm_values, ()]
            policy.learn(decision, float(rng.random() < mean))
            regret += 0.8 - mean
        regrets.append(regret)

    ceiling = compute_ucb_ceiling(means, horizon=300, bounds=table)

    assert float(np.mean(regrets)) <= ceiling
    if uppers:
        assert ceiling == pytest.approx(3 * (0.4 + 0.3))
        assert float(np.mean(regrets)) <= 3 * 0.7


def test_contexts_add_up_and_the_best_arm_is_no_term() -> None:
    """D-37; the second best arm of a tie has no gap either."""
    one: dict[Key, float] = {((0,), (0,)): 0.5, ((1,), (0,)): 0.5 - 1e-16, ((2,), (0,)): 0.3}
    two = one | {((0,), (1,)): 0.1, ((1,), (1,)): 0.6}

    first = compute_ucb_ceiling(one, horizon=50)
    assert first == pytest.approx(3 * 0.2 + 16 * math.log(50) / 0.2)
    assert compute_ucb_ceiling(two, horizon=50) == pytest.approx(
        first + 3 * 0.5 + 16 * math.log(50) / 0.5
    )


def test_a_horizon_without_rounds_is_refused() -> None:
    with pytest.raises(BadOption, match="horizon must be"):
        compute_ucb_ceiling({((0,), ()): 0.5}, horizon=0)
    with pytest.raises(BadOption, match="horizon must be"):
        compute_oam_ceiling({((0,), ()): [1.0]}, {((0,), ()): 0.5}, horizon=0)
