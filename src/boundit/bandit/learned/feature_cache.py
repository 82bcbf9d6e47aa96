"""What a linear policy sees in one context: the rows of its arms, and what they scored."""

from collections.abc import Callable
from typing import NamedTuple, final

import numpy as np

from boundit.bandit.errors import BadFeatures
from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.score_table import LIN_UCB_VERSION, STATISTICS
from boundit.bandit.kernels.simd import pad_rows
from boundit.bandit.learned.features import FeatureEncoding
from boundit.bandit.learned.ridge_stack import RidgeStack
from boundit.bandit.ranked_arms import RankedArms
from boundit.terms.bound import Context

_NUMBERS = 2**19
"""How many numbers may be kept for contexts met before: four megabytes."""


@final
class ContextFeatures:
    """The arms of one context, ready for a kernel: padded rows, and the sheet to write on."""

    __slots__ = ("_rows", "lineup", "n_features", "n_learned", "sheet", "stack", "width", "x")

    def __init__(self, lineup: RankedArms, x: Floats, n_features: int) -> None:
        self.lineup, self.x, self.n_features = lineup, x, n_features
        self.width = x.size // len(lineup)
        self.sheet = lineup.blank_table.copy()
        self.stack: RidgeStack | None = None
        self.n_learned = -1
        self._rows: dict[int, tuple[float, ...]] = {}

    def point(self, stack: RidgeStack, slots: Floats | list[int], n_learned: int) -> None:
        """Tell where the models lie, which is known until another arm is learned of."""
        self.sheet[:, STATISTICS], self.sheet[:, LIN_UCB_VERSION] = slots, -1.0
        self.stack, self.n_learned = stack, n_learned

    def points(self, lineup: RankedArms, stack: RidgeStack, n_learned: int) -> bool:
        """Tell whether its slots are those of these arms, as much being learned."""
        return self.lineup is lineup and self.stack is stack and self.n_learned == n_learned

    def row(self, i: int) -> tuple[float, ...]:
        """The features of one arm, as a decision keeps them."""
        if i not in self._rows:
            at = i * self.width
            self._rows[i] = tuple(self.x[at : at + self.n_features].tolist())
        return self._rows[i]

    def padded_row(self, i: int) -> tuple[Floats, int]:
        """Give the array that has the features of one arm, and where they begin.

        Called by ``RidgeModels.take``.
        """
        return self.x, i * self.width


class _FeatureTemplate(NamedTuple):
    """Rows of a lineup's arms, to be copied, with room for the numbers of a context."""

    lineup: RankedArms
    x: Floats
    n_shared: int
    n_features: int


@final
class FeatureCache:
    """Sights of contexts met before, as long as there is room; a copy starts with none.

    A user's own function of context and arm is asked each time: it may know more than they.
    """

    def __init__(self, encoding: FeatureEncoding) -> None:
        self.encoding = encoding
        self._known: dict[Context, ContextFeatures] = {}
        self._form: _FeatureTemplate | None = None

    def of(self, context: Context, lineup: RankedArms) -> ContextFeatures:
        """Look at the arms of a context; what is known of it already is not worked out anew."""
        known = self._known.get(context)
        if known is not None and known.lineup is lineup:
            return known
        if self.encoding.own is not None:
            return self._own(context, lineup)
        if known is not None and known.lineup.arms == lineup.arms:
            sight = ContextFeatures(lineup, known.x, known.n_features)
        else:
            sight = self._written(context, lineup)
        if len(self._known) * max(sight.x.size, 64) >= _NUMBERS:
            self._known.clear()
        self._known[context] = sight
        return sight

    def _written(self, context: Context, lineup: RankedArms) -> ContextFeatures:
        """Write the context into the rows of its arms, which are otherwise always the same."""
        shared = self.encoding.of_context(context, lineup[0].arm)
        form = self._form
        if form is None or form.lineup is not lineup or form.n_shared != len(shared):
            self._form = form = self._formed(lineup, len(shared))
        x = form.x.copy()
        x[:, 1 : 1 + len(shared)] = shared
        return ContextFeatures(lineup, x.reshape(-1), form.n_features)

    def _formed(self, lineup: RankedArms, n_shared: int) -> "_FeatureTemplate":
        """Leave room for so many numbers between the constant and those of the arms."""
        rows = [[1.0, *[0.0] * n_shared, *self.encoding.of_arm(e.arm)] for e in lineup]
        _require_one_length(lineup, lambda i: len(rows[i]) - n_shared - 1)
        return _FeatureTemplate(lineup, pad_rows(np.array(rows)), n_shared, len(rows[0]))

    def _own(self, context: Context, lineup: RankedArms) -> ContextFeatures:
        rows = [self.encoding.vector(context, entrant.arm) for entrant in lineup]
        _require_one_length(lineup, lambda i: rows[i].size)
        return ContextFeatures(lineup, pad_rows(np.array(rows)).reshape(-1), rows[0].size)

    def __reduce__(self) -> tuple[type["FeatureCache"], tuple[FeatureEncoding]]:
        return FeatureCache, (self.encoding,)


def _require_one_length(lineup: RankedArms, size: Callable[[int], int]) -> None:
    for i, entrant in enumerate(lineup):
        if size(i) != size(0):
            reason = f"are {size(i)} numbers, and those of arm {lineup[0].arm!r} {size(0)}"
            raise BadFeatures(entrant.arm, reason)
