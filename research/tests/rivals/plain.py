# ruff: noqa: ARG002, all have the same arguments
"""Rivals in plain Python, written from their definitions: what compiled ones are held against.

Nothing is shared with the kernels but the uniform numbers.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from boundit.bandit.ids import draw_uniform, wrap_seed
from boundit.results.bound_table import BoundTable

WEIGHTS = 8


@dataclass(frozen=True)
class PairFact:
    """One arm in one context: the ends of its bound, its rows in the log, and their sum."""

    lower: float
    upper: float
    rows: float
    total: float


@dataclass
class PlainRival:
    """A rival on one problem: facts of every pair, and lists of rewards."""

    kind: str
    bounds: BoundTable
    logged: BoundTable
    arms: tuple[tuple[Any, ...], ...]
    seed: int
    scale: float = 1.0
    rewards: dict[tuple[Any, Any], list[float]] = field(default_factory=dict)
    left: dict[tuple[Any, Any], tuple[int, int]] = field(default_factory=dict)
    losses: dict[tuple[Any, Any], float] = field(default_factory=dict)
    costs: list[float] = field(default_factory=lambda: [0.0] * WEIGHTS)
    history: dict[Any, list[tuple[np.ndarray, float]]] = field(default_factory=dict)

    def decide(self, context: Any, t: int) -> int:
        return DECIDE[self.kind](self, context, t)

    def learn(self, context: Any, row: int, reward: float) -> None:
        if self.kind == "ARRoW-CB":
            self.learn_arrow(context, row, reward)
        if self.kind == "EXP3-IX":
            chances, eta = self.find_chances(context)
            pair = self.arms[row], context
            gain = (1 - reward) / (chances[row] + eta / 2)
            self.losses[pair] = self.losses.get(pair, 0.0) + gain
        self.rewards.setdefault((self.arms[row], context), []).append(reward)
        if self.kind == "R-OFUL":
            x = np.array([1.0, *context, *self.arms[row]])
            self.history.setdefault(self.arms[row], []).append((x, reward))

    def list_facts(self, context: Any) -> list[PairFact]:
        return [self.find_fact(arm, context) for arm in self.arms]

    def find_fact(self, arm: Any, context: Any) -> PairFact:
        bound, point = self.bounds.bounds[arm, context], self.logged.bounds[arm, context]
        rows = point.n if point.lower_estimate == point.upper_estimate else 0
        return PairFact(bound.lower, bound.upper, rows, round(rows * point.lower_estimate))

    def list_rewards(self, context: Any) -> list[list[float]]:
        return [self.rewards.get((arm, context), []) for arm in self.arms]

    def find_time(self, context: Any) -> int:
        return 1 + sum(map(len, self.list_rewards(context)))

    def choose_glue(self, context: Any, t: int) -> int:
        facts, now = self.list_facts(context), self.find_time(context)
        best = max(fact.lower for fact in facts)
        scores = []
        for fact, own in zip(facts, self.list_rewards(context), strict=True):
            if fact.upper < best:
                scores.append((-math.inf, -math.inf))
                continue
            noise = kearns_saul(min(max(0.5, fact.lower), fact.upper))
            if best > 0.5:
                noise = min(noise, kearns_saul(best))
            free = math.inf
            if own:
                bonus = math.sqrt(2 * math.log(1 + now * math.log(now) ** 2) / len(own))
                free = sum(own) / len(own) + self.scale * noise * bonus
            scores.append((min(free, fact.upper), free))
        return first_best(scores)

    def choose_min_ucb(self, context: Any, t: int) -> int:
        facts, now = self.list_facts(context), self.find_time(context)
        delta = 1 / (2 * len(self.arms) * now**2)
        scores = []
        for fact, own in zip(facts, self.list_rewards(context), strict=True):

            def radius(n: float) -> float:
                return self.scale * math.sqrt(2 * math.log(2 * now / delta) / n)

            online, both = math.inf, math.inf
            if own:
                online = sum(own) / len(own) + radius(len(own))
            n = len(own) + fact.rows
            if n:
                away = 0.0
                if fact.rows:
                    mean = fact.total / fact.rows
                    away = max(abs(mean - fact.lower), abs(mean - fact.upper))
                both = (sum(own) + fact.total) / n + radius(n) + fact.rows / n * away
            scores.append((min(online, both), 0.0))
        return first_best(scores)

    def choose_vir_ucb(self, context: Any, t: int) -> int:
        while True:
            now, scores = self.find_time(context), []
            for own in self.list_rewards(context):
                index = math.inf
                if own:
                    spread = math.sqrt(2 * math.log(now) / len(own))
                    index = sum(own) / len(own) + self.scale * spread
                scores.append((index, 0.0))
            row = first_best(scores)
            pair = self.arms[row], context
            fact = self.find_fact(*pair)
            rows, total = self.left.get(pair, (int(fact.rows), int(fact.total)))
            if not rows:
                return row
            uniform = draw_uniform(list(self.logged.bounds).index(pair), rows)
            reward = float(uniform * rows < total)
            self.left[pair] = rows - 1, total - int(reward)
            self.rewards.setdefault(pair, []).append(reward)

    def find_greedy(self, context: Any, weight: float) -> int:
        scores = []
        for fact, own in zip(self.list_facts(context), self.list_rewards(context), strict=True):
            n = (1 - weight) * fact.rows + weight * len(own)
            scores.append(
                (((1 - weight) * fact.total + weight * sum(own) + 0.5) / (n + 1), 0.0)
            )
        return first_best(scores)

    @property
    def explored(self) -> float:
        return min(0.05 * self.scale, 1.0)

    @property
    def weights(self) -> list[float]:
        low = [self.explored / (1 + self.explored)]
        high = [(1 + low[0]) / 2]
        while len(low) < 4:
            low.append(low[-1] / 2)
        while len(high) < 2:
            high.append((1 + high[-1]) / 2)
        return [0.0, *reversed(low), *high, 1.0]

    def find_chosen(self, context: Any) -> int:
        return self.find_greedy(context, self.weights[self.costs.index(min(self.costs))])

    def choose_arrow(self, context: Any, t: int) -> int:
        chances = np.full(len(self.arms), self.explored / len(self.arms))
        chances[self.find_chosen(context)] += 1 - self.explored
        return self.draw(chances, t)

    def draw(self, chances: np.ndarray, t: int) -> int:
        uniform = draw_uniform(wrap_seed(self.seed), t)
        return int(np.searchsorted(np.cumsum(chances), uniform, side="right"))

    def learn_arrow(self, context: Any, row: int, reward: float) -> None:
        explore = self.explored
        chance = explore / len(self.arms) + (1 - explore) * (self.find_chosen(context) == row)
        for i, weight in enumerate(self.weights):
            if self.find_greedy(context, weight) == row:
                self.costs[i] += (1 - reward) / chance

    def find_chances(self, context: Any) -> tuple[np.ndarray, float]:
        k, now = len(self.arms), self.find_time(context)
        eta = self.scale * math.sqrt(math.log(k) / (k * now))
        lost = np.array([self.losses.get((arm, context), 0.0) for arm in self.arms])
        weights = np.exp(-eta * (lost - lost.min()))
        return weights / weights.sum(), eta

    def choose_exp3_ix(self, context: Any, t: int) -> int:
        return self.draw(self.find_chances(context)[0], t)

    def choose_r_oful(self, context: Any, t: int) -> int:
        facts = self.list_facts(context)
        best, scores = max(fact.lower for fact in facts), []
        for arm, fact in zip(self.arms, facts, strict=True):
            if fact.upper < best:
                scores.append((-math.inf, -math.inf))
                continue
            x, gram = np.array([1.0, *context, *arm]), np.eye(1 + len(context) + len(arm))
            moments = np.zeros(len(gram))
            for row, reward in self.history.get(arm, ()):
                gram, moments = gram + np.outer(row, row), moments + reward * row
            noise = min(
                kearns_saul(min(max(0.5, fact.lower), fact.upper)), kearns_saul(max(best, 0.5))
            )
            surprise = math.log(np.linalg.det(gram)) + 2 * math.log(len(self.arms) / 0.01)
            radius = self.scale * (noise * math.sqrt(surprise) + 1)
            spread = math.sqrt(x @ np.linalg.inv(gram) @ x)
            free = float(x @ np.linalg.solve(gram, moments)) + radius * spread
            scores.append((min(free, fact.upper), free))
        return first_best(scores)


DECIDE: Mapping[str, Callable[[PlainRival, Any, int], int]] = {
    "GLUE": PlainRival.choose_glue,
    "MIN-UCB": PlainRival.choose_min_ucb,
    "VirUCB": PlainRival.choose_vir_ucb,
    "ARRoW-CB": PlainRival.choose_arrow,
    "EXP3-IX": PlainRival.choose_exp3_ix,
    "R-OFUL": PlainRival.choose_r_oful,
}


def first_best(scores: list[tuple[float, float]]) -> int:
    """Index of the highest score, the first among equals."""
    return scores.index(max(scores))


@cache
def kearns_saul(mean: float) -> float:
    """The sub-Gaussian factor of a 0/1 reward: the largest log-moment ratio, by search."""
    if mean in (0.0, 1.0):
        return 0.0
    grid = np.concatenate([-np.geomspace(1e-3, 60, 4000), np.geomspace(1e-3, 60, 4000)])
    log_moment = np.logaddexp(np.log1p(-mean), np.log(mean) + grid) - mean * grid
    return float(np.sqrt(np.max(2 * log_moment / grid**2)))
