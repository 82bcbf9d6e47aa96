"""Algorithms against plain versions of them, and probabilities against draws."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import beta as beta_distribution

from boundit.bandit import TS, UCB, LinTS, LinUCB, WarmStart
from boundit.bandit.best_arm import (
    COLUMNS,
    LOWER,
    MEAN,
    P_BEST,
    SD,
    UPPER,
    weigh_arms,
    write_beta,
    write_bounds,
)
from boundit.bandit.errors import BadFeatures, BadOption
from boundit.bandit.policy import Policy
from boundit.core.errors import BounditError
from boundit.results.bound_table import BoundTable
from tests.bandit.policies import ARMS, CONTEXTS, make, mean, table


def encode(context: Any, arm: Any) -> np.ndarray[Any, Any]:
    return np.array([1.0, *context, *arm])


@pytest.mark.parametrize("prior", [None, table(0.05)])
@pytest.mark.parametrize("horizon", [None, 300])
def test_ucb_is_algorithm_6(prior: BoundTable | None, horizon: int | None) -> None:
    policy = make("UCB", prior, horizon=horizon)
    rewards: dict[Any, list[float]] = {}
    rng = np.random.default_rng(1)
    for t in range(300):
        context = CONTEXTS[int(rng.integers(4))]
        scores, rounds = [], sum(len(v) for (c, _), v in rewards.items() if c == context)
        for arm in ARMS:
            past, r = rewards.get((context, arm), []), rounds + 1
            log = 2 * math.log(horizon) if horizon else math.log(1 + r * math.log(r) ** 2)
            free = np.mean(past) + math.sqrt(2 * log / len(past)) if past else math.inf
            low, high = (-math.inf, math.inf)
            if prior:
                low, high = prior[arm, context].lower, prior[arm, context].upper
            scores.append((max(min(free, high), low), free))
        decision = policy.decide(context, id=str(t))
        assert decision.arm == ARMS[max(range(4), key=lambda k: (*scores[k], -k))]
        for arm, (index, _) in zip(ARMS, scores, strict=True):
            assert decision.scores[arm] == pytest.approx(index)
        reward = float(rng.random() < mean(decision.arm, context))
        policy.learn(decision, reward)
        rewards.setdefault((context, decision.arm), []).append(reward)


@pytest.mark.parametrize("prior", [None, table(0.05)])
@pytest.mark.parametrize("shared", [False, True])
def test_lin_ucb_is_algorithm_4(prior: BoundTable | None, shared: bool) -> None:
    policy = make("LinUCB", prior, shared=shared, alpha=0.8, ridge=0.5)
    rows: dict[Any, list[tuple[Any, float]]] = {}
    rng = np.random.default_rng(2)
    for t in range(200):
        context, scores = CONTEXTS[int(rng.integers(4))], []
        for arm in ARMS:
            past = rows.get(None if shared else arm, [])
            gram = 0.5 * np.eye(5) + sum(np.outer(x, x) for x, _ in past)
            response = sum((r * x for x, r in past), start=np.zeros(5))
            x = encode(context, arm)
            spread = math.sqrt(x @ np.linalg.solve(gram, x))
            free = np.linalg.solve(gram, response) @ x + 0.8 * spread
            high = prior[arm, context].upper if prior else math.inf
            scores.append((min(free, high), free))
        decision = policy.decide(context, id=str(t))
        wanted = max(scores)
        found = scores[ARMS.index(decision.arm)]
        assert found == pytest.approx(wanted, abs=1e-9)
        assert decision.scores[decision.arm] == pytest.approx(wanted[0])
        reward = float(rng.random() < mean(decision.arm, context))
        policy.learn(decision, reward)
        key = None if shared else decision.arm
        rows.setdefault(key, []).append((encode(context, decision.arm), reward))


def find_chances(belief: np.ndarray) -> np.ndarray:
    weigh_arms(belief)
    return belief[:, P_BEST]


def make_betas(counts: list[tuple[float, float]], bounds: list[tuple[float, float]]) -> Any:
    belief = np.zeros((len(counts), COLUMNS))
    for k, ((wins, losses), (low, high)) in enumerate(zip(counts, bounds, strict=True)):
        write_beta(belief, k, MEAN, wins, losses)
        write_bounds(belief, k, low, high, 0.0, 1.0)
    return belief


def integrate_betas(
    counts: list[tuple[float, float]], bounds: list[tuple[float, float]]
) -> np.ndarray[Any, Any]:
    """The same by a sum over a fine grid, exact distribution functions and point masses."""
    x = np.unique(np.concatenate([expit(np.linspace(-14, 14, 40_001)), np.ravel(bounds)]))
    reached = []
    for (wins, losses), (low, high) in zip(counts, bounds, strict=True):
        ends = beta_distribution.cdf([low, high], wins, losses)
        inside = ends[1] - ends[0]
        cumulative = (beta_distribution.cdf(x, wins, losses) - ends[0]) / max(inside, 1e-300)
        reached.append(
            np.where(x >= high, 1.0, np.clip(np.where(x < low, 0, cumulative), 0, 1))
        )
    found = []
    for k, mine in enumerate(reached):
        others = np.prod([one for j, one in enumerate(reached) if j != k], axis=0)
        found.append(float((np.diff(mine) * 0.5 * (others[1:] + others[:-1])).sum()))
    return np.array(found) / sum(found)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(2, 400), st.integers(2, 400)), min_size=2, max_size=5))
def test_probabilities_of_betas(counts: list[tuple[float, float]]) -> None:
    bounds = [(0.0, 1.0)] * len(counts)
    found = find_chances(make_betas(counts, bounds))
    wanted = integrate_betas(counts, bounds)
    assert found.sum() == pytest.approx(1.0)
    assert np.abs(found - wanted).max() < 5e-3
    likely = wanted > 1e-3  # small ones by relative error: it is what weights divide by
    assert np.abs(found[likely] / wanted[likely] - 1).max() < 0.1


def test_probabilities_of_betas_between_bounds() -> None:
    counts = [(30.0, 40.0), (20.0, 10.0), (2.0, 2.0)]
    bounds = [(0.3, 0.6), (0.5, 0.72), (0.1, 0.9)]
    found = find_chances(make_betas(counts, bounds))
    assert np.abs(found - integrate_betas(counts, bounds)).max() < 4e-3


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_probabilities_of_normals(seed: int, bounded: bool) -> None:
    rng, n = np.random.default_rng(seed), 200_000
    belief = np.zeros((4, COLUMNS))
    belief[:, MEAN], belief[:, SD] = rng.normal(0.5, 0.2, 4), rng.uniform(0.02, 0.3, 4)
    belief[:, LOWER], belief[:, UPPER] = -np.inf, np.inf
    drawn = rng.normal(belief[:, MEAN], belief[:, SD], (n, 4))
    if bounded:
        belief[:, LOWER], belief[:, UPPER] = belief[:, MEAN] - 0.1, belief[:, MEAN] + 0.2
        for k in range(4):
            column = drawn[:, k]
            while (out := (column < belief[k, LOWER]) | (column > belief[k, UPPER])).any():
                column[out] = rng.normal(belief[k, MEAN], belief[k, SD], int(out.sum()))
    shares = np.bincount(drawn.argmax(axis=1), minlength=4) / n
    found = find_chances(belief)
    assert np.abs(found - shares).max() < 5 * 0.5 / n**0.5


def test_probabilities_at_the_edges() -> None:
    belief = np.zeros((2, COLUMNS))
    belief[:, SD], belief[:, LOWER], belief[:, UPPER] = 1e-9, -np.inf, np.inf
    belief[1, MEAN] = 1.0
    assert find_chances(belief).tolist() == pytest.approx([0.0, 1.0])
    belief[1, UPPER] = -1.0  # all of the second is at its bound, below the first
    assert find_chances(belief).tolist() == pytest.approx([1.0, 0.0])
    assert find_chances(belief[:1]).tolist() == [1.0]


def test_ts_and_lin_ts_know_their_beliefs() -> None:
    ts, lin = TS(arms=["A", "B"], seed=1), LinTS(arms=["A", "B"], seed=1, scale=0.5)
    for policy in (ts, lin):
        for i in range(12):
            policy.learn(policy.adopt((), "AB"[i % 2], id=str(i)), float(i % 3 == 0 or i % 2))
    draws = np.random.default_rng(0).beta([3, 7], [5, 1], (400_000, 2))
    found = ts.decide().propensities["B"]
    assert found == pytest.approx(float((draws[:, 1] > draws[:, 0]).mean()), abs=4e-3)
    assert ts.decide().scores["A"] == pytest.approx(3 / 8, abs=0.02)
    # Two features, a constant and a number of no use, of one value: one row after the other.
    assert lin.decide().scores["B"] > lin.decide().scores["A"]


# -- features, warm start, growing levels -----------------------------------------------------


def _give(features: object, _: object, arm: object) -> Any:
    """Features of a user's own that are wrong for B."""
    return features if arm == "B" else [1.0, 0.0]


