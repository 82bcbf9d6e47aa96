"""Plans as arrays, with a row for each context and a column for each arm."""

import numpy as np

from boundit.bandit.fused.beliefs import learn_fused
from boundit.bandit.fused.layout import FusedArrays, lay_out
from boundit.bandit.fused.unobserved import (
    make_units,
    spread_particles,
    weigh_unit,
)
from boundit.bandit.ids import Ints
from boundit.results.fused_plan import FusedPlan


def make_arrays(plan: FusedPlan, *, doubt: float = 0.08, blind: bool = False) -> FusedArrays:
    arms, contexts = plan.arms, tuple(dict.fromkeys(context for _, context in plan.pairs))
    rows, columns = ({key: i for i, key in enumerate(keys)} for keys in (contexts, arms))
    bounds = np.zeros((len(contexts), len(arms), 2)) + np.array([0.0, 1.0])
    made = lay_out(plan, rows, columns, bounds, (doubt, 0.0, 1.0), flip=False)
    return add_particles(plan, made) if blind else made


def add_particles(plan: FusedPlan, a: FusedArrays) -> FusedArrays:
    """Particles of all pairs, weighed by what these have earned."""
    unseen, tables = spread_particles(plan, a)
    made = a._replace(unseen=unseen)
    for c in range(a.pairs.shape[0]):
        make_units(made, tables, c)
    for c, k in list_pairs(plan):
        weigh_unit(made, c, k, True)
    return made


def list_pairs(plan: FusedPlan) -> list[tuple[int, int]]:
    """Row and column of each pair, in the plan's order."""
    contexts = list(dict.fromkeys(context for _, context in plan.pairs))
    return [(contexts.index(context), plan.arms.index(arm)) for arm, context in plan.pairs]


def list_columns(plan: FusedPlan) -> Ints:
    return np.arange(len(plan.arms))


def learn(a: FusedArrays, c: int, k: int, reward: float, leaf: int) -> None:
    """Learn one round as the policy does, by particles where these decide."""
    learn_fused(a, c, k, reward, leaf, np.ones(a.leaves.shape[2]))
