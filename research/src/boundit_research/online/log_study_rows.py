"""What policies regret when every run starts from a log of its own: regrets, and their rows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from scipy import stats

from boundit.simulation.summary import HIGH, LEVEL, choose_level, compute_half_width
from boundit_research.online.study import write_interval

FIRST = "LinUCB"
"""Whom all policies are compared with, run by run."""


@dataclass(frozen=True)
class LogRegrets:
    """One world and one length of the log: the final regrets of all policies, run by run.

    ``group`` is what the world is summed up with.
    """

    group: str
    world: str
    points: int
    finals: dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class LogRow:
    """One policy in the worlds of a group, from logs of one length.

    Mean, median and 95 % quantile (``q95``) are over the runs of all worlds, ``less`` is by how
    much less the policy regrets than LinUCB, or whoever it is compared with, on average over
    the worlds, paired run by run, with its 95 % interval. In ``worse`` and ``better`` of the
    ``worlds`` the two differ beyond chance, by Bonferroni's intervals.
    """

    group: str
    points: int
    policy: str
    worlds: int
    runs: int
    mean: float
    median: float
    q95: float
    less: float
    less_lower: float
    less_upper: float
    worse: int
    better: int

    def to_record(self) -> dict[str, object]:
        """Write the row of one policy for JSON, which has no nan."""
        return {k: None if v != v else v for k, v in asdict(self).items()}

    def __str__(self) -> str:
        said = f"{self.policy:<16}{self.mean:>9.1f} ({self.median:.1f}, {self.q95:.1f})"
        if self.policy == FIRST:
            return said
        counted = f"; worse in {self.worse}, better in {self.better}" if self.worlds > 1 else ""
        interval = write_interval(self.less_lower, self.less_upper)
        return f"{said:<46}{self.less:>+9.1f} {interval}{counted}"


def summarize_logs(found: Sequence[LogRegrets], first: str = FIRST) -> tuple[LogRow, ...]:
    """Sum up the regrets of each group of worlds, length of the log and policy.

    All are compared with the policy ``first``.
    """
    grouped = dict[tuple[str, int], list[dict[str, list[float]]]]()
    for one in found:
        grouped.setdefault((one.group, one.points), []).append(one.finals)
    return tuple(
        row for key, worlds in grouped.items() for row in _summarize_group(*key, worlds, first)
    )


def _summarize_group(
    group: str, points: int, worlds: Sequence[dict[str, list[float]]], first: str
) -> list[LogRow]:
    """Sum up every policy that played in all worlds of a group, from logs of one length."""
    names = [name for name in worlds[0] if all(name in finals for finals in worlds)]
    return [
        _summarize_policy(
            (group, points, name),
            [np.array(finals[name]) for finals in worlds],
            [np.array(finals[first]) - np.array(finals[name]) for finals in worlds],
        )
        for name in names
    ]


def _summarize_policy(
    key: tuple[str, int, str], finals: list[np.ndarray], less: list[np.ndarray]
) -> LogRow:
    """Sum up one policy: its regrets in each world, and how much less than LinUCB's they are."""
    every, gaps = np.concatenate(finals), np.array([gap.mean() for gap in less])
    middle, error = float(gaps.mean()), _compute_error(less)
    level = choose_level(len(less), "bonferroni")
    margins = np.array([float(compute_half_width(gap, level)) for gap in less])
    return LogRow(
        *key,
        len(finals),
        len(every),
        float(every.mean()),
        float(np.median(every)),
        float(np.quantile(every, HIGH)),
        middle,
        middle - error,
        middle + error,
        int((gaps + margins < 0).sum()),
        int((gaps - margins > 0).sum()),
    )


def _compute_error(less: Sequence[np.ndarray]) -> float:
    """Compute half the width of a 95 % interval for the mean over worlds of mean differences.

    Runs are drawn, worlds are not; of one world it is Student's interval.
    """
    freedom = sum(len(gap) - 1 for gap in less)
    if min(map(len, less)) < 2:
        return float("nan")
    square = sum(float(gap.var(ddof=1)) / len(gap) for gap in less)
    return float(stats.t.ppf((1 + LEVEL) / 2, freedom) * np.sqrt(square) / len(less))
