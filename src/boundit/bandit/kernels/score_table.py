"""The contest in compiled code: the sheet its arms are written on, and who leads.

A sheet has a row of eight numbers for each arm: where what is known of it begins (``SLOT``),
its place in the call, its ends, its score before and after the prior, and two numbers of the
algorithm's own. It is one array, since taking an array in costs compiled code as much as
scoring an arm.
"""

from typing import NamedTuple

from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.compile import inlined

SLOT, PLACE, LOWER, UPPER, FREE, FINAL = range(6)
SCORED = 6
"""Of LinUCB: the version of the model that a free score was worked out from."""
MEAN, SPREAD = 6, 7
"""Of linear Thompson sampling: the belief that was drawn from."""
WINS, COUNT = 6, 7
"""Of Thompson sampling: the same, in successes and trials."""
COLUMNS = 8


class BatchArrays(NamedTuple):
    """What whole runs are played on: the arms of every context, and who comes with what luck.

    The arms of context ``c`` are those from ``starts[c]`` to ``starts[c + 1]``; ``means`` are
    what they earn and ``target`` what they are called outside. ``visitors`` are contexts, runs
    x rounds, as is their ``luck``.
    """

    starts: Places
    means: Floats
    target: Places
    visitors: Places
    luck: Floats


@inlined
def leads(
    final: float,
    free: float,
    place: float,
    best_final: float,
    best_free: float,
    best_place: float,
) -> bool:
    """The higher index; among equals the higher one before the prior; then the first arm."""
    if final != best_final:
        return final > best_final
    if free != best_free:
        return free > best_free
    return place < best_place


@inlined
def blank(sheet: Floats, start: int, stop: int) -> None:
    """Tell of some arms that no index was worked out."""
    for here in range(start, stop):
        sheet[here, FINAL] = float("nan")
