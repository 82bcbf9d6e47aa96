"""Ridge regressions of LinUCB and LinTS: what a row of features is expected to earn, how surely, and learning it.

Layout, for `models` regressions and `p` columns (features padded with zeros to a multiple of eight):
`models[m]` is (p + 2) x p: the inverse of A, then the estimate theta, then (rows learned, 0, ...). `sums[m]` is
(p + 1) x p: A = ridge I + sum x x', then b = sum reward x: what adds up. Sums run over rows in their order, in eight
columns at once, as release 0.2.0 has them, so that results are the same bit by bit.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from boundit.bandit.learned.features import FeatureEncoding
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm, Context
from boundit.terms.saving.codec import decode

from boundit.bandit.compiled import kernel, step
from boundit.bandit.draws import Floats, Ints
from boundit.bandit.errors import InvalidStep
from boundit.bandit.policy import Policy

LANES = 8
_1, _2, _3, _4, _5, _6, _7 = (np.uint64(i) for i in range(1, 8))
"""Places without a sign: one that may be negative counts from the end, and a processor then reads one at a time."""
_MOST_NUMBERS = 2**19


@step
def multiply_rows(out: Floats, matrix: Floats, x: Floats, start: int, twice: int, stop: int) -> None:
    """`out[start:start+8] = sum of x[i] matrix[i, start:start+8]` over i < stop; rows before `twice` count twice, as half
    of a symmetric matrix is enough."""
    j = np.uint64(start)
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(twice):
        w = x[i]
        s0 += w * matrix[i, j]
        s1 += w * matrix[i, j + _1]
        s2 += w * matrix[i, j + _2]
        s3 += w * matrix[i, j + _3]
        s4 += w * matrix[i, j + _4]
        s5 += w * matrix[i, j + _5]
        s6 += w * matrix[i, j + _6]
        s7 += w * matrix[i, j + _7]
    s0, s1, s2, s3, s4, s5, s6, s7 = s0 + s0, s1 + s1, s2 + s2, s3 + s3, s4 + s4, s5 + s5, s6 + s6, s7 + s7
    for i in range(twice, stop):
        w = x[i]
        s0 += w * matrix[i, j]
        s1 += w * matrix[i, j + _1]
        s2 += w * matrix[i, j + _2]
        s3 += w * matrix[i, j + _3]
        s4 += w * matrix[i, j + _4]
        s5 += w * matrix[i, j + _5]
        s6 += w * matrix[i, j + _6]
        s7 += w * matrix[i, j + _7]
    out[j], out[j + _1], out[j + _2], out[j + _3] = s0, s1, s2, s3
    out[j + _4], out[j + _5], out[j + _6], out[j + _7] = s4, s5, s6, s7


@step
def dot(one: Floats, two: Floats) -> float:
    """The product of two padded rows, in four sums."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for start in range(0, one.size, 4):
        j = np.uint64(start)
        s0 += one[j] * two[j]
        s1 += one[j + _1] * two[j + _1]
        s2 += one[j + _2] * two[j + _2]
        s3 += one[j + _3] * two[j + _3]
    return (s0 + s1) + (s2 + s3)


@step
def predict(model: Floats, x: Floats) -> float:
    """What a row is expected to earn, `theta' x`."""
    return dot(model[x.size], x)


@step
def find_spread(model: Floats, x: Floats, d: int, scratch: Floats) -> float:
    """How uncertain that is: `sqrt(x' inverse(A) x)`."""
    for j in range(0, x.size, LANES):
        multiply_rows(scratch, model, x, j, j, min(j + LANES, d))
    return math.sqrt(max(dot(scratch, x), 0.0))


@step
def update(model: Floats, x: Floats, d: int, reward: float, scratch: Floats) -> None:
    """Update inverse and estimate by one row (Sherman and Morrison 1950): off by 2e-11 after a million rows."""
    p = x.size
    for j in range(0, p, LANES):
        multiply_rows(scratch, model, x, j, 0, d)
    share = 1.0 / (1.0 + dot(scratch, x))
    surprise = (reward - predict(model, x)) * share
    for i in range(d):
        model[p, i] += scratch[i] * surprise
    for i in range(d):
        for j in range(p):
            model[i, j] -= scratch[i] * scratch[j] * share
    model[p + 1, 0] += 1.0


@kernel
def learn_row(models: Floats, sums: Floats, m: int, x: Floats, k: int, d: int, reward: float) -> None:
    """Learn the k-th row of `x` and its reward (Algorithm 4 of the paper, LinUCB, line 14)."""
    p, row = x.shape[1], x[k]
    update(models[m], row, d, reward, np.empty(p))
    for i in range(d):
        sums[m, p, i] += reward * row[i]
        for j in range(d):
            sums[m, i, j] += row[i] * row[j]


