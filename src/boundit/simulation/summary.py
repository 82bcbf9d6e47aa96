"""Summaries of regret over runs: means, quantiles, paired differences, as rows and as text."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from boundit.counts.named_array import Floats

Correction: TypeAlias = Literal["none", "bonferroni", "holm"]
"""Correction for several comparisons, see ``correct_p_values``."""
LEVEL = 0.95
CELL_HEADS = ("policy", "mean, 95%", "median", "95% quantile", "less than the first, 95%")
HIGH = 0.95
"""The quantile of the runs beside mean and median, since a few bad runs can dominate a mean."""


@dataclass(frozen=True, slots=True)
class Line:
    """Final regret of one policy, and by how much it is less than the first policy's.

    Mean, median and 95% quantile (``q95``) of the runs, and the mean of the difference, each
    with the ends of its 95% interval; ``p`` belongs to the difference.
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
    """Regret of one policy over the rounds, and how much less it is than the first's.

    The ends are those of pointwise 95% intervals; those of ``less`` are paired, run by run.
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
    p_values = np.array([compute_paired_p(final[0] - sample) for sample in final[1:]])
    p = (1.0, *correct_p_values(p_values, correction).tolist())
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

    ``less`` are its differences from the first policy, run by run.
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
    """Compute the mean over runs and both ends of its 95% interval, round by round."""
    middle, error = sample.mean(axis=0), compute_half_width(sample)
    return middle, middle - error, middle + error


def _format_row(line: Line, size: int) -> str:
    """Write mean, median and 95% quantile of one policy's final regret as a table row."""
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


def compute_half_width(sample: Floats, level: float = LEVEL) -> Floats:
    """Compute half the width of an interval for the mean of runs (axis 0), by Student's t.

    It is nan of one run.

    >>> float(compute_half_width(np.array([1.0, 2.0, 3.0])).round(3))
    2.484
    """
    n = len(sample)
    if n < 2:
        return np.full(np.shape(sample)[1:], np.nan)
    return np.asarray(stats.t.ppf((1 + level) / 2, n - 1) * stats.sem(sample, axis=0))


def bound_quantile(
    sample: Floats, share: float = 0.5, level: float = LEVEL
) -> tuple[float, float]:
    """Bound a quantile of final regrets, such as the median, by order statistics.

    The interval of two order statistics is exact for every distribution (binomial). A sample
    that is too small (below six runs for the median, 72 for the 95% quantile, at 95%) has no
    such interval: nan.

    >>> bound_quantile(np.arange(1.0, 101.0))
    (40.0, 61.0)
    >>> bound_quantile(np.arange(1.0, 101.0), 0.95)
    (90.0, 100.0)
    """
    # The interval does not depend on the value that is tested.
    low, high = stats.quantile_test(sample, q=0.0, p=share).confidence_interval(level)
    return (float("nan"),) * 2 if np.isnan(low + high) else (float(low), float(high))


def compute_paired_p(differences: Floats) -> float:
    """Compute the p-value of paired differences against a mean of 0, by Student's t.

    It is nan of one run.

    >>> clear, open_ = np.array([1.0, 1.1, 0.9, 1.0]), np.array([1.0, -1.0, 0.5])
    >>> compute_paired_p(clear) < 0.001 < compute_paired_p(open_)
    True
    """
    n = len(differences)
    if n < 2:
        return float("nan")
    mean, error = float(differences.mean()), float(stats.sem(differences))
    if error == 0:
        return float(mean == 0)
    # Not by ttest_1samp, which warns of differences that are nearly the same in all runs.
    return float(2 * stats.t.sf(abs(mean) / error, n - 1))


def correct_p_values(p_values: Floats, correction: Correction) -> Floats:
    """Raise the p-values of several comparisons so that all may be read at once.

    Bonferroni multiplies by their number; Holm, which is never above it, by the number of those
    not yet rejected.

    >>> correct_p_values(np.array([0.01, 0.04, 0.03]), "holm").tolist()
    [0.03, 0.06, 0.06]
    >>> correct_p_values(np.array([0.01, 0.04, 0.03]), "bonferroni").tolist()
    [0.03, 0.12, 0.09]
    """
    n = len(p_values)
    if correction == "none" or not n:
        return p_values
    if correction == "bonferroni":
        return np.minimum(p_values * n, 1.0)
    order = np.argsort(p_values)
    stepped = np.maximum.accumulate(p_values[order] * np.arange(n, 0, -1))
    found = np.empty(n)
    found[order] = np.minimum(stepped, 1.0)
    return found


def choose_level(n: int, correction: Correction) -> float:
    """Choose the confidence level at which each of ``n`` intervals is drawn.

    With a correction all hold at once, by Bonferroni: Holm's steps give p-values, not
    intervals.
    """
    return LEVEL if correction == "none" or n < 2 else 1 - (1 - LEVEL) / n
