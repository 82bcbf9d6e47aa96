"""3.7: a right bound is hardly ever refuted, a wrong one soon."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from boundit.bandit.errors import BadOption
from boundit.bandit.learned.arm_counts import ArmCount
from boundit.bandit.policies.ucb import UCB
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.prior.watch import Refutation, Watch, log_evidence_above
from boundit.terms.bound_table import BoundTable
from boundit.terms.saving.codec import decode, encode
from tests.bandit.all_policies import play, table

LEVEL = 0.1


@pytest.mark.parametrize(("total", "n", "m"), [(0, 0, 0.3), (3, 5, 0.4), (2.5, 9, 0.6)])
def test_evidence_is_the_average_likelihood_ratio(total: float, n: int, m: float) -> None:
    def ratio(q: float) -> float:
        return float((q / m) ** total * ((1 - q) / (1 - m)) ** (n - total))

    averaged = quad(ratio, m, 1)[0] / (1 - m)
    assert log_evidence_above(total, n, m) == pytest.approx(math.log(averaged))


@given(st.integers(0, 60), st.integers(0, 60), st.floats(0.05, 0.9))
def test_evidence_is_a_martingale_for_binary_rewards(wins: int, losses: int, m: float) -> None:
    """Its expectation after one more draw of a 0/1 reward of mean m is what it was."""
    n = wins + losses
    now = math.exp(log_evidence_above(wins, n, m))
    later = m * math.exp(log_evidence_above(wins + 1, n + 1, m)) + (1 - m) * math.exp(
        log_evidence_above(wins, n + 1, m)
    )
    assert later == pytest.approx(now, rel=1e-6)


@given(st.integers(1, 400), st.floats(0, 1), st.floats(0.01, 0.98), st.floats(0.001, 0.3))
def test_what_refutes_a_higher_mean_refutes_a_lower_one(
    n: int, share: float, m: float, more: float
) -> None:
    """So that bounds refreshed in the light of the rewards are still judged fairly."""
    total = share * n
    if log_evidence_above(total, n, min(m + more, 0.99)) >= 1:
        assert log_evidence_above(total, n, m) >= log_evidence_above(
            total, n, min(m + more, 0.99)
        )


@pytest.mark.parametrize("kind", ["binary", "uniform"])
def test_a_true_mean_is_ever_rejected_with_at_most_the_stated_chance(kind: str) -> None:
    rng, runs, rounds = np.random.default_rng(3), 300, 400
    rejected = 0
    for _ in range(runs):
        rewards = rng.random(rounds)
        sums = np.cumsum(rewards < 0.4 if kind == "binary" else 0.8 * rewards)
        rejected += any(
            log_evidence_above(float(s), n, 0.4) >= -math.log(LEVEL)
            for n, s in enumerate(sums, start=1)
        )
    assert rejected <= runs * LEVEL + 3 * math.sqrt(runs * LEVEL * (1 - LEVEL))


def test_right_bounds_of_a_whole_table_survive() -> None:
    """Points are the sharpest right bounds there are; sixteen of them, one level."""
    runs, dropped = 60, 0
    for seed in range(runs):
        policy = UCB(prior=table(0.0), horizon=150, watch=Watch(alpha=0.2))
        play(policy, 150, seed=seed)
        dropped += policy.refutation is not None
    assert dropped <= runs * 0.2 + 3 * math.sqrt(runs * 0.2 * 0.8)


def test_an_error_needs_about_as_many_plays_as_the_docstring_says() -> None:
    k, error = 16, 0.2
    about = math.log(k / LEVEL) / (2 * error**2)
    n = next(
        n
        for n in range(1, 10_000)
        if log_evidence_above(0.5 * n, n, 0.5 - error) >= math.log(2 * k / LEVEL)
    )
    assert about / 2 < n < 2 * about


def test_a_pair_below_its_lower_end_is_refuted_too() -> None:
    bounds = BoundTable.from_rows(
        [{"A": 0, "lower": 3.0, "upper": 5.0}],
        outcome="Y",
        treatments=["A"],
        outcome_range=(-5, 5),
    )
    found = Watch().refutes(PriorBounds(bounds), (), (0,), ArmCount(40, 40 * 0.5))

    assert found is not None
    assert (found.mean, found.n, found.level) == (0.0, 40, 0.05)
    assert str(found) == (
        "arm (0,) earned 0 on average over 40 rewards, and its bound is [3, 5]: "
        "refuted at level 0.05, no bound of the same graph and log is believed any more"
    )
    assert decode(Refutation, encode(found)) == found


def test_at_the_edges_of_the_range() -> None:
    assert log_evidence_above(5, 5, 1.0) == -math.inf
    assert log_evidence_above(0.1, 5, 0.0) == math.inf
    assert log_evidence_above(0.0, 5, 0.0) == -math.inf
    assert log_evidence_above(0.0, 100_000, 0.9) == -math.inf


@pytest.mark.parametrize(
    ("options", "name"), [({"alpha": 0}, "alpha"), ({"plays": -1}, "plays")]
)
def test_options_are_judged(options: dict[str, int], name: str) -> None:
    with pytest.raises(BadOption, match=f"{name} must be"):
        Watch(**options)
