"""Policies that start from a log, a fresh one for each run, where the graph is right or wrong.

One log for all runs would show that log's luck. Here every run draws its own, and all policies
meet the same visitors and luck, so that each is held against LinUCB run by run. Worlds are the
paper's, the flipped one, thirty random ones, and seven that the assumed graph gets wrong. What
is done is kept in a file, if one is named: a study that was interrupted goes on from it, and a
policy that is added plays alone.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from boundit.simulation.errors import DamagedResult
from boundit.simulation.simulate import simulate
from boundit.simulation.worlds import flipped_world, paper_world, random_world
from boundit.studies.online.log_study_rows import FIRST, LogRegrets, LogRow, summarize_logs
from boundit.studies.online.run_tables import (
    FRESH,
    PLAIN,
    UNSEEN,
    RunTables,
    make_sources,
)
from boundit.studies.online.study import Progress, require_all_runs
from boundit.studies.online.wrong_graphs import AssumedWorld, make_wrong_worlds
from boundit.terms.errors import BounditError, UnreadableFile
from boundit.terms.saving.files import write_page

POLICIES = (FIRST, *(name for name in (*PLAIN, *FRESH) if name != FIRST))
ROUNDS, FORMAT = 15_000, "boundit log study 1"
RUNS = {"paper": 200, "flipped": 200, "random": 40, "wrong": 100}
"""The groups of worlds, and how many runs each world of them has unless told."""
POINTS = (1_000, 10_000, 30_000, 300_000)
_WRONG_POINTS = (1_000, 30_000)
RANDOM = 30
"""How many random worlds there are, unless told."""


@dataclass(frozen=True, slots=True)
class LogStudySettings:
    """What all parts of a study share, and a file that it goes on from must share too."""

    rounds: int = ROUNDS
    seed: int = 0
    observed: float = 1.0

    def __str__(self) -> str:
        return (
            f"{self.rounds:,} rounds, seed {self.seed}, other variables observed in a share "
            f"{self.observed:g} of them"
        )


SETTINGS = LogStudySettings()
"""Those at which we report."""


class OtherStudy(BounditError):
    """A file that keeps a study of other rounds, another seed or other observations."""

    def __init__(self, path: Path, kept: object, asked: object) -> None:
        self.path, self.kept, self.asked = path, kept, asked
        super().__init__(f"{path} keeps a study of {kept}, not of {asked}; name another file")


@dataclass(frozen=True, slots=True)
class LogStudy:
    """The regrets in every world and from logs of every length, and what made them."""

    regrets: tuple[LogRegrets, ...]
    settings: LogStudySettings

    def rows(self) -> tuple[LogRow, ...]:
        """Sum up each policy in each group of worlds, from logs of each length.

        Called by ``LogStudy.record`` and ``LogStudy.__str__``.
        """
        return summarize_logs(self.regrets)

    def record(self) -> dict[str, object]:
        """Write the rows and what made them as an object for JSON.

        Called by ``simulate`` of the command line.
        """
        rows = [row.to_record() for row in self.rows()]
        return {**asdict(self.settings), "rows": rows}

    def __str__(self) -> str:
        lines = [
            f"a log for each run; {self.settings}",
            f"final regret as mean (median, q95), and how much less than {FIRST}'s with its "
            "95 % interval",
        ]
        for (group, points), rows in groupby(self.rows(), lambda row: (row.group, row.points)):
            members = list(rows)
            worlds, runs = members[0].worlds, members[0].runs
            some = f"{worlds} worlds, " if worlds > 1 else ""
            lines += [
                "",
                f"{group}, {points:,} points; {some}{runs:,} runs",
                *map(str, members),
            ]
        return "\n".join(lines)


def run_log_study(
    *,
    groups: Sequence[str] = tuple(RUNS),
    policies: Sequence[str] = POLICIES,
    points: Sequence[int] | None = None,
    runs: int | None = None,
    worlds: int = RANDOM,
    settings: LogStudySettings = SETTINGS,
    path: Path | None = None,
    told: Progress = lambda _, __: None,
) -> LogStudy:
    """Play policies from a fresh log in each run, in all worlds of some groups.

    Random ``worlds`` are so many. ``path`` is the file that keeps what is done, whole after
    every world and length of the log. Called by ``_run_log_study`` of the command line, and by
    ``run_rival_study``.
    """
    names = tuple(dict.fromkeys((FIRST, *policies)))
    kept = _load(path, settings)
    asked = _list_parts(groups, points, runs, worlds)
    of, done = sum(part.runs for part in asked), 0
    played = list[LogRegrets]()
    for part in asked:
        found = kept.setdefault(part.key, {})
        if missing := tuple(name for name in names if name not in found):
            found |= part.play(missing, settings, partial(_tell, told, done, of))
            _keep(path, kept, settings)
        finals = {name: found[name] for name in names}
        played.append(
            LogRegrets(part.summed_with, part.assumed.world.name, part.points, finals)
        )
        done += part.runs
        told(done, of)
    return LogStudy(tuple(played), settings)


def _tell(told: Progress, before: int, of: int, now: int) -> None:
    """Tell how many runs of all parts are done, when ``now`` of a part are.

    Used by ``run_log_study`` for every part that it plays.
    """
    told(before + now, of)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the study that is played at once: one world, and logs of one length."""

    group: str
    assumed: AssumedWorld
    points: int
    runs: int

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What the part is found again by in a file. Read by ``run_log_study``."""
        return self.group, self.assumed.world.name, self.points, self.runs

    @property
    def summed_with(self) -> str:
        """The worlds that this one is summed up with: its group's, or a wrong graph's own.

        Read by ``run_log_study``.
        """
        return self.assumed.world.name if self.group == "wrong" else self.group

    def play(
        self, names: tuple[str, ...], settings: LogStudySettings, told: Callable[[int], None]
    ) -> dict[str, list[float]]:
        """Play some policies, each run from its own log; gives their final regrets.

        Called by ``run_log_study`` for the policies that a file does not have yet.
        """
        tables = RunTables(self.assumed, self.points, settings.seed)
        blind = tuple(name for name in names if name in UNSEEN)
        seeing = tuple(name for name in names if name not in UNSEEN)
        found = dict[str, list[float]]()
        for some, observed in ((seeing, settings.observed), (blind, 0.0)):
            if not some:
                continue
            regret = simulate(
                self.assumed.world,
                make_sources(some, tables),
                rounds=settings.rounds,
                runs=self.runs,
                seed=settings.seed,
                observed=observed,
                told=told,
            )
            whole = require_all_runs(regret, self.runs)
            found |= {name: whole.final(name).tolist() for name in some}
        return found


def _list_parts(
    groups: Sequence[str], points: Sequence[int] | None, runs: int | None, worlds: int
) -> list[_Part]:
    """List what a study plays: the worlds of all groups, each with every length of the log.

    Called by ``run_log_study``.
    """
    return [
        _Part(group, assumed, length, runs or RUNS[group])
        for group in groups
        for assumed in _list_worlds(group, worlds)
        for length in points or (_WRONG_POINTS if group == "wrong" else POINTS)
    ]


def _list_worlds(group: str, worlds: int) -> tuple[AssumedWorld, ...]:
    """List the worlds of a group, each with the graph that is assumed; so many random ones.

    Called by ``_list_parts``.
    """
    if group == "wrong":
        return make_wrong_worlds()
    if group == "random":
        return tuple(AssumedWorld.right(random_world(i)) for i in range(worlds))
    return (AssumedWorld.right({"paper": paper_world, "flipped": flipped_world}[group]()),)


_Kept = dict[tuple[str, str, int, int], dict[str, list[float]]]
"""Final regrets by group, world, length of the log and runs; then by policy, run by run."""


def _load(path: Path | None, settings: LogStudySettings) -> _Kept:
    """Read what an earlier study of the same settings has kept; nothing without a file.

    Called by ``run_log_study`` first.
    """
    if path is None or not path.exists():
        return {}
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        of, said = LogStudySettings(**body["settings"]), body["format"]
        kept = {
            (one["group"], one["world"], int(one["points"]), int(one["runs"])): {
                str(name): [float(final) for final in finals]
                for name, finals in one["finals"].items()
            }
            for one in body["regrets"]
        }
    except OSError as error:
        raise UnreadableFile(path, error.strerror or str(error)) from None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise DamagedResult(path, "it keeps no study of logs") from None
    if said != FORMAT:
        raise DamagedResult(path, f"it is a {said}, and this release reads {FORMAT}")
    if of != settings:
        raise OtherStudy(path, of, settings)
    return kept


def _keep(path: Path | None, kept: _Kept, settings: LogStudySettings) -> None:
    """Write all regrets played so far, whole or not at all, where a file is named.

    Called by ``run_log_study`` after every world and length of the log.
    """
    if path is None:
        return
    found = [
        {"group": group, "runs": times, **asdict(LogRegrets(group, world, length, finals))}
        for (group, world, length, times), finals in kept.items()
    ]
    body = {"format": FORMAT, "settings": asdict(settings), "regrets": found}
    write_page(path, json.dumps(body) + "\n")
