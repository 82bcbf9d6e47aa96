"""Algorithm 5 in plain NumPy, one round at a time: the oracle of the compiled one."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from boundit.bandit.ids import Floats
from boundit.bandit.oam.allocation import allocate
from boundit.bandit.oam.policy import Branch
from boundit.results.bound import Arm, Context

ANY = (-math.inf, math.inf)


@dataclass
class PlainOAM:
    """All rows and rewards so far, by context and arm; ``bounds`` may leave pairs out."""

    arms: tuple[Arm, ...]
    encode: Callable[[Context, Arm], list[float]]
    horizon: int | None
    bounds: Mapping[tuple[Arm, Context], tuple[float, float]] = field(default_factory=dict)
    c: float = 0.0
    sigma2: float = 0.25
    epsilon: float | None = 0.01
    rows: list[tuple[Context, Arm, float]] = field(default_factory=list)
    explorations: int = 0
    due: int = 1
    allocation: dict[tuple[Context, Arm], float] = field(default_factory=dict)

    def list_arms(self, context: Context) -> list[Arm]:
        """The arms whose upper bound reaches the highest lower bound (D-34)."""
        ends = {arm: self.bounds.get((arm, context), ANY) for arm in self.arms}
        return [a for a in self.arms if ends[a][1] >= max(low for low, _ in ends.values())]

    def list_features(self, context: Context) -> Floats:
        return np.array([self.encode(context, arm) for arm in self.list_arms(context)])

    def estimate(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """``theta``, the spread of each row, and its share that nothing measured."""
        size = np.square(x).sum(axis=1)
        ridge = 1e-6 * (float(size.max()) or 1.0)
        known = np.array([self.encode(c, a) for c, a, _ in self.rows]).reshape(-1, x.shape[1])
        inverse = np.linalg.inv(known.T @ known + ridge * np.eye(x.shape[1]))
        spreads = np.einsum("ij,jk,ik->i", x, inverse, x)
        unseen = np.divide(ridge * spreads, size, out=np.zeros_like(size), where=size > 0)
        return inverse @ known.T @ [reward for *_, reward in self.rows], spreads, unseen

    def compute_width(self, delta: float, d: int) -> float:
        """The printed formula, after eq. (17)."""
        log_n = math.log(self.find_horizon())
        spent = self.c * d * math.log(d * log_n)
        return self.sigma2 * (2 * (1 + 1 / log_n) * math.log(1 / delta) + spent)

    def find_horizon(self) -> int:
        """Twice the rounds so far up to a power of two, at least 1,024, unless given."""
        return self.horizon or max(1024, 2 ** math.ceil(math.log2(2 * (len(self.rows) + 1))))

    def find_gaps(self, x: Floats, theta: Floats) -> Floats:
        means = x @ theta
        return np.asarray(means.max() - means)

    def choose(self, context: Context) -> tuple[Branch, dict[Arm, float], dict[Arm, float]]:
        """The branch, each arm's index, and the same before bounds (lines 3 to 25)."""
        arms, x = self.list_arms(context), self.list_features(context)
        theta, spreads, unseen = self.estimate(x)
        means, s, d = x @ theta, self.explorations, x.shape[1]
        if unseen.max() > 1e-3:
            return self.name(Branch.START, arms, spreads, spreads)
        f = self.compute_width(1 / self.find_horizon(), d)
        met = dict.fromkeys(c for c, *_ in self.rows)
        each = [self.find_gaps(self.list_features(c), theta) for c in met]
        gaps = np.concatenate([self.find_gaps(x, theta), *each])
        least = max(gaps[gaps > 1e-9].min(initial=math.inf), 2e-3)
        least = 2e-3 if math.isinf(least) else least
        ends = np.array([self.bounds.get((arm, context), ANY) for arm in arms])
        if (spreads <= np.maximum(self.find_gaps(x, theta), least) ** 2 / f).all():
            clipped = np.clip(means, ends[:, 0], ends[:, 1])
            return self.name(Branch.EXPLOIT, arms, clipped, means)
        pulls = np.array([sum(r[:2] == (context, arm) for r in self.rows) for arm in arms])
        wanted = np.array([self.allocation.get((context, arm), math.inf) for arm in arms])
        needed = np.minimum(wanted, f / least**2)
        if (pulls >= needed).all():
            hopes = means + np.sqrt(self.compute_width((s + 1) ** -2, d) * spreads)
            return self.name(Branch.WASTED, arms, np.minimum(hopes, ends[:, 1]), hopes)
        share = self.epsilon
        if share is None:
            share = 1 / max(math.log(math.log(max(len(self.rows) + 1, 16))), 1)
        if pulls.min() <= share * s:
            return self.name(Branch.FORCED, arms, -pulls, means)
        index = np.where(needed > 0, -pulls / np.maximum(needed, 1e-300), -math.inf)
        return self.name(Branch.UNWASTED, arms, index, means)

    def name(
        self, branch: Branch, arms: list[Arm], index: Floats, free: Floats
    ) -> tuple[Branch, dict[Arm, float], dict[Arm, float]]:
        one, other = (dict(zip(arms, n.tolist(), strict=True)) for n in (index, free))
        return branch, one, other

    def learn(self, context: Context, arm: Arm, reward: float, branch: str | None) -> None:
        self.rows.append((context, arm, reward))
        if branch in (Branch.WASTED, Branch.FORCED, Branch.UNWASTED):
            self.explorations += 1
            if self.explorations >= self.due:
                self.due = max(self.explorations + 1, int(1.05 * self.explorations))
                self.solve()

    def solve(self) -> None:
        """Work out how often to pull each arm that is left in the contexts met."""
        met = dict.fromkeys(c for c, *_ in self.rows)
        pairs = [(c, arm) for c in met for arm in self.list_arms(c)]
        x = np.concatenate([self.list_features(c) for c in met])
        last = self.rows.pop()  # the horizon is that of the rounds before
        f = self.compute_width(1 / self.find_horizon(), x.shape[1])
        self.rows.append(last)
        theta = self.estimate(x)[0]
        gaps = np.concatenate([self.find_gaps(self.list_features(c), theta) for c in met])
        pulls = allocate(x, gaps, np.ones(len(x), np.bool_), f, 100.0, 2e-3).pulls
        self.allocation = dict(zip(pairs, pulls.tolist(), strict=True))
