r"""Programs with one product too many: search boxes of the factor that makes them linear.

Some programs are linear once a few chances ``p`` are known, and an outer program is linear in
each box ``low <= p <= high`` of them. The greatest end over all boxes of a partition holds
whichever ``p`` is true; splitting the box with the greatest end brings it down. It may stop at
any time: the greatest end among the boxes that are left holds.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from boundit.bounds.lp.program import Optimum
from boundit.counts.named_array import Floats

MOST_BOXES = 24
"""How many boxes are looked into for one end."""
_EDGE = 0.1  # a box is split no nearer to its edges than this part of it
_FITS = 1e-7  # a product that is off by less, or a side that is shorter, is not split further


class ProbabilityBox(NamedTuple):
    """Between which two ends each chance is; together the chances are one."""

    low: Floats
    high: Floats

    def split(self, which: int, where: float) -> tuple["ProbabilityBox", "ProbabilityBox"]:
        """Split a box in two, at ``where`` in the range of the chance number ``which``.

        A box is a range for each of some chances. The cut stays clear of the edges of the
        range.
        """
        low, high = float(self.low[which]), float(self.high[which])
        edge = _EDGE * (high - low)
        middle = min(max(where, low + edge), high - edge)
        below, above = self.high.copy(), self.low.copy()
        below[which] = above[which] = middle
        halves = ProbabilityBox(self.low, below), ProbabilityBox(above, self.high)
        return halves[0].tighten(), halves[1].tighten()

    def tighten(self) -> "ProbabilityBox":
        """Narrow the range of each chance by the ranges of the others: all add up to one."""
        low = np.maximum(self.low, 1 - (self.high.sum() - self.high))
        high = np.minimum(self.high, 1 - (self.low.sum() - self.low))
        return ProbabilityBox(low, np.maximum(low, high))


@dataclass(frozen=True, eq=False)
class BoxBound:
    """What the program of a box says: an end, and where its answer breaks the product.

    ``misfit`` says for each chance by how much; ``chances`` are those of the ``answer``.
    """

    end: float
    chances: Floats
    misfit: Floats
    answer: Optimum | None = None


SolveBox: TypeAlias = Callable[[ProbabilityBox], BoxBound | None]
"""Solve the program of a box; None when nothing fits in it."""


def search_boxes(
    box: ProbabilityBox,
    solve: SolveBox,
    *,
    most: int = MOST_BOXES,
    is_late: Callable[[], bool] = lambda: False,
) -> BoxBound | None:
    """Find the greatest value of a program over a box of chances, by splitting it into boxes.

    ``solve`` gives an end that holds in one box; the end that comes out holds for every chance
    in the whole ``box``. None when no box has a feasible point. At most about ``most`` boxes
    are solved.

    The greatest ``p (1 - p)``, by programs that know no more than that each factor is at most
    its upper end:

    >>> def solve(box: ProbabilityBox) -> BoxBound:
    ...     return BoxBound(box.high.prod(), (box.low + box.high) / 2, box.high - box.low)
    >>> whole = ProbabilityBox(np.zeros(2), np.ones(2))
    >>> round(float(search_boxes(whole, solve, most=300).end), 2)
    0.25
    """
    first = solve(box)
    if first is None:
        return None
    # Where two ends are alike, the box that was found first is split first, so runs repeat.
    open_boxes, n_solved = [(-first.end, 0, box, first)], 1
    while n_solved < most and not is_late():
        end, _, at, found = open_boxes[0]
        which = int(np.argmax(np.where(at.high > at.low, found.misfit, -1.0)))
        if found.misfit[which] <= _FITS or at.high[which] - at.low[which] <= _FITS:
            break
        heapq.heappop(open_boxes)
        for half in at.split(which, float(found.chances[which])):
            inner = solve(half)
            if inner is not None:
                # What holds in the whole box holds in its half.
                heapq.heappush(open_boxes, (max(end, -inner.end), n_solved, half, inner))
            n_solved += 1
        if not open_boxes:
            return None
    end, _, _, found = open_boxes[0]
    return replace(found, end=-end)
