"""The online studies by name, each with the size at which its numbers are reported."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from boundit.simulation.environment import Environment
from boundit.simulation.environments import flipped_environment, paper_environment
from boundit.simulation.regret import Regret
from boundit_research.online.ceilings import run_ceiling_study
from boundit_research.online.logs import Progress
from boundit_research.online.monitor import run_monitor_study
from boundit_research.online.study import play_world
from boundit_research.online.suite import run_suite_study
from boundit_research.online.theorem6 import run_theorem6


class StudyResult(Protocol):
    """What a study found: a text to read (``str``) and a record to keep."""

    def record(self) -> dict[str, object]:
        """Write what a study found as an object for JSON.

        Every study's result has it.
        """
        ...


@dataclass(frozen=True, slots=True)
class StudySize:
    """How much a study plays: runs of so many rounds each, from a seed."""

    runs: int
    rounds: int
    seed: int = 0


RunStudy: TypeAlias = Callable[[StudySize, Progress], tuple[StudyResult, Regret | None]]


def _make_world_run(world: Environment, few: int) -> RunStudy:
    """Make the function that runs the study of one world, for the catalogue ``STUDIES``.

    It plays all policies there and gives their regrets; OAM (optimal allocation matching, slow)
    and those with a log for each run play ``few`` runs at most. Used for two entries of
    ``STUDIES``: the paper's world and the flipped one, where bias makes another arm look best.
    """

    def play(size: StudySize, progress: Progress) -> tuple[StudyResult, Regret | None]:
        found = play_world(
            world,
            runs=size.runs,
            rounds=size.rounds,
            seed=size.seed,
            oam_runs=min(size.runs, few),
            own_log_runs=min(size.runs, few),
            progress=progress,
        )
        return found, found.regret

    return play


def _run_suite(size: StudySize, progress: Progress) -> tuple[StudyResult, Regret | None]:
    """Run the study of LinUCB with and without bounds over a suite of worlds.

    Gives its result, and no curves. An entry of ``STUDIES``, from where ``run_study`` calls it.
    """
    return run_suite_study(
        runs=size.runs, rounds=size.rounds, seed=size.seed, progress=progress
    ), None


def _run_monitor(size: StudySize, progress: Progress) -> tuple[StudyResult, Regret | None]:
    """Run the study of what wrong bounds cost, with and without a monitor that drops them.

    An entry of ``STUDIES``, from where ``run_study`` calls it.
    """
    found = run_monitor_study(
        runs=size.runs, rounds=size.rounds, seed=size.seed, progress=progress
    )
    return found, found.regret


def _run_theorem6(size: StudySize, progress: Progress) -> tuple[StudyResult, Regret | None]:
    """Run the study of two nearly equal arms in which a valid bound raises LinUCB's regret.

    The paper's Theorem 6 says that the bound lowers it. An entry of ``STUDIES``, from where
    ``run_study`` calls it.
    """
    found = run_theorem6(runs=size.runs, rounds=size.rounds, seed=size.seed, progress=progress)
    return found, found


def _run_ceilings(size: StudySize, progress: Progress) -> tuple[StudyResult, Regret | None]:
    """Run the study that compares regrets with the most that the paper's theorems allow.

    An entry of ``STUDIES``, from where ``run_study`` calls it.
    """
    return run_ceiling_study(
        runs=size.runs, rounds=size.rounds, seed=size.seed, progress=progress
    ), None


STUDIES: Mapping[str, tuple[RunStudy, StudySize]] = {
    "paper": (_make_world_run(paper_environment(), 500), StudySize(2_000, 15_000)),
    "flip": (_make_world_run(flipped_environment(), 500), StudySize(2_000, 15_000)),
    "suite": (_run_suite, StudySize(1_000, 5_000)),
    "monitor": (_run_monitor, StudySize(30, 6_000)),
    "theorem6": (_run_theorem6, StudySize(200_000, 200)),
    "ceilings": (_run_ceilings, StudySize(100, 15_000)),
}
"""How each study is played, and how much of it."""


def run_study(
    name: str,
    *,
    runs: int | None = None,
    rounds: int | None = None,
    seed: int = 0,
    progress: Progress = lambda _, __: None,
) -> tuple[StudyResult, Regret | None]:
    """Run a study of ``STUDIES`` by name, at its own size unless told.

    Gives its result and, where there are any, its regret curves.
    """
    play, size = STUDIES[name]
    return play(StudySize(runs or size.runs, rounds or size.rounds, seed), progress)
