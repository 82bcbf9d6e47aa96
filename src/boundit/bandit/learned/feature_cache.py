"""What a linear policy sees in one context: the rows of its arms, and what they scored."""

from collections.abc import Callable
from typing import NamedTuple, final

import numpy as np

from boundit.bandit.errors import BadFeatures
from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.score_table import LIN_UCB_VERSION, STATISTICS
from boundit.bandit.kernels.simd import pad_rows
from boundit.bandit.learned.features import FeatureEncoding
from boundit.bandit.learned.ridge import RidgeStack
from boundit.bandit.ranked_arms import RankedArms
from boundit.terms.bound import Context

_NUMBERS = 2**19
"""How many numbers may be kept for contexts met before: four megabytes."""
_NO_MODELS = RidgeStack(1, room=0)
"""Where features point before they are asked about."""


@final
class ContextFeatures:
    """The arms of one context, ready for a kernel: padded rows, and the score table."""

    __slots__ = (
        "_rows",
        "n_features",
        "n_learned",
        "ranked_arms",
        "score_table",
        "stack",
        "width",
        "x",
    )

    def __init__(self, ranked_arms: RankedArms, x: Floats, n_features: int) -> None:
        self.ranked_arms, self.x, self.n_features = ranked_arms, x, n_features
        self.width = x.size // len(ranked_arms)
        self.score_table = ranked_arms.blank_table.copy()
        self.stack = _NO_MODELS
        self.n_learned = -1
        self._rows: dict[int, tuple[float, ...]] = {}

    def point_at(self, stack: RidgeStack, slots: Floats | list[int], n_learned: int) -> None:
        """Write into the score table where the ridge model of each arm lies on the stack.

        That holds until another arm is learned of.
        """
        self.score_table[:, STATISTICS], self.score_table[:, LIN_UCB_VERSION] = slots, -1.0
        self.stack, self.n_learned = stack, n_learned

    def has_slots_of(self, ranked_arms: RankedArms, stack: RidgeStack, n_learned: int) -> bool:
        """Tell whether its score table says rightly where the models of these arms lie."""
        return (
            self.ranked_arms is ranked_arms
            and self.stack is stack
            and self.n_learned == n_learned
        )

    def row(self, i: int) -> tuple[float, ...]:
        """Give the features of the ``i``-th arm as a tuple; called by ``Scores.features``."""
        if i not in self._rows:
            start = i * self.width
            self._rows[i] = tuple(self.x[start : start + self.n_features].tolist())
        return self._rows[i]


class _FeatureTemplate(NamedTuple):
    """Rows of ranked arms, to be copied, with room for the numbers of a context."""

    ranked_arms: RankedArms
    x: Floats
    n_shared: int
    n_features: int


@final
class FeatureCache:
    """Features of contexts met before, as long as there is room; a copy starts with none.

    A user's own function of context and arm is asked each time: it may know more than they.
    """

    def __init__(self, encoding: FeatureEncoding) -> None:
        self.encoding = encoding
        self.known: dict[Context, ContextFeatures] = {}
        self._template: _FeatureTemplate | None = None

    def encode(self, context: Context, ranked_arms: RankedArms) -> ContextFeatures:
        """Work out the features of the arms of a context, and keep them in ``known``."""
        known = self.known.get(context)
        if self.encoding.user_features is not None:
            return self._ask_user(context, ranked_arms)
        if known is not None and known.ranked_arms.arms == ranked_arms.arms:
            features = ContextFeatures(ranked_arms, known.x, known.n_features)
        else:
            features = self._write_context(context, ranked_arms)
        if len(self.known) * max(features.x.size, 64) >= _NUMBERS:
            self.known.clear()
        self.known[context] = features
        return features

    def _write_context(self, context: Context, ranked_arms: RankedArms) -> ContextFeatures:
        """Write the features of all arms in a context: the arms' own rows, its numbers put in."""
        shared = self.encoding.encode_context(context, ranked_arms[0].arm)
        template = self._template
        if (
            template is None
            or template.ranked_arms is not ranked_arms
            or template.n_shared != len(shared)
        ):
            self._template = template = self._make_template(ranked_arms, len(shared))
        x = template.x.copy()
        x[:, 1 : 1 + len(shared)] = shared
        return ContextFeatures(ranked_arms, x.reshape(-1), template.n_features)

    def _make_template(self, ranked_arms: RankedArms, n_shared: int) -> "_FeatureTemplate":
        """Write the features of arms, with zeros where those of a context will be put in.

        ``n_shared`` is the number of these.
        """
        rows = [[1.0, *[0.0] * n_shared, *self.encoding.encode_arm(e.arm)] for e in ranked_arms]
        _require_one_length(ranked_arms, lambda i: len(rows[i]) - n_shared - 1)
        return _FeatureTemplate(ranked_arms, pad_rows(np.array(rows)), n_shared, len(rows[0]))

    def _ask_user(self, context: Context, ranked_arms: RankedArms) -> ContextFeatures:
        """Ask the user's own function for the features of every arm."""
        rows = [self.encoding.encode(context, ranked.arm) for ranked in ranked_arms]
        _require_one_length(ranked_arms, lambda i: rows[i].size)
        return ContextFeatures(ranked_arms, pad_rows(np.array(rows)).reshape(-1), rows[0].size)

    def __reduce__(self) -> tuple[type["FeatureCache"], tuple[FeatureEncoding]]:
        return FeatureCache, (self.encoding,)


def _require_one_length(ranked_arms: RankedArms, size: Callable[[int], int]) -> None:
    """Refuse arms whose features differ in number, naming one of them."""
    for i, ranked in enumerate(ranked_arms):
        if size(i) != size(0):
            reason = f"are {size(i)} numbers, and those of arm {ranked_arms[0].arm!r} {size(0)}"
            raise BadFeatures(ranked.arm, reason)