def test_features_of_users_are_asked_and_judged() -> None:
    asked: list[Any] = []

    def features(context: Any, arm: Any) -> list[float]:
        asked.append((context, arm))
        return [1.0, float(arm == "A")]

    policy = LinUCB(arms=["A", "B"], context=["Age"], features=features)
    policy.learn(policy.decide(3), 1.0)
    assert (3, "A") in asked
    state = policy.state()
    with pytest.raises(BounditError, match="give its function again"):
        Policy.from_state(state)
    back = Policy.from_state(state, features=features)
    assert back.decide(3, id="x") == policy.decide(3, id="x")
    for bad in ([1.0], [math.nan, 1.0], [[1.0, 2.0]], ["a", "b"], [1e9, 1.0]):
        other = LinUCB(arms=["A", "B"], features=partial(_give, bad))
        other.learn(other.decide(arms=["A"]), 1.0)
        with pytest.raises(BadFeatures):
            other.decide()
        with pytest.raises(BadFeatures):
            other.learn(other.adopt((), "B", id="b"), 1.0)
        assert other.n_learned == 1
    with pytest.raises(BadOption, match="a function"):
        LinUCB(features=3)  # type: ignore[arg-type]


def test_text_without_levels_is_refused() -> None:
    with pytest.raises(BadFeatures, match="declare it"):
        LinUCB(arms=["A", "B"], context=["Age"]).decide("older")
    known = LinUCB(arms=["A", "B"], context={"Age": ["older", "younger"]})
    assert known.decide("older").arm in "AB"


