"""What every rule for bounds can do, whatever it rests on.

A rule is found by the graph alone and is made for one question, so that nothing but numbers is
left to give. Classes that implement it say so by inheriting, and get the plain cases for free.
"""

from collections.abc import Iterator, Mapping
from math import prod
from typing import Protocol

from boundit.bounds.lp.reweighting import Reweighting
from boundit.bounds.numbers import Ends, Numbers
from boundit.bounds.proof import Place
from boundit.counts.formulas.evaluate import Evaluator
from boundit.estimand.language.expression import Expression, find_variables
from boundit.estimand.query import EffectQuery
from boundit.terms.bound import RuleRecord
from boundit.terms.long_work import TimeBudget
from boundit.terms.names import Nodes


class BoundRule(Protocol):
    """A rule applied to one question, its ``query``, ready to be tried on counts."""

    query: EffectQuery

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The formulas whose numbers the rule reads off counts."""

    @property
    def range_variables(self) -> Nodes:
        """The variables besides the query's whose every level it takes into account."""

    @property
    def n_unknown(self) -> int:
        """How many variables, or factors, have a law of which nothing is known."""

    def write_record(self) -> RuleRecord:
        """Write the rule's name, what it claims, and the steps that prove it.

        A bound table keeps the record and explains its ends by it.
        """

    def find_ends(self, numbers: Numbers, budget: TimeBudget) -> Ends:
        """Find a lower and an upper end of the mean reward for every arm and context."""

    @property
    def extremes(self) -> Nodes:
        """The variables over which only the least and the greatest of one formula are taken.

        All levels of them together cost no more of a confidence's error than one.
        """
        return frozenset()

    @property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """The reweightings of the log that the rule rests on; none unless it undoes selection."""
        return ()

    @property
    def confounding_limits(self) -> tuple[str, ...]:
        """What the rule assumes of limits on hidden confounding, a sentence each; mostly none."""
        return ()

    @property
    def needs(self) -> Nodes:
        """The variables whose counts or levels the rule reads."""
        return self.range_variables.union(*map(find_variables, self.formulas))

    @property
    def outcome(self) -> str:
        """The name of the reward variable, the query's one outcome."""
        (outcome,) = self.query.outcomes
        return outcome

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the rule's ends: treatments, then contexts, in the query's order."""
        return self.query.treatments + self.query.context

    def count_cells(self, levels: Mapping[str, int]) -> int:
        """Count the cells of the largest array that the rule makes, beside its formulas'.

        It has an axis for each treatment and context, and whatever a rule goes over.
        """
        return prod(levels[name] for name in {*self.axes, *self.array_variables})

    @property
    def array_variables(self) -> Nodes:
        """The variables, besides the query's, at each level of which the rule keeps a number."""
        return frozenset()

    def list_cells(
        self, evaluator: Evaluator, place: Place
    ) -> Iterator[tuple[dict[str, int], float]]:
        """Yield the levels and numbers that the ends of one arm and context were made from.

        Empty unless a rule says otherwise: a sum over many cells has no short list.
        """
        del evaluator, place
        return iter(())
