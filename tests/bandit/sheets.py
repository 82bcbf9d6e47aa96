"""Sheets as kernels read them, written from columns."""

from typing import Any

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.score_table import COLUMNS, LOWER, PLACE, SCORED, SLOT, UPPER


def sheet_of(slots: Any, places: Any, lower: Any, upper: Any, *, own: Any = None) -> Floats:
    """A row for each arm; ``own`` are the two numbers of the algorithm's own, none yet."""
    sheet = np.full((len(places), COLUMNS), 7.0)  # an index of before
    sheet[:, SLOT], sheet[:, PLACE] = slots, places
    sheet[:, LOWER], sheet[:, UPPER] = lower, upper
    sheet[:, SCORED:] = -1.0 if own is None else own
    return sheet
