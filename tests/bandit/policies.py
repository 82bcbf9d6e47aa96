"""Every policy, a small environment for them, and bounds of it."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from boundit.bandit import OAM, TS, UCB, Fused, LinTS, LinUCB
from boundit.bandit.decision import Decision
from boundit.bandit.finite import FiniteEnvironment
from boundit.results.bound_table import BoundTable
from boundit.results.fused_plan import Factor, FusedPlan

ARMS = tuple(product((0, 1), repeat=2))
CONTEXTS = tuple(product((0, 1), repeat=2))
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "UCB": (UCB, {"horizon": 1000}),
    "UCB anytime": (UCB, {}),
    "TS": (TS, {}),
    "LinUCB": (LinUCB, {}),
    "LinUCB shared": (LinUCB, {"shared": True}),
    "LinTS": (LinTS, {}),
    "OAM": (OAM, {"horizon": 1000}),
    "Fused": (Fused, {}),
}
NAMES = sorted(KINDS)
DRAWING = ["Fused", "LinTS", "TS"]
LINEAR = ["LinTS", "LinUCB", "LinUCB shared"]
ORDER_FREE = ["LinTS", "LinUCB", "LinUCB shared", "TS", "UCB", "UCB anytime"]
"""Policies that have learned the same in whatever order rewards came, but for rounding."""


def mean(arm: tuple[object, ...], context: tuple[object, ...]) -> float:
    """The mean reward of an arm in a context."""
    (x1, x2), (u1, u2) = arm, context
    return 0.2 + 0.3 * (x1 == u1) + 0.2 * (x2 == 1) + 0.1 * (u2 == 1)


def table(width: float | None = 0.1, **changes: Any) -> BoundTable:
    """Bounds around the truth, or the whole range without a width."""
    rows: list[dict[str, object]] = []
    for arm, context in product(ARMS, CONTEXTS):
        truth = mean(arm, context)
        lower, upper = (0.0, 1.0) if width is None else (truth - width, truth + width)
        row = {"X1": arm[0], "X2": arm[1], "U1": context[0], "U2": context[1]}
        rows.append(row | {"lower": max(lower, 0.0), "upper": min(upper, 1.0)})
    made = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X1", "X2"], context=["U1", "U2"], outcome_range=(0, 1)
    )
    return replace(made, **changes)


def planned_table() -> BoundTable:
    """Bounds that say nothing, with a plan of Fused that counts in the cells of a binary W."""
    pairs = tuple(product(ARMS, CONTEXTS))
    factor = Factor(("W",), ((0,), (1,)), ((0,),) * len(pairs), ((3, 2),))
    cells = tuple((2 * i, 2 * i + 1) for i in range(len(pairs)))
    n = len(pairs) * 2
    return table(None, pooling=FusedPlan(pairs, (factor,), cells, (4,) * n, (1.0,) * n))


PRIORS = {"none": None, "bounds": table(), "plan": planned_table()}


def make(name: str, prior: BoundTable | None = None, **options: Any) -> Any:
    """Make a policy, with bounds or without."""
    kind, own = KINDS[name]
    if prior is None and "arms" not in options:
        options = {"arms": ARMS, "context": ["U1", "U2"], **options}
    return kind(prior, **{"seed": 0, **own, **options})


def play(policy: Any, n: int, *, start: int = 0, observed: bool = False) -> list[Decision]:
    """Play rounds whose contexts and rewards do not depend on the policy."""
    decisions = []
    for t in range(start, start + n):
        rng = np.random.default_rng([7, t])
        context = CONTEXTS[int(rng.integers(len(CONTEXTS)))]
        decision = policy.decide(context, id=str(t))
        shown = {"W": int(rng.integers(2))} if observed else None
        policy.learn(decision, reward_of(decision), observed=shown)
        decisions.append(decision)
    return decisions


def reward_of(decision: Decision) -> float:
    """The reward of a decision of ``play``."""
    u = np.random.default_rng([8, int(decision.id)]).random()
    return float(u < mean(decision.arm_values, decision.context_values))


def make_environment(values: tuple[float, float] = (1.0, 0.0)) -> FiniteEnvironment:
    """The same as an environment of whole runs."""
    chance = np.array([[mean(arm, context) for arm in ARMS] for context in CONTEXTS])
    ends = np.stack([chance, np.ones_like(chance)], axis=-1)
    means = values[0] * chance + values[1] * (1 - chance)
    return FiniteEnvironment(CONTEXTS, ARMS, np.array(values), ends, means)
