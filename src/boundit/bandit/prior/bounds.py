"""The bounds a policy believes, laid out for deciding: caps first, beaten arms left out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import final

from boundit.bandit.prior.narrowing import NarrowingBounds
from boundit.bandit.ranked_arms import RankedArm as RankedArm
from boundit.bandit.ranked_arms import RankedArms
from boundit.terms.bound import Arm, Context, Key
from boundit.terms.bound_table import BoundTable


@final
@dataclass(frozen=True)
class PriorBounds:
    """A table of bounds, or none; dropped ones bind nothing.

    Without a table, or once it is dropped, every end is infinite. With one, an arm or context
    it has no row for gets the reward's range. Where it carries contrasts, an arm does not enter
    if one that may be played in its stead is better whatever is true. ``living``
    are ends that narrow online.
    """

    table: BoundTable | None = None
    dropped: bool = False
    living: NarrowingBounds | None = field(default=None, compare=False, repr=False)
    _order: dict[Context | None, RankedArms] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def binding(self) -> BoundTable | None:
        """The table, as long as it is believed."""
        return None if self.dropped else self.table

    @property
    def version(self) -> int:
        """Grows when ends move."""
        return self.living.version if self.living else 0

    def forget(self, contexts: Iterable[Context]) -> None:
        """List the arms of some contexts anew when they are asked for: their ends moved."""
        for context in contexts:
            self._order.pop(context, None)

    @cached_property
    def n_bounded(self) -> int:
        """How many pairs have a bound that says more than the range."""
        if self.table is None:
            return 0
        return sum(map(self._says_more, self.table.bounds))

    def bounds_more(self, arm: Arm, context: Context) -> bool:
        """Tell whether the table is believed and says more of this pair than the range."""
        return self.binding is not None and self._says_more((arm, context))

    def entrants(self, among: Sequence[Arm], context: Context, *, held: bool) -> RankedArms:
        """List arms with their ends, the highest cap first (and among equals in order).

        For the arms a policy holds this is worked out once for each context of the table, and
        once for all others, so a decision need not look at arms that cannot win.
        """
        if not held:
            return self._listed(among, context)
        key = context if context in self._bounded else None
        found = self._order.get(key)
        if found is None:
            found = self._order[key] = self._listed(among, context)
        return found

    @cached_property
    def _bounded(self) -> frozenset[Context]:
        return frozenset(self.binding.contexts if self.binding else ())

    def _says_more(self, key: Key) -> bool:
        if self.table is None or key not in self.table.bounds:
            return False
        (low, high), bound = self.table.reward_range, self.table.bounds[key]
        return bound.lower > low or bound.upper < high

    def _listed(self, among: Sequence[Arm], context: Context) -> RankedArms:
        found = [RankedArm(arm, *self._ends(arm, context), i) for i, arm in enumerate(among)]
        beaten = self._beaten(among, context)
        if not beaten:
            return RankedArms.of(found)
        return RankedArms.of(
            (entrant for entrant in found if entrant.arm not in beaten),
            (entrant for entrant in found if entrant.arm in beaten),
        )

    def _ends(self, arm: Arm, context: Context) -> tuple[float, float]:
        table = self.binding
        if table is None:
            return -inf, inf
        if self.living and (ends := self.living.ends(arm, context)):
            return ends
        bound = table.bounds.get((arm, context))
        return (bound.lower, bound.upper) if bound else table.reward_range

    def _beaten(self, among: Sequence[Arm], context: Context) -> frozenset[Arm]:
        """The arms that another of these surely beats; none where all are, which refutes it."""
        table = self.binding
        if table is None or not table.contrasts:
            return frozenset()
        ends = {arm: table.bounds.get((arm, context)) for arm in among}
        low, high = table.reward_range
        reached = max(bound.lower if bound else low for bound in ends.values())
        better = self._better.get(context, {})
        found = frozenset(
            arm
            for arm, bound in ends.items()
            if (bound.upper if bound else high) < reached
            or not better.get(arm, frozenset()).isdisjoint(ends)
        )
        return found if len(found) < len(ends) else frozenset()

    @cached_property
    def _better(self) -> dict[Context, dict[Arm, set[Arm]]]:
        """For each context and arm those that surely earn more."""
        found: dict[Context, dict[Arm, set[Arm]]] = {}
        for (context, arm, other), most in (self.table.contrasts if self.table else {}).items():
            if most < 0:
                found.setdefault(context, {}).setdefault(arm, set()).add(other)
        return found
