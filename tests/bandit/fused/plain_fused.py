"""Fused by its formulas, one leaf at a time: what compiled code is held against."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from boundit.results.fused_plan import Factor, FusedPlan

TAUS = (0.0, 0.025, 0.05, 0.1, 0.2, math.inf)
SHIFTS = (0.5, 1.0, 2.0)


class PlainFused:
    """Counts in dictionaries, and every formula written out."""

    def __init__(self, plan: FusedPlan, *, trusting: bool = False) -> None:
        self.plan, self.taus = plan, TAUS[:1] if trusting else TAUS
        self.weights = [1.0] if trusting else [0.7, *[0.06] * 5]
        self.seen: dict[int, list[float]] = {}
        self.guessed: dict[int, list[float]] = {}
        self.pools: dict[tuple[int, int, int], list[float]] = {}
        self.own: dict[tuple[int, int, int, int], float] = {}
        self.rewards = {pair: [0.0, 0.0] for pair in range(len(plan.pairs))}
        self.bias = dict.fromkeys(range(len(plan.pairs)), 0.0)
        self.evidence = dict.fromkeys(range(len(plan.pairs)), 0.0)
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

    def start_pool(self, j: int, pool: int) -> list[float]:
        """What a pool has before rows and rounds: ones, or the average over logistic tilts."""
        factor = self.plan.factors[j]
        if factor.shares is None or any(factor.counts[pool]):
            return [1.0] * len(factor.cells)
        assert len(factor.cells) == 2
        q = [share + 0.5 for share in factor.shares[pool]]
        us = [(i + 0.5) / 400 for i in range(400)]
        tilts = [(u / (1 - u)) ** 1.5 for u in us]
        ones = [q[1] * tilt / (q[0] + q[1] * tilt) for tilt in tilts]
        mean = sum(ones) / 400
        variance = sum((one - mean) ** 2 for one in ones) / 400
        size = mean * (1 - mean) / variance - 1
        return [size * (1 - mean), size * mean]

    def count_pool(
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
        found, start = [], self.start_pool(j, pool)
        for k in range(size):
            s, g = self.pools.get((j, pool, k), (0.0, 0.0))
            found.append(start[k] + rows[k] + s + (g if guesses else 0.0))
        return found

    def chance(self, pair: int, leaf: int, tau: float, *, own: bool, guesses: bool) -> float:
        found = 1.0
        for j, prefix, k in self.list_path(leaf):
            counts = self.count_pool(pair, j, prefix, tau, own=own, guesses=guesses)
            found *= counts[k] / sum(counts)
        return found

    def moments(
        self, pair: int, tau: float, *, own: bool, j: int = 0, prefix: int = 0
    ) -> tuple[float, float]:
        """Mean and variance of independent parts, from the leaves backwards."""
        if j == len(self.plan.factors):
            a, b = self.count_cell(self.plan.cells[pair][prefix], tau, guesses=True)
            x = a / (a + b)
            return x, x * (1 - x) / (a + b + 1)
        counts = self.count_pool(pair, j, prefix, tau, own=own)
        n, size = sum(counts), len(counts)
        below = [
            self.moments(pair, tau, own=own, j=j + 1, prefix=prefix * size + k)
            for k in range(size)
        ]
        p = [count / n for count in counts]
        mean = sum(q * x for q, (x, _) in zip(p, below, strict=True))
        spread = sum(
            (q * q + q * (1 - q) / (n + 1)) * v for q, (_, v) in zip(p, below, strict=True)
        )
        square = sum(q * x * x for q, (x, _) in zip(p, below, strict=True))
        return mean, spread + (square - mean * mean) / (n + 1)

    def expect(self, pair: int) -> float:
        """The mean of a pair over all taus."""
        means = [self.moments(pair, tau, own=False)[0] for tau in self.taus]
        return sum(w * mean for w, mean in zip(self.weights, means, strict=True))

    def predict_leaves(self, pair: int, y: float) -> list[float]:
        """How likely each leaf and a reward are together, over all taus."""
        return [
            sum(
                w
                * self.chance(pair, i, tau, own=False, guesses=True)
                * predict(y, *self.count_cell(self.plan.cells[pair][i], tau, guesses=True))
                for w, tau in zip(self.weights, self.taus, strict=True)
            )
            for i in range(self.plan.n_leaves)
        ]

    def learn(self, pair: int, y: float, leaf: int | None) -> None:
        s, f = self.rewards[pair]
        parts = self.predict_leaves(pair, y)
        self.bias[pair] += math.log(predict(y, 1 + s, 1 + f)) - math.log(sum(parts))
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
            self._guess(pair, y, [part / sum(parts) for part in parts])
        self.rewards[pair] = [s + y, f + 1 - y]

    def _learn_seen(self, pair: int, y: float, leaf: int) -> None:
        cell = self.plan.cells[pair][leaf]
        paths = [self.chance(pair, leaf, tau, own=False, guesses=False) for tau in self.taus]
        pooled = sum(w * path for w, path in zip(self.weights, paths, strict=True))
        own = self.chance(pair, leaf, 0.0, own=True, guesses=False)
        self.evidence[pair] += math.log(own) - math.log(pooled)
        raised = [
            w * path * predict(y, *self.count_cell(cell, tau, guesses=False))
            for w, path, tau in zip(self.weights, paths, self.taus, strict=True)
        ]
        self.weights = [w / sum(raised) for w in raised]
        for j, prefix, k in self.list_path(leaf):
            key = pair, j, prefix, k
            self.own[key] = self.own.get(key, 0.0) + 1
            at = j, self.plan.factors[j].pools[pair][prefix], k
            one, two = self.pools.get(at, (0.0, 0.0))
            self.pools[at] = [one + 1.0, two]
        s, f = self.seen.get(cell, (0.0, 0.0))
        self.seen[cell] = [s + y, f + 1 - y]

    def _guess(self, pair: int, y: float, shares: Sequence[float]) -> None:
        """Match each distribution to the mixture over what the round may have shown."""
        reached: dict[tuple[int, int, int], float] = {}
        for leaf, share in enumerate(shares):
            cell = self.plan.cells[pair][leaf]
            s, f = self.guessed.get(cell, (0.0, 0.0))
            self.guessed[cell] = [s + share * y, f + share * (1 - y)]
            for at in self.list_path(leaf):
                reached[at] = reached.get(at, 0.0) + share
        for j, prefix in sorted({at[:2] for at in reached}):
            size = len(self.plan.factors[j].cells)
            pool = self.plan.factors[j].pools[pair][prefix]
            counts = np.zeros(size)
            for w, tau in zip(self.weights, self.taus, strict=True):
                counts += w * np.array(self.count_pool(pair, j, prefix, tau, own=False))
            mixture = [(1 - sum(reached[j, prefix, k] for k in range(size)), counts)]
            mixture += [(reached[j, prefix, k], counts + np.eye(size)[k]) for k in range(size)]
            mean, second = np.zeros(size), np.zeros(size)
            for w, a in mixture:
                mean += w * a / a.sum()
                second += w * a * (a + 1) / (a.sum() * (a.sum() + 1))
            n = (1 - (mean**2).sum()) / (second - mean**2).sum() - 1
            least = [
                self.count_pool(pair, j, prefix, tau, own=False, guesses=False)
                for tau in self.taus
            ]
            for k in range(size):
                one, two = self.pools.get((j, pool, k), (0.0, 0.0))
                # No count falls to 0 under any tau.
                floor = 0.02 - min(found[k] for found in least)
                two = max(two + n * mean[k] - counts[k], floor)
                self.pools[j, pool, k] = [one, two]


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
        counts = rng.integers(1, rows, size=(pools.max() + 1, size))
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
