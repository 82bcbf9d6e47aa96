"""The arrays that kernels read and write, by what their numbers are."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int64]
"""Positions in a list of arms, contexts or models."""
Seeds: TypeAlias = NDArray[np.uint64]
