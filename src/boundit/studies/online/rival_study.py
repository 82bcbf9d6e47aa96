"""Policies of other papers beside ours: the same visitors, luck and logs for all.

It plays the study of logs with the rivals, each as its paper has it and with a tuned constant,
and holds every policy against LinUCB, which takes nothing from a log, and against Fused, run by
run.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from boundit.studies.online.log_study import (
    RANDOM,
    SETTINGS,
    LogStudy,
    LogStudySettings,
    run_log_study,
)
from boundit.studies.online.log_study_rows import FIRST, LogRow, summarize_logs
from boundit.studies.online.run_tables import UNSEEN
from boundit.studies.online.study import Progress
from boundit.studies.rivals.catalogue import RIVALS

OURS = "Fused"
OUR_POLICIES = (OURS, *UNSEEN, "Fused-trusting", "LinUCB-PCB")
"""Policies of this package that start from a log."""
POLICIES = (FIRST, *OUR_POLICIES, *RIVALS)


@dataclass(frozen=True, slots=True)
class RivalRow:
    """One policy in the worlds of a group: its regrets, held against LinUCB's and Fused's."""

    plain: LogRow
    fused: LogRow

    @property
    def verdict(self) -> str:
        """Whether the policy regrets more or less than Fused beyond chance, or neither.

        Read by ``RivalRow.__str__`` and by the page.
        """
        if self.fused.less_lower > 0:
            return "less"
        return "more" if self.fused.less_upper < 0 else ""

    def to_record(self) -> dict[str, object]:
        """Write the row for JSON: that against LinUCB, and differences from Fused.

        Called by ``RivalStudy.record``.
        """
        names = ("less", "less_lower", "less_upper", "worse", "better")
        against = self.fused.to_record()
        return {**self.plain.to_record(), **{f"fused_{name}": against[name] for name in names}}

    def __str__(self) -> str:
        one, other = self.plain, self.fused
        said = f"{one.policy:<16}{one.mean:>9.1f} ({one.median:.1f}, {one.q95:.1f})"
        return (
            f"{said:<44}{_write_less(one):>26}{_write_less(other):>28}  {self.verdict}".rstrip()
        )


def _write_less(row: LogRow) -> str:
    """Write by how much less a policy regrets than another, with its interval.

    Called by ``RivalRow.__str__``.
    """
    return f"{row.less:+.1f} [{row.less_lower:.1f}, {row.less_upper:.1f}]"


@dataclass(frozen=True, slots=True)
class RivalStudy:
    """The regrets of all policies in every world and from logs of every length."""

    study: LogStudy

    @property
    def settings(self) -> LogStudySettings:
        """Rounds, seed and what is observed. Read by ``make_rival_page``."""
        return self.study.settings

    def rows(self) -> tuple[RivalRow, ...]:
        """Sum up each policy in each group of worlds, from logs of each length.

        Called by ``RivalStudy.record``, ``RivalStudy.__str__`` and ``make_rival_page``.
        """
        plain = summarize_logs(self.study.regrets)
        fused = summarize_logs(self.study.regrets, OURS)
        return tuple(RivalRow(*pair) for pair in zip(plain, fused, strict=True))

    def record(self) -> dict[str, object]:
        """Write the rows and what made them as an object for JSON.

        Called by ``simulate`` of the command line.
        """
        rows = [row.to_record() for row in self.rows()]
        return {**asdict(self.settings), "rows": rows}

    def __str__(self) -> str:
        lines = [
            f"a log for each run; {self.settings}; {', '.join(UNSEEN)}: in none",
            f"final regret as mean (median, q95), and how much less than {FIRST}'s and "
            f"{OURS}'s, paired, with 95 % intervals; a name with * has a tuned constant",
        ]
        for (group, points), members in group_rows(self.rows()):
            worlds, runs = members[0].plain.worlds, members[0].plain.runs
            some = f"{worlds} worlds, " if worlds > 1 else ""
            head = f"{group}, {points:,} points; {some}{runs:,} runs"
            lines += ["", head, *map(str, members)]
        return "\n".join(lines)


def group_rows(
    rows: Sequence[RivalRow],
) -> list[tuple[tuple[str, int], list[RivalRow]]]:
    """Group rows by worlds and length of the log, as they come.

    Called by ``RivalStudy.__str__`` and ``make_rival_page``.
    """
    found = groupby(rows, lambda row: (row.plain.group, row.plain.points))
    return [(key, list(members)) for key, members in found]


def run_rival_study(
    *,
    groups: Sequence[str],
    policies: Sequence[str] = POLICIES,
    points: Sequence[int] | None = None,
    runs: int | None = None,
    worlds: int = RANDOM,
    settings: LogStudySettings = SETTINGS,
    path: Path | None = None,
    told: Progress = lambda _, __: None,
) -> RivalStudy:
    """Play rivals, LinUCB and Fused from a fresh log in each run, in the worlds of some groups.

    ``path`` is the file that keeps what is done, whole after every world and length of the log;
    the study of logs reads it too. Called by ``_run_log_study`` of the command line.
    """
    return RivalStudy(
        run_log_study(
            groups=groups,
            policies=tuple(dict.fromkeys((OURS, *policies))),
            points=points,
            runs=runs,
            worlds=worlds,
            settings=settings,
            path=path,
            told=told,
        )
    )
