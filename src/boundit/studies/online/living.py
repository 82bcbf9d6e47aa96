"""Bounds that narrow while a policy plays, on the paper's world and luck.

After each round the agent sees I1, of which the log could not say how likely it is, and learns
that law; all else is as for LinUCB-PCB. LinUCB takes upper ends alone (Algorithm 4), and now
and then its index of the best arm falls below that arm's mean for good: a ``floor``, the lower
end, lifts it. Beside the intervals of endless logging there are those of a drawn log. The
study also counts the runs in which any living end ever missed, at all times and under the
policy's own choices.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event

import numpy as np

from boundit.bandit.kernels.arrays import Places
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bandit.prior.narrowing import NarrowingBounds
from boundit.bounds.derive import derive_bounds
from boundit.simulation.chunk import Chunk
from boundit.simulation.regret import Regret
from boundit.simulation.simulate import simulate
from boundit.simulation.world import World
from boundit.simulation.worlds import paper_world
from boundit.terms.bound_table import BoundTable
from boundit.terms.living import Living
from boundit.terms.rounding import ROUNDING

ROUNDS, RUNS, POINTS = 15_000, 500, 30_000


@dataclass(frozen=True, slots=True)
class LivingStudy:
    """The regret of all, and in how many runs of how many an end of living bounds ever missed.

    ``error`` is the chance that is allowed for.
    """

    regret: Regret
    missed: int
    followed: int
    error: float

    def record(self) -> dict[str, object]:
        """Write the regrets, and in how many runs an end missed, as an object for JSON.

        Called by ``simulate`` of the command line.
        """
        counted = {"missed": self.missed, "followed": self.followed, "error": self.error}
        return {**self.regret.record(), "living": counted}

    def __str__(self) -> str:
        return (
            f"{self.regret}\n\na living end ever missed in {self.missed} of {self.followed} "
            f"runs; allowed are {self.error:.0%}"
        )


def run_living_study(
    *,
    runs: int = RUNS,
    rounds: int = ROUNDS,
    seed: int = 0,
    points: int = POINTS,
    told: Callable[[int, int], None] = lambda _, __: None,
) -> LivingStudy:
    """Play LinUCB without bounds, with fixed ones, and with bounds that narrow, in paired runs.

    Gives the regrets, and in how many runs a narrowed end missed the truth. Called by
    ``_run_living``.
    """
    world = paper_world()
    exact = derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)
    logged = derive_bounds(world.graph, world.query, world.log(points, seed=seed))
    policies = make_living_policies(exact, logged)
    regret = simulate(
        world,
        policies,
        rounds=rounds,
        runs=runs,
        seed=seed,
        told=lambda done: told(done, runs),
        observed=True,
    )
    error, some = 0.05, range(min(runs, 200))
    missed = count_runs_that_miss(world, exact, LinUCB(prior=exact), some, rounds, seed, error)
    return LivingStudy(regret, missed, len(some), error)


def make_living_policies(exact: BoundTable, logged: BoundTable) -> dict[str, LinUCB]:
    """Make the policies to compare by name: LinUCB alone, with fixed and with narrowing bounds.

    Also with contrasts (bounds on differences of arms). Bounds are of the exact law and of a
    drawn log. Called by ``run_living_study``.
    """

    def alone(table: BoundTable) -> BoundTable:
        return replace(table, contrasts={})

    return {
        "LinUCB": LinUCB(),
        "LinUCB-PCB": LinUCB(prior=exact.plain()),
        "PCB, floor": LinUCB(prior=exact.plain(), floor=True),
        "living": LinUCB(prior=alone(exact)),
        "living, floor": LinUCB(prior=alone(exact), floor=True),
        "contrasts": LinUCB(prior=replace(exact, living=())),
        "LinUCB-PCB (log)": LinUCB(prior=logged.plain()),
        "living (log)": LinUCB(prior=alone(logged)),
        "living, floor (log)": LinUCB(prior=alone(logged), floor=True),
    }


def count_runs_that_miss(
    world: World,
    table: BoundTable,
    policy: LinUCB,
    runs: range,
    rounds: int,
    seed: int,
    error: float,
) -> int:
    """Count the runs in which an end that narrows online ever leaves a true mean out.

    The policy plays; what its rounds show is then fed to such ends once more, which only
    narrow: if the last ones hold, all did. Called by ``run_living_study`` once, on its first
    runs.
    """
    chunk = Chunk.draw(world, seed, runs, rounds, observed=True)
    pulls = chunk.play("living", policy, Event())
    return sum(
        not _has_all_means(world, _replay_run(table, chunk, pulls, i, error))
        for i in range(len(runs))
    )


def _replay_run(
    table: BoundTable, chunk: Chunk, pulls: Places, i: int, error: float
) -> NarrowingBounds | Living:
    """Feed what one run showed to fresh bounds that narrow online, and give these at its end.

    Instead gives the plan of narrowing (``Living``) that the observations refute, if any.
    Called by ``count_runs_that_miss`` for every run.
    """
    ends = NarrowingBounds(table, error)
    environment, contexts = chunk.world.make_environment(ends.variables), chunk.contexts[i]
    if environment.side_observation is None:
        return ends
    rewards = environment.compute_rewards(contexts, chunk.uniforms[i], pulls[i]).astype(
        np.int64
    )
    chances = environment.side_observation.ends[contexts, pulls[i], rewards]
    cells = (chunk.observation_uniforms[i][:, None] >= chances).sum(axis=1)
    names = environment.side_observation.variables
    read = [
        ends.read_cells(dict(zip(names, cell, strict=True)))
        for cell in environment.side_observation.cells
    ]
    seen = zip(
        contexts.tolist(), pulls[i].tolist(), cells.tolist(), rewards.tolist(), strict=True
    )
    for c, arm, cell, reward in seen:
        came = ends.learn_cells(
            environment.arms[arm], environment.contexts[c], read[cell], float(reward)
        )
        if isinstance(came, Living):
            return came
    return ends


def _has_all_means(world: World, ends: NarrowingBounds | Living) -> bool:
    """Tell whether every arm's true mean lies within the ends that were narrowed in a run.

    False if the plan of narrowing was refuted. Called by ``count_runs_that_miss`` for every
    run.
    """
    if isinstance(ends, Living):
        return False
    for (arm, context), mean in world.means().items():
        lower, upper = ends.find_ends(arm, context) or (-np.inf, np.inf)
        if not lower - ROUNDING <= mean <= upper + ROUNDING:
            return False
    return True
