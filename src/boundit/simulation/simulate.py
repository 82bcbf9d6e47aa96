"""Policies in a world: every policy meets the same contexts and the same chance."""

import logging
from collections.abc import Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from threading import Event
from typing import TypeVar

import numpy as np

from boundit import __version__
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.simulation.chunk import Chunk
from boundit.simulation.description import describe_simulation
from boundit.simulation.feedback.feedback import Feedback
from boundit.simulation.options import PolicySource, SimulationOptions
from boundit.simulation.regret import Regret as Regret
from boundit.simulation.world import World
from boundit.terms.long_work import Progress, follow_progress
from boundit.terms.renamed import refuse_renamed

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

POINTS = 200
"""At how many rounds regret is kept, so that memory does not grow with the rounds."""
CHUNK_ROUNDS = 2**18
"""How many rounds a chunk of runs has, where a single run is not longer."""
SLOW_CHUNK_ROUNDS = 2**12
"""How many rounds it has where they are played one by one: a fraction of a second's work."""
_POLL_SECONDS = 0.25


@refuse_renamed
def simulate(
    world: World,
    policies: Mapping[str, PolicySource],
    *,
    rounds: int,
    runs: int,
    seed: int = 0,
    progress: Progress | bool | None = None,
    workers: int | None = None,
    observed: bool | float = False,
    feedback: Feedback | None = None,
) -> Regret:
    """Play fresh copies of the policies in a world; gives their regret, run by run.

    What a policy leaves unbound (arms, context names, horizon, seed) is bound on the copy; what
    was given is never changed. Runs go to ``workers`` threads, one for each processor unless
    given; the result does not depend on their number. ``progress`` is True for a bar on stderr,
    or a function of (message, done, total), which count runs.
    With ``observed``, policies are told after each round those other variables of the world
    that they learn from, or after a share of the rounds, such as 0.5, drawn by chance;
    contexts and rewards stay the same. ``feedback`` is how rewards come: at once, or late, in
    batches, or never, for all policies alike; regret is that of the arms pulled. In place of a
    policy there may be a function that makes one for each run, from the run's number: from a
    log of its own, say. A Ctrl-C ends the simulation with the runs that every policy has
    finished: what is kept is the simulation of so many runs.

    >>> from boundit.bandit.policies.ucb import UCB
    >>> from boundit.simulation.worlds import paper_world
    >>> regret = simulate(paper_world(), {"UCB": UCB()}, rounds=100, runs=3)
    >>> regret.runs, regret.rounds, regret.curves.shape
    (3, 100, (1, 3, 100))
    """
    asked = SimulationOptions.read(
        world,
        policies,
        rounds=rounds,
        runs=runs,
        seed=seed,
        workers=workers,
        observed=observed,
        feedback=feedback,
    )
    kept = min(asked.rounds, POINTS)
    at = np.unique(np.linspace(1, asked.rounds, kept).round().astype(np.int64))
    settings = describe_simulation(asked)
    done, finished = list[Floats](), 0
    try:
        with follow_progress(progress) as tell, closing(_play_chunks(asked, at)) as parts:
            for part in parts:
                done.append(part)
                finished += part.shape[1]
                tell("play runs", finished, asked.runs)
    except KeyboardInterrupt:
        if not done:
            raise
    curves = np.concatenate(done, axis=1)
    return Regret(tuple(policies), at, curves, world.name, asked.seed, __version__, settings)


def _play_chunks(asked: SimulationOptions, at: Places) -> Generator[Floats]:
    """Play chunks of the runs in threads, and yield the regret of each chunk in order."""
    stop = Event()

    def draw(runs: range, rounds: int) -> Chunk:
        return Chunk.draw(
            asked.world,
            asked.seed,
            runs,
            rounds,
            observed=asked.observed,
            feedback=asked.feedback,
        )

    def count_slow() -> int:
        sample = draw(range(1), min(asked.rounds, SLOW_CHUNK_ROUNDS))
        slow = sample.find_uncompiled(asked.policies)
        if slow:
            _log.info("played round by round, which takes long: %s", ", ".join(slow))
        return len(slow)

    def play(runs: range) -> Floats:
        return draw(runs, asked.rounds).compute_regret(asked.policies, at, stop)

    # Worked out before the threads ask for it.
    _ = asked.world.environment, asked.world.shares
    with ThreadPoolExecutor(asked.workers) as pool:
        try:
            # By a worker too: a Ctrl-C while Numba compiles is lost on it.
            slow = _await_result(pool.submit(count_slow))
            chunks = _split_runs(asked.runs, asked.rounds, asked.workers, slow)
            for future in [pool.submit(play, runs) for runs in chunks]:
                yield _await_result(future)
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _split_runs(runs: int, rounds: int, workers: int, slow: int) -> list[range]:
    """Split the numbers of the runs into chunks that fit into memory, several for each worker.

    An interrupt loses the chunks that are under way, so that those with ``slow`` policies,
    which are played round by round, have few runs.
    """
    most = min(CHUNK_ROUNDS, SLOW_CHUNK_ROUNDS // slow) if slow else CHUNK_ROUNDS
    length = max(1, min(most // rounds, runs // (4 * workers)))
    return [range(start, min(start + length, runs)) for start in range(0, runs, length)]


def _await_result(future: Future[_T]) -> _T:
    """Wait for the chunk that a worker plays, and hear a Ctrl-C meanwhile.

    With a limit: a wait without one is deaf to a Ctrl-C that a worker hears.
    """
    while wait([future], timeout=_POLL_SECONDS).not_done:
        pass
    return future.result()
