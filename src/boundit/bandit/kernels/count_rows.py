"""Counts and sums of rewards in compiled code: many at once."""

from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.compile import compile_kernel


@compile_kernel
def count_rewards(count_rows: Floats, rows: Places, places: Places, rewards: Floats) -> None:
    """Count rewards in their order, each in the row that its place has in ``rows``."""
    for i in range(rewards.size):
        row = rows[places[i]]
        count_rows[row, 0] += 1.0
        count_rows[row, 1] += rewards[i]
