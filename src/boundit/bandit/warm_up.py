"""Compile before the first visitor comes: every kernel once, on a world of a few numbers.

Kernels are compiled for the types they are first called with, and these are always the same. So
what a service will call is called here, by playing all policies in a small world.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.environment import FiniteEnvironment, SideObservation
from boundit.bandit.errors import BadOption
from boundit.bandit.fused.policy import Fused
from boundit.bandit.oam.policy import OAM
from boundit.bandit.options import read_flag
from boundit.bandit.policies.kl_ucb import KLUCB
from boundit.bandit.policies.lin_ts import LinTS
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bandit.policies.ts import TS
from boundit.bandit.policies.ucb import UCB
from boundit.terms.bound_table import BoundTable
from boundit.terms.fused_plan import Factor, FusedPlan
from boundit.terms.long_work import Progress, follow_progress
from boundit.terms.renamed import refuse_renamed

_ROUNDS = 24
"""After so many rewards every branch of an algorithm was taken."""
_ARMS, _CONTEXTS = ((0,), (1,)), ((0,), (1,))


@refuse_renamed
def warm_up(
    *,
    simulations: bool = False,
    kinds: Collection[str] | None = None,
    progress: Progress | bool | None = None,
) -> None:
    """Compile all kernels of the policies now, or load those that were compiled before.

    So that no visitor waits for it: call it when a service starts, before its first request,
    or when its image is built. Compiling takes a minute or two, loading less than a second.
    ``kinds`` are the policies that will be used (``["TS"]``), unless it is all of them.
    What is compiled is kept beside the installed package, or in the folder that the environment
    variable ``NUMBA_CACHE_DIR`` names; where neither that nor the home may be written to, it
    lives as long as the process. ``simulations`` are whole runs, as ``simulate`` plays them.
    ``progress`` is True for a bar on stderr, or a function of (message, done, total).
    """
    whole_runs = read_flag("simulations", simulations)
    environment = _make_environment()
    policies = _make_policies()
    if kinds is not None:
        policies = _keep_kinds(policies, kinds)
    with follow_progress(progress) as tell:
        for i, (name, policy) in enumerate(policies.items()):
            tell(f"compile {name}", i, len(policies))
            _play_rounds(policy)
            if whole_runs:
                _play_runs(policy, environment)
        tell("compiled", len(policies), len(policies))


def _keep_kinds(
    policies: Mapping[str, BasePolicy[Any]], kinds: Collection[str]
) -> dict[str, BasePolicy[Any]]:
    """Keep the policies of some kinds, or refuse a name that no policy has."""
    names = {name: type(policy).__name__ for name, policy in policies.items()}
    if isinstance(kinds, str) or not set(kinds) <= set(names.values()):
        known = ", ".join(dict.fromkeys(names.values()))
        raise BadOption("kinds", f"a list of {known}", kinds)
    return {name: policies[name] for name, kind in names.items() if kind in kinds}


def _make_policies() -> dict[str, BasePolicy[Any]]:
    """Make the policies whose kernels are all there are, by what their compilation is called."""
    prior = _make_table()
    return {
        "UCB": UCB(prior=prior),
        "UCB, exploring": UCB(prior=prior, horizon=_ROUNDS, explore=0.5),
        "KLUCB": KLUCB(prior=prior),
        "TS": TS(prior=prior, seed=0),
        "LinUCB": LinUCB(prior=prior),
        "LinTS": LinTS(prior=prior, seed=0),
        "OAM": OAM(prior=prior),
        "Fused": Fused(prior=prior, seed=0),
    }


def _make_table() -> BoundTable:
    """Make bounds of two arms in two contexts, with a plan."""
    keys = list(product(_ARMS, _CONTEXTS))
    rows: list[dict[str, object]] = [
        {"X": arm, "C": context, "lower": 0.1, "upper": 0.9} for (arm,), (context,) in keys
    ]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0.0, 1.0)
    )
    weights = Factor(("W",), ((0,), (1,)), ((0,),) * len(keys), ((3, 2),))
    cells = tuple((2 * i, 2 * i + 1) for i in range(len(keys)))
    fused = FusedPlan(tuple(keys), (weights,), cells, (4,) * 8, (1.0,) * 8)
    return replace(table, pooling=fused)


def _make_environment() -> FiniteEnvironment:
    """Make a world in which whole runs of these policies can be played."""
    means = np.array([[0.3, 0.5], [0.5, 0.4]])
    shown = np.broadcast_to(np.array([0.5, 1.0]), (2, 2, 2, 2)).copy()
    side = SideObservation(("W",), ((0, 1),), shown)
    return FiniteEnvironment(_CONTEXTS, _ARMS, means, side)


def _play_rounds(policy: BasePolicy[Any]) -> None:
    """Decide and learn as a service does, now and then with what a round shows besides.

    For one visitor at a time, then for several at once.
    """
    for i in range(_ROUNDS):
        decision = policy.decide(_CONTEXTS[i % 2], id=str(i))
        _ = decision.propensity
        observed = {"W": i % 2} if i % 4 < 2 else None
        policy.learn(decision, float(i % 3 == 0), observed=observed)
    policy.learn_many(policy.decide_many(_CONTEXTS * 2), [0.0, 1.0, 0.0, 1.0])


def _play_runs(policy: BasePolicy[Any], environment: FiniteEnvironment) -> None:
    """Play a few whole runs, once without and once with what rounds show besides."""
    contexts = np.zeros((2, _ROUNDS), np.int64)
    uniforms, seeds = np.full((2, _ROUNDS), 0.4), np.arange(2, dtype=np.uint64)
    silent = replace(environment, side_observation=None)
    policy.play(silent, contexts, uniforms, seeds)
    policy.play(environment, contexts, uniforms, seeds, uniforms)
