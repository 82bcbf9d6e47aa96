"""Policies beside a plain loop in C and beside other libraries.

Whole runs (``play``, with everything it lays out first) are held against disjoint LinUCB in C
(``c_loop.c``, gcc -O3, sizes known to the compiler): it scores every arm in every round. Ours
takes any size; it keeps a score until its model learns, reads half of a symmetric matrix, and
with bounds stops at the first cap below the best index. How many pulls agree is said beside the
time. Then one visitor at a time through ``decide`` and ``learn``, beside the peers.
"""

import random
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypedDict

import click
import numpy as np
from research.benchmarks.bandit_peers import PEERS, Step
from research.benchmarks.c_loop import NoCompiler, compile_loop
from research.benchmarks.clock import seconds

from boundit.bandit.draws import Floats, Ints
from boundit.bandit.finite import FiniteEnvironment
from boundit.bandit.lin_ts import LinTS
from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.oam.policy import OAM
from boundit.bandit.policy import Policy
from boundit.bandit.ts import TS
from boundit.bandit.ucb import UCB
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable
from boundit.simulation.environments import paper_environment


class PolicyOptions(TypedDict):
    """Where a policy plays."""

    arms: list[tuple[int, int]]
    context: list[str]


RUNS, ROUNDS = 100, 15_000
"""The paper's online study."""
ALPHA = 1.0
TURNS = 3
SHORT_TURNS, TURN = 100, 2e-3
FOUR_ARMS = PolicyOptions(arms=[(a, b) for a in (0, 1) for b in (0, 1)], context=["U1", "U2"])
FLAGS = {"gcc -O3": (), "gcc -O3 -march=native": ("-march=native", "-ffp-contract=off")}


def time_best(turns: int, *calls: Callable[[], object]) -> list[float]:
    """The best time of each call, taken in turns, as load comes and goes."""
    rounds = [[seconds(call, at_least=0.0) for call in calls] for _ in range(turns)]
    return [min(times) for times in zip(*rounds, strict=True)]


def make_environment(
    contexts: tuple[Context, ...], arms: tuple[Arm, ...], means: Floats
) -> FiniteEnvironment:
    """Rewards of 0 and 1 with these means."""
    ends = np.stack([means, np.ones_like(means)], axis=-1)
    return FiniteEnvironment(contexts, arms, np.array([1.0, 0.0]), ends, means)


def compare_with_c(
    label: str,
    environment: FiniteEnvironment,
    x: Floats,
    policy: LinUCB,
    caps: Floats,
    runs: int,
    rounds: int,
) -> None:
    """Print decisions per second of whole runs, ours as a share of the loop in C."""
    rng = np.random.default_rng(0)
    visitors = rng.integers(len(environment.contexts), size=(runs, rounds))
    luck, seeds = rng.random((runs, rounds)), np.arange(runs, dtype=np.uint64)
    calls: dict[str, Callable[[], Ints | None]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, flags in FLAGS.items():
            loop = compile_loop(
                Path(folder), x, environment.means, caps, alpha=ALPHA, flags=flags
            )
            calls[name] = partial(loop, visitors, luck)
        calls["LinUCB.play"] = partial(policy.play, environment, visitors, luck, seeds)
        pulls = {name: call() for name, call in calls.items()}
        times = dict(zip(calls, time_best(TURNS, *calls.values()), strict=True))
    click.echo(f"\n{label}, {runs} x {rounds:,} rounds")
    for name, spent in times.items():
        share = f"{times['gcc -O3'] / spent:>8.0%}"
        same = np.mean(pulls[name] == pulls["gcc -O3"])
        said = "same pulls" if same == 1 else f"{same:.1%} of the pulls are the same"
        click.echo(f"{name:<40}{runs * rounds / spent:>14,.0f} a second{share}   {said}")


def run_paper_study() -> None:
    """The paper's world, d = 5: the study that a simulation is made of."""
    environment = paper_environment().finite  # five features with the constant
    x = np.array([[[1.0, *c, *a] for a in environment.arms] for c in environment.contexts])
    policy, free = (
        LinUCB(arms=environment.arms, alpha=ALPHA),
        np.full_like(environment.means, np.inf),
    )
    compare_with_c(
        "the paper's study, 4 arms, d = 5", environment, x, policy, free, RUNS, ROUNDS
    )


def run_large_study(n_arms: int = 100, d: int = 64, n_contexts: int = 400) -> None:
    """A hundred arms with features of their own in many contexts.

    Between two visits to a context most models have learned, so few scores can be kept. The
    bounds reach 0.1 to either side of the truth: most arms have a cap below the best mean.
    """
    rng = np.random.default_rng(1)
    contexts: tuple[Context, ...] = tuple((i,) for i in range(n_contexts))
    arms: tuple[Arm, ...] = tuple((i,) for i in range(n_arms))
    x = rng.normal(size=(n_contexts, n_arms, d)) / np.sqrt(d)
    means = rng.random((n_contexts, n_arms))
    caps, free = np.minimum(means + 0.1, 1.0), np.full_like(means, np.inf)
    rows = [
        {"X": a, "U": c, "lower": max(means[c, a] - 0.1, 0.0), "upper": caps[c, a]}
        for c in range(n_contexts)
        for a in range(n_arms)
    ]
    bounds = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["U"], outcome_range=(0, 1)
    )

    def features(context: int, arm: int) -> Sequence[float]:
        return x[context, arm]  # type: ignore[no-any-return]

    environment, label = make_environment(contexts, arms, means), f"{n_arms} arms, d = {d}"
    plain = LinUCB(arms=arms, alpha=ALPHA, features=features)
    compare_with_c(f"{label}, {n_contexts} contexts", environment, x, plain, free, 1, 10_000)
    bounded = LinUCB(prior=bounds, alpha=ALPHA, features=features)
    out = np.mean(caps < means.max(axis=1, keepdims=True))
    label = f"{label}, bounds that rule {out:.0%} of the pairs out"
    compare_with_c(label, environment, x, bounded, caps, 1, 10_000)


