"""A board whose bounds narrow while it is played on: what its rounds show of which pool."""

from typing import NamedTuple

import numpy as np

from boundit.bandit.board import Board
from boundit.bandit.kernel_living import Claims, Found
from boundit.bandit.living import LivingEnds
from boundit.bandit.stage import Floats, Places, Showing
from boundit.terms.bound_errors import OutsideDomain


class LivingBoard(NamedTuple):
    """What a run starts from, and how the places of a board and its stage read.

    ``pair`` is the pair at each place of the board and ``pools`` its pool in each plan, -1 for
    none. ``cells`` is, for each plan, the cell of what the stage shows, -1 if that is not all
    of its variables; ``shows`` are the ends of the stage's cells at each place of the board,
    places x rewards x cells.
    """

    found: Found
    claims: Claims
    pair: Places
    pools: Places
    cells: Places
    shows: Floats


def living_board(
    ends: LivingEnds | None, board: Board, shows: Showing | None
) -> LivingBoard | None:
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
    return LivingBoard(
        ends.found,
        ends.claims,
        _places([ends.pairs.get(pair) for pair in pairs]),
        np.array([_places(row) for row in pools]),
        np.array([_places(row) for row in zip(*read, strict=True)]),
        np.ascontiguousarray(shows.ends[met, board.target], np.float64),
    )


def _places(found: object) -> Places:
    return np.array([-1 if place is None else place for place in found], np.int64)  # type: ignore[attr-defined]
