"""A board whose bounds narrow while it is played on: what its rounds show of which pool."""

import numpy as np

from boundit.bandit.batch.environment import SideObservation
from boundit.bandit.batch.layout import BatchLayout
from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.lin_ucb_narrowing import NarrowingLayout
from boundit.bandit.prior.narrowing import NarrowingBounds
from boundit.terms.bound_errors import OutsideDomain


def living_board(
    ends: NarrowingBounds | None, board: BatchLayout, shows: SideObservation | None
) -> NarrowingLayout | None:
    """Lay out what is seen on a board; None if a policy would refuse some of it."""
    if ends is None or shows is None:
        return None
    names, pairs = (
        shows.variables,
        [
            (entrant.arm, context)
            for context, lineup in zip(board.contexts, board.lineups, strict=True)
            for entrant in lineup
        ],
    )
    try:
        read = [ends.read(dict(zip(names, cell, strict=True))) for cell in shows.cells]
    except OutsideDomain:
        return None
    pools = [[ends.pool(i, *pair) for pair in pairs] for i in range(len(ends.plans))]
    sizes = np.diff(board.starts)
    met = np.repeat(np.arange(len(board.contexts)), sizes)
    return NarrowingLayout(
        ends.found,
        ends.claims,
        _places([ends.pairs.get(pair) for pair in pairs]),
        np.array([_places(row) for row in pools]),
        np.array([_places(row) for row in zip(*read, strict=True)]),
        np.ascontiguousarray(shows.ends[met, board.target], np.float64),
    )


def _places(found: object) -> Places:
    return np.array([-1 if place is None else place for place in found], np.int64)  # type: ignore[attr-defined]
