"""Policies in a world: every policy meets the same visitors and the same luck.

A visitor brings a context, drawn from the whole population, and a number between 0 and 1, the
luck; an arm pays 1 to whoever's luck lies below its mean. So two policies that choose alike
earn alike, and their difference is theirs alone. Each run has its own stream of randomness, and
each policy its own seed within it: more policies or runs leave the others as they were.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray
from scipy.special import stdtrit

from boundit import __version__
from boundit.bandit.policy import Policy
from boundit.simulation.errors import NothingToSimulate
from boundit.simulation.world import World

POINTS = 200
"""At how many rounds regret is kept, so that memory does not grow with the rounds."""


@dataclass(frozen=True)
class Line:
    """How one policy did: its regret, and beside the first policy's, with 95 % intervals."""

    policy: str
    regret: float
    error: float
    median: float
    less_than_first: float
    less_error: float

    def __str__(self) -> str:
        gap = f"{self.less_than_first:+.2f} +- {self.less_error:.2f}"
        return (
            f"{self.policy:<16}{self.regret:>10.2f} +- {self.error:<8.2f}"
            f"median {self.median:>8.2f}   less than the first by {gap}"
        )


@dataclass(frozen=True, eq=False)
class Regret:
    """Cumulative regret of some policies at some rounds, run by run."""

    policies: tuple[str, ...]
    at: NDArray[np.int64]
    curves: NDArray[np.float64]
    rounds: int
    seed: int
    version: str

    @property
    def runs(self) -> int:
        """How many runs were finished."""
        return int(self.curves.shape[1])

    def summary(self) -> tuple[Line, ...]:
        """Final regret of each policy, and paired differences from the first."""
        final = self.curves[:, :, -1]
        return tuple(
            Line(
                name,
                float(final[i].mean()),
                _half_width(final[i]),
                float(np.median(final[i])),
                float((final[0] - final[i]).mean()),
                _half_width(final[0] - final[i]),
            )
            for i, name in enumerate(self.policies)
        )

    def __str__(self) -> str:
        head = f"{self.runs} runs of {self.rounds:,} rounds, seed {self.seed}"
        return "\n".join([head, *map(str, self.summary())])


def simulate(
    world: World,
    policies: Mapping[str, Policy],
    *,
    rounds: int,
    runs: int,
    seed: int = 0,
    told: Callable[[int], None] = lambda _: None,
) -> Regret:
    """Play fresh copies of the policies in a world and keep their regret.

    What a policy leaves unbound (arms, context names, horizon, seed) is bound on the copy;
    what was given is never changed. ``told`` hears of each finished run. A Ctrl-C ends the
    simulation with the runs that are done.
    """
    if rounds < 1 or runs < 1 or not policies:
        raise NothingToSimulate(rounds=rounds, runs=runs, policies=len(policies))
    at = np.unique(np.linspace(1, rounds, min(rounds, POINTS)).round().astype(np.int64))
    done = list[NDArray[np.float64]]()
    try:
        for run, stream in enumerate(SeedSequence(seed).spawn(runs)):
            done.append(_played(world, policies, rounds, at, stream))
            told(run + 1)
    except KeyboardInterrupt:
        if not done:
            raise
    return Regret(tuple(policies), at, np.stack(done, axis=1), rounds, seed, __version__)


def _played(
    world: World,
    policies: Mapping[str, Policy],
    rounds: int,
    at: NDArray[np.int64],
    stream: SeedSequence,
) -> NDArray[np.float64]:
    """One run: the same visitors for every policy."""
    ours, theirs = stream.spawn(2)
    rng = default_rng(ours)
    visitors, luck = _visitors(world, rounds, rng.random(rounds)), rng.random(rounds)
    means = world.means()
    arms = list(dict.fromkeys(arm for arm, _ in means))
    best = {c: max(means[arm, c] for arm in arms) for c in {c for _, c in means}}
    curves = np.empty((len(policies), len(at)))
    seeds = theirs.generate_state(len(policies))
    for i, policy in enumerate(policies.values()):
        player = policy.fresh(
            arms=arms, context=world.query.context, horizon=rounds, seed=int(seeds[i])
        )
        lost = np.empty(rounds)
        for t, (context, chance) in enumerate(zip(visitors, luck, strict=True)):
            decision = player.decide(context, id=str(t))
            mean = means[decision.arm, context]  # type: ignore[index]
            player.learn(decision, float(chance < mean))
            lost[t] = best[context] - mean
        curves[i] = lost.cumsum()[at - 1]
    return curves


def _visitors(world: World, n: int, luck: NDArray[np.float64]) -> list[tuple[int, ...]]:
    """Draw contexts from the population, not from the log."""
    names = world.query.context
    if not names:
        return [()] * n
    law = world.model.law(names).aligned(names)
    places = np.searchsorted(law.ravel().cumsum(), luck).clip(max=law.size - 1)
    columns = np.unravel_index(places, law.shape)
    return [tuple(map(int, place)) for place in zip(*columns, strict=True)]


def _half_width(sample: NDArray[np.float64]) -> float:
    """Half of a 95 % interval for the mean, by Student's t; nan of one run."""
    n = len(sample)
    if n < 2:
        return float("nan")
    return float(stdtrit(n - 1, 0.975) * sample.std(ddof=1) / sqrt(n))
