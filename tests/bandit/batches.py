"""Whole runs on the small world of ``all_policies``: compiled, and one call at a time."""

from typing import Any

import numpy as np

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.kernels.arrays import Floats, Places, Seeds
from tests.bandit.all_policies import ARMS, CONTEXTS, mean

ENVIRONMENT = FiniteEnvironment(
    CONTEXTS, ARMS, np.array([[mean(arm, c) for arm in ARMS] for c in CONTEXTS])
)


def draw_runs(runs: int, rounds: int, seed: int = 0) -> tuple[Places, Floats, Seeds]:
    """Contexts by their places, uniforms for the rewards, and a seed for each run."""
    rng = np.random.default_rng(seed)
    contexts = rng.integers(0, len(CONTEXTS), (runs, rounds))
    seeds = rng.integers(0, 2**64, runs, dtype=np.uint64)
    return contexts, rng.random((runs, rounds)), seeds


def play_step_by_step(policy: Any, contexts: Places, uniforms: Floats, seeds: Seeds) -> Places:
    """What ``play`` must give: the same runs through ``decide`` and ``learn``."""
    pulls = np.empty(contexts.shape, np.int64)
    for run, seed in enumerate(seeds):
        own = policy.fresh(seed=int(seed))
        for t, c in enumerate(contexts[run]):
            decision = own.decide(ENVIRONMENT.contexts[c], id=str(t))
            pulls[run, t] = place = ENVIRONMENT.arms.index(decision.arm)
            own.learn(decision, float(uniforms[run, t] < ENVIRONMENT.means[c, place]))
    return pulls


def assert_plays_alike(policy: Any, *, runs: int = 2, rounds: int = 250) -> None:
    """Hold ``play`` against single calls, bit for bit."""
    contexts, uniforms, seeds = draw_runs(runs, rounds)

    found = policy.play(ENVIRONMENT, contexts, uniforms, seeds)

    np.testing.assert_array_equal(found, play_step_by_step(policy, contexts, uniforms, seeds))
