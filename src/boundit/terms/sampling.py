"""What chance adds to an end: how many rows speak, and which cells weigh most.

An interval with a confidence is wider than what the graph leaves open. These values say why: by
which method chance was allowed for, how many rows stand behind an end, and which cells of the
log would have to grow for the end to come nearer to its estimate.
"""

from dataclasses import dataclass
from typing import Literal

Inference = Literal["exact", "approximate"]
"""How chance is allowed for: at every number of rows, or by the normal law of large logs."""
MOST_HEAVY = 3
"""How many of the heaviest cells an end names."""


@dataclass(frozen=True, slots=True)
class HeavyCell:
    """A cell of the log: its levels, its rows, and its share of an end's sampling variance.

    ``levels`` pairs variables with the numbers of their levels, in the order of the log.

    >>> HeavyCell((("Z", 2), ("X", 0)), rows=12, share=0.4).rows
    12
    """

    levels: tuple[tuple[str, int], ...]
    rows: float
    share: float


@dataclass(frozen=True, slots=True)
class EndSampling:
    """Why chance moves one end of a row as far as it does.

    ``effective_rows`` are as many rows as would tell the mean as well if they were all of this
    arm and as common as in the population. ``unseen_weight`` is the weight of strata in which
    the arm was never logged: there the mean may be anything, whatever the method.
    ``heaviest`` are at most ``MOST_HEAVY`` cells, the heaviest first. ``boxes`` says why each
    cell got an interval of its own, and is None where one claim was made of the whole end.

    >>> EndSampling(120.0, 0.0, (HeavyCell((("Z", 1),), 40, 0.7),)).boxes is None
    True
    """

    effective_rows: float
    unseen_weight: float
    heaviest: tuple[HeavyCell, ...] = ()
    boxes: str | None = None
