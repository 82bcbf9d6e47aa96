r"""The paper's second bound: substitute interventions (Theorem 4), as printed.

.. math:: \max_W \min_{w} P_{x,w}(y, c) / P_x(c) \;\le\; P_x(y \mid c) \;\le\;
          \min_W \max_{w} P_{x,w}(y, c) / P_x(c)

over every ``W`` that FindRSI accepts. It does not hold without the guard that the listing
drops; the guarded form is one of the chains of ``boundit.bounds.rules.chain``. It is here so
that anyone can compare.
"""

from dataclasses import dataclass

import numpy as np

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.numbers import Ends, Numbers
from boundit.bounds.rules.claims import divide, take_extremes
from boundit.bounds.rules.factorization import divide_ends
from boundit.bounds.rules.rule import BoundRule
from boundit.estimand.criteria.substitutes import Substitute
from boundit.estimand.language.expression import Expression
from boundit.estimand.language.notation import make_sentence
from boundit.estimand.query import EffectQuery
from boundit.terms.bound import RuleRecord, StepRecord
from boundit.terms.formula import Sentence
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes, join_names, sort_names


@dataclass(frozen=True)
class Substitution(BoundRule):
    """One substitute ``W``, and ``P(c)`` to divide by."""

    query: EffectQuery
    substitute: Substitute
    base: Expression | None

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The formulas read off counts: the substitute's effect, and ``P(c)`` to divide by."""
        return (self.substitute.formula, *((self.base,) if self.base is not None else ()))

    @property
    def range_variables(self) -> Nodes:
        """The variables set in place of the treatments: all their levels must be known."""
        return self.substitute.variables

    @property
    def n_unknown(self) -> int:
        """How many variables are set in place of the treatments: their true levels are unknown."""
        return len(self.substitute.variables)

    @property
    def array_variables(self) -> Nodes:
        """The variables at each level of which the rule keeps a number, besides the query's."""
        return self.substitute.variables

    def write_record(self) -> RuleRecord:
        """Write the rule's name, its claim as a min/max over the substitute, and the reasons.

        The substitute is what is set in place of the treatments. A bound table keeps the record
        and explains its ends by it.
        """
        acted = join_names(self.substitute.variables)
        shown = divide(make_sentence(self.substitute.formula), self.base)
        if acted:
            shown = take_extremes(sort_names(self.substitute.variables), shown)
        verb = " lies between " if acted else " is "
        return RuleRecord(
            f"substitute {acted}" if acted else "adjustment",
            Sentence.of(self.query.formula, verb, shown),
            tuple(StepRecord(str(reason)) for reason in self.substitute.reasons),
        )

    def find_ends(self, numbers: Numbers, budget: TimeBudget = FOR_EVER) -> Ends:
        """Bound every arm and context by the least and greatest effect of a substitute.

        The substitute ``W`` is set in place of the treatments; over its levels extremes are
        taken (equation 10).
        """
        del budget  # it solves no program
        order = (*self.axes, *sort_names(self.substitute.variables))
        low, high = numbers.read_ends(self.substitute.formula, (*order, self.outcome))
        least = most = np.ones(())
        if self.base is not None:
            least, most = numbers.read_ends(self.base, order)
        ends = divide_ends(low[..., SUCCESS], high[..., SUCCESS], least, most)
        over = tuple(range(len(self.axes), len(order)))
        shape = [numbers.levels[axis] for axis in self.axes]
        return Ends(
            np.broadcast_to(ends.lower.min(axis=over), shape),
            np.broadcast_to(ends.upper.max(axis=over), shape),
        )
