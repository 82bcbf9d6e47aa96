"""Sheets as kernels read them, written from columns."""

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


def sheet_of(slots: Any, places: Any, lower: Any, upper: Any, *, own: Any = None) -> Floats:
    """A row for each arm; ``own`` are the two numbers of the algorithm's own, none yet."""
    sheet = np.full((len(places), COLUMNS), 7.0)  # an index of before
    sheet[:, STATISTICS], sheet[:, POSITION] = slots, places
    sheet[:, LOWER], sheet[:, UPPER] = lower, upper
    sheet[:, LIN_UCB_VERSION:] = -1.0 if own is None else own
    return sheet
