"""Compile before the first request comes: every loop once, in an environment of a few numbers.

Loops are compiled for the types that they are first called with, and these are always the same.
So what a service will call is called here.
"""

from collections.abc import Collection
from dataclasses import replace
from itertools import product

import numpy as np

from boundit.bandit.errors import BadOption
from boundit.bandit.finite import FiniteEnvironment, SideObservation
from boundit.bandit.fused.policy import Fused
from boundit.bandit.lin_ts import LinTS
from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.oam.policy import OAM
from boundit.bandit.policy import Policy
from boundit.bandit.ts import TS
from boundit.bandit.ucb import UCB
from boundit.core.long_work import Progress, follow_progress
from boundit.results.bound_table import BoundTable
from boundit.results.fused_plan import Factor, FusedPlan

_ROUNDS = 24
"""After so many rewards every branch of an algorithm was taken."""
_ARMS, _CONTEXTS = ((0,), (1,)), ((0,), (1,))


def warm_up(
    *,
    kinds: Collection[str] | None = None,
    simulations: bool = False,
    progress: Progress | bool | None = None,
) -> None:
    """Compile the loops of policies now, or load those that were compiled before.

    Call it when a service starts or when its image is built. Compiling takes a minute, loading
    less than a second. What is compiled is kept beside the installed package, or in the folder
    that the environment variable ``NUMBA_CACHE_DIR`` names.

    Parameters
    ----------
    kinds : list of str, optional
        The policies that will be used, such as ``["TS"]``; all by default.
    simulations : bool
        Whether whole runs are compiled too, as ``simulate`` plays them.
    progress : bool or function, optional
        True for a bar on stderr, or a function of (message, done, total).
    """
    if not isinstance(simulations, bool):
        raise BadOption("simulations", "True or False", simulations)
    made = {type(policy).__name__: policy for policy in _make_policies()}
    if kinds is not None and (isinstance(kinds, str) or not set(kinds) <= set(made)):
        raise BadOption("kinds", f"a list of {', '.join(made)}", kinds)
    chosen = [policy for name, policy in made.items() if kinds is None or name in kinds]
    with follow_progress(progress) as tell:
        for i, policy in enumerate(chosen):
            tell(f"compile {type(policy).__name__}", i, len(chosen))
            _play_rounds(policy)
            if simulations:
                _play_runs(policy)
        tell("compiled", len(chosen), len(chosen))


def _make_policies() -> list[Policy]:
    prior = _make_table()
    explored: list[Policy] = [UCB(prior, explore=0.5, seed=0), TS(prior, seed=0)]
    return [*explored, LinUCB(prior), LinTS(prior, seed=0), OAM(prior), Fused(prior, seed=0)]


def _make_table() -> BoundTable:
    """Make bounds of two arms in two contexts, with a plan of Fused."""
    keys = list(product(_ARMS, _CONTEXTS))
    rows: list[dict[str, object]] = [
        {"X": arm, "C": context, "lower": 0.1, "upper": 0.9} for (arm,), (context,) in keys
    ]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0.0, 1.0)
    )
    weights = Factor(("W",), ((0,), (1,)), ((0,),) * len(keys), ((3, 2),))
    cells = tuple((2 * i, 2 * i + 1) for i in range(len(keys)))
    return replace(
        table, pooling=FusedPlan(tuple(keys), (weights,), cells, (4,) * 8, (1.0,) * 8)
    )


def _play_rounds(policy: Policy) -> None:
    """Decide and learn as a service does, now and then with what a round shows besides."""
    for i in range(_ROUNDS):
        decision = policy.decide(_CONTEXTS[i % 2], id=str(i))
        policy.learn(decision, float(i % 3 == 0), observed={"W": i % 2} if i % 4 < 2 else None)
    policy.learn_many(policy.decide_many(_CONTEXTS * 2), [0.0, 1.0, 0.0, 1.0])


def _play_runs(policy: Policy) -> None:
    """Play a few whole runs, once without and once with what rounds show besides."""
    means = np.array([[0.3, 0.5], [0.5, 0.4]])
    ends = np.stack([means, np.ones_like(means)], axis=-1)
    shown = np.broadcast_to(np.array([0.5, 1.0]), (2, 2, 2, 2)).copy()
    values, side = np.array([1.0, 0.0]), SideObservation(("W",), ((0, 1),), shown)
    environment = FiniteEnvironment(_CONTEXTS, _ARMS, values, ends, means, side)
    contexts, seeds = np.zeros((2, _ROUNDS), np.int64), np.arange(2, dtype=np.uint64)
    uniforms = np.full((2, _ROUNDS), 0.4)
    policy.play(replace(environment, side_observation=None), contexts, uniforms, seeds)
    policy.play(environment, contexts, uniforms, seeds, uniforms)
