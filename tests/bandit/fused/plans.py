"""Plans as arrays, with a row for each context and a column for each arm."""

from boundit.bandit.draws import Ints
from boundit.bandit.fused.layout import FusedArrays, lay_out
from boundit.bandit.fused.unobserved import spread_particles
from boundit.terms.fused_plan import FusedPlan

import numpy as np


def make_arrays(plan: FusedPlan, *, doubt: float = 0.08, blind: bool = False) -> FusedArrays:
    arms, contexts = plan.arms, tuple(dict.fromkeys(context for _, context in plan.pairs))
    rows, columns = ({key: i for i, key in enumerate(keys)} for keys in (contexts, arms))
    bounds = np.zeros((len(contexts), len(arms), 2)) + np.array([0.0, 1.0])
    made = lay_out(plan, rows, columns, bounds, (doubt, 0.0, 1.0), flip=False)
    return made._replace(unseen=spread_particles(plan, made)) if blind else made


def list_pairs(plan: FusedPlan) -> list[tuple[int, int]]:
    """Row and column of each pair, in the plan's order."""
    contexts = list(dict.fromkeys(context for _, context in plan.pairs))
    return [(contexts.index(context), plan.arms.index(arm)) for arm, context in plan.pairs]


def list_columns(plan: FusedPlan) -> Ints:
    return np.arange(len(plan.arms))
