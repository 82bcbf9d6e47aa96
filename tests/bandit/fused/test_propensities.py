"""Chances of arms, against draws and by hand."""

import numpy as np
import pytest

from boundit.bandit.fused.propensities import compute_propensities
from tests.bandit.fused.plain_propensities import compute_plain_propensities


def draw_shares(table: np.ndarray, weights: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Draw decisions as they are described, ties broken evenly."""
    rng = np.random.default_rng(seed)
    arms, taus = len(table), len(weights)
    tau = rng.choice(taus, size=n, p=weights)
    found = np.empty((n, arms))
    for a in range(arms):
        doubt, own, wins, losses = table[a, :4]
        points = np.where(rng.random(n) < own, table[a, 4 + taus + tau], table[a, 4 + tau])
        found[:, a] = np.where(rng.random(n) < doubt, rng.beta(wins, losses, n), points)
    best = found == found.max(axis=1, keepdims=True)
    winner = (best * rng.random(best.shape)).argmax(axis=1)
    return np.bincount(winner, minlength=arms) / n


def draw_table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw what a decision keeps: few or many rounds, parts of successes, ties, any doubt."""
    rng = np.random.default_rng(seed)
    arms, taus = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    played = rng.integers(0, (2, 30, 5_000)[seed % 3], arms)
    wins = rng.binomial(played, rng.choice([0.02, 0.5, 0.97])) * (1 - 0.3 * (seed % 2))
    points = rng.uniform(0.2, 1.1, (arms, 2 * taus)) + 1.5 * (seed % 11 == 0)
    points[arms // 2] = points[0]
    rows = [
        rng.uniform(0, (0.0, 0.05, 1.0)[seed % 3], arms),
        rng.uniform(0, 0.5, arms) * (seed % 4 > 0),
        1 + wins,
        1 + played - wins,
    ]
    return np.column_stack([*rows, points]), rng.dirichlet(np.ones(taus))


@pytest.mark.parametrize("seed", range(24))
def test_chances_are_those_of_the_formula(seed: int) -> None:
    table, weights = draw_table(seed)
    found = compute_propensities(table, weights)
    assert found == pytest.approx(compute_plain_propensities(table, weights), abs=2e-6)
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize("seed", range(6))
def test_chances_are_the_shares_of_draws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arms, taus, n = int(rng.integers(2, 7)), int(rng.integers(1, 5)), 400_000
    played = rng.integers(0, 400, arms)
    wins = rng.binomial(played, 0.5)
    points = rng.uniform(0.3, 1.1, (arms, 2 * taus))
    points[arms // 2] = points[0]
    rows = [rng.uniform(0, 0.4, arms), rng.uniform(0, 0.5, arms), 1 + wins, 1 + played - wins]
    table = np.column_stack([*rows, points])
    weights = rng.dirichlet(np.ones(taus))
    found = compute_propensities(table, weights)
    assert found.sum() == pytest.approx(1)
    assert found == pytest.approx(draw_shares(table, weights, n, seed), abs=5 * 0.5 / n**0.5)


def test_exact_cases() -> None:
    """Three arms at one point share evenly; a doubted arm wins with draws above a point."""
    tied = np.array([[0.0, 0.0, 1, 1, 0.5, 0.5]] * 3 + [[0.0, 0.0, 1, 1, 0.4, 0.4]])
    assert compute_propensities(tied, np.ones(1)).tolist() == pytest.approx([1 / 3] * 3 + [0])
    doubted = np.array([[0.2, 0.0, 1, 1, 0.1, 0.1], [0.0, 0.0, 1, 1, 0.7, 0.7]])
    found = compute_propensities(doubted, np.ones(1))
    assert found.tolist() == pytest.approx([0.2 * 0.3, 1 - 0.2 * 0.3], abs=1e-9)
    both = np.array([[0.5, 0.0, 3, 2, 0.6, 0.6], [0.5, 0.0, 900, 100, 0.3, 0.3]])
    chance = compute_propensities(both, np.ones(1))[0]
    x = (np.arange(2_000_000) + 0.5) / 2_000_000
    f0, logs = 12 * x**2 * (1 - x), 899 * np.log(x) + 99 * np.log(1 - x)
    f1 = np.exp(logs - logs.max())
    f1 /= f1.mean()
    below0, below1 = f0.cumsum() / 2e6, f1.cumsum() / 2e6
    by_hand = 0.5 * (0.5 + 0.5 * below1[x < 0.6][-1]) + 0.5 * (
        (f0 * (0.5 * (x > 0.3) + 0.5 * below1)).mean()
    )
    assert chance == pytest.approx(by_hand, abs=1e-6)
    assert below0[-1] == pytest.approx(1)


def test_hundreds_of_arms_are_no_trouble() -> None:
    rng = np.random.default_rng(0)
    played = rng.integers(0, 60, 300)
    wins = rng.binomial(played, 0.4)
    points = rng.uniform(0.2, 0.6, (300, 12))
    rows = [np.full(300, 0.08 / 300), np.full(300, 0.01), 1 + wins, 1 + played - wins]
    found = compute_propensities(np.column_stack([*rows, points]), np.full(6, 1 / 6))
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()


def test_ties_of_all_arms_are_shared_evenly_and_indices_may_pass_every_reward() -> None:
    """Before the first round all arms may have one index, above 1 where nothing is known."""
    tied = np.array([[0.08 / 300, 0.01, 1, 1, 1.3, 1.3]] * 300)
    assert compute_propensities(tied, np.ones(1)) == pytest.approx(np.full(300, 1 / 300))
