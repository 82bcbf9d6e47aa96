"""Whole runs on the small world of ``all_policies``: compiled, and one call at a time."""

from typing import Any

import numpy as np

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.kernels.arrays import Floats, Places, Seeds
from tests.bandit.all_policies import ARMS, CONTEXTS, mean

ENVIRONMENT = FiniteEnvironment(
    CONTEXTS, ARMS, np.array([[mean(arm, c) for arm in ARMS] for c in CONTEXTS])
)


def visits(runs: int, rounds: int, seed: int = 0) -> tuple[Places, Floats, Seeds]:
    """Who comes, with what luck, and a seed for each run."""
    rng = np.random.default_rng(seed)
    visitors = rng.integers(0, len(CONTEXTS), (runs, rounds))
    seeds = rng.integers(0, 2**64, runs, dtype=np.uint64)
    return visitors, rng.random((runs, rounds)), seeds


def step_by_step(policy: Any, visitors: Places, luck: Floats, seeds: Seeds) -> Places:
    """What ``play`` must give: the same runs through ``decide`` and ``learn``."""
    pulls = np.empty(visitors.shape, np.int64)
    for run, seed in enumerate(seeds):
        player = policy.fresh(seed=int(seed))
        for t, c in enumerate(visitors[run]):
            decision = player.decide(ENVIRONMENT.contexts[c], id=str(t))
            pulls[run, t] = place = ENVIRONMENT.arms.index(decision.arm)
            player.learn(decision, float(luck[run, t] < ENVIRONMENT.means[c, place]))
    return pulls


def assert_plays_alike(policy: Any, *, runs: int = 2, rounds: int = 250) -> None:
    """Hold ``play`` against single calls, bit for bit."""
    visitors, luck, seeds = visits(runs, rounds)

    found = policy.play(ENVIRONMENT, visitors, luck, seeds)

    np.testing.assert_array_equal(found, step_by_step(policy, visitors, luck, seeds))
