"""Policies that start from a log, a fresh one for each run, where the graph is right or wrong.

One log for all runs would show that log's luck. Here every run draws its own, and all policies
meet the same visitors and luck, so that each is held against LinUCB run by run. Worlds are the
paper's, the flipped one, thirty random ones, and seven that the assumed graph gets wrong. What
is done is kept in a file, if one is named: a study that was interrupted goes on from it, and a
policy that is added plays alone.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Self

from boundit.core.errors import BounditError, UnreadableFile
from boundit.core.files import write_page
from boundit.simulation.block import PolicySource
from boundit.simulation.environments import (
    flipped_environment,
    paper_environment,
    random_environment,
)
from boundit.simulation.errors import InvalidSimulation
from boundit.simulation.simulate import simulate
from boundit_research.online.log_study_rows import FIRST, LogRegrets, LogRow, summarize_logs
from boundit_research.online.run_tables import (
    FRESH,
    PLAIN,
    UNSEEN,
    RunTables,
    make_sources,
)
from boundit_research.online.study import Progress, require_all_runs
from boundit_research.online.wrong_graphs import AssumedWorld, make_wrong_worlds

POLICIES = (FIRST, *(name for name in (*PLAIN, *FRESH) if name != FIRST))
ROUNDS, FORMAT = 15_000, "boundit log study 2"
RUNS = {"paper": 200, "flipped": 200, "random": 40, "wrong": 100}
"""The groups of worlds, and how many runs each world of them has unless told."""
POINTS = (1_000, 10_000, 30_000, 300_000)
_WRONG_POINTS = (1_000, 30_000)
RANDOM = 30
"""How many random worlds there are, unless told."""
KEEP_SECONDS = 5.0
"""What is done is written this often, so that a crash loses no more; Ctrl-C loses nothing but
the policy that is under way."""


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
        """Sum up each policy in each group of worlds, from logs of each length."""
        return summarize_logs(self.regrets)

    def record(self) -> dict[str, object]:
        """Write the rows and what made them as an object for JSON."""
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
                f"{group}, {points:,} points; {some}{runs:,} run{'s' * (runs != 1)}",
                *map(str, members),
            ]
        return "\n".join(lines)


def run_log_study(
    *,
    groups: Sequence[str] = tuple(RUNS),
    policies: Sequence[str] = POLICIES,
    points: Sequence[int] | None = None,
    runs: int | Mapping[str, int] | None = None,
    worlds: int = RANDOM,
    settings: LogStudySettings = SETTINGS,
    path: Path | None = None,
    progress: Progress = lambda _, __: None,
) -> LogStudy:
    """Play policies from a fresh log in each run, in all worlds of some groups.

    ``runs`` may be other for each group. Random ``worlds`` are so many. ``path`` is the file
    that keeps what is done, one policy after the other, and that a later call goes on from.
    ``progress`` hears how many runs of all policies are done.
    """
    names = tuple(dict.fromkeys((FIRST, *policies)))
    asked = _list_parts(groups, points, runs, worlds)
    of, done = len(names) * sum(part.runs for part in asked), 0
    played = list[LogRegrets]()
    with _Keeper(path, settings) as keeper:
        for part in asked:
            found = keeper.kept.setdefault(part.key, {})
            tables = RunTables(part.assumed, part.points, settings.seed, part.runs)
            for name, source in make_sources(names, tables).items():
                if name not in found:
                    tell = partial(_tell, progress, done, of)
                    found[name] = part.play(name, source, settings, tell)
                    keeper.keep_now_and_then()
                done += part.runs
                progress(done, of)
            finals = {name: found[name] for name in names}
            played.append(
                LogRegrets(part.summed_with, part.assumed.world.name, part.points, finals)
            )
    return LogStudy(tuple(played), settings)


def _tell(progress: Progress, before: int, of: int, _: str, now: int, __: int) -> None:
    """Tell how many runs of all policies are done, when ``now`` of one policy are."""
    progress(before + now, of)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the study that is played at once: one world, and logs of one length."""

    group: str
    assumed: AssumedWorld
    points: int
    runs: int

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What the part is found again by in a file."""
        return self.group, self.assumed.world.name, self.points, self.runs

    @property
    def summed_with(self) -> str:
        """The worlds that this one is summed up with: its group's, or a wrong graph's own."""
        return self.assumed.world.name if self.group == "wrong" else self.group

    def play(
        self,
        name: str,
        source: PolicySource,
        settings: LogStudySettings,
        progress: Callable[[str, int, int], None],
    ) -> list[float]:
        """Play one policy, each run from its own log; gives its final regrets."""
        regret = simulate(
            self.assumed.world,
            {name: source},
            rounds=settings.rounds,
            runs=self.runs,
            seed=settings.seed,
            observed=0.0 if name in UNSEEN else settings.observed,
            progress=progress,
        )
        finals: list[float] = require_all_runs(regret, self.runs).final(name).tolist()
        return finals


def _list_parts(
    groups: Sequence[str],
    points: Sequence[int] | None,
    runs: int | Mapping[str, int] | None,
    worlds: int,
) -> list[_Part]:
    """List what a study plays: the worlds of all groups, each with every length of the log."""
    times = {**RUNS, **runs} if isinstance(runs, Mapping) else dict.fromkeys(RUNS, runs)
    return [
        _Part(group, assumed, length, times[group] or RUNS[group])
        for group in groups
        for assumed in _list_worlds(group, worlds)
        for length in points or (_WRONG_POINTS if group == "wrong" else POINTS)
    ]


def _list_worlds(group: str, worlds: int) -> tuple[AssumedWorld, ...]:
    """List the worlds of a group, each with the graph that is assumed; so many random ones."""
    if group == "wrong":
        return make_wrong_worlds()
    if group == "random":
        return tuple(AssumedWorld.right(random_environment(i)) for i in range(worlds))
    return (
        AssumedWorld.right(
            {"paper": paper_environment, "flipped": flipped_environment}[group]()
        ),
    )


_Kept = dict[tuple[str, str, int, int], dict[str, list[float]]]
"""Final regrets by group, world, length of the log and runs; then by policy, run by run."""


class _Keeper:
    """Regrets played so far, read from a file where one is named, and written to it again."""

    def __init__(self, path: Path | None, settings: LogStudySettings) -> None:
        self._path, self._settings = path, settings
        self.kept = _load(path, settings)
        self._written, self._is_new = time.monotonic(), False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Write what is not written yet, also where a Ctrl-C or an error ends the study."""
        if self._is_new:
            self._write()

    def keep_now_and_then(self) -> None:
        """Note that something new was played, and write all where the last time is long ago."""
        self._is_new = True
        if time.monotonic() - self._written >= KEEP_SECONDS:
            self._write()

    def _write(self) -> None:
        """Write all regrets, whole or not at all, where a file is named."""
        if self._path is not None:
            found = [
                {"runs": times, **asdict(LogRegrets(group, world, length, finals))}
                for (group, world, length, times), finals in self.kept.items()
                if finals
            ]
            body = {"format": FORMAT, "settings": asdict(self._settings), "regrets": found}
            write_page(self._path, json.dumps(body) + "\n")
        self._written, self._is_new = time.monotonic(), False


def _load(path: Path | None, settings: LogStudySettings) -> _Kept:
    """Read what an earlier study of the same settings has kept; nothing without a file."""
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
        raise InvalidSimulation(f"{path} keeps no study of logs") from None
    if said != FORMAT:
        raise InvalidSimulation(f"{path} is a {said}, and this release reads {FORMAT}")
    if of != settings:
        raise OtherStudy(path, of, settings)
    return kept
