"""What every rule for bounds can do, whatever it rests on.

A rule is found by the graph alone and is made for one question, so that nothing but numbers is
left to give. Classes that implement it say so by inheriting, and get the plain cases for free.
"""

from typing import Protocol

from boundit.bounds.lp.reweighting import Reweighting
from boundit.bounds.numbers import Ends, Numbers
from boundit.bounds.proof import Place
from boundit.bounds.time_budget import TimeBudget
from boundit.counts.evaluate import Evaluator
from boundit.estimand.language.expression import Expression, find_variables
from boundit.estimand.query import EffectQuery
from boundit.terms.bound import RuleRecord
from boundit.terms.names import Nodes


class BoundRule(Protocol):
    """A rule applied to one question, its ``query``, ready to be tried on counts."""

    query: EffectQuery

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """What it reads off counts.

        Read by ``collect_extremes`` and ``choose_rules``.
        """

    @property
    def range_variables(self) -> Nodes:
        """The variables besides the query's whose every level it takes into account.

        Read by ``_note_hidden``.
        """

    @property
    def n_unknown(self) -> int:
        """How many variables, or factors, have a law of which nothing is known.

        Read by ``choose_rules``.
        """

    def write_record(self) -> RuleRecord:
        """Write its name, what it claims, and the steps that prove it.

        Called by ``BoundPlan.of`` once per rule.
        """

    def find_ends(self, numbers: Numbers, budget: TimeBudget) -> Ends:
        """Find a lower and an upper end for every arm and context.

        Called by ``_intersect_ends`` once for each kind of numbers.
        """

    @property
    def extremes(self) -> Nodes:
        """The variables over which it only takes the least and the greatest of one formula.

        Read by ``collect_extremes``.
        """
        return frozenset()

    @property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """What it supposes of selection.

        Read by ``_list_stated`` and ``_reweights_freely``.
        """
        return ()

    @property
    def needs(self) -> Nodes:
        """The variables whose counts or levels it reads.

        Read by ``BoundPlan.needs`` and ``Explainer``.
        """
        return self.range_variables.union(*map(find_variables, self.formulas))

    @property
    def outcome(self) -> str:
        """The reward."""
        (outcome,) = self.query.outcomes
        return outcome

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of its ends: treatments, then contexts, in the query's order."""
        return self.query.treatments + self.query.context

    def list_cells(
        self, evaluator: Evaluator, place: Place
    ) -> list[tuple[dict[str, int], float]]:
        """List the levels and numbers that the ends at a place were made from.

        A sum over many cells has no short list. Called by ``Explainer._list_cell_numbers`` for
        every row.
        """
        del evaluator, place
        return []
