"""Score tables as kernels read them, written from columns."""

from typing import Any

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.score_table import (
    COLUMNS,
    LIN_UCB_VERSION,
    LOWER,
    POSITION,
    STATISTICS,
    UPPER,
)


def make_score_table(
    slots: Any, places: Any, lower: Any, upper: Any, *, own: Any = None
) -> Floats:
    """A row for each arm; ``own`` are the two numbers of the algorithm's own, none yet."""
    score_table = np.full((len(places), COLUMNS), 7.0)  # an index of before
    score_table[:, STATISTICS], score_table[:, POSITION] = slots, places
    score_table[:, LOWER], score_table[:, UPPER] = lower, upper
    score_table[:, LIN_UCB_VERSION:] = -1.0 if own is None else own
    return score_table
