"""The floor of exploration in whole runs: a share of rounds plays any arm."""

from boundit.bandit.kernels.arrays import BatchArrays
from boundit.bandit.kernels.compile import inline_kernel
from boundit.bandit.kernels.rng import draw_explored


@inline_kernel
def find_explored_row(batch: BatchArrays, run: int, t: int) -> int:
    """Find the row of the arm that a round plays to explore, -1 if it does not.

    As ``decide`` draws it for a decision that is named by the round's number.
    """
    if batch.explore <= 0.0:
        return -1
    n = batch.rows.shape[1]
    place = draw_explored(batch.seeds[run], t, batch.explore, n)
    return -1 if place < 0 else batch.rows[batch.contexts[run, t], place]
