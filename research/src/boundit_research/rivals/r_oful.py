"""R-OFUL (Sharma, Basu, Shanmugam and Shakkottai): linear means that have bounds.

From the paper's abstract: bounds on means give smaller sub-Gaussian factors, and with the linear
model they may rule out arms altogether. Here every arm has a ridge model of its own, as LinUCB's;
the radius of its ellipsoid is OFUL's (Abbasi-Yadkori, Pal and Szepesvari 2011), ``noise
sqrt(log(det A) + 2 log(K / d)) + 1`` with ridge 1 and d = .01, and no index passes the highest
mean that a linear model within all bounds of the arm can have. This restriction and the constants
are ours: the paper's are not in its abstract, which has one vector of coefficients for all arms.
``scale``, 1 unless tuned, multiplies the radius.
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn, Unpack

import numpy as np
from scipy.optimize import linprog

from boundit.bandit.compiled import kernel
from boundit.bandit.decision import FREE, INDEX
from boundit.bandit.errors import CannotMerge
from boundit.bandit.ids import Floats, Ints
from boundit.bandit.options import CommonOptions
from boundit.bandit.ridge import LinearPolicy, find_spread, predict, update
from boundit.bandit.runs import Rounds, register_runs
from boundit.bandit.ucb import is_ahead
from boundit.results.bound import Context
from boundit.results.bound_table import BoundTable
from boundit_research.rivals.tables import compute_noise

_DELTA = 0.01
_NORM = 1.0
"""How long an arm's coefficients may be, times the root of the ridge."""
Rows = tuple[tuple[float, ...], ...]


class ROFULArrays(NamedTuple):
    """``models`` as in ``ridge``, with ``log(det A)`` after the number of rows learned.

    ``ends``, ``noise``: what bounds leave of linear means, and of how far rewards vary.
    """

    models: Floats
    ends: Floats
    noise: Floats
    x: Floats
    d: int
    scale: float


@kernel
def score_r_oful(
    a: ROFULArrays, x: Floats, c: int, columns: Ints, start: int, stop: int
) -> tuple[int, Floats]:
    """Compute the index of each arm, nan where bounds rule it out; also the winner's row."""
    table, p, best, least = np.full((stop - start, 2), np.nan), x.shape[1], -1, -np.inf
    scratch = np.empty(p)
    for i in range(start, stop):
        least = max(least, a.ends[c, columns[i], 0])
    for i in range(stop - start):
        k = columns[start + i]
        if a.ends[c, k, 1] < least:
            continue
        model, spread = a.models[k], find_spread(a.models[k], x[k], a.d, scratch)
        surprise = model[p + 1, 1] + 2.0 * math.log(x.shape[0] / _DELTA)
        radius = a.scale * (a.noise[c, k] * math.sqrt(surprise) + _NORM)
        free = predict(model, x[k]) + radius * spread
        table[i, FREE], table[i, INDEX] = free, min(free, a.ends[c, k, 1])
        if best < 0 or is_ahead(
            table[i, INDEX],
            free,
            k,
            table[best, INDEX],
            table[best, FREE],
            columns[start + best],
        ):
            best = i
    return best, table


@kernel
def _choose(
    arrays: ROFULArrays, c: int, columns: Ints, start: int, stop: int, uniform: float
) -> int:
    place, _ = score_r_oful(arrays, arrays.x[c], c, columns, start, stop)
    k: int = columns[start + place]
    return k


@kernel
def learn_row(models: Floats, x: Floats, k: int, d: int, reward: float) -> None:
    """Let the model of an arm learn a reward, with its determinant."""
    scratch = np.empty(x.size)
    models[k, x.size + 1, 1] += math.log(1.0 + find_spread(models[k], x, d, scratch) ** 2)
    update(models[k], x, d, reward, scratch)


@kernel
def _learn(arrays: ROFULArrays, c: int, k: int, reward: float, leaf: int) -> None:
    learn_row(arrays.models, arrays.x[c, k], k, arrays.d, reward)


register_runs(ROFULArrays, choose=_choose, learn=_learn)


