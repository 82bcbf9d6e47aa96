"""A small world whose rounds show one more variable, and a table that bounds narrow in."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from boundit.bandit.batch.environment import FiniteEnvironment, SideObservation
from boundit.terms.bound_table import BoundTable
from boundit.terms.fused_plan import Factor, FusedPlan
from boundit.terms.interval import Interval
from boundit.terms.living import Living
from tests.bandit.all_policies import ARMS, CONTEXTS

W = (0, 1, "high")


def chances(arm: tuple[Any, ...]) -> tuple[float, float, float]:
    """``P(w | do(x), c)``: only the first treatment moves it."""
    return (0.6, 0.3, 0.1) if arm[0] else (0.2, 0.3, 0.5)


def given(arm: tuple[Any, ...], context: tuple[Any, ...]) -> tuple[float, ...]:
    """``E[Y | do(x), c, w]`` for each w."""
    return tuple(0.1 + 0.2 * i + 0.2 * (arm[1] == context[0]) for i in range(3))


def truth(arm: tuple[Any, ...], context: tuple[Any, ...]) -> float:
    """What an arm earns in a context."""
    return float(np.dot(chances(arm), given(arm, context)))


def plan(*, pooled: bool = True, slack: float = 0.05) -> Living:
    """Intervals around each cell's mean; the pool is the first treatment, or the pair."""
    keys = list(product(ARMS, CONTEXTS))
    return Living(
        ("W",),
        (W,),
        {(arm, c): (arm[0],) if pooled else (*arm, *c) for arm, c in keys},
        {
            (arm, c): tuple(
                Interval(max(m - slack, 0.0), min(m + slack, 1.0)) for m in given(arm, c)
            )
            for arm, c in keys
        },
    )


def living_table(*plans: Living, **changed: Any) -> BoundTable:
    """The table that follows from the first plan while nothing is seen."""
    plans = plans or (plan(),)
    rows = [
        {"X1": arm[0], "X2": arm[1], "U1": c[0], "U2": c[1]}
        | {"lower": min(e.lower for e in ends), "upper": max(e.upper for e in ends)}
        for (arm, c), ends in plans[0].ends.items()
    ]
    table = BoundTable.from_rows(
        rows,
        outcome="Y",
        treatments=["X1", "X2"],
        context=["U1", "U2"],
        reward_range=(0, 1),
    )
    return replace(table, living=plans, **changed)


def fused_table(
    rows: int = 200, *, seed: int = 0, chain: bool = False, slack: float = 0.2, **changed: Any
) -> BoundTable:
    """A table whose log has some rows in every cell of rewards, which X1 and U2 do not move.

    As a ``chain`` W is gone over in two steps: whether it is 0, of which the log has rows, and
    then which of the others, if it is not.
    """
    rng, keys = np.random.default_rng(seed), list(product(ARMS, CONTEXTS))
    kinds = {(arm[1], c[0]): None for arm, c in keys}
    at = {kind: i for i, kind in enumerate(kinds)}
    means = [given((0, x2), (u1, 0)) for x2, u1 in kinds]
    low, high = changed.get("reward_range", (0.0, 1.0))
    won = [int(rng.binomial(rows, m)) for each in means for m in each]
    sums = [(n - low * rows) / (high - low) for n in won]
    pools = tuple((arm[0],) for arm, _ in keys)
    cells = [tuple(3 * at[arm[1], c[0]] + w for w in range(3)) for arm, c in keys]
    factors: tuple[Factor, ...] = (
        Factor(("W",), tuple((w,) for w in W), pools, ((0, 0, 0), (0, 0, 0))),
    )
    living = plan(slack=slack)
    if chain:
        zero = [int(rng.binomial(rows, chances((x1, 0))[0])) for x1 in (0, 1)]
        factors = (
            Factor(("V",), ((1,), (0,)), pools, tuple((n, rows - n) for n in zero)),
            Factor(
                ("W",),
                tuple((w,) for w in W),
                tuple((2, i) for (i,) in pools),
                ((0, 0, 0),) * 3,
            ),
        )
        cells = [each + each for each in cells]
        living = replace(
            living,
            variables=("W", "V"),
            levels=(W, (0, 1)),
            ends={
                key: tuple(e for end in ends for e in (end, end))
                for key, ends in living.ends.items()
            },
        )
    fused = FusedPlan(tuple(keys), factors, tuple(cells), (rows,) * len(sums), tuple(sums))
    table = living_table(living)
    return replace(table, **{"confidence": 0.95, "fused": fused, **changed})


def make_environment() -> FiniteEnvironment:
    """The world as an environment that shows W."""
    means = np.array([[truth(arm, c) for arm in ARMS] for c in CONTEXTS])
    ends = np.empty((4, 4, 2, 3))
    for (i, c), (j, arm) in product(enumerate(CONTEXTS), enumerate(ARMS)):
        joint = np.array(chances(arm)) * np.array(given(arm, c))
        ends[i, j, 1] = (joint / joint.sum()).cumsum()
        joint = np.array(chances(arm)) * (1 - np.array(given(arm, c)))
        ends[i, j, 0] = (joint / joint.sum()).cumsum()
    ends[..., -1] = 1.0
    return FiniteEnvironment(CONTEXTS, ARMS, means, SideObservation(("W",), (W,), ends))


ENVIRONMENT = make_environment()


def make_chain_environment() -> FiniteEnvironment:
    """The same world, which also shows V: whether W is 0."""
    side = ENVIRONMENT.side_observation
    assert side is not None
    zero, one, two = (side.ends[..., w : w + 1] for w in range(3))
    # V is 0 with the second and third level of W, and 1 with the first.
    shown = np.diff(np.concatenate([zero, one, two], axis=-1), axis=-1, prepend=0.0)
    none = np.zeros_like(zero)
    chances_of = [none, shown[..., 1:2], shown[..., 2:], shown[..., :1], none, none]
    ends = np.concatenate(chances_of, axis=-1).cumsum(axis=-1)
    ends[..., 3:] = 1.0
    return replace(ENVIRONMENT, side_observation=SideObservation(("V", "W"), ((0, 1), W), ends))


CHAIN_ENVIRONMENT = make_chain_environment()


def play_narrowing(policy: Any, rounds: int, *, seed: int = 0, start: int = 0) -> list[Any]:
    """Play some rounds, each of which tells W."""
    found = []
    side = ENVIRONMENT.side_observation
    assert side is not None
    for t in range(start, start + rounds):
        rng = np.random.default_rng([seed, t])
        place, uniform, second = int(rng.integers(4)), rng.random(), rng.random()
        decision = policy.decide(CONTEXTS[place], id=str(t))
        arm = ARMS.index(decision.arm)
        reward = float(uniform < ENVIRONMENT.means[place, arm])
        observed = side.observe(place, arm, reward, second)
        policy.learn(decision, reward, observed=observed)
        found.append((decision, reward, observed))
    return found
