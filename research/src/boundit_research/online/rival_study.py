"""Policies of other papers beside ours: the same visitors, luck and logs for all.

It plays the study of logs with the rivals, each as its paper has it and with a tuned constant,
and holds every policy against LinUCB, which takes nothing from a log, and run by run against
Fused twice: told the variable of its plan, and told rewards alone, as all rivals are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path

from boundit_research.online.log_study import (
    POINTS,
    RANDOM,
    SETTINGS,
    LogStudy,
    LogStudySettings,
    run_log_study,
)
from boundit_research.online.log_study_rows import FIRST, LogRow, summarize_logs
from boundit_research.online.run_tables import UNSEEN
from boundit_research.online.study import Progress, write_interval
from boundit_research.rivals.catalogue import RIVALS

OURS = "Fused"
(BLIND,) = UNSEEN
"""Fused, told rewards alone."""
OUR_POLICIES = (OURS, BLIND, "Fused-trusting", "LinUCB-PCB")
"""Policies of this package that start from a log."""
POLICIES = (FIRST, *OUR_POLICIES, *RIVALS)
RUNS = {"paper": 60, "flipped": 60, "random": 3, "wrong": 10}
"""How many runs each world of a group has unless told: the size at which we report."""


@dataclass(frozen=True, slots=True)
class RivalRow:
    """One policy in the worlds of a group: its regrets, held against LinUCB's and Fused's.

    ``fused`` is against Fused that is told the variable of its plan, ``blind`` against Fused
    that is told rewards alone.
    """

    plain: LogRow
    fused: LogRow
    blind: LogRow

    def to_record(self) -> dict[str, object]:
        """Write the row for JSON: that against LinUCB, and differences from both Fused."""
        names = ("less", "less_lower", "less_upper", "worse", "better")
        found = self.plain.to_record()
        for label, row in (("fused", self.fused), ("unseen", self.blind)):
            against = row.to_record()
            found |= {f"{label}_{name}": against[name] for name in names}
        return found

    def __str__(self) -> str:
        one = self.plain
        said = f"{one.policy:<16}{one.mean:>9.1f} ({one.median:.1f}, {one.q95:.1f})"
        against = "".join(
            f"{f'{_write_less(row)} {judge(row)}':>33}" for row in (one, self.fused, self.blind)
        )
        return f"{said:<42}{against}".rstrip()


def judge(row: LogRow) -> str:
    """Say whether a policy regrets more or less than whom it is held against, beyond chance.

    Empty where it is neither.
    """
    if row.less_lower > 0:
        return "less"
    return "more" if row.less_upper < 0 else ""


def _write_less(row: LogRow) -> str:
    """Write by how much less a policy regrets than another, with its interval."""
    return f"{row.less:+.1f} {write_interval(row.less_lower, row.less_upper)}"


@dataclass(frozen=True)
class RivalStudy:
    """The regrets of all policies in every world and from logs of every length."""

    study: LogStudy

    @property
    def settings(self) -> LogStudySettings:
        """Rounds, seed and what is observed."""
        return self.study.settings

    def rows(self) -> tuple[RivalRow, ...]:
        """Sum up each policy in each group of worlds, from logs of each length."""
        return self._rows

    @cached_property
    def _rows(self) -> tuple[RivalRow, ...]:
        """The rows, summed up once, as that takes seconds."""
        compared = (summarize_logs(self.study.regrets, whom) for whom in (FIRST, OURS, BLIND))
        return tuple(RivalRow(*rows) for rows in zip(*compared, strict=True))

    def record(self) -> dict[str, object]:
        """Write the rows and what made them as an object for JSON."""
        rows = [row.to_record() for row in self.rows()]
        return {**asdict(self.settings), "rows": rows}

    def __str__(self) -> str:
        lines = [
            f"a log for each run; {self.settings}; {BLIND}: in none",
            f"final regret as mean (median, q95), and how much less than that of {FIRST}, "
            f"{OURS} and {BLIND}, paired, with 95 % intervals; a name with * has a tuned "
            "constant",
        ]
        for setting in group_rows(self):
            lines += ["", setting.heading, *map(str, setting.rows)]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Setting:
    """Worlds that are summed up together, a length of the log, and the row of every policy."""

    group: str
    points: int
    rows: tuple[RivalRow, ...]

    @property
    def name(self) -> str:
        """Worlds and length."""
        return f"{self.group}, {self.points:,} points"

    @property
    def size(self) -> str:
        """How many worlds and runs were played."""
        plain = self.rows[0].plain
        worlds = f"{plain.worlds} worlds, " if plain.worlds > 1 else ""
        return f"{worlds}{plain.runs:,} run{'s' * (plain.runs != 1)}"

    @property
    def heading(self) -> str:
        """Worlds, length and runs."""
        return f"{self.name}; {self.size}"

    def find(self, policy: str) -> RivalRow:
        """Find the row of a policy."""
        return next(row for row in self.rows if row.plain.policy == policy)

    def list_others(self) -> list[RivalRow]:
        """List the rows of policies that are not ours, the lowest mean first.

        LinUCB is among them.
        """
        others = [row for row in self.rows if row.plain.policy not in OUR_POLICIES]
        return sorted(others, key=lambda row: row.plain.mean)


def group_rows(study: RivalStudy) -> list[Setting]:
    """Group the rows of a study by worlds and length of the log, as they come."""
    found = groupby(study.rows(), lambda row: (row.plain.group, row.plain.points))
    settings = [Setting(*key, tuple(rows)) for key, rows in found]
    names = list(dict.fromkeys(setting.group for setting in settings))
    return sorted(settings, key=lambda one: (names.index(one.group), one.points))


def run_rival_study(
    *,
    groups: Sequence[str],
    policies: Sequence[str] = POLICIES,
    points: Sequence[int] | None = None,
    runs: int | Mapping[str, int] | None = None,
    worlds: int = RANDOM,
    settings: LogStudySettings = SETTINGS,
    path: Path | None = None,
    progress: Progress = lambda _, __: None,
) -> RivalStudy:
    """Play rivals, LinUCB and Fused from a fresh log in each run, in the worlds of some groups.

    ``path`` is the file that keeps what is done, policy by policy; the study of logs reads it
    too.
    """
    return RivalStudy(
        run_log_study(
            groups=groups,
            policies=tuple(dict.fromkeys((FIRST, OURS, BLIND, *policies))),
            points=points or POINTS,
            runs=runs or RUNS,
            worlds=worlds,
            settings=settings,
            path=path,
            progress=progress,
        )
    )
