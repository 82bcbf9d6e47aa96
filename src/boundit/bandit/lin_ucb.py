"""LinUCB with a regression for each arm or one for all, truncated at prior bounds (Algorithm 4)."""

from typing import Any, NamedTuple, Unpack

import numpy as np

from boundit.bandit.compiled import step
from boundit.bandit.decision import FREE, INDEX
from boundit.bandit.features import Features
from boundit.bandit.ids import Floats, Ints
from boundit.bandit.options import CommonOptions
from boundit.bandit.ridge import LinearPolicy, WarmStart, find_spread, predict, update
from boundit.bandit.runs import register_runs
from boundit.bandit.ucb import is_ahead
from boundit.results.bound_table import BoundTable

_INDEX, _VERSION = 0, 1


class LinUCBArrays(NamedTuple):
    """``models`` as in ``ridge``; ``table``: without rows; ``scratch``: p numbers to work with.

    For whole runs ``x``: contexts x arms x p, and ``cache``: contexts x arms x (index, rows that
    its regression had learned by then).
    """

    models: Floats
    bounds: Floats
    x: Floats
    cache: Floats
    table: Floats
    scratch: Floats
    d: int
    alpha: float
    shared: bool


@step
def index_lin_ucb(
    models: Floats,
    x: Floats,
    cache: Floats,
    bounds: Floats,
    c: int,
    columns: Ints,
    start: int,
    stop: int,
    d: int,
    alpha: float,
    shared: bool,
    table: Floats,
    scratch: Floats,
) -> int:
    """Write LinUCB's index of each arm; give the winner's place.

    The index is ``theta' x + alpha sqrt(x' inverse(A) x)``. It is worked out again only if its
    regression has learned since.
    """
    p, winner, best, best_free = x.shape[1], -1, -np.inf, -np.inf
    for i in range(start, stop):
        k = columns[i]
        upper, model = bounds[c, k, 1], models[0 if shared else k]
        if table.size == 0 and upper < best:
            continue
        if cache[k, _VERSION] != model[p + 1, 0]:
            cache[k, _INDEX] = predict(model, x[k]) + alpha * find_spread(
                model, x[k], d, scratch
            )
            cache[k, _VERSION] = model[p + 1, 0]
        free = cache[k, _INDEX]
        index = min(free, upper)
        if table.size > 0:
            table[i, FREE], table[i, INDEX] = free, index
        if winner < 0 or is_ahead(index, free, k, best, best_free, columns[winner]):
            winner, best, best_free = i, index, free
    return winner


@step
def score_lin_ucb(
    models: Floats,
    x: Floats,
    cache: Floats,
    bounds: Floats,
    c: int,
    columns: Ints,
    d: int,
    alpha: float,
    shared: bool,
    table: Floats,
) -> int:
    """Write the index of every arm of one request; give the winner's place."""
    p, n = x.shape[1], columns.size
    scratch = models[0, p + 2]
    return index_lin_ucb(
        models, x, cache, bounds, c, columns, 0, n, d, alpha, shared, table, scratch
    )


@step
def _choose(
    arrays: LinUCBArrays, c: int, columns: Ints, start: int, stop: int, uniform: float
) -> int:
    a = arrays
    place = index_lin_ucb(
        a.models,
        a.x[c],
        a.cache[c],
        a.bounds,
        c,
        columns,
        start,
        stop,
        a.d,
        a.alpha,
        a.shared,
        a.table,
        a.scratch,
    )
    k: int = columns[place]
    return k


@step
def _learn(arrays: LinUCBArrays, c: int, k: int, reward: float, leaf: int) -> None:
    m = 0 if arrays.shared else k
    update(arrays.models[m], arrays.x[c, k], arrays.d, reward, arrays.scratch)


register_runs(LinUCBArrays, choose=_choose, learn=_learn)


class LinUCB(LinearPolicy):
    """Upper confidence bounds of ridge regressions, truncated at prior bounds.

    The index of an arm is ``min(theta' x + alpha sqrt(x' inverse(A) x), U)``: LinUCB, and with a
    prior LinUCB-PCB. Features are ``[1, context, treatments]``, with text one-hot. It assumes
    that mean rewards are linear in them.

    Parameters
    ----------
    prior : BoundTable, optional
        Bounds to start from.
    alpha : float
        The weight of uncertainty.
    ridge : float
        The penalty of the regressions.
    shared : bool
        One regression for all arms, instead of one for each.
    features : function, optional
        Gives the features for a context and an arm, instead of those above.
    warm_start : WarmStart, optional
        Estimates that the regressions start from.
    **common
        The options of every policy: see ``Policy``.

    Examples
    --------
    >>> policy = LinUCB(arms=["A", "B"], context=["Age"])
    >>> decision = policy.decide({"Age": 0.3})
    >>> policy.learn(decision, 0.0)
    >>> decision.arm, policy.decide({"Age": 0.3}).arm
    ('B', 'A')
    """

    def __init__(
        self,
        prior: BoundTable | None = None,
        *,
        alpha: float = 1.0,
        ridge: float = 1.0,
        shared: bool = False,
        features: Features | None = None,
        warm_start: WarmStart | None = None,
        **common: Unpack[CommonOptions],
    ) -> None:
        own = {
            "alpha": alpha,
            "ridge": ridge,
            "shared": shared,
            "features": features,
            "warm_start": warm_start,
        }
        super().__init__(prior, own, common)

    def make_arrays(self) -> LinUCBArrays:
        """Make the regressions of nothing learned."""
        models, nothing = self.make_models(), np.zeros((0, 0, 0))
        return LinUCBArrays(
            models,
            self.prior.bounds,
            nothing,
            nothing,
            np.empty((0, 2)),
            np.empty(models.shape[2]),
            self.d,
            self.options["alpha"],
            self.options["shared"],
        )

    def score(self, context: Any, row: int, columns: Ints) -> tuple[int, None, Floats]:
        """Compute the index of each arm; the highest wins."""
        found = self._features.get(context)
        if found is None:
            found = self.find_features(context, columns)
        a, table = self.arrays, np.empty((columns.size, 2))
        winner = score_lin_ucb(
            a.models,
            found.x,
            found.cache,
            a.bounds,
            row,
            columns,
            a.d,
            a.alpha,
            a.shared,
            table,
        )
        return winner, None, table

    def lay_out_runs(self, rows: Ints, columns: Ints, contexts: Any, rounds: Any) -> Any:
        """Give regressions of nothing learned, with the features of an environment."""
        x = self.lay_out_features(contexts)
        cache = np.full((*x.shape[:2], 2), -1.0)
        return self.make_arrays()._replace(bounds=self.prior.bounds[rows], x=x, cache=cache)
