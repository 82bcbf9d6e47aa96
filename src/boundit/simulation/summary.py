"""What runs come to: lines for a table, bands for a figure, a text to read."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from boundit.simulation.intervals import (
    Correction,
    Floats,
    adjusted,
    half_width,
    level_of_each,
    median_interval,
    paired_p,
)


@dataclass(frozen=True, slots=True)
class Line:
    """How one policy did: final regret, and by how much less than the first policy's.

    Each number with the ends of its 95 % interval; ``p`` belongs to the difference.
    """

    policy: str
    mean: float
    mean_lower: float
    mean_upper: float
    median: float
    median_lower: float
    median_upper: float
    less: float
    less_lower: float
    less_upper: float
    p: float

    @property
    def error(self) -> float:
        """Half of the interval of the mean."""
        return (self.mean_upper - self.mean_lower) / 2

    @property
    def less_error(self) -> float:
        """Half of the interval of the difference."""
        return (self.less_upper - self.less_lower) / 2


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """The mean regret of one policy over the rounds, and how much less than the first's.

    The ends are those of pointwise 95 % intervals; those of ``less`` are paired, run by run.
    """

    policy: str
    at: NDArray[np.int64]
    mean: Floats
    lower: Floats
    upper: Floats
    less: Floats
    less_lower: Floats
    less_upper: Floats


def lines(
    policies: Sequence[str], final: Floats, correction: Correction = "none"
) -> tuple[Line, ...]:
    """Sum up the final regrets (policies x runs); differences are from the first policy."""
    level = level_of_each(len(policies) - 1, correction)
    chances = np.array([paired_p(final[0] - sample) for sample in final[1:]])
    p = (1.0, *adjusted(chances, correction).tolist())
    return tuple(
        _line(name, final[i], final[0] - final[i], level, p[i])
        for i, name in enumerate(policies)
    )


def bands(policies: Sequence[str], at: NDArray[np.int64], curves: Floats) -> tuple[Band, ...]:
    """Sum up the curves (policies x runs x rounds), each round by itself."""
    return tuple(
        Band(name, at, *_around(own), *_around(curves[0] - own))
        for name, own in zip(policies, curves, strict=True)
    )


def counted_runs(runs: int, rounds: int) -> str:
    """Spell how much was played.

    >>> counted_runs(2_000, 1)
    '2,000 runs of 1 round'
    """
    return f"{runs:,} run{'s' * (runs != 1)} of {rounds:,} round{'s' * (rounds != 1)}"


def tabulated(head: str, found: Sequence[Line]) -> str:
    """Write lines as a table with a head over it."""
    size = max(len("policy"), *(len(line.policy) for line in found)) + 2
    columns = f"{'policy':<{size}}{'mean':>9}{'':>20}{'median':>9}{'':>20}"
    first, *others = found
    less = f"  less than {first.policy}" if others else ""
    rows = [_row(first, size), *(_row(line, size) + _less(line) for line in others)]
    return "\n".join([head, (columns + less).rstrip(), *rows])


def plain(line: Line) -> dict[str, object]:
    """Spell a line for JSON, which has no nan."""
    return {k: None if v != v else v for k, v in asdict(line).items()}


def _line(policy: str, sample: Floats, less: Floats, level: float, p: float) -> Line:
    middle, error = float(sample.mean()), float(half_width(sample))
    gap, gap_error = float(less.mean()), float(half_width(less, level))
    return Line(
        policy,
        middle,
        middle - error,
        middle + error,
        float(np.median(sample)),
        *median_interval(sample),
        gap,
        gap - gap_error,
        gap + gap_error,
        p,
    )


def _around(sample: Floats) -> tuple[Floats, Floats, Floats]:
    middle, error = sample.mean(axis=0), half_width(sample)
    return middle, middle - error, middle + error


def _row(line: Line, size: int) -> str:
    return (
        f"{line.policy:<{size}}{line.mean:>9.2f}{_ends(line.mean_lower, line.mean_upper):>20}"
        f"{line.median:>9.2f}{_ends(line.median_lower, line.median_upper):>20}"
    )


def _less(line: Line) -> str:
    return f"  {line.less:+9.2f}{_ends(line.less_lower, line.less_upper)}"


def _ends(lower: float, upper: float) -> str:
    return f" [{lower:.2f}, {upper:.2f}]" if np.isfinite(lower) else ""
