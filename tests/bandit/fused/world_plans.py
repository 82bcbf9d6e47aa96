"""Plans of small worlds, counted by hand from a drawn log, as tables that policies take."""

from dataclasses import replace
from itertools import product

import numpy as np

from boundit.simulation.world import World
from boundit.terms.bound_table import BoundTable
from boundit.terms.fused_plan import Factor, FusedPlan


def make_table(plan: FusedPlan, reward_range: tuple[float, float] = (0.0, 1.0)) -> BoundTable:
    """A table that says nothing but its plan."""
    low, high = reward_range
    names = [f"X{i}" for i in range(len(plan.pairs[0][0]))]
    given = [f"C{i}" for i in range(len(plan.pairs[0][1]))]
    rows = [
        dict(zip((*names, *given), (*arm, *context), strict=True))
        | {"lower": low, "upper": high}
        for arm, context in plan.pairs
    ]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=names, context=given, outcome_range=reward_range
    )
    return replace(table, pooling=plan)


def count_plan(
    world: World,
    middle: str,
    row: tuple[str, ...],
    pool: tuple[str, ...],
    *,
    n: int,
    seed: int,
    tilt: bool = True,
) -> BoundTable:
    """Count a world's log: cells by ``row`` and the middle, laws of the middle by ``pool``."""
    query, environment = world.query, world.environment
    log = world.model.sample_log(n, np.random.default_rng(seed))
    names = (*query.treatments, *query.context)
    pairs = tuple(product(environment.arms, environment.contexts))
    values = [dict(zip(names, (*arm, *context), strict=True)) for arm, context in pairs]
    rows = list(dict.fromkeys(tuple(v[name] for name in row) for v in values))
    pools = list(dict.fromkeys(tuple(v[name] for name in pool) for v in values))
    counts, sums, shares = [], [], []
    for key in rows:
        held = np.all([log[name] == at for name, at in zip(row, key, strict=True)], axis=0)
        for w in (0, 1):
            counts.append(int((held & (log[middle] == w)).sum()))
            sums.append(float(log["Y"][held & (log[middle] == w)].sum()))
    for key in pools:
        held = np.ones(len(log[middle]), bool)
        for name, at in zip(pool, key, strict=True):
            held &= log[name] == at
        shares.append(tuple(int((held & (log[middle] == w)).sum()) for w in (0, 1)))
    places = [rows.index(tuple(v[name] for name in row)) for v in values]
    factor = Factor(
        (middle,),
        ((0,), (1,)),
        tuple((pools.index(tuple(v[name] for name in pool)),) for v in values),
        ((0, 0),) * len(pools),
        tuple(shares) if tilt else None,
    )
    plan = FusedPlan(
        pairs,
        (factor,),
        tuple((2 * place, 2 * place + 1) for place in places),
        tuple(counts),
        tuple(sums),
    )
    rows_ = [
        dict(zip(names, (*arm, *context), strict=True)) | {"lower": 0.0, "upper": 1.0}
        for arm, context in pairs
    ]
    table = BoundTable.from_rows(
        rows_,
        outcome="Y",
        treatments=query.treatments,
        context=query.context,
        outcome_range=(0.0, 1.0),
    )
    return replace(table, pooling=plan)


PAPER = ("I1", ("X1", "X2", "U1"), ("X1",))
"""The middle, row and pool of the paper's world."""
