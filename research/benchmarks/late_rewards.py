"""What the service makes of late rewards: with a window, learned at once, and simulated.

Runs of the paper's world, a visitor a second. A success is heard of after 50 seconds on average
(a geometric law), a failure never: silence is all there is until the window of 500 seconds
closes. One success in twenty is lost. The simulator plays the same runs; its pulls must be the
service's. Then the same runs are heard of without a window: failures are told when 500
seconds have passed, or never. The engine runs in this process on a clock that is set, on a file
in memory where there is one, as nothing has to survive. ``--runs`` and ``--rounds`` may be
given: ``python -m research.benchmarks late_rewards``.
"""

import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import click
import numpy as np
from tests.service.kit import SetClock, run_engine, save
from tests.service.late_rewards import NEVER, Heard, PlayedRun, play_service

import boundit as bd
from boundit.bandit.draws import Floats, Ints
from boundit.bandit.policy import Policy
from boundit.service.config import PolicyConfig
from boundit.service.store.sqlite import SqliteStore
from boundit.simulation.block import RunBlock

ROUNDS, RUNS, WINDOW, DELAY, LOST = 2_000, 10, 500, 50, 0.05
EARLY = 450
"""A round before the first window closes."""


class Way(NamedTuple):
    """A way to hear of rewards: the policy's options, and when failures are told."""

    options: Mapping[str, Any]
    failure: int


WAYS = {
    "window, default 0": Way({"window": WINDOW + 1, "default_reward": 0.0}, NEVER),
    "at once, failures 500 later": Way({"learn": "immediately"}, WINDOW),
    "at once, failures never": Way({"learn": "immediately"}, NEVER),
}


class Study:
    """The runs, and what is heard of them."""

    def __init__(self, rounds: int, runs: int) -> None:
        self.rounds, self.world = rounds, bd.simulation.paper_environment()
        log = self.world.log(30_000, seed=0)
        self.bounds = bd.derive_bounds(self.world.graph, self.world.query, log)
        feedback = bd.Feedback(delay=WINDOW, window=WINDOW, missing=LOST, default_reward=0.0)
        self.chunk = RunBlock(self.world, 0, range(runs), rounds, feedback=feedback)
        rng = np.random.default_rng(1)
        self.delays = np.minimum(rng.geometric(1 / (DELAY + 1), (runs, rounds)) - 1, WINDOW)

    def hear(self, i: int, way: Way) -> Heard:
        """When the service hears of each round of a run; the simulator says what is lost."""
        late = self.chunk._arrivals  # noqa: SLF001
        assert late is not None
        lost = ~np.isnan(late.defaults[i])
        success = np.where(lost, NEVER, self.delays[i])
        return Heard(success.tolist(), [way.failure] * self.rounds)

    def find_regret(self, i: int, pulls: Ints) -> Floats:
        """The regret of a run, round by round."""
        means = self.world.finite.means[self.chunk.contexts[i]]
        lost = means.max(axis=1) - means[np.arange(self.rounds), pulls]
        return np.asarray(lost.cumsum())

    def find_truth(self, i: int, pulls: Ints, upto: int) -> float:
        """What the arms that were pulled earn on average, in truth."""
        means = self.world.finite.means[self.chunk.contexts[i]]
        return float(means[np.arange(upto), pulls[:upto]].mean())


def play_way(study: Study, kind: str, way: Way, i: int) -> PlayedRun:
    """Play one run with a service of its own."""
    parent = Path("/dev/shm")
    folder = tempfile.mkdtemp(dir=parent if parent.is_dir() else None)
    prior = {"bounds": save(study.bounds)} if kind == "Fused" else {"reward_range": (0, 1)}
    config = PolicyConfig(
        name="p",
        kind=kind,  # type: ignore[arg-type]
        arms=[list(arm) for arm in study.world.finite.arms],  # type: ignore[arg-type]
        context=None if kind == "Fused" else list(study.world.query.context),
        seed=int(study.chunk._derive_seeds(kind)[i]),  # noqa: SLF001
        **prior,
        **way.options,
    )
    clock = SetClock()
    looks = [min(EARLY, study.rounds), study.rounds]
    try:
        with run_engine(SqliteStore(folder, clock=clock), config) as engine:
            heard = study.hear(i, way)
            return play_service(engine, clock, "p", study.chunk, i, heard, look_at=looks)
    finally:
        shutil.rmtree(folder)


def describe(numbers: list[float]) -> str:
    """A mean with its standard error."""
    error = np.std(numbers, ddof=1) / np.sqrt(len(numbers)) if len(numbers) > 1 else np.nan
    return f"{np.mean(numbers):.0f} +- {error:.1f}"


def compare(study: Study, kind: str, policy: Policy) -> None:
    """Print regret and bias of every way, and whether the first is the simulator's."""
    runs = len(study.chunk.runs)
    simulated = study.chunk.play(kind, policy, Event())
    regret = [float(study.find_regret(i, simulated[i])[-1]) for i in range(runs)]
    click.echo(f"\n{kind}, {runs} runs of {study.rounds:,} rounds")
    early, last = f"after {EARLY}", f"after {study.rounds}"
    click.echo(f"{'':<32}{'regret':>14}{early:>22}{last:>22}")
    click.echo(f"{'simulator, delay = window':<32}{describe(regret):>14}")
    for name, way in WAYS.items():
        played = [play_way(study, kind, way, i) for i in range(runs)]
        own = [float(study.find_regret(i, one.pulls)[-1]) for i, one in enumerate(played)]
        same = sum(one.pulls.tolist() == simulated[i].tolist() for i, one in enumerate(played))
        said = (
            f"  the simulator's pulls in {same} of {runs}" if way.options.get("window") else ""
        )
        beliefs = "".join(
            f"{describe_belief(study, played, upto):>22}" for upto in played[0].learned
        )
        click.echo(f"{name:<32}{describe(own):>14}{beliefs}{said}")


def describe_belief(study: Study, played: list[PlayedRun], upto: int) -> str:
    """The mean of what was learned so far, and that of the arms pulled in truth."""
    learned = [one.learned[upto] for one in played]
    truth = np.mean([study.find_truth(i, one.pulls, upto) for i, one in enumerate(played)])
    number = sum(n for n, _ in learned)
    if not number:
        return f"nothing, true {truth:.2f}"
    return f"{sum(total for _, total in learned) / number:.2f}, true {truth:.2f}"


@click.command()
@click.option("--rounds", default=ROUNDS)
@click.option("--runs", default=RUNS)
def measure(*, rounds: int, runs: int) -> None:
    study = Study(rounds, runs)
    click.echo("mean reward of what was learned, and of the arms pulled in truth, after rounds")
    compare(study, "Fused", bd.Fused(prior=study.bounds))
    compare(study, "LinUCB", bd.LinUCB())


def run(options: Sequence[str] = ()) -> None:
    """Print the tables."""
    measure.main(list(options), standalone_mode=False)


if __name__ == "__main__":
    run(sys.argv[1:])
