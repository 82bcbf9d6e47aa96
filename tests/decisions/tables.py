"""Small tables of bounds for tests of comparisons."""

import numpy as np
from numpy.random import Generator

from boundit.results.bound import Context
from boundit.results.bound_table import BoundTable

ROWS = [
    {"X": "a", "C": 0, "lower": 0.1, "upper": 0.3},
    {"X": "b", "C": 0, "lower": 0.4, "upper": 0.6},
    {"X": "a", "C": 1, "lower": 0.2, "upper": 0.9},
    {"X": "b", "C": 1, "lower": 0.3, "upper": 0.5},
]


def make_table() -> BoundTable:
    """Two arms in two contexts; in the first one is surely better."""
    return BoundTable.from_rows(
        ROWS, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0, 1)
    )


def draw_table(rng: Generator, n_arms: int, n_contexts: int) -> BoundTable:
    """Random intervals and differences of arms around random means, so that none is empty."""
    rows: list[dict[str, object]] = []
    contrasts: dict[tuple[Context, Context, Context], float] = {}
    for c in range(n_contexts):
        means = rng.random(n_arms)
        for a, mean in enumerate(means):
            rows.append(
                {
                    "X": a,
                    "C": c,
                    "lower": max(0.0, mean - rng.random() / 2),
                    "upper": min(1.0, mean + rng.random() / 2),
                }
            )
        for a in range(n_arms):
            for b in range(n_arms):
                if a != b and rng.random() < 0.6:
                    contrasts[(c,), (a,), (b,)] = means[a] - means[b] + rng.random() / 3
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0, 1)
    )
    return BoundTable(
        table.outcome,
        table.treatments,
        table.context,
        table.levels,
        table.outcome_range,
        table.bounds,
        contrasts=contrasts,
    )


def draw_policy(
    rng: Generator, table: BoundTable
) -> dict[Context, dict[tuple[object, ...], float]]:
    """Chances of all arms in every context."""
    return {
        where: dict(
            zip(table.arms, rng.dirichlet(np.ones(len(table.arms))).tolist(), strict=True)
        )
        for where in table.contexts
    }
