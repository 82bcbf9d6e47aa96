"""LinUCB with a regression for each arm or one for all, truncated at prior bounds (Algorithm 4 of the paper)."""

from typing import Any, NamedTuple, Unpack

import numpy as np

from boundit.bandit.compiled import kernel, step
from boundit.bandit.draws import Floats, Ints
from boundit.bandit.index import FREE, INDEX, is_ahead
from boundit.bandit.policy import CommonOptions
from boundit.bandit.ridge import Features, LinearPolicy, find_spread, predict, update
from boundit.bandit.runs import register_choose, register_copy, register_learn

_INDEX, _VERSION = 0, 1


class LinUCBArrays(NamedTuple):
    """`models` and `sums` as in `ridge`. For whole runs `x`: contexts x arms x p, and `cache`: contexts x arms x
    (index, rows that its regression had learned by then). `table`: without rows; `scratch`: room for p numbers."""

    models: Floats
    sums: Floats
    bounds: Floats
    x: Floats
    cache: Floats
    table: Floats
    scratch: Floats
    d: int
    alpha: float
    floor: bool
    shared: bool


@step
def index_lin_ucb(
    models: Floats, x: Floats, cache: Floats, bounds: Floats, c: int, columns: Ints, start: int, stop: int, d: int, alpha: float, flags: int, table: Floats, scratch: Floats
) -> int:
    """Write LinUCB's index of each arm, `theta' x + alpha sqrt(x' inverse(A) x)`; give the winner.

    An index is worked out again only if its regression has learned since. `flags`: 1 floor, 2 one regression for all.
    """
    p, winner, best, best_free = x.shape[1], -1, -np.inf, -np.inf
    for i in range(start, stop):
        k = columns[i]
        upper, model = bounds[c, k, 1], models[0 if flags & 2 else k]
        if table.size == 0 and upper < best:
            continue
        if cache[k, _VERSION] != model[p + 1, 0]:
            cache[k, _INDEX] = predict(model, x[k]) + alpha * find_spread(model, x[k], d, scratch)
            cache[k, _VERSION] = model[p + 1, 0]
        free = cache[k, _INDEX]
        index = min(free, upper)
        if flags & 1:
            index = max(index, bounds[c, k, 0])
        if table.size > 0:
            table[i, FREE], table[i, INDEX] = free, index
        if winner < 0 or is_ahead(index, free, k, best, best_free, columns[winner]):
            winner, best, best_free = i, index, free
    return winner


@step
def _choose(arrays: LinUCBArrays, c: int, columns: Ints, start: int, stop: int, uniform: float) -> int:
    a, flags = arrays, (1 if arrays.floor else 0) + (2 if arrays.shared else 0)
    return columns[
        index_lin_ucb(a.models, a.x[c], a.cache[c], a.bounds, c, columns, start, stop, a.d, a.alpha, flags, a.table, a.scratch)
    ]


@step
def _learn(arrays: LinUCBArrays, c: int, k: int, reward: float, leaf: int) -> None:
    update(arrays.models[0 if arrays.shared else k], arrays.x[c, k], arrays.d, reward, arrays.scratch)


@kernel
def _copy(arrays: LinUCBArrays) -> LinUCBArrays:
    a, cache = arrays, np.full_like(arrays.cache, -1.0)
    return LinUCBArrays(
        a.models.copy(), a.sums, a.bounds, a.x, cache, a.table, a.scratch, a.d, a.alpha, a.floor, a.shared
    )


register_choose(LinUCBArrays, _choose)
register_learn(LinUCBArrays, _learn)
register_copy(LinUCBArrays, _copy)


class LinUCB(LinearPolicy):
    """Optimism on a ridge regression, truncated at prior bounds: LinUCB, and with a prior LinUCB-PCB.

    The index is `min(theta' x + alpha sqrt(x' inverse(A) x), U)`; with a `floor` at least L. Features are
    `[1, context, treatments]`, or what `features(context, arm)` gives.
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        ridge: float = 1.0,
        shared: bool = False,
        floor: bool = False,
        features: Features | None = None,
        **common: Unpack[CommonOptions],
    ) -> None:
        super().__init__({"alpha": alpha, "ridge": ridge, "shared": shared, "floor": floor, "features": features}, common)

    def make_arrays(self) -> LinUCBArrays:
        models, sums = self.make_models()
        self._flags = self.options["floor"] + 2 * self.options["shared"]
        nothing, (alpha, _, shared, floor, _) = np.zeros((0, 0, 0)), self.options.values()
        table, scratch = np.empty((0, 2)), np.empty(models.shape[2])
        return LinUCBArrays(models, sums, self.prior.bounds, nothing, nothing, table, scratch, self.d, alpha, floor, shared)

    def score(self, context: Any, row: int, columns: Ints) -> tuple[int, None, Floats, Floats]:
        features, table = self._features.get(context) or self.find_features(context), np.empty((columns.size, 2))
        winner = index_lin_ucb(
            self.arrays.models, features.x, features.cache, self.prior.bounds, row, columns, 0, columns.size, self.d, self.arrays.alpha, self._flags, table, self.arrays.scratch
        )
        return winner, None, table[:, INDEX], table[:, FREE]

    def lay_out_runs(self, rows: Ints, columns: Ints, contexts: Any, rounds: Any) -> Any:
        x = self.lay_out_features(contexts)
        return self.make_arrays()._replace(bounds=self.prior.bounds[rows], x=x, cache=np.full((*x.shape[:2], 2), -1.0))
