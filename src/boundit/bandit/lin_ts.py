"""Thompson sampling on ridge regressions, truncated to prior bounds, without drawing (Agrawal and Goyal 2013).

With a regression for each arm their means are independent, and the quadrature of `best_arm` gives each arm's
probability. With one regression for all arms their means vary together: then the probability is each arm's share of
wins over fixed points of the coefficients' distribution. The arm is drawn from these shares, so that they are its exact
propensities too.
"""

import math
from typing import Any, NamedTuple, Unpack

import numpy as np
from scipy.special import ndtri

from boundit.bandit.best_arm import COLUMNS, LOWER, MEAN, SD, UPPER, find_best_arm_probabilities
from boundit.bandit.compiled import kernel, step
from boundit.bandit.draws import Floats, Ints, pick_arm
from boundit.bandit.policy import CommonOptions
from boundit.bandit.ridge import Features, LinearPolicy, find_spread, predict, update
from boundit.bandit.runs import register_choose, register_copy, register_learn

N_POINTS = 256
_LEAST_SPREAD = 1e-9
_TRIES, _STRIDE = 16, 97


class LinTSArrays(NamedTuple):
    """As those of LinUCB; `points`: points x d, from the standard normal distribution, where arms share a regression."""

    models: Floats
    sums: Floats
    bounds: Floats
    x: Floats
    points: Floats
    d: int
    scale: float


@kernel
def believe_lin_ts(models: Floats, x: Floats, bounds: Floats, c: int, columns: Ints, d: int, scale: float, shared: bool) -> Floats:
    """The distribution of each arm's mean: normal, truncated to the bounds."""
    belief, scratch = np.zeros((columns.size, COLUMNS)), np.empty(x.shape[1])
    for i in range(columns.size):
        k = columns[i]
        model = models[0 if shared else k]
        belief[i, MEAN] = predict(model, x[k])
        belief[i, SD] = max(scale * find_spread(model, x[k], d, scratch), _LEAST_SPREAD)
        belief[i, LOWER], belief[i, UPPER] = bounds[c, k, 0], bounds[c, k, 1]
    return belief


@kernel
def count_wins(model: Floats, x: Floats, points: Floats, columns: Ints, d: int, scale: float, belief: Floats) -> Floats:
    """Each arm's share of wins, means truncated to the bounds, over the points; one win more is shared by all arms that
    the bounds leave."""
    n, start = columns.size, -np.inf
    for i in range(n):
        start = max(start, belief[i, LOWER])
    slopes, root = np.zeros((n, d)), _factor(model, d)
    for i in range(n):  # x' L, so that an arm's deviation at a point z is its product with z
        for j in range(d):
            for k in range(j, d):
                slopes[i, j] += x[columns[i], k] * root[k, j]
    wins, total = np.zeros(n), 0.0
    for i in range(n):
        wins[i] = 1.0 if belief[i, UPPER] >= start else 0.0
        total += wins[i]
    for i in range(n):
        wins[i] /= total
    drawn = np.empty((n, points.shape[0]))
    for i in range(n):
        for s in range(points.shape[0]):
            drawn[i, s] = belief[i, MEAN]
            for j in range(d):
                drawn[i, s] += scale * slopes[i, j] * points[s, j]
    for s in range(points.shape[0]):
        winner, best = 0, -np.inf
        for i in range(n):
            value = _reject(drawn[i], s, belief[i, LOWER], belief[i, UPPER])
            if value > best:
                winner, best = i, value
        wins[winner] += 1.0
    return wins / (1.0 + points.shape[0])


@step
def _reject(drawn: Floats, s: int, lower: float, upper: float) -> float:
    """Truncate an arm's mean at a point: outside the bounds it takes that of another point, as rejection would."""
    at = s
    for _ in range(_TRIES):
        if lower <= drawn[at] <= upper:
            return drawn[at]
        at = (at + _STRIDE) % drawn.size
    return min(max(drawn[s], lower), upper)


