"""The fused policy by its formulas, one leaf at a time: what kernels are held against."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from boundit.bandit.fused.arrays import SHIFTS
from boundit.terms.fused_plan import Factor, FusedPlan


class PlainFused:
    """Counts in dictionaries, and every formula written out."""

    def __init__(
        self, plan: FusedPlan, taus: Sequence[float], prior: Sequence[float], kappa: float
    ) -> None:
        self.plan, self.taus, self.kappa, self.t = plan, taus, kappa, 0
        self.weights = list(prior)
        self.seen: dict[int, list[float]] = {}
        self.guessed: dict[int, list[float]] = {}
        self.pools: dict[tuple[int, int, int], list[float]] = {}
        self.own: dict[tuple[int, int, int, int], float] = {}
        self.rewards = {pair: [0.0, 0.0] for pair in range(len(plan.pairs))}
        self.lb = dict.fromkeys(range(len(plan.pairs)), 0.0)
        self.lp = dict.fromkeys(range(len(plan.pairs)), 0.0)
        self.shifts = {of: [0.0] * len(SHIFTS) for of in (*plan.pairs, *plan.arms)}

    def list_path(self, leaf: int) -> list[tuple[int, int, int]]:
        """Factor, prefix and cell of every step to a leaf."""
        places = list(product(*(range(len(f.cells)) for f in self.plan.factors)))[leaf]
        prefix, path = 0, []
        for j, k in enumerate(places):
            path.append((j, prefix, k))
            prefix = prefix * len(self.plan.factors[j].cells) + k
        return path

    def count_rows(self, cell: int, tau: float) -> tuple[float, float]:
        n, total = self.plan.n[cell], self.plan.sums[cell]
        if n == 0 or math.isinf(tau):
            return 1.0, 1.0
        v = (total + 0.5) / (n + 1)
        m = 1 / (1 / n + tau**2 / (v * (1 - v)))
        return 1 + total / n * m, 1 + (1 - total / n) * m

    def count_cell(self, cell: int, tau: float, *, guesses: bool) -> tuple[float, float]:
        a, b = self.count_rows(cell, tau)
        s, f = self.seen.get(cell, (0.0, 0.0))
        gs, gf = self.guessed.get(cell, (0.0, 0.0)) if guesses else (0.0, 0.0)
        return a + s + gs, b + f + gf

    def count_law(
        self, pair: int, j: int, prefix: int, tau: float, *, own: bool, guesses: bool = True
    ) -> list[float]:
        factor = self.plan.factors[j]
        size = len(factor.cells)
        if own:
            return [1 + self.own.get((pair, j, prefix, k), 0.0) for k in range(size)]
        pool = factor.pools[pair][prefix]
        rows = np.array(factor.counts[pool], float)
        q = (rows + 0.5) / (rows.sum() + size / 2)
        spread = size * tau**2 / (1 - (q**2).sum())
        rows = 0 * rows if math.isinf(tau) else rows / (1 + rows.sum() * spread)
        found = []
        for k in range(size):
            s, g = self.pools.get((j, pool, k), (0.0, 0.0))
            found.append(1 + rows[k] + s + (g if guesses else 0.0))
        return found

    def chance(self, pair: int, leaf: int, tau: float, *, own: bool, guesses: bool) -> float:
        found = 1.0
        for j, prefix, k in self.list_path(leaf):
            law = self.count_law(pair, j, prefix, tau, own=own, guesses=guesses)
            found *= law[k] / sum(law)
        return found

    def moments(
        self, pair: int, tau: float, *, own: bool, j: int = 0, prefix: int = 0
    ) -> tuple[float, float]:
        """Mean and variance of independent parts, from the leaves backwards."""
        if j == len(self.plan.factors):
            a, b = self.count_cell(self.plan.cells[pair][prefix], tau, guesses=True)
            x = a / (a + b)
            return x, x * (1 - x) / (a + b + 1)
        law = self.count_law(pair, j, prefix, tau, own=own)
        n, size = sum(law), len(law)
        below = [
            self.moments(pair, tau, own=own, j=j + 1, prefix=prefix * size + k)
            for k in range(size)
        ]
        p = [count / n for count in law]
        mean = sum(q * x for q, (x, _) in zip(p, below, strict=True))
        spread = sum(
            (q * q + q * (1 - q) / (n + 1)) * v for q, (_, v) in zip(p, below, strict=True)
        )
        square = sum(q * x * x for q, (x, _) in zip(p, below, strict=True))
        return mean, spread + (square - mean * mean) / (n + 1)

    def index(self, pair: int, tau: float, *, own: bool) -> float:
        mean, variance = self.moments(pair, tau, own=own)
        return mean + self.kappa * math.sqrt(2 * math.log(self.t + 2)) * math.sqrt(variance)

    def expect(self, pair: int) -> float:
        """The mean of a pair over all taus."""
        means = [self.moments(pair, tau, own=False)[0] for tau in self.taus]
        return sum(w * mean for w, mean in zip(self.weights, means, strict=True))

    def learn(self, pair: int, y: float, leaf: int | None, open_leaves: Sequence[int]) -> None:
        n_leaves = self.plan.n_leaves
        s, f = self.rewards[pair]
        parts = [
            sum(
                w
                * self.chance(pair, i, tau, own=False, guesses=True)
                * predict(y, *self.count_cell(self.plan.cells[pair][i], tau, guesses=True))
                for w, tau in zip(self.weights, self.taus, strict=True)
            )
            for i in range(n_leaves)
        ]
        self.lb[pair] += math.log(predict(y, 1 + s, 1 + f)) - math.log(sum(parts))
        mean = self.expect(pair)
        for i, shift in enumerate(SHIFTS):
            odds = mean / (1 - mean) * math.exp(shift)
            p = odds / (1 + odds)
            gained = y * math.log(p / mean) + (1 - y) * math.log((1 - p) / (1 - mean))
            for of in (self.plan.pairs[pair], self.plan.pairs[pair][0]):
                self.shifts[of][i] += gained
        if leaf is not None:
            self._learn_seen(pair, y, leaf)
        else:
            whole = sum(parts[i] for i in open_leaves)
            for i in open_leaves:
                self._add(pair, y, i, parts[i] / whole, seen=False)
        self.rewards[pair] = [s + y, f + 1 - y]
        self.t += 1

    def _learn_seen(self, pair: int, y: float, leaf: int) -> None:
        cell = self.plan.cells[pair][leaf]
        paths = [self.chance(pair, leaf, tau, own=False, guesses=False) for tau in self.taus]
        pooled = sum(w * path for w, path in zip(self.weights, paths, strict=True))
        own = self.chance(pair, leaf, 0.0, own=True, guesses=False)
        self.lp[pair] += math.log(own) - math.log(pooled)
        raised = [
            w * path * predict(y, *self.count_cell(cell, tau, guesses=False))
            for w, path, tau in zip(self.weights, paths, self.taus, strict=True)
        ]
        self.weights = [w / sum(raised) for w in raised]
        for j, prefix, k in self.list_path(leaf):
            key = pair, j, prefix, k
            self.own[key] = self.own.get(key, 0.0) + 1
        self._add(pair, y, leaf, 1.0, seen=True)

    def _add(self, pair: int, y: float, leaf: int, share: float, *, seen: bool) -> None:
        cell, kept = self.plan.cells[pair][leaf], self.seen if seen else self.guessed
        s, f = kept.get(cell, (0.0, 0.0))
        kept[cell] = [s + share * y, f + share * (1 - y)]
        for j, prefix, k in self.list_path(leaf):
            key = j, self.plan.factors[j].pools[pair][prefix], k
            one, two = self.pools.get(key, (0.0, 0.0))
            self.pools[key] = [one + share, two] if seen else [one, two + share]


def predict(y: float, a: float, b: float) -> float:
    """``B(a + y, b + 1 - y) / B(a, b)``."""
    logs = math.lgamma(a + y) + math.lgamma(b + 1 - y) - math.lgamma(a + b + 1)
    return math.exp(logs - math.lgamma(a) - math.lgamma(b) + math.lgamma(a + b))


def draw_plan(
    seed: int,
    sizes: Sequence[int] = (2,),
    *,
    arms: int = 3,
    contexts: int = 2,
    tilt: bool = False,
    known: bool = False,
    rows: int = 200,
) -> FusedPlan:
    """Draw a plan: pools and cells shared at random, rows of the log as they come."""
    rng = np.random.default_rng(seed)
    pairs = [((a,), (c,)) for a in range(arms) for c in range(contexts)]
    factors, prefixes = [], 1
    for j, size in enumerate(sizes):
        n_pools = max(1, len(pairs) // 2)
        pools = rng.integers(n_pools, size=(len(pairs), prefixes))
        _, pools = np.unique(pools, return_inverse=True)
        pools = pools.reshape(len(pairs), prefixes)
        counts = rng.integers(rows, size=(pools.max() + 1, size))
        factors.append(
            Factor(
                (f"W{j}",),
                tuple((k,) for k in range(size)),
                tuple(map(tuple, pools.tolist())),
                tuple(map(tuple, (counts if known else 0 * counts).tolist())),
                tuple(map(tuple, counts.tolist())) if tilt else None,
            )
        )
        prefixes *= size
    cells = rng.permutation(len(pairs) * prefixes).reshape(len(pairs), prefixes)
    n = rng.integers(rows, size=cells.size)
    sums = rng.binomial(n, rng.uniform(0.1, 0.9, cells.size))
    return FusedPlan(
        tuple(pairs),
        tuple(factors),
        tuple(map(tuple, cells.tolist())),
        tuple(n.tolist()),
        tuple(map(float, sums)),
    )
