"""Simulation of policies: all meet the same contexts and the same random numbers."""

import logging
import os
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from threading import Event
from typing import TypeVar

import numpy as np

from boundit import __version__
from boundit.bandit.policy import Policy
from boundit.core.long_work import Progress, TimeBudget, follow_progress, read_time_limit
from boundit.core.message import Option
from boundit.core.public_names import refuse_renamed
from boundit.counts.memory import read_memory_limit, write_size
from boundit.counts.named_array import Floats
from boundit.results.bound_file import compute_checksum
from boundit.simulation.block import PolicySource, RunBlock, make_policy
from boundit.simulation.environment import Environment
from boundit.simulation.errors import InvalidSimulation
from boundit.simulation.feedback import Feedback, Ints
from boundit.simulation.options import read_number, read_seed, read_whole, refuse
from boundit.simulation.regret import Regret

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

POINTS = 200
"""Number of rounds at which regret is kept."""
BLOCK_ROUNDS, SLOW_BLOCK_ROUNDS = 2**18, 2**12
"""Rounds of a block of runs, compiled or round by round, unless a single run is longer."""
ROUND_BYTES = 192
"""Memory of a round of a block, with late rewards and auxiliary variables."""
_POLL_SECONDS = 0.25


@refuse_renamed
def simulate(
    environment: Environment | Sequence[Environment],
    policies: Mapping[str, PolicySource],
    *,
    rounds: int,
    runs: int,
    feedback: Feedback | None = None,
    observed: float = 0.0,
    workers: int | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    progress: Progress | bool | None = None,
) -> Regret:
    """Simulate policies in an environment and measure their regret, run by run.

    Fresh copies of the policies play; what they leave unbound (arms, contexts, range of the
    reward, horizon, seed) is bound on the copy. Regret is against the best arm of each context:
    the one with the highest mean, or the least for policies with ``goal="min"``.

    Parameters
    ----------
    environment : Environment or sequence of environments
        Where they play, such as ``paper_environment()`` or ``fit_environments(...)``.
    policies : mapping
        Policies by name, the first of which the others are compared with; or functions that make
        a policy for each run from the run's number.
    rounds, runs : int
        Rounds of a run, and number of runs in each environment.
    feedback : Feedback, optional
        Delayed and missing rewards. By default each is learned before the next decision.
    observed : float
        Share of the rounds in which policies observe their auxiliary variables.
    workers : int, optional
        Threads; one per processor by default. The result does not depend on it.
    seed : int
        Seed of all random numbers.
    time_limit : float, optional
        Seconds after which the runs that are finished are returned, as after Ctrl-C. Some runs
        are always finished.
    memory_limit : int or str, optional
        Memory of all runs under way, such as ``"2 GB"``.
    progress : bool or callable, optional
        True for a bar on stderr, or a function of (message, done, total); these count runs.

    Returns
    -------
    Regret
        Cumulative regret of each policy in each run.

    Examples
    --------
    >>> from boundit.bandit.ucb import UCB
    >>> from boundit.simulation.environments import paper_environment
    >>> regret = simulate(paper_environment(), {"UCB": UCB()}, rounds=100, runs=3)
    >>> regret.runs, regret.rounds, regret.curves.shape
    (3, 100, (1, 3, 100))
    """
    asked = _Simulation(
        _read_environments(environment),
        _read_policies(policies),
        read_whole("rounds", rounds, least=1),
        read_whole("runs", runs, least=1),
        _read_feedback(feedback),
        read_number("observed", observed, "a share of the rounds from 0 to 1"),
        read_whole("workers", os.cpu_count() or 1 if workers is None else workers, least=1),
        read_seed(seed),
        read_memory_limit(memory_limit),
    )
    goal, settings = _find_goal(policies), asked.describe()
    kept = min(asked.rounds, POINTS)
    at = np.unique(np.linspace(1, asked.rounds, kept).round().astype(np.int64))
    budget = TimeBudget(read_time_limit(time_limit))
    budget.count_seconds()
    done, finished = list[Floats](), dict[str, int]()
    total = asked.runs * len(asked.environments)
    try:
        with follow_progress(progress) as tell, closing(asked.play(goal, at, budget)) as parts:
            for name, part in parts:
                done.append(part)
                finished[name] = finished.get(name, 0) + part.shape[1]
                tell("play runs", sum(finished.values()), total)
    except KeyboardInterrupt:
        if not done:
            raise
    curves = np.concatenate(done, axis=1)
    return Regret(tuple(policies), at, curves, finished, asked.seed, __version__, settings)


