"""Every policy of the room, found by looking, and a small world for them to play in."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

import boundit.bandit
from boundit.bandit.decision import Decision
from boundit.bandit.policies.lin_ts import LinTS
from boundit.bandit.policy import Policy
from boundit.terms.bound import Arm, Context
from boundit.terms.bound_table import BoundTable
from boundit.terms.fused_plan import Factor, FusedPlan

ARMS = tuple(product((0, 1), repeat=2))
CONTEXTS = tuple(product((0, 1), repeat=2))
METHODS = {name for name in vars(Policy) if not name.startswith("_")}


def mean(arm: tuple[object, ...], context: tuple[object, ...]) -> float:
    """What an arm earns in a context, in this world."""
    (x1, x2), (u1, u2) = arm, context
    return 0.2 + 0.3 * (x1 == u1) + 0.2 * (x2 == 1) + 0.1 * (u2 == 1)


def table(width: float | None = 0.1, **others: Any) -> BoundTable:
    """Bounds around the truth, or the whole range when there is no width."""
    rows = []
    for (x1, x2), (u1, u2) in product(ARMS, CONTEXTS):
        truth = mean((x1, x2), (u1, u2))
        lower, upper = (0.0, 1.0) if width is None else (truth - width, truth + width)
        row = {"X1": x1, "X2": x2, "U1": u1, "U2": u2}
        rows.append(row | {"lower": max(lower, 0.0), "upper": min(upper, 1.0)})
    return BoundTable.from_rows(
        rows,
        outcome="Y",
        treatments=["X1", "X2"],
        context=["U1", "U2"],
        outcome_range=(0, 1),
        **others,
    )


def planned_table() -> BoundTable:
    """Bounds that say nothing, with a plan of Fused that counts in the cells of a binary W."""
    pairs = tuple(product(ARMS, CONTEXTS))
    factor = Factor(("W",), ((0,), (1,)), ((0,),) * len(pairs), ((3, 2),))
    cells = tuple((2 * i, 2 * i + 1) for i in range(len(pairs)))
    n = len(pairs) * 2
    return replace(
        table(None), pooling=FusedPlan(pairs, (factor,), cells, (4,) * n, (1.0,) * n)
    )


def find_policy_classes() -> Iterator[type[Any]]:
    """Every class of the room that has all the methods of a policy."""
    for _, name, _ in pkgutil.walk_packages(boundit.bandit.__path__, "boundit.bandit."):
        module = importlib.import_module(name)
        for _, kind in inspect.getmembers(module, inspect.isclass):
            ours = kind.__module__ == module.__name__ and kind is not Policy
            if ours and set(dir(kind)) >= METHODS and not inspect.isabstract(kind):
                yield kind


def find_policies() -> dict[str, tuple[type[Any], dict[str, object]]]:
    """The policies with the options they cannot do without; shared models apart."""
    found: dict[str, tuple[type[Any], dict[str, object]]] = {}
    for kind in find_policy_classes():
        takes = inspect.signature(kind).parameters
        options: dict[str, object] = {"horizon": 1000} if "horizon" in takes else {}
        options["seed"] = 0
        found[kind.__name__] = (kind, options)
        if "shared" in takes and kind is not LinTS:
            found[f"{kind.__name__} shared"] = (kind, {**options, "shared": True})
    return found


POLICIES_WITH_OPTIONS = find_policies()
NAMES = sorted(POLICIES_WITH_OPTIONS)
SAMPLING = sorted(n for n, (k, _) in POLICIES_WITH_OPTIONS.items() if k.samples)
DETERMINISTIC = sorted(set(NAMES) - set(SAMPLING))


# OAM remembers in which rounds it explored, so its beliefs hang on the order of the rewards.
ORDER_FREE = sorted(set(NAMES) - {"OAM"})


def fewer_for_oam(name: str, rounds: int) -> int:
    """Fewer rounds for the policy that solves a program in many of them."""
    return rounds // 3 if name == "OAM" else rounds


def make(name: str, *, prior: BoundTable | None = None, **options: object) -> Any:
    """Make a policy of this world, with bounds or without."""
    kind, needed = POLICIES_WITH_OPTIONS[name]
    if prior is None and "arms" not in options:
        options = {"arms": ARMS, "context": ["U1", "U2"], **options}
    return kind(prior=prior, **{**needed, **options})


def play(policy: Any, rounds: int, *, seed: int = 0, start: int = 0) -> list[Decision]:
    """Play some rounds; what is drawn in each does not depend on the policy."""
    decisions = []
    for t in range(start, start + rounds):
        rng = np.random.default_rng([seed, t])
        context = CONTEXTS[int(rng.integers(len(CONTEXTS)))]
        decision = policy.decide(context, id=str(t))
        policy.learn(decision, float(rng.random() < mean(decision.arm, decision.context)))
        decisions.append(decision)
    return decisions


def compute_reward(decision: Decision, *, seed: int = 0) -> float:
    """The reward ``play`` gave for a decision, worked out again."""
    rng = np.random.default_rng([seed, int(decision.id)])
    rng.integers(len(CONTEXTS))
    return float(rng.random() < mean(decision.arm, decision.context))


def share_parts(policy: Any, base: Any) -> None:
    """Let a policy of other options decide by what another has learned."""
    policy.spec, policy.monitor = base.spec, base.monitor
    policy.statistics, policy.learned_ids = base.statistics, base.learned_ids


def change(decision: Decision, **changes: Any) -> Decision:
    """Write a decision by hand that differs from another."""
    names = inspect.signature(Decision).parameters.keys() - {"reasons"}
    return Decision(**{name: getattr(decision, name) for name in names} | changes)


def list_pulls(decisions: list[Decision]) -> list[tuple[Context, Arm]]:
    """Only which arm was played for whom."""
    return [(decision.context, decision.arm) for decision in decisions]
