"""The bounds a policy believes, as it decides by them: caps first, beaten arms left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import final

from boundit.bandit.bins import Edges, find_bin
from boundit.bandit.ranked_arms import RankedArm as RankedArm
from boundit.bandit.ranked_arms import RankedArms
from boundit.terms.bound import Arm, Context, Key
from boundit.terms.bound_table import BoundTable
from boundit.terms.scalars import unwrap_scalar


@final
@dataclass(frozen=True)
class PriorBounds:
    """A table of bounds, or none; dropped ones bind nothing.

    Without a table, or once it is dropped, every end is infinite. With one, an arm or context
    it has no row for gets the reward's range. Where it carries contrasts, an arm is left out if
    one that may be played in its stead is better whatever is true.
    """

    table: BoundTable | None = None
    dropped: bool = False
    _ranked: dict[Context | None, RankedArms] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def binding(self) -> BoundTable | None:
        """The table of bounds as long as it is believed, else None."""
        return None if self.dropped else self.table

    @cached_property
    def bins(self) -> dict[str, Edges]:
        """The edges of the table's variables that are in bins, none without a table."""
        found = self.table.bins if self.table else {}
        return {name: tuple(edges) for name, edges in found.items()}

    def find_bins(self, observed: Mapping[str, object]) -> Mapping[str, object]:
        """Put bins in the place of observed numbers, where the table has a variable in bins."""
        if not self.bins or not isinstance(observed, Mapping):
            return observed
        cut = {
            name: find_bin(edges, unwrap_scalar(observed[name]))
            for name, edges in self.bins.items()
            if observed.get(name) is not None
        }
        return {**observed, **cut}

    def find_all_bins(
        self, observed: list[Mapping[str, object] | None]
    ) -> list[Mapping[str, object] | None]:
        """Put bins in the place of the numbers that several rounds showed."""
        if not self.bins:
            return observed
        return [None if shown is None else self.find_bins(shown) for shown in observed]

    @cached_property
    def informative(self) -> frozenset[Key]:
        """The arms and contexts whose bound is narrower than the reward's range.

        None once the bounds are dropped.
        """
        if self.binding is None:
            return frozenset()
        low, high = self.binding.outcome_range
        return frozenset(
            pair
            for pair, bound in self.binding.bounds.items()
            if bound.lower > low or bound.upper < high
        )

    def rank(
        self,
        arms: Sequence[Arm],
        context: Context,
        held: bool,  # noqa: FBT001, a word takes time
    ) -> RankedArms:
        """Rank arms by decreasing upper end in one context, with both ends of each.

        Among equals in the order given. For the arms a policy holds this is worked out once for
        each context of the table, and once for all others, so a decision need not look at arms
        that cannot win.
        """
        if not held:
            return self._rank_anew(arms, context)
        bounded = self._bounded_contexts
        key = context if bounded and context in bounded else None
        found = self._ranked.get(key)
        if found is None:
            found = self._ranked[key] = self._rank_anew(arms, context)
        return found

    @cached_property
    def _bounded_contexts(self) -> frozenset[Context]:
        """The contexts that the table of bounds has rows for; read by ``PriorBounds.rank``."""
        return frozenset(self.binding.contexts if self.binding else ())

    def _rank_anew(self, arms: Sequence[Arm], context: Context) -> RankedArms:
        """Look up the ends of arms in a context, rank them, and leave out the beaten ones.

        Beaten: another arm surely earns more.
        """
        found = [
            RankedArm(arm, *self._find_ends(arm, context), i) for i, arm in enumerate(arms)
        ]
        beaten = self._find_beaten(arms, context)
        if not beaten:
            return RankedArms.of(found)
        return RankedArms.of(
            (ranked for ranked in found if ranked.arm not in beaten),
            (ranked for ranked in found if ranked.arm in beaten),
        )

    def _find_ends(self, arm: Arm, context: Context) -> tuple[float, float]:
        """Find the lower and upper end of an arm in a context."""
        table = self.binding
        if table is None:
            return -inf, inf
        bound = table.bounds.get((arm, context))
        return (bound.lower, bound.upper) if bound else table.outcome_range

    def _find_beaten(self, arms: Sequence[Arm], context: Context) -> frozenset[Arm]:
        """Find the arms that another of these surely beats, by the table's contrasts.

        None where all are beaten, which would refute the table.
        """
        table = self.binding
        if table is None or not table.contrasts:
            return frozenset()
        bounds = {arm: table.bounds.get((arm, context)) for arm in arms}
        low, high = table.outcome_range
        reached = max(bound.lower if bound else low for bound in bounds.values())
        better = _find_better(table, context)
        found = frozenset(
            arm
            for arm, bound in bounds.items()
            if (bound.upper if bound else high) < reached
            or not better.get(arm, frozenset()).isdisjoint(bounds)
        )
        return found if len(found) < len(bounds) else frozenset()


def _find_better(table: BoundTable, context: Context) -> dict[Arm, set[Arm]]:
    """Find for each arm of a context those that surely earn more, by the table's contrasts.

    A contrast bounds how much better one arm is than another.
    """
    return {
        arm: {other for other, most in against.items() if most < 0}
        for arm, against in table.find_contrasts(context).items()
    }