@dataclass(frozen=True, slots=True)
class _Simulation:
    """What ``simulate`` was asked for, every option read."""

    environments: tuple[Environment, ...]
    policies: Mapping[str, PolicySource]
    rounds: int
    runs: int
    feedback: Feedback | None
    observed: float
    workers: int
    seed: int
    memory: int

    def play(self, goal: str, at: Ints, budget: TimeBudget) -> Generator[tuple[str, Floats]]:
        """Play blocks of the runs in threads; gives the regret of each in order."""
        stop = Event()
        workers = min(self.workers, self.memory // (ROUND_BYTES * self.rounds))
        if not workers:
            size = write_size(ROUND_BYTES * self.rounds)
            raise InvalidSimulation(
                f"A run of {self.rounds:,} rounds needs {size} of memory. Raise ",
                Option("memory_limit"),
                " or play fewer rounds.",
            )

        def make(environment: Environment, runs: range, rounds: int) -> RunBlock:
            asked = self.observed, self.feedback
            return RunBlock(environment, self.seed, runs, rounds, *asked)

        def count_slow() -> int:
            first = make(self.environments[0], range(1), 1)
            slow = [
                name for name, of in self.policies.items() if not first.is_compiled(name, of)
            ]
            if slow:
                _log.info("played round by round, which takes long: %s", ", ".join(slow))
            return len(slow)

        def play(environment: Environment, runs: range) -> Floats:
            block = make(environment, runs, self.rounds)
            return block.compute_regret(self.policies, goal, at, stop)

        for environment in self.environments:  # worked out before the threads ask for it
            _ = environment.finite, environment.shares
        with ThreadPoolExecutor(workers) as pool:
            try:
                # By a worker too: numba does not survive an interrupt while it compiles.
                slow = _await_result(pool.submit(count_slow))
                most = self.memory // (ROUND_BYTES * workers)
                jobs = [
                    (environment.name, pool.submit(play, environment, runs))
                    for environment in self.environments
                    for runs in _split_runs(self.runs, self.rounds, workers, slow or 0, most)
                ]
                for i, (name, job) in enumerate(jobs):
                    if (found := _await_result(job, budget if i else None)) is None:
                        return
                    yield name, found
            finally:
                stop.set()
                pool.shutdown(wait=True, cancel_futures=True)

    def describe(self) -> dict[str, object]:
        """Describe environments, policies and options as an object for JSON."""
        policies = {
            name: describe_policy(make_policy(name, of, 0))
            for name, of in self.policies.items()
        }
        return {
            "environments": [describe_environment(each) for each in self.environments],
            "policies": policies,
            "observed": self.observed,
            "feedback": self.feedback and self.feedback.to_record(),
        }


def describe_environment(environment: Environment) -> dict[str, object]:
    """Describe an environment: its name, query, graph, and a checksum of its tables."""
    tables = {
        node: [list(table.axes), table.values.tolist()]
        for node, table in environment.model.tables.items()
    }
    return {
        "name": environment.name,
        "query": str(environment.query),
        "graph": str(environment.graph),
        "tables": compute_checksum(tables),
    }


def describe_policy(policy: Policy) -> dict[str, object]:
    """Describe a policy: its kind, and a checksum of its options and bounds."""
    return {"kind": type(policy).__name__, "state": compute_checksum(policy.state())}


def _split_runs(runs: int, rounds: int, workers: int, slow: int, most: int) -> list[range]:
    """Split the runs into blocks that fit into memory, several for each worker.

    An interrupt loses the blocks under way, so that blocks with ``slow`` policies are short.
    """
    most = min(most, BLOCK_ROUNDS, SLOW_BLOCK_ROUNDS // slow if slow else BLOCK_ROUNDS)
    length = max(1, min(most // rounds, runs // (4 * workers)))
    return [range(start, min(start + length, runs)) for start in range(0, runs, length)]


def _await_result(future: Future[_T], budget: TimeBudget | None = None) -> _T | None:
    """Wait for a worker; None if the time is over.

    With a timeout: a wait without one does not hear Ctrl-C.
    """
    while budget is None or not budget.is_over():
        if wait([future], timeout=_POLL_SECONDS).done:
            return future.result()
    return None


def _read_environments(given: object) -> tuple[Environment, ...]:
    found = (given,) if isinstance(given, Environment) else given
    expected = "an Environment such as paper_environment(), or several with different names"
    if not isinstance(found, Sequence) or not all(isinstance(e, Environment) for e in found):
        raise refuse("environment", given, expected)
    if not found or len({each.name for each in found}) < len(found):
        raise refuse("environment", given, expected)
    return tuple(found)


def _read_policies(given: object) -> Mapping[str, PolicySource]:
    expected = "a dict of policies by name, as in {'UCB': UCB()}"
    if not isinstance(given, Mapping) or not given:
        raise refuse("policies", given, expected)
    for name, policy in given.items():
        usable = isinstance(policy, Policy) or (
            callable(policy) and not isinstance(policy, type)
        )
        if not (isinstance(name, str) and name.isprintable() and usable):
            raise refuse("policies", f"{{{name!r}: {policy!r:.40}}}", expected)
    return given


def _read_feedback(given: object) -> Feedback | None:
    if given is not None and not isinstance(given, Feedback):
        raise refuse("feedback", given, "None, or Feedback(...) such as Feedback(delay=50)")
    return given


def _find_goal(policies: Mapping[str, PolicySource]) -> str:
    """Find the goal that all policies share."""
    goals = {name: make_policy(name, of, 0).spec.goal for name, of in policies.items()}
    if len(set(goals.values())) > 1:
        shown = ", ".join(f"{name} {goal}" for name, goal in goals.items())
        raise InvalidSimulation(
            f"The policies have different goals ({shown}). Give all the same ",
            Option("goal"),
            ".",
        )
    return next(iter(goals.values()))