@pytest.mark.parametrize("shared", [False, True])
def test_a_warm_start_is_worth_its_rows(shared: bool) -> None:
    rows = [{"X": arm, "lower": p, "upper": p, "n": 3} for arm, p in (("A", 0.25), ("B", 0.75))]
    points = BoundTable.from_rows(rows, outcome="Y", treatments=["X"], outcome_range=(0, 1))
    for n in (4, "counts"):
        warm = LinUCB(arms=["A", "B"], shared=shared, warm_start=WarmStart(points, n))
        cold = LinUCB(arms=["A", "B"], shared=shared)
        for i in range(4 if n == 4 else 3):
            for arm, p in (("A", 0.25), ("B", 0.75)):
                cold.learn(cold.adopt((), arm, id=f"{arm}{i}"), p)
        assert warm.decide().scores == pytest.approx(cold.decide().scores)
        back = Policy.from_state(warm.state())
        assert back.decide().scores == warm.decide().scores
    one, two = warm.clone(), warm.clone()
    one.learn(one.adopt((), "A", id="1"), 1.0)
    two.learn(two.adopt((), "A", id="2"), 0.0)
    both = warm.clone()
    both.learn_many([both.adopt((), "A", id=name) for name in "12"], [1.0, 0.0])
    assert one.merge(two).decide().scores == pytest.approx(both.decide().scores)
    for bad in (0, True, "some"):
        with pytest.raises(BadOption, match="rows"):
            WarmStart(points, bad)  # type: ignore[arg-type]
    with pytest.raises(BadOption, match="warm_start"):
        LinUCB(warm_start=points)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["LinUCB", "LinUCB shared", "LinTS"])
def test_new_levels_are_as_if_they_had_been_there(name: str) -> None:
    def make_table(ages: list[str], arms: list[str]) -> BoundTable:
        rows = [
            {"X": arm, "Age": age, "lower": 0.0, "upper": 1.0} for arm in arms for age in ages
        ]
        return BoundTable.from_rows(
            rows, outcome="Y", treatments=["X"], context=["Age"], outcome_range=(0, 1)
        )

    few, many = make_table(["b", "c"], ["B", "C"]), make_table(["a", "b", "c"], ["A", "B", "C"])
    policy, start = make(name, few), make(name, few)
    twin = make(name, many)
    for i in range(20):
        context, arm = "bc"[i % 2], "BC"[i % 3 % 2]
        for one in (policy, twin):
            one.learn(one.adopt(context, arm, id=str(i)), float(i % 4 == 0))
    policy.refresh(many)
    policy.learn(policy.adopt("a", "A", id="a"), 1.0)
    assert policy.decide("a").arm in "ABC"
    other = make(name, few)
    other.learn(other.adopt("b", "C", id="z"), 1.0)
    other.refresh(many)
    assert policy.merge(other, since=start).n_learned == 22


def test_ucb_counts_on_any_scale() -> None:
    small, large = UCB(arms=[0, 1]), UCB(arms=[0, 1], reward_range=(10, 30))
    for i in range(50):
        one, two = small.decide(id=str(i)), large.decide(id=str(i))
        assert one.arm == two.arm
        reward = float((i * 7) % 5 > one.arm + 1)
        small.learn(one, reward)
        large.learn(two, 10 + 20 * reward)
