"""The linear form by its formulas, one round after the other: what kernels are held against."""

import math

import numpy as np

from boundit.terms.fused_plan import Factor, FusedPlan
from tests.bandit.fused.plain_fused import PlainFused


class PlainLinear(PlainFused):
    """A list of rounds, and a fit of all of them whenever a cell is asked for.

    For plans whose cells are all different, with one number for a context.
    """

    rounds: list[tuple[int, int, float, float, bool]]

    def place(self, cell: int) -> tuple[int, int]:
        """Pair and leaf of a cell."""
        pairs, leaves = np.nonzero(np.array(self.plan.cells) == cell)
        return int(pairs[0]), int(leaves[0])

    def features(self, pair: int) -> np.ndarray:
        numbers = np.array([context[0] for _, context in self.plan.pairs], float)
        return np.array([1.0, (numbers[pair] - numbers.mean()) / numbers.std()])

    def fit(self, cell: int, tau: float, *, guesses: bool) -> tuple[float, float]:
        """Mean and spread at a cell by all rows and rounds of its arm and leaf."""
        pair, leaf = self.place(cell)
        plan, arm = self.plan, self.plan.pairs[pair][0]
        mine = [i for i, (other, _) in enumerate(plan.pairs) if other == arm]
        n = np.array([plan.n[plan.cells[i][leaf]] for i in mine], float)
        wins = np.array([plan.sums[plan.cells[i][leaf]] for i in mine])
        v = (wins.sum() + 0.5) / (n.sum() + 1)
        used = min(2, max(int((n > 0).sum()), 1))
        each = n.sum() / used
        share = 0.0 if math.isinf(tau) else 1 / (1 + each * tau**2 / (v * (1 - v)))
        a, b = np.eye(2), np.zeros(2)
        for i, rows, won in zip(mine, n, wins, strict=True):
            x = self.features(i)
            a, b = a + share * rows * np.outer(x, x), b + share * (won - rows / 2) * x
        for i, k, y, part, seen in getattr(self, "rounds", []):
            if i in mine and k == leaf and (seen or guesses):
                x = self.features(i)
                a, b = a + part * np.outer(x, x), b + part * (y - 0.5) * x
        x = self.features(pair)
        return 0.5 + float(x @ np.linalg.solve(a, b)), float(x @ np.linalg.inv(a) @ x)

    def count_cell(self, cell: int, tau: float, *, guesses: bool) -> tuple[float, float]:
        mean, spread = self.fit(cell, tau, guesses=guesses)
        least = 1 / (1 / spread + 2)
        mean = min(max(mean, least), 1 - least)
        trials = max(mean * (1 - mean) / (spread / 4) - 1, 2.0)
        return mean * trials, (1 - mean) * trials

    def _learn_seen(self, pair: int, y: float, leaf: int) -> None:
        cell, before = self.plan.cells[pair][leaf], list(self.weights)
        fits = [self.fit(cell, tau, guesses=False) for tau in self.taus]
        paths = [self.chance(pair, leaf, tau, own=False, guesses=False) for tau in self.taus]
        super()._learn_seen(pair, y, leaf)
        raised = [
            w * path * math.exp(-((y - x) ** 2) / (2 * (1 + h) / 4)) / math.sqrt(1 + h)
            for w, path, (x, h) in zip(before, paths, fits, strict=True)
        ]
        self.weights = [w / sum(raised) for w in raised]

    def _add(self, pair: int, y: float, leaf: int, share: float, *, seen: bool) -> None:
        super()._add(pair, y, leaf, share, seen=seen)
        self.rounds = [*getattr(self, "rounds", []), (pair, leaf, y, share, seen)]


LEVELS = 30
"""How many numbers the context of the line world has."""


def compute_cell(arm: int, level: int, w: int) -> float:
    """The mean of a cell of the line world: linear in the context."""
    z = level / (LEVELS - 1)
    return (0.35 + 0.3 * z, 0.65 - 0.3 * z, 0.5)[arm] + (0.12 if w else -0.12)


def draw_line_plan(rows: int, seed: int) -> FusedPlan:
    """Three arms, a context of thirty numbers, and about so many rows of a log."""
    rng = np.random.default_rng(seed)
    pairs = tuple(((arm,), (level,)) for arm in range(3) for level in range(LEVELS))
    n = rng.poisson(rows / (2 * len(pairs)), (len(pairs), 2))
    means = [[compute_cell(arm, level, w) for w in (0, 1)] for (arm,), (level,) in pairs]
    sums = rng.binomial(n, means).astype(float)
    pools = tuple((arm,) for (arm,), _ in pairs)
    factor = Factor(("W",), ((0,), (1,)), pools, ((0, 0),) * 3)
    cells = tuple((2 * i, 2 * i + 1) for i in range(len(pairs)))
    return FusedPlan(
        pairs, (factor,), cells, tuple(n.ravel().tolist()), tuple(sums.ravel().tolist())
    )