@kernel
def _factor(model: Floats, d: int) -> Floats:
    """The lower triangle L with L L' = inverse(A) (Cholesky)."""
    low = np.zeros((d, d))
    for j in range(d):
        rest = model[j, j]
        for k in range(j):
            rest -= low[j, k] * low[j, k]
        low[j, j] = math.sqrt(max(rest, 0.0))
        for i in range(j + 1, d):
            rest = model[i, j]
            for k in range(j):
                rest -= low[i, k] * low[j, k]
            low[i, j] = rest / low[j, j] if low[j, j] > 0.0 else 0.0
    return low


def spread_points(n: int, d: int) -> Floats:
    """Spread points over the standard normal distribution by an additive recurrence (Roberts 2018), and their mirror
    images, so that they average to zero."""
    ratio = 2.0
    for _ in range(64):
        ratio = (1.0 + ratio) ** (1.0 / (d + 1))
    half = ndtri((0.5 + np.outer(np.arange(1, n // 2 + 1), ratio ** -np.arange(1.0, d + 1))) % 1.0)
    return np.concatenate([half, -half])


@kernel
def _choose(arrays: LinTSArrays, c: int, columns: Ints, start: int, stop: int, uniform: float) -> int:
    x, shared, open_ = arrays.x[c], arrays.points.shape[0] > 0, columns[start:stop]
    belief = believe_lin_ts(arrays.models, x, arrays.bounds, c, open_, arrays.d, arrays.scale, shared)
    if shared:
        found = count_wins(arrays.models[0], x, arrays.points, open_, arrays.d, arrays.scale, belief)
    else:
        found = find_best_arm_probabilities(belief)
    return open_[pick_arm(found, uniform, 0.0)]


@kernel
def _learn(arrays: LinTSArrays, c: int, k: int, reward: float, leaf: int) -> None:
    m = 0 if arrays.points.shape[0] > 0 else k
    update(arrays.models[m], arrays.x[c, k], arrays.d, reward, np.empty(arrays.x.shape[2]))


@kernel
def _copy(arrays: LinTSArrays) -> LinTSArrays:
    return LinTSArrays(
        arrays.models.copy(), arrays.sums, arrays.bounds, arrays.x, arrays.points, arrays.d, arrays.scale
    )


register_choose(LinTSArrays, _choose)
register_learn(LinTSArrays, _learn)
register_copy(LinTSArrays, _copy)


class LinTS(LinearPolicy):
    """Play an arm as often as it is probably the best by ridge regressions: coefficients are normal with covariance
    `scale^2 inverse(A)`, means truncated to the prior bounds."""

    draws = True

    def __init__(
        self,
        *,
        scale: float = 1.0,
        ridge: float = 1.0,
        shared: bool = False,
        features: Features | None = None,
        **common: Unpack[CommonOptions],
    ) -> None:
        super().__init__({"scale": scale, "ridge": ridge, "shared": shared, "features": features}, common)

    def make_arrays(self) -> LinTSArrays:
        models, sums = self.make_models()
        points = spread_points(N_POINTS, self.d) if self.options["shared"] and self.d else np.zeros((0, 0))
        return LinTSArrays(models, sums, self.prior.bounds, np.zeros((0, 0, 0)), points, self.d, self.options["scale"])

    def score(self, context: Any, row: int, columns: Ints) -> tuple[int, Floats, Floats, Floats]:
        a, x, shared = self.arrays, self.find_features(context).x, self.options["shared"]
        belief = believe_lin_ts(a.models, x, self.prior.bounds, row, columns, self.d, a.scale, shared)
        if shared:
            found = count_wins(a.models[0], x, a.points, columns, self.d, a.scale, belief)
        else:
            found = find_best_arm_probabilities(belief)
        return -1, found, np.clip(belief[:, MEAN], belief[:, LOWER], belief[:, UPPER]), belief[:, MEAN]

    def lay_out_runs(self, rows: Ints, columns: Ints, contexts: Any, rounds: Any) -> Any:
        return self.make_arrays()._replace(bounds=self.prior.bounds[rows], x=self.lay_out_features(contexts))