def pad(rows: Floats) -> Floats:
    wide = np.zeros((*rows.shape[:-1], -(-rows.shape[-1] // LANES) * LANES))
    wide[..., : rows.shape[-1]] = rows
    return wide


class ContextFeatures:
    """The features of all arms in one context, arms x p; and what LinUCB worked out from them: index and version."""

    __slots__ = ("cache", "x")

    def __init__(self, x: Floats) -> None:
        self.x, self.cache = x, np.full((len(x), 2), -1.0)


class LinearPolicy(Policy):
    """What LinUCB and LinTS share: features, and a regression for each arm or one for all (`shared`)."""

    additive = ("sums",)
    d = 0

    @property
    def axes(self) -> dict[str, str]:  # type: ignore[override]
        by = "" if self.options["shared"] else "a"
        return {"models": by, "sums": by}

    def rebuild(self) -> None:
        self._features: dict[Context, ContextFeatures] = {}

    def make_encoding(self) -> FeatureEncoding:
        s = self.spec
        known = BanditSpec(s.arms, s.arm_levels, s.context, s.context_levels, unseen=s.unseen)
        return FeatureEncoding.of(known, self.options["features"], sees_numbers=True)

    def make_models(self) -> tuple[Floats, Floats]:
        """Regressions that have learned nothing: A = ridge I, b = 0."""
        self.encoding = self.make_encoding()
        if not self.d and self.spec.arms and (self.spec.context is not None) and self.options["features"] is None:
            levels = self.encoding.context
            self.d = 1 + sum(v.size for v in levels) + sum(v.size for v in self.encoding.arm)
        n, p = 1 if self.options["shared"] else len(self._arms), -(-self.d // LANES) * LANES
        models, sums, ridge = np.zeros((n, p + 2, p)), np.zeros((n, p + 1, p)), self.options["ridge"]
        for i in range(self.d):
            models[:, i, i], sums[:, i, i] = 1.0 / ridge, ridge
        return models, sums

    def find_features(self, context: Context) -> ContextFeatures:
        """The features of all arms in a context, kept while there is room; a user's function is asked each time."""
        found = self._features.get(context)
        if found is None:
            rows = [self.encode(context, arm) for arm in self._arms]
            if len({row.size for row in rows}) != 1 or (self.d and rows[0].size != self.d):
                raise InvalidStep(f"the arms have {sorted({row.size for row in rows})} features, and this policy learns {self.d}")
            self._require_size(rows[0].size)
            found = ContextFeatures(pad(np.array(rows)))
            if self.options["features"] is None:
                if len(self._features) * max(found.x.size, 64) >= _MOST_NUMBERS:
                    self._features.clear()
                self._features[context] = found
        return found

    def encode(self, context: Context, arm: Arm) -> Floats:
        return self.encoding.encode(context, arm)

    def take(self, context: Context, row: int, column: int, reward: float, observed: Any) -> None:
        x = self.find_features(context).x
        learn_row(self.arrays.models, self.arrays.sums, 0 if self.options["shared"] else column, x, column, self.d, reward)

    def _find_row(self, context: Context) -> int:
        return self._rows.get(context, 0)  # contexts may be numbers: nothing is kept by context but bounds

    def derive(self) -> None:
        models, sums, d = self.arrays.models, self.arrays.sums, self.d
        p = models.shape[2]
        models[:, :d, :d] = np.linalg.inv(sums[:, :d, :d])
        models[:, p, :d] = np.einsum("mij,mj->mi", models[:, :d, :d], sums[:, p, :d])

    def restore_arrays(self, record: Mapping[str, Any], rows: Ints, columns: Ints) -> None:
        """Read regressions; a state of 0.2.0 has (arm or None, A, b, inverse, theta) for each that has learned."""
        if "ridge" in record:
            for key, *parts in record["ridge"]:
                gram, response, inverse, theta = (np.array(part, np.float64) for part in parts)
                self._require_size(theta.size)
                m, d, p = 0 if key is None else self._columns[decode(Arm, key)], self.d, self.arrays.models.shape[2]
                self.arrays.models[m, :d, :d], self.arrays.models[m, p, :d] = inverse, theta
                self.arrays.sums[m, :d, :d], self.arrays.sums[m, p, :d] = gram, response
        else:
            width = int(np.array(record["models"]).shape[-1])
            if width and not self.d:
                self._require_size(int((np.array(record["models"])[0].diagonal() != 0.0).sum()))
            super().restore_arrays(record, rows, columns)
        self.rebuild()

    def _require_size(self, d: int) -> None:
        if not self.d:
            self.d = d
            self.arrays = self.make_arrays()

    def lay_out_features(self, contexts: Sequence[Context]) -> Floats:
        """Features of all arms in all contexts, contexts x arms x p."""
        return np.array([self.find_features(context).x for context in contexts])


Features = Callable[[Context, Arm], Sequence[float]]
__all__ = ["Features", "Ints", "LinearPolicy", "find_spread", "learn_row", "predict", "update"]
