"""Policies in a world: every policy meets the same visitors and the same luck."""

import os
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from threading import Event
from typing import TypeVar

import numpy as np

from boundit import __version__
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.options import flag
from boundit.bandit.policy import Policy
from boundit.simulation.chunk import Chunk
from boundit.simulation.description import describe_policy, describe_world
from boundit.simulation.errors import NothingToSimulate
from boundit.simulation.options import (
    read_seed,
    read_size,
    read_workers,
    require_policies,
    require_world,
)
from boundit.simulation.regret import Regret as Regret
from boundit.simulation.world import World

_T = TypeVar("_T")

POINTS = 200
"""At how many rounds regret is kept, so that memory does not grow with the rounds."""
CHUNK_ROUNDS = 2**18
"""How many rounds a chunk of runs has, where a single run is not longer."""
SLOW_CHUNK_ROUNDS = 2**12
"""How many rounds it has where they are played one by one: a fraction of a second's work."""
_POLL_SECONDS = 0.25


def simulate(
    world: World,
    policies: Mapping[str, Policy],
    *,
    rounds: int,
    runs: int,
    seed: int = 0,
    told: Callable[[int], None] = lambda _: None,
    workers: int | None = None,
    observed: bool = False,
) -> Regret:
    """Play fresh copies of the policies in a world and keep their regret.

    What a policy leaves unbound (arms, context names, horizon, seed) is bound on the copy;
    what was given is never changed. Runs go to ``workers`` threads, one for each processor
    unless told; the result does not depend on their number. ``told`` hears how many runs are
    done. With ``observed``, policies are told after each round those other variables of the
    world that narrow their bounds; visitors and rewards stay the same. A Ctrl-C ends the
    simulation with the runs that every policy has finished: what is kept is the simulation of
    so many runs.

    >>> from boundit.bandit.policies.ucb import UCB
    >>> from boundit.simulation.worlds import paper_world
    >>> regret = simulate(paper_world(), {"UCB": UCB()}, rounds=100, runs=3)
    >>> regret.runs, regret.rounds, regret.curves.shape
    (3, 100, (1, 3, 100))
    """
    require_world(world)
    require_policies(policies)
    rounds, runs, seed = read_size("rounds", rounds), read_size("runs", runs), read_seed(seed)
    if rounds < 1 or runs < 1 or not policies:
        raise NothingToSimulate(rounds=rounds, runs=runs, policies=len(policies))
    threads = read_workers(workers if workers is not None else os.cpu_count() or 1)
    at = np.unique(np.linspace(1, rounds, min(rounds, POINTS)).round().astype(np.int64))
    settings = {
        "world": describe_world(world),
        "observed": flag("observed", observed),
        "policies": {name: describe_policy(policy) for name, policy in policies.items()},
    }
    done, finished = list[Floats](), 0
    try:
        with closing(_play_chunks(world, policies, runs, at, seed, threads, observed)) as parts:
            for part in parts:
                done.append(part)
                finished += part.shape[1]
                told(finished)
    except KeyboardInterrupt:
        if not done:
            raise
    curves = np.concatenate(done, axis=1)
    return Regret(tuple(policies), at, curves, world.name, seed, __version__, settings)


def _split_runs(runs: int, rounds: int, workers: int, by_hand: int) -> list[range]:
    """Cut the runs so that a chunk fits into memory and every worker gets several.

    An interrupt loses the chunks that are under way, so that those with policies that are
    played ``by_hand`` have few runs.
    """
    most = min(CHUNK_ROUNDS, SLOW_CHUNK_ROUNDS // by_hand) if by_hand else CHUNK_ROUNDS
    length = max(1, min(most // rounds, runs // (4 * workers)))
    return [range(start, min(start + length, runs)) for start in range(0, runs, length)]


def _play_chunks(
    world: World,
    policies: Mapping[str, Policy],
    runs: int,
    at: Places,
    seed: int,
    workers: int,
    observed: bool,  # noqa: FBT001
) -> Generator[Floats]:
    """Play chunks of the runs side by side, and give them in order."""
    stop, rounds = Event(), int(at[-1])

    def by_hand() -> list[str]:
        sample = Chunk.draw(
            world, seed, range(1), min(rounds, SLOW_CHUNK_ROUNDS), observed=observed
        )
        return sample.find_uncompiled(policies)

    def curves(part: range) -> Floats:
        chunk = Chunk.draw(world, seed, part, rounds, observed=observed)
        return chunk.compute_regret(policies, at, stop)

    # Worked out before the threads ask for it.
    _ = world.environment, world.shares
    with ThreadPoolExecutor(workers) as pool:
        try:
            # By a worker too: a Ctrl-C while Numba compiles is lost on it.
            chunks = _split_runs(
                runs, rounds, workers, len(_await_result(pool.submit(by_hand)))
            )
            for future in [pool.submit(curves, part) for part in chunks]:
                yield _await_result(future)
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _await_result(future: Future[_T]) -> _T:
    # With a limit: a wait without one is deaf to a Ctrl-C that a worker hears.
    while wait([future], timeout=_POLL_SECONDS).not_done:
        pass
    return future.result()
