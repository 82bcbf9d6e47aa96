"""What runs come to: lines for a table, bands for a figure, a text to read."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from boundit.simulation.intervals import (
    Correction,
    Floats,
    bound_quantile,
    choose_level,
    compute_half_width,
    compute_paired_p,
    correct_p_values,
)

CELL_HEADS = ("policy", "mean, 95 %", "median", "95 % quantile", "less than the first, 95 %")
"""What stands above the cells that ``write_cells`` writes."""
HIGH = 0.95
"""Which quantile of the runs stands beside mean and median: a few bad runs can make a mean."""


@dataclass(frozen=True, slots=True)
class Line:
    """How one policy did: final regret, and by how much less than the first policy's.

    Mean, median and 95 % quantile (``q95``) of the runs, and the mean of the difference, each
    with the ends of its 95 % interval; ``p`` belongs to the difference.
    """

    policy: str
    mean: float
    mean_lower: float
    mean_upper: float
    median: float
    median_lower: float
    median_upper: float
    q95: float
    q95_lower: float
    q95_upper: float
    less: float
    less_lower: float
    less_upper: float
    p: float

    @property
    def error(self) -> float:
        """Half the width of the interval of a policy's mean final regret."""
        return (self.mean_upper - self.mean_lower) / 2

    def to_record(self) -> dict[str, object]:
        """Write the line of one policy for JSON, which has no nan."""
        return {k: None if v != v else v for k, v in asdict(self).items()}


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """The mean regret of one policy over the rounds, and how much less than the first's.

    The ends are those of pointwise 95 % intervals; those of ``less`` are paired, run by run.
    ``median`` and ``q95`` are quantiles of the runs at each round.
    """

    policy: str
    at: NDArray[np.int64]
    mean: Floats
    lower: Floats
    upper: Floats
    median: Floats
    q95: Floats
    less: Floats
    less_lower: Floats
    less_upper: Floats


def summarize_final(
    policies: Sequence[str], final: Floats, correction: Correction = "none"
) -> tuple[Line, ...]:
    """Compute mean, quantiles and paired difference of the final regret (policies x runs).

    Differences are from the first policy.
    """
    level = choose_level(len(policies) - 1, correction)
    chances = np.array([compute_paired_p(final[0] - sample) for sample in final[1:]])
    p = (1.0, *correct_p_values(chances, correction).tolist())
    return tuple(
        _summarize_policy(name, final[i], final[0] - final[i], level, p[i])
        for i, name in enumerate(policies)
    )


def summarize_curves(
    policies: Sequence[str], at: NDArray[np.int64], curves: Floats
) -> tuple[Band, ...]:
    """Compute mean regret, its band and quantiles (policies x runs x rounds), round by round."""
    return tuple(
        Band(
            name,
            at,
            *_bound_mean(own),
            np.median(own, axis=0),
            np.quantile(own, HIGH, axis=0),
            *_bound_mean(curves[0] - own),
        )
        for name, own in zip(policies, curves, strict=True)
    )


def format_runs(runs: int, rounds: int) -> str:
    """Write the numbers of runs and rounds in words, for the heads of tables.

    >>> format_runs(2_000, 1)
    '2,000 runs of 1 round'
    """
    return f"{runs:,} run{'s' * (runs != 1)} of {rounds:,} round{'s' * (rounds != 1)}"


def format_lines(head: str, found: Sequence[Line]) -> str:
    """Write the summaries of all policies as a text table with a head over it."""
    size = max(len("policy"), *(len(line.policy) for line in found)) + 2
    columns = f"{'policy':<{size}}" + "".join(
        f"{name:>9}{'':>20}" for name in ("mean", "median", "q95")
    )
    first, *others = found
    less = f"  less than {first.policy}" if others else ""
    rows = [
        _format_row(first, size),
        *(_format_row(line, size) + _format_difference(line) for line in others),
    ]
    return "\n".join([head, (columns + less).rstrip(), *rows])


def write_cells(found: Sequence[Line]) -> list[tuple[str, ...]]:
    """Write the summaries of all policies as cells of a table, a row for each policy."""
    return [
        (
            line.policy,
            f"{line.mean:.2f}{_format_interval(line.mean_lower, line.mean_upper)}",
            f"{line.median:.2f}",
            f"{line.q95:.2f}",
            ""
            if line is found[0]
            else f"{line.less:+.2f}{_format_interval(line.less_lower, line.less_upper)}",
        )
        for line in found
    ]


def _summarize_policy(
    policy: str, sample: Floats, less: Floats, level: float, p: float
) -> Line:
    """Compute mean, quantiles and difference of one policy's final regret, with intervals.

    Gives its ``Line`` of the summary; ``less`` are its differences from the first policy, run
    by run.
    """
    middle, error = float(sample.mean()), float(compute_half_width(sample))
    gap, gap_error = float(less.mean()), float(compute_half_width(less, level))
    return Line(
        policy,
        middle,
        middle - error,
        middle + error,
        float(np.median(sample)),
        *bound_quantile(sample),
        float(np.quantile(sample, HIGH)),
        *bound_quantile(sample, HIGH),
        gap,
        gap - gap_error,
        gap + gap_error,
        p,
    )


def _bound_mean(sample: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute the mean over runs and both ends of its 95 % interval, round by round."""
    middle, error = sample.mean(axis=0), compute_half_width(sample)
    return middle, middle - error, middle + error


def _format_row(line: Line, size: int) -> str:
    """Write mean, median and 95 % quantile of one policy's final regret as a table row."""
    shown = (
        (line.mean, line.mean_lower, line.mean_upper),
        (line.median, line.median_lower, line.median_upper),
        (line.q95, line.q95_lower, line.q95_upper),
    )
    return f"{line.policy:<{size}}" + "".join(
        f"{middle:>9.2f}{_format_interval(lower, upper):>20}" for middle, lower, upper in shown
    )


def _format_difference(line: Line) -> str:
    """Write a policy's difference from the first policy, as the end of its table row."""
    return f"  {line.less:+9.2f}{_format_interval(line.less_lower, line.less_upper)}"


def _format_interval(lower: float, upper: float) -> str:
    """Write both ends of an interval; nothing where it is nan."""
    return f" [{lower:.2f}, {upper:.2f}]" if np.isfinite(lower) else ""
