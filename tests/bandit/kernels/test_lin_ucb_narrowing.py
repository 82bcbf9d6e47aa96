"""Whole runs of LinUCB with living bounds, against the public interface."""

from dataclasses import replace

import numpy as np
import pytest

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.terms.bound_table import BoundTable
from tests.bandit.all_policies import ARMS, CONTEXTS
from tests.bandit.narrowing_tables import (
    CHAIN_ENVIRONMENT,
    ENVIRONMENT,
    fused_table,
    living_table,
    plan,
)

RUNS, ROUNDS = 2, 400


def draws(seed: int = 0) -> tuple[Places, Floats, Floats]:
    rng = np.random.default_rng(seed)
    shape = RUNS, ROUNDS
    return rng.integers(4, size=shape), rng.random(shape), rng.random(shape)


def play_one_by_one(
    policy: LinUCB,
    visitors: Places,
    luck: Floats,
    seeing: Floats,
    world: FiniteEnvironment = ENVIRONMENT,
) -> Places:
    pulls = np.empty_like(visitors)
    shows = world.side_observation
    assert shows is not None
    for run in range(RUNS):
        player = policy.fresh()
        for t, c in enumerate(visitors[run].tolist()):
            decision = player.decide(CONTEXTS[c])
            pulls[run, t] = arm = ARMS.index(decision.arm)
            reward = float(luck[run, t] < ENVIRONMENT.means[c, arm])
            seen = shows.observe(c, arm, reward, float(seeing[run, t]))
            player.learn(decision, reward, observed=seen)
    return pulls


SOME = {key: pool for key, pool in plan().pools.items() if key[0] != (0, 0)}
TABLES: dict[str, BoundTable] = {
    "pooled": living_table(),
    "apart": living_table(plan(pooled=False)),
    "two plans": living_table(plan(), plan(pooled=False, slack=0.02)),
    "contrasts": living_table(contrasts={((0, 1), (0, 0), (0, 1)): -0.05}),
    "fused": fused_table(),
    "fused, scaled": fused_table(reward_range=(-0.5, 1.5)),
    "fused chain": fused_table(60, chain=True),
    "some pairs": replace(
        living_table(),
        living=(replace(plan(), pools=SOME, ends={key: plan().ends[key] for key in SOME}),),
    ),
}


@pytest.mark.parametrize("floor", [False, True])
@pytest.mark.parametrize("name", sorted(TABLES))
def test_whole_runs_pull_what_decide_and_learn_do(name: str, floor: bool) -> None:
    """Bit for bit, and another thing than without what the rounds show."""
    policy = LinUCB(alpha=0.6, prior=TABLES[name], floor=floor)
    world = CHAIN_ENVIRONMENT if "chain" in name else ENVIRONMENT
    visitors, luck, seeing = draws()
    seeds = np.zeros(RUNS, np.uint64)

    pulls = policy.play(world, visitors, luck, seeds, seeing)

    assert pulls is not None
    assert pulls.tolist() == play_one_by_one(policy, visitors, luck, seeing, world).tolist()
    still = policy.play(replace(ENVIRONMENT, side_observation=None), visitors, luck, seeds)
    assert still is not None
    assert still.tolist() != pulls.tolist()


def test_a_run_that_refutes_the_bounds_is_left_to_single_rounds() -> None:
    """Its bounds go with their contrasts, and arms come back that were never laid out."""
    table = living_table(plan(slack=0.0))
    wrong = {key: replace(b, lower=0.9, upper=1.0) for key, b in table.bounds.items()}
    policy = LinUCB(prior=replace(table, bounds=wrong))
    visitors, luck, seeing = draws()

    pulls = policy.play(ENVIRONMENT, visitors, luck, np.zeros(RUNS, np.uint64), seeing)

    assert pulls is not None
    assert (pulls == -1).all()
