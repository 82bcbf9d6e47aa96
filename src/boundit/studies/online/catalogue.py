"""The online studies by name, each with the size at which its numbers are reported."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from boundit.simulation.regret import Regret
from boundit.simulation.world import World
from boundit.simulation.worlds import flipped_world, paper_world
from boundit.studies.online.ceilings import ceiling_study
from boundit.studies.online.living import living_study
from boundit.studies.online.study import Told, contested
from boundit.studies.online.suite import suite_study
from boundit.studies.online.theorem6 import theorem6
from boundit.studies.online.watch import watch_study


class StudyResult(Protocol):
    """What a study found: a text to read and a record to keep."""

    def record(self) -> dict[str, object]:
        """Everything as an object for JSON."""
        ...


@dataclass(frozen=True, slots=True)
class Size:
    """How much a study plays: runs of so many rounds each, from a seed."""

    runs: int
    rounds: int
    seed: int = 0


Play: TypeAlias = Callable[[Size, Told], tuple[StudyResult, Regret | None]]


def _contest(world: World, oam_runs: int) -> Play:
    def play(size: Size, told: Told) -> tuple[StudyResult, Regret | None]:
        found = contested(
            world,
            runs=size.runs,
            rounds=size.rounds,
            seed=size.seed,
            oam_runs=min(size.runs, oam_runs),
            told=told,
        )
        return found, found.regret

    return play


def _suite(size: Size, told: Told) -> tuple[StudyResult, Regret | None]:
    return suite_study(runs=size.runs, rounds=size.rounds, seed=size.seed, told=told), None


def _watch(size: Size, told: Told) -> tuple[StudyResult, Regret | None]:
    found = watch_study(runs=size.runs, rounds=size.rounds, seed=size.seed, told=told)
    return found, found.regret


def _living(size: Size, told: Told) -> tuple[StudyResult, Regret | None]:
    found = living_study(runs=size.runs, rounds=size.rounds, seed=size.seed, told=told)
    return found, found.regret


def _theorem6(size: Size, told: Told) -> tuple[StudyResult, Regret | None]:
    found = theorem6(runs=size.runs, rounds=size.rounds, seed=size.seed, told=told)
    return found, found


def _ceilings(size: Size, told: Told) -> tuple[StudyResult, Regret | None]:
    return ceiling_study(runs=size.runs, rounds=size.rounds, seed=size.seed, told=told), None


STUDIES: Mapping[str, tuple[Play, Size]] = {
    "paper": (_contest(paper_world(), 500), Size(2_000, 15_000)),
    "flip": (_contest(flipped_world(), 500), Size(2_000, 15_000)),
    "suite": (_suite, Size(1_000, 5_000)),
    "watch": (_watch, Size(30, 6_000)),
    "living": (_living, Size(500, 15_000)),
    "theorem6": (_theorem6, Size(200_000, 200)),
    "ceilings": (_ceilings, Size(100, 15_000)),
}
"""How each study is played, and how much of it."""


def shown(
    name: str,
    *,
    runs: int | None = None,
    rounds: int | None = None,
    seed: int = 0,
    told: Told = lambda _, __: None,
) -> tuple[StudyResult, Regret | None]:
    """Play a study, at its own size unless told: what it found, and the curves it has."""
    play, size = STUDIES[name]
    return play(Size(runs or size.runs, rounds or size.rounds, seed), told)