class ROFUL(LinearPolicy):
    """R-OFUL with the bounds of ``prior``; rewards are from 0 to 1."""

    def __init__(
        self,
        prior: BoundTable | None = None,
        *,
        scale: float = 1.0,
        **common: Unpack[CommonOptions],
    ) -> None:
        table = prior.intervals_only() if prior else None
        own = {"scale": scale, "ridge": 1.0, "features": None, "warm_start": None}
        super().__init__(table, own, common)

    def list_options(self) -> dict[str, Any]:
        return {"scale": self.options["scale"], "seed": self.seed, "explore": self.explore}

    def record_options(self) -> dict[str, Any]:
        return self.list_options()

    @classmethod
    def read_options(
        cls, record: Mapping[str, Any], functions: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {**record, **functions}

    def make_arrays(self) -> ROFULArrays:
        models, ends = self.make_models(), np.clip(self.prior.bounds, 0.0, 1.0)
        known = slice(1, len(self._contexts) + 1)
        for k, arm in enumerate(self._arms if self._contexts else ()):
            x = [self.encoding.encode(context, arm).tolist() for context in self._contexts]
            ends[known, k] = restrict_linear(_freeze(x), _freeze(ends[known, k].tolist()))
        noise = compute_noise(ends)
        noise[:] = noise[known].max(axis=0, initial=0.0) if self._contexts else noise
        return ROFULArrays(
            models, ends, noise, np.zeros((0, 0, 0)), self.d, self.options["scale"]
        )

    def record_arrays(self, places: Mapping[str, slice]) -> dict[str, Any]:
        found = super().record_arrays(places)
        return {**found, "log_determinants": self.arrays.models[:, -2, 1:2].tolist()}

    def restore_arrays(self, record: Mapping[str, Any], rows: Ints, columns: Ints) -> None:
        super().restore_arrays(record, rows, columns)
        if self.d:
            self.arrays.models[columns, -2, 1:2] = record["log_determinants"]

    def score(self, context: Context, row: int, columns: Ints) -> tuple[int, None, Floats]:
        x = self.find_features(context, columns).x
        place, table = score_r_oful(self.arrays, x, row, columns, 0, columns.size)
        return place, None, table

    def take(self, context: Context, row: int, column: int, reward: float, shown: Any) -> None:
        x = self.find_features(context, np.array([column])).x[column]
        learn_row(self.arrays.models, x, column, self.d, reward)

    def lay_out_runs(
        self, rows: Ints, columns: Ints, contexts: Sequence[Context], rounds: Rounds
    ) -> ROFULArrays:
        x, a = self.lay_out_features(contexts), self.make_arrays()
        return a._replace(ends=a.ends[rows], noise=a.noise[rows], x=x)

    def merge(self, other: Any, *, since: Any = None) -> NoReturn:
        raise CannotMerge("what a rival learned hangs on the order of its rounds")


def _freeze(rows: list[list[float]]) -> Rows:
    return tuple(map(tuple, rows))


@lru_cache(maxsize=4096)
def restrict_linear(features: Rows, ends: Rows) -> Floats:
    """Narrow the bounds of one arm's means to what a linear model within all of them can have.

    ``features`` has a row for each context, ``ends`` their lower and upper end. Bounds that no
    linear model keeps stay as they are.

    >>> x, ends = ((1, 0), (1, 1), (1, 2)), ((0, 1), (0.5, 0.5), (0.9, 1))
    >>> restrict_linear(x, ends).round(3).tolist()
    [[0.0, 0.1], [0.5, 0.5], [0.9, 1.0]]
    """
    x, found = np.array(features), np.array(ends, np.float64)
    rows, limits = np.concatenate([x, -x]), np.concatenate([found[:, 1], -found[:, 0]])
    solved = [
        linprog(sign * row, A_ub=rows, b_ub=limits, bounds=(None, None))
        for row in x
        for sign in (1.0, -1.0)
    ]
    if any(one.status != 0 for one in solved):
        return found
    least, most = [s.fun for s in solved[::2]], [-s.fun for s in solved[1::2]]
    # Rounding may leave an end a little outside.
    return np.column_stack([np.maximum(least, found[:, 0]), np.minimum(most, found[:, 1])])
