"""What a linear policy sees in one context: the rows of its arms, and what they scored."""

from collections.abc import Callable
from typing import final

import numpy as np

from boundit.bandit.encoding import Encoding
from boundit.bandit.errors import BadFeatures
from boundit.bandit.lanes import padded, padded_size
from boundit.bandit.lineup import Lineup
from boundit.bandit.ridge_stack import RidgeStack
from boundit.bandit.stage import Floats, Places
from boundit.terms.bound import Context

_NUMBERS = 2**19
"""How many numbers may be kept for contexts met before: four megabytes."""


@final
class Sight:
    """The arms of one context, ready for a kernel: padded rows, slots, scores so far.

    ``scored`` tells from which version of its model each score in ``free`` was worked out.
    """

    __slots__ = (
        "_rows",
        "free",
        "lineup",
        "n_features",
        "n_learned",
        "scored",
        "slots",
        "stack",
        "x",
    )

    def __init__(self, lineup: Lineup, x: Floats, n_features: int) -> None:
        n = len(lineup)
        self.lineup, self.x, self.n_features = lineup, x, n_features
        self.free: Floats = np.zeros(n)
        self.scored: Places = np.zeros(n, np.int64) - 1
        self.slots: Places = self.scored
        self.stack: RidgeStack | None = None
        self.n_learned = -1
        self._rows: dict[int, tuple[float, ...]] = {}

    def point(self, stack: RidgeStack, slots: Places, n_learned: int) -> None:
        """Tell where the models lie, which is known until another arm is learned of."""
        if stack is not self.stack:
            self.scored[:] = -1
        self.slots, self.stack, self.n_learned = slots, stack, n_learned

    def points(self, lineup: Lineup, stack: RidgeStack, n_learned: int) -> bool:
        """Tell whether its slots are those of these arms, as much being learned."""
        return self.lineup is lineup and self.stack is stack and self.n_learned == n_learned

    def row(self, i: int) -> tuple[float, ...]:
        """The features of one arm, as a decision keeps them."""
        if i not in self._rows:
            p, d = self.x.size // len(self.lineup), self.n_features
            self._rows[i] = tuple(self.x[i * p : i * p + d].tolist())
        return self._rows[i]


@final
class Sights:
    """Sights of contexts met before, as long as there is room; a copy starts with none.

    A user's own function of context and arm is asked each time: it may know more than they.
    """

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self._known: dict[Context, Sight] = {}
        self._arms: tuple[Lineup, Floats] | None = None

    def of(self, context: Context, lineup: Lineup) -> Sight:
        """Look at the arms of a context; what is known of it already is not worked out anew."""
        sight = self._known.get(context)
        if sight is not None and sight.lineup is lineup:
            return sight
        if self.encoding.own is not None:
            return self._own(context, lineup)
        sight = self._written(context, lineup)
        if len(self._known) * max(sight.x.size, 64) >= _NUMBERS:
            self._known.clear()
        self._known[context] = sight
        return sight

    def _written(self, context: Context, lineup: Lineup) -> Sight:
        """Write all rows in one step: ones, the context, and the arms as they always are."""
        arms = self._arm_columns(lineup)
        shared = self.encoding.of_context(context, lineup[0].arm)
        d = 1 + len(shared) + arms.shape[1]
        x = np.zeros((len(lineup), padded_size(d)))
        x[:, 0] = 1.0
        x[:, 1 : 1 + len(shared)] = shared
        x[:, 1 + len(shared) : d] = arms
        return Sight(lineup, x.reshape(-1), d)

    def _arm_columns(self, lineup: Lineup) -> Floats:
        if self._arms is None or self._arms[0] is not lineup:
            rows = [self.encoding.of_arm(entrant.arm) for entrant in lineup]
            _require_one_length(lineup, lambda i: len(rows[i]))
            self._arms = lineup, np.array(rows, np.float64).reshape(len(lineup), -1)
        return self._arms[1]

    def _own(self, context: Context, lineup: Lineup) -> Sight:
        rows = [self.encoding.vector(context, entrant.arm) for entrant in lineup]
        _require_one_length(lineup, lambda i: rows[i].size)
        return Sight(lineup, padded(np.array(rows)).reshape(-1), rows[0].size)

    def __reduce__(self) -> tuple[type["Sights"], tuple[Encoding]]:
        return Sights, (self.encoding,)


def _require_one_length(lineup: Lineup, size: Callable[[int], int]) -> None:
    for i, entrant in enumerate(lineup):
        if size(i) != size(0):
            reason = f"are {size(i)} numbers, and those of arm {lineup[0].arm!r} {size(0)}"
            raise BadFeatures(entrant.arm, reason)
