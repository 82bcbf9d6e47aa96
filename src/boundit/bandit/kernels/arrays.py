"""The arrays that kernels read and write, by what their numbers are."""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int64]
"""Positions in a list of arms, contexts or models."""
Seeds: TypeAlias = NDArray[np.uint64]


class BatchArrays(NamedTuple):
    """What whole runs are played on: the arms of every context, and the draws of each round.

    The arms of context ``c`` are those from ``starts[c]`` to ``starts[c + 1]``; ``means`` are
    what they earn and ``target`` what they are called outside. ``contexts`` are who
    comes, runs x rounds; a reward is 1 where its place in ``uniforms`` lies below its mean.
    With the chance ``explore`` a round plays an arm drawn uniformly: ``rows`` says where each
    arm of a context lies, contexts x arms, those too that bounds rule out and ``starts`` leaves
    out. Draws come from the run's seed and the round's number.
    """

    starts: Places
    means: Floats
    target: Places
    contexts: Places
    uniforms: Floats
    seeds: Seeds
    explore: float
    rows: Places
