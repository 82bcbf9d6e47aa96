"""The index rule that UCB, LinUCB and OAM share: the highest index wins, truncated to the bounds.

Truncation makes ties the normal case. The rule is the same everywhere: the higher index wins;
among equals the higher one before truncation; among these the arm that comes first. So a bound
at the end of the reward's range changes nothing.

An algorithm goes through ``columns[start:stop]`` and leaves out arms whose upper bound is below
the best index so far, unless it was given a table to write all scores to. Whole runs give none,
and arms by decreasing upper bound.
"""

from boundit.bandit.compiled import step

FREE, INDEX = 0, 1
"""Columns of a table of scores, a row for each arm; whole runs have a table without rows."""


@step
def is_ahead(
    index: float, free: float, k: int, best: float, best_free: float, best_k: int
) -> bool:
    """Tell whether an arm beats the best so far: index, index before truncation, column."""
    if index != best:
        return index > best
    if free != best_free:
        return free > best_free
    return k < best_k
