"""What chance adds to an interval: how many rows speak, and which cells weigh most.

An interval with a confidence is wider than what the graph leaves open. These values say why: by
which method chance was allowed for, how many rows stand behind an end, and which cells of the
log would have to grow for the end to come nearer to its estimate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, sqrt
from statistics import NormalDist
from typing import Literal

Inference = Literal["exact", "approximate"]
"""How chance is allowed for: at every number of rows, or by the normal law of large logs."""
ROWS = "independent rows"
"""What a log is made of unless its rows belong together."""
MODELLED = (
    "Where models were fitted, this also needs models that come near the truth: their errors "
    "must shrink faster than chance, and every arm must be possible wherever rows lie."
)
"""What the promise of a table rests on besides, where models were fitted for it."""
MOST_HEAVY = 3
"""How many of the heaviest cells an end names."""


@dataclass(frozen=True, slots=True)
class HeavyCell:
    """A cell of the log: its levels, its rows, and its share of an end's sampling variance.

    ``levels`` pairs variables with their levels: with the numbers of levels where a method
    speaks of arrays, with the levels themselves in a bound table.

    >>> print(HeavyCell((("Z", "old"), ("X", 0)), rows=12, share=0.4))
    Z='old', X=0 (12 rows, 40 %)
    """

    levels: tuple[tuple[str, object], ...]
    rows: float
    share: float

    def __str__(self) -> str:
        return self.write()

    def write(self, known: Sequence[tuple[str, object]] = ()) -> str:
        """Write the cell with its rows and share, but for levels that are ``known`` already."""
        left = [level for level in self.levels if level not in known]
        where = _write_levels(left) or ("all of these" if known else "the whole log")
        plural = "" if self.rows == 1 else "s"
        return f"{where} ({self.rows:,.0f} row{plural}, {100 * self.share:.0f} %)"


@dataclass(frozen=True, slots=True)
class EndSampling:
    """Why chance moves one end of a row as far as it does.

    ``effective_rows`` are as many rows of equal weight as would tell the mean as well: one over
    the sum of the squared weights of the rows behind it (Kish); None where none was reckoned.
    ``unseen_weight`` is the weight of strata in which the arm was never logged: there the mean
    may be anything, whatever the method. ``heaviest`` are at most ``MOST_HEAVY`` cells, the
    heaviest first. ``boxes`` says why each cell got an interval of its own, or why an end was
    not approximated; it is None where one claim was made of the whole end.

    >>> EndSampling(120.0, 0.0, (HeavyCell((("Z", 1),), 40, 0.7),)).boxes is None
    True
    """

    effective_rows: float | None
    unseen_weight: float
    heaviest: tuple[HeavyCell, ...] = ()
    boxes: str | None = None


@dataclass(frozen=True, slots=True)
class RowSampling:
    """How chance widens one row: each end, where somebody can say."""

    lower: EndSampling | None = None
    upper: EndSampling | None = None


def describe_sampling(found: RowSampling | None, inference: Inference) -> Iterator[str]:
    """Say in sentences why chance widens a row as much as it does, and what would help.

    What holds for both ends is said once.

    >>> found = RowSampling(EndSampling(120.4, 0.02), EndSampling(120.4, 0.02))
    >>> for line in describe_sampling(found, "exact"):
    ...     print(line)
    Both ends are as uncertain as a mean of about 120 rows of equal weight.
    This arm was never logged in strata of weight 0.02; there its reward may be anything.
    """
    ends = (found.lower, found.upper) if found else (None, None)
    both = [[*_describe_end("Both ends", "are", end, inference)] for end in ends if end]
    if len(both) == 2 and both[0] == both[1]:
        yield from both[0]
    else:
        for name, end in zip(("The lower end", "The upper end"), ends, strict=True):
            if end is not None:
                yield from _describe_end(name, "is", end, inference)


def _describe_end(
    name: str, verb: str, end: EndSampling, inference: Inference
) -> Iterator[str]:
    """Say in sentences why chance moves an end, called by its ``name``, as far as it does."""
    if end.effective_rows is not None:
        plural = "" if round(end.effective_rows) == 1 else "s"
        yield (
            f"{name} {verb} as uncertain as a mean of about {end.effective_rows:,.0f} "
            f"row{plural} of equal weight."
        )
    if end.heaviest:
        whose = "their" if verb == "are" else "its"
        yield (
            f"What adds most to {whose} sampling variance{_describe_heaviest(end.heaviest)}."
        )
    if end.unseen_weight > 0:
        yield (
            f"This arm was never logged in strata of weight {end.unseen_weight:.2g}; there its "
            "reward may be anything."
        )
    if end.boxes is not None:
        how = (
            "made of an interval for each cell, whose worst cases add up"
            if inference == "exact"
            else "found by the exact method"
        )
        yield f"{name} {verb} {how}: {end.boxes}."


def _describe_heaviest(cells: Sequence[HeavyCell]) -> str:
    """List the heaviest cells of an end, the levels that all of them have once.

    >>> cells = [HeavyCell((("X", 1), ("Z", z)), 10 + z, 0.5) for z in (0, 1)]
    >>> _describe_heaviest(cells)
    ', among rows with X=1: Z=0 (10 rows, 50 %); Z=1 (11 rows, 50 %)'
    """
    first, *others = cells
    shared = [
        level for level in first.levels if others and all(level in c.levels for c in others)
    ]
    among = f", among rows with {_write_levels(shared)}" if shared else ""
    return f"{among}: {'; '.join(cell.write(shared) for cell in cells)}"


def _write_levels(levels: Sequence[tuple[str, object]]) -> str:
    """Write the levels of a cell, as in "X=1, Z='old'"."""
    return ", ".join(f"{name}={level!r}" for name, level in levels)


def describe_promise(inference: Inference, confidence: float, rows: int, units: str) -> str:
    """Say what a table of so many rows promises at a confidence, and what that costs.

    ``units`` are what the log is made of, as words.

    >>> print(describe_promise("approximate", 0.95, 4, ROWS))
    Approximate inference: all intervals hold at once in about 95 of 100 logs of ...
    """
    often = _count_logs(confidence)
    if inference == "approximate":
        return (
            f"Approximate inference: all intervals hold at once in about {often} logs of "
            f"{units}, if every arm has some dozen rows in the strata that matter."
        )
    held = (
        f"Exact inference: all intervals hold at once in at least {often} logs of {units}, "
        "whatever their size."
    )
    if units != ROWS:
        return held
    wider = _compare_with_normal(confidence, rows)
    return (
        f"{held} Where cells add up, chance then takes at least {wider:.1f} times the width "
        "that it has in normal intervals."
    )


def _count_logs(confidence: float) -> str:
    """Write a confidence as a number of logs out of a round number of them.

    >>> _count_logs(0.95), _count_logs(0.975), _count_logs(1 / 3)
    ('95 of 100', '975 of 1,000', '333,333 of 1,000,000')
    """
    whole = 100
    while whole < 1_000_000 and abs(confidence * whole - round(confidence * whole)) > 1e-6:
        whole *= 10
    return f"{round(confidence * whole):,} of {whole:,}"


def _compare_with_normal(confidence: float, rows: int) -> float:
    """Compute how much wider than a normal interval one is that holds at every size of log.

    Markov's inequality takes the place of the normal quantile, for both ends of every row at
    once.

    >>> round(_compare_with_normal(0.95, 2), 2)
    1.32
    """
    missing = (1 - confidence) / (2 * max(rows, 1))
    return sqrt(2 * log(1 / missing)) / -NormalDist().inv_cdf(missing)
