"""Sampling error of an interval: the effective sample size, and the cells that weigh most."""

from dataclasses import dataclass
from typing import Literal

Inference = Literal["exact", "approximate"]
"""Valid at every sample size, or for large samples by a normal approximation."""
ROWS = "independent rows"
"""What a log is made of unless its rows belong together."""
MOST_HEAVY = 3
"""How many of the heaviest cells an end names."""


@dataclass(frozen=True, slots=True)
class HeavyCell:
    """A cell of the log: its levels, its rows, and its share of an end's sampling variance.

    ``levels`` pairs variables with their levels: with the numbers of levels where a method
    speaks of arrays, with the levels themselves in a bound table.

    """

    levels: tuple[tuple[str, object], ...]
    rows: float
    share: float


@dataclass(frozen=True, slots=True)
class EndSampling:
    """Why sampling error widens one endpoint as far as it does.

    ``effective_rows`` are as many rows of equal weight as would estimate the mean as well: one over
    the sum of the squared weights of the rows behind it (Kish); None where it was not computed.
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
    """How sampling error widens each endpoint of a row, where that is known."""

    lower: EndSampling | None = None
    upper: EndSampling | None = None