def make_step(policy: Policy) -> Step:
    return lambda context, reward: policy.learn(policy.decide(context), reward)


def time_visits(steps: Sequence[Step]) -> list[float]:
    """Microseconds a visitor: the best of many turns, as short for the slow as the quick."""
    rng = random.Random(0)
    who = [
        ((rng.randrange(2), rng.randrange(2)), float(rng.random() < 0.5)) for _ in range(1000)
    ]

    def visit(step: Step, n: int) -> None:
        for context, reward in who[:n]:
            step(context, reward)

    for step in steps:
        visit(step, 200)
    sizes = [
        min(max(round(TURN / seconds(partial(visit, step, 1))), 1), len(who)) for step in steps
    ]
    turns = [partial(visit, step, n) for step, n in zip(steps, sizes, strict=True)]
    times = time_best(SHORT_TURNS, *turns)
    return [1e6 * spent / n for spent, n in zip(times, sizes, strict=True)]


def compare_visits() -> None:
    """Time decide and learn for one visitor at a time, four arms, d = 5, beside the peers."""
    steps: dict[str, Step] = {"boundit LinUCB": make_step(LinUCB(**FOUR_ARMS, alpha=ALPHA))}
    for name, make in PEERS.items():
        try:
            steps[name] = make()
        except ModuleNotFoundError as error:
            click.echo(f"  {name} is left out: {error}", err=True)
    times = time_visits(list(steps.values()))
    click.echo("\ndecide and learn for one visitor, microseconds; peers as multiples")
    for name, spent in zip(steps, times, strict=True):
        click.echo(f"{name:<40}{spent:>14.1f}{spent / times[0]:>11.1f}x")


def time_each_policy() -> None:
    """Time the same for every policy of ours; propensities are exact and known."""
    kinds: dict[str, Callable[[], Policy]] = {
        "LinUCB": lambda: LinUCB(**FOUR_ARMS),
        "LinUCB, shared": lambda: LinUCB(**FOUR_ARMS, shared=True),
        "UCB": lambda: UCB(**FOUR_ARMS, horizon=ROUNDS),
        "TS": lambda: TS(**FOUR_ARMS),
        "LinTS": lambda: LinTS(**FOUR_ARMS),
        "OAM": lambda: OAM(**FOUR_ARMS),
    }
    click.echo("\nevery policy, microseconds")
    for name, make in kinds.items():
        (plain,) = time_visits([make_step(make())])
        click.echo(f"{name:<40}{plain:>14.1f}")


def run() -> None:
    """Print the tables."""
    click.echo("whole runs of LinUCB; the share is that of the loop in C, gcc -O3")
    try:
        run_paper_study()
        run_large_study()
    except NoCompiler:
        click.echo("  there is no gcc, so no loop in C to compare with", err=True)
    compare_visits()
    time_each_policy()


if __name__ == "__main__":
    run()
