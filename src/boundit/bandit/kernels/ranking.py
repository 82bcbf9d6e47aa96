"""Which arm of a score table is ahead, and which arms were not scored."""

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import inline_kernel
from boundit.bandit.kernels.score_table import SCORE


@inline_kernel
def is_ahead(
    final: float,
    free: float,
    position: float,
    best_final: float,
    best_free: float,
    best_position: float,
) -> bool:
    """Tell whether an arm's score beats the best so far, ties included.

    The higher index wins; among equals the higher one before the prior; then the first arm.
    """
    if final != best_final:
        return final > best_final
    if free != best_free:
        return free > best_free
    return position < best_position


@inline_kernel
def mark_unscored(score_table: Floats, start: int, stop: int) -> None:
    """Write nan as the score of some rows of the table: these arms were not scored."""
    for arm in range(start, stop):
        score_table[arm, SCORE] = float("nan")
