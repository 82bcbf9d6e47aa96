"""The models and rows that whole runs of a linear policy start from."""

from dataclasses import dataclass
from typing import final

import numpy as np

from boundit.bandit.batch.layout import BatchLayout
from boundit.bandit.errors import BadFeatures
from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.score_table import POSITION, STATISTICS
from boundit.bandit.learned.ridge_models import RidgeModels
from boundit.bandit.learned.ridge_stack import RidgeStack


@final
@dataclass(frozen=True, eq=False)
class RidgeLayout:
    """A model for each arm, or one for all; the rows of a board, and its sheet with slots."""

    stack: RidgeStack
    x: Floats
    sheet: Floats


def laid_out(book: RidgeModels, board: BatchLayout) -> RidgeLayout | None:
    """Lay out what a book knows for a board; None if some features would be refused."""
    try:
        pairs = zip(board.contexts, board.lineups, strict=True)
        sights = [book.sight(context, lineup) for context, lineup in pairs]
    except BadFeatures:
        return None
    sizes = {sight.n_features for sight in sights}
    if len(sizes) > 1:
        return None
    (d,), shared = sizes, book.how.shared
    stack = RidgeStack(d, room=len(board.arms))
    for arm in board.arms[:1] if shared else board.arms:
        stack.push(book.model(arm, d))
    sheet = board.sheet.copy()
    sheet[:, STATISTICS] = 0 if shared else sheet[:, POSITION] * stack.block
    return RidgeLayout(stack, np.concatenate([sight.x for sight in sights]), sheet)
