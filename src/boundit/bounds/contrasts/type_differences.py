"""Joint bounds of confounded arms: one law of response types answers for every arm.

Two arms apart may each have the types that suit it worst. But everyone has one joint type, so
the difference of two arms is one objective of one program: Balke and Pearl's bounds on the
average effect, for any number of levels, at every context.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from boundit.bounds.contrasts.shared_unknown import ArmPlace, SharedUnknown, find_differing
from boundit.bounds.lp.program import SolveStatus
from boundit.bounds.numbers import Numbers
from boundit.bounds.rules.response_program import (
    ArmProgram,
    Cell,
    ProgramLayout,
    ResponseProgram,
)
from boundit.bounds.rules.reweighted_type_program import ReweightedProgram
from boundit.bounds.rules.reweighted_types import ReweightedTypes
from boundit.counts.named_array import Floats
from boundit.estimand.query import EffectQuery
from boundit.terms.long_work import TimeBudget
from boundit.terms.names import Nodes

MOST_COLUMNS = 2_000
"""How many response types a program of two arms may have; with more nothing is said."""


@dataclass(frozen=True, slots=True)
class SharedTypes(SharedUnknown):
    """A program that arms share, on the log or on what it is reweighted to."""

    program: ResponseProgram | ReweightedTypes

    @property
    def spec(self) -> ResponseProgram:
        """The response-type program itself, whether on the log or on the reweighted log.

        Its columns are the ways in which variables can respond to their causes.
        """
        found = self.program
        return found if isinstance(found, ResponseProgram) else found.program

    @property
    def is_programmed(self) -> bool:
        """True: comparing arms under this rule needs linear programs, which cost time."""
        return True

    def may_share(self, treatments: Nodes) -> bool:
        """Tell whether any two arms share one law of response types.

        A type says how someone responds to every arm. Without sharing, a difference of two arms
        says no more than their bounds.
        """
        return bool(treatments - frozenset(self.spec.fixed))

    def make_differences(
        self, numbers: Numbers, query: EffectQuery, budget: TimeBudget
    ) -> "TypeDifferences":
        """Make what compares arms under this rule: the response-type program with its numbers."""
        return TypeDifferences(self, numbers, query, budget)


@final
class TypeDifferences:
    """The greatest difference of any two arms that one program proves."""

    def __init__(
        self, shared: SharedTypes, numbers: Numbers, query: EffectQuery, budget: TimeBudget
    ) -> None:
        self.spec, self.query = shared.spec, query
        self.layout = ProgramLayout(self.spec, numbers.levels, most=MOST_COLUMNS)
        self.numbers, self.budget = numbers, budget
        found = shared.program
        self.populated = found.populate(numbers) if isinstance(found, ReweightedTypes) else None

    def find_greatest(self, one: ArmPlace, others: Sequence[ArmPlace]) -> Floats:
        """Bound from above one arm's mean reward less that of each other arm, in every context."""
        return np.stack([self._bound_pair(one, other) for other in others])

    def _bound_pair(self, one: ArmPlace, other: ArmPlace) -> Floats:
        """Bound from above one arm's mean reward less another's, in every context."""
        arms = [dict(zip(self.query.treatments, arm, strict=True)) for arm in (one, other)]
        shape = [self.numbers.levels[name] for name in self.query.context]
        differ = find_differing(self.query.treatments, one, other)
        if differ & frozenset(self.spec.fixed):
            return np.full(shape, np.inf)  # each has a program of its own
        if not differ & frozenset(self.spec.set_by_hand):
            return np.zeros(shape)
        # By Rule 2 a context may count as set by hand, so both have their say in both.
        found, known = np.empty(shape), dict[tuple[tuple[int, ...], ...], float]()
        for place in np.ndindex(*shape):
            where = dict(zip(self.query.context, place, strict=True))
            pair = [self._select_levels(arm | where, self.spec.set_by_hand) for arm in arms]
            fixed = self._select_levels(arms[0] | where, self.spec.fixed)
            key = tuple(tuple(each.values()) for each in (*pair, fixed))
            if key not in known:
                known[key] = self._solve_pair(pair, fixed)
            found[place] = known[key]
        return found

    @staticmethod
    def _select_levels(at: Cell, names: Sequence[str]) -> dict[str, int]:
        """Select the levels of some variables from those of an arm and context."""
        return {name: at[name] for name in names}

    def _solve_pair(self, pair: list[dict[str, int]], fixed: dict[str, int]) -> float:
        """Solve the response-type program of two arms for their greatest difference of means.

        ``pair`` are the levels each arm sets by hand, ``fixed`` those that both have in common.
        Infinite where there are too many response types.
        """
        scenarios = list(range(len(self.layout.outer)))
        runs = self.layout.list_types(pair, scenarios, MOST_COLUMNS)
        if runs is None or (self.populated and self.populated.has_too_many_cells):
            return np.inf
        if self.populated:
            return ReweightedProgram(
                self.populated, self.layout, runs, fixed, self.budget
            ).find_lead()
        search = ArmProgram(self.layout, runs, scenarios)
        f = self.layout.fixed.index(fixed)
        low, high = self.layout.read_law(self.numbers)
        search.set_law(low[f].ravel(), high[f].ravel())
        first, second = (self.layout.arms.index(arm) for arm in pair)
        least, most = self.layout.read_weights(self.numbers)
        found = search.find_lead(most[f, first], least[f, second], self.budget)
        return np.inf if found.status is SolveStatus.EMPTY else found.bound
