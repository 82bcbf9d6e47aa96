"""The bounds a policy starts from, laid out for deciding: caps first."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import NamedTuple, final

from boundit.terms.bound import Arm, Context, Key
from boundit.terms.bound_table import BoundTable


class Entrant(NamedTuple):
    """An arm with its ends in one context, and its place among the arms of the call."""

    arm: Arm
    lower: float
    upper: float
    place: int


@final
@dataclass(frozen=True)
class Prior:
    """A table of bounds, or none; dropped ones bind nothing.

    Without a table, or once it is dropped, every end is infinite. With one, an arm or context
    it has no row for gets the reward's range.
    """

    table: BoundTable | None = None
    dropped: bool = False
    _order: dict[Context, tuple[Entrant, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def binding(self) -> BoundTable | None:
        """The table, as long as it is believed."""
        return None if self.dropped else self.table

    @cached_property
    def n_bounded(self) -> int:
        """How many pairs have a bound that says more than the range."""
        if self.table is None:
            return 0
        return sum(map(self._says_more, self.table.bounds))

    def bounds_more(self, arm: Arm, context: Context) -> bool:
        """Tell whether the table is believed and says more of this pair than the range."""
        return self.binding is not None and self._says_more((arm, context))

    def entrants(
        self, among: Sequence[Arm], context: Context, *, held: bool
    ) -> tuple[Entrant, ...]:
        """List arms with their ends, the highest cap first (and among equals in order).

        The order of the arms a policy holds is worked out once for each context of the table,
        so a decision need not look at arms that cannot win.
        """
        table = self.binding
        if table is None:
            return tuple(Entrant(arm, -inf, inf, i) for i, arm in enumerate(among))
        if not held:
            return self._listed(table, among, context)
        if context not in self._order:
            found = self._listed(table, among, context)
            if all((arm, context) not in table.bounds for arm in among):
                return found
            self._order[context] = found
        return self._order[context]

    def _says_more(self, key: Key) -> bool:
        if self.table is None or key not in self.table.bounds:
            return False
        (low, high), bound = self.table.reward_range, self.table.bounds[key]
        return bound.lower > low or bound.upper < high

    def _listed(
        self, table: BoundTable, among: Sequence[Arm], context: Context
    ) -> tuple[Entrant, ...]:
        low, high = table.reward_range
        found = []
        for i, arm in enumerate(among):
            bound = table.bounds.get((arm, context))
            ends = (bound.interval.lower, bound.interval.upper) if bound else (low, high)
            found.append(Entrant(arm, *ends, i))
        return tuple(sorted(found, key=lambda entrant: (-entrant.upper, entrant.place)))
