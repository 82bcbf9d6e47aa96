"""From a plan to ridge models of its cells: a model for each arm and leaf, by the context.

A model knows the context variables that its cells hang on: one that the graph dropped, so that
contexts which differ in nothing else share a cell, is none of its features. So a cell has one
row of features, and its rows of the log count once in a model. Arms that share all cells of a
leaf share its model.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from boundit.bandit.kernels.arrays import Floats, Places
from boundit.terms.bound import Context
from boundit.terms.fused_plan import FusedPlan

RIDGE = 1.0
"""What a model believes before any row: as much as one row of features of size 1 says."""


class LinearLayout(NamedTuple):
    """Ridge models of a plan's cells, as arrays: what never changes while a policy learns.

    ``models`` is the model of each pair and leaf, ``arms`` the place of each pair's arm.
    ``masks`` has 1 for the features of each model. ``grams`` and ``sums``, taus x models, are
    ``A`` and ``b`` of belief and rows of the log, of rewards less one half. The arms and leaves
    whose rounds a model learns from, ``arm * leaves + leaf``, are those of ``members`` from
    ``starts[model]`` to ``starts[model + 1]``.
    """

    models: Places
    arms: Places
    masks: Floats
    grams: Floats
    sums: Floats
    starts: Places
    members: Places


def lay_out_models(
    plan: FusedPlan, features: Floats, owners: Sequence[int], taus: Sequence[float]
) -> LinearLayout:
    """Put the models of a plan's cells into arrays, with rows of the log under each tau.

    ``features`` has a row for each pair, ``owners`` the context variable of each feature, -1
    for the constant.
    """
    arms, cells, models, members = number_models(plan)
    contexts = [context for _, context in plan.pairs]
    masks = np.ones((len(members), features.shape[1]))
    sums = np.zeros((len(taus), *masks.shape))
    grams = np.zeros((*sums.shape, features.shape[1]))
    for model in range(len(members)):
        pairs, leaves = np.nonzero(models == model)
        kept = find_kept([contexts[pair] for pair in pairs], cells[pairs, leaves].tolist())
        masks[model] = [owner < 0 or kept[owner] for owner in owners]
        rows = cells[pairs, leaves], features[pairs] * masks[model]
        for tau, size in enumerate(taus):
            grams[tau, model], sums[tau, model] = fit_rows(plan, *rows, size)
    starts = np.cumsum([0, *map(len, members)])
    flat = [member for found in members for member in found]
    return LinearLayout(
        models, arms, masks, grams, sums, starts.astype(np.int64), np.array(flat, np.int64)
    )


def number_models(plan: FusedPlan) -> tuple[Places, Places, Places, list[list[int]]]:
    """Number the arms of a plan, and the models that their leaves have.

    Gives the arm of each pair, cells and models of each pair and leaf, and the members of each
    model.
    """
    places = {arm: i for i, arm in enumerate(plan.arms)}
    arms = np.array([places[arm] for arm, _ in plan.pairs], np.int64)
    cells = np.array(plan.cells, np.int64).reshape(len(plan.pairs), plan.n_leaves)
    members = dict[object, list[int]]()
    models = np.zeros_like(cells)
    for arm in range(len(places)):
        own = np.flatnonzero(arms == arm)
        for leaf in range(plan.n_leaves):
            key = tuple((plan.pairs[i][1], int(cells[i, leaf])) for i in own.tolist())
            members.setdefault(key, []).append(arm * plan.n_leaves + leaf)
            models[own, leaf] = list(members).index(key)
    return arms, cells, models, list(members.values())


def find_kept(contexts: Sequence[Context], cells: Sequence[int]) -> list[bool]:
    """Find the context variables that a model's cells hang on.

    A variable is dropped where contexts that differ in it alone always share their cell.

    >>> find_kept([(0, 0), (0, 1), (1, 0), (1, 1)], [5, 5, 6, 6])
    [True, False]
    """
    found = list[bool]()
    for k in range(len(contexts[0])):
        rest = [(*context[:k], *context[k + 1 :]) for context in contexts]
        shared = [
            cells[i] == cells[j]
            for i, j in combinations(range(len(contexts)), 2)
            if rest[i] == rest[j] and contexts[i] != contexts[j]
        ]
        found.append(not shared or not all(shared))
    return found


def fit_rows(
    plan: FusedPlan, cells: Places, features: Floats, tau: float
) -> tuple[Floats, Floats]:
    """Sum up ``A`` and ``b`` of belief and rows of the log, if means may be off by about tau.

    Every cell counts once, at the mean of its features. A bias of this size that is linear in
    the features leaves as much information as one row of ``v (1 - v) / tau^2`` for each of
    them; with a cell for each feature this is what ``count_discounted`` does.
    """
    found = np.unique(cells)
    x = np.array([features[cells == cell].mean(axis=0) for cell in found])
    n, wins = np.array(plan.n, np.float64)[found], np.array(plan.sums, np.float64)[found]
    v = (wins.sum() + 0.5) / (n.sum() + 1.0)
    used = min(int(np.count_nonzero(x.any(axis=0))), max(int((n > 0).sum()), 1))
    share = 0.0
    if not np.isinf(tau):
        share = 1.0 / (1.0 + n.sum() / used * tau**2 / (v * (1.0 - v)))
    gram = RIDGE * np.eye(x.shape[1]) + share * (x.T * n) @ x
    return gram, share * (wins - 0.5 * n) @ x
