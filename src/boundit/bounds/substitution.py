r"""The paper's second bound: substitute interventions (Theorem 4), as printed.

.. math:: \max_W \min_{w} P_{x,w}(y, c) / P_x(c) \;\le\; P_x(y \mid c) \;\le\;
          \min_W \max_{w} P_{x,w}(y, c) / P_x(c)

over every ``W`` that FindRSI accepts. It does not hold without the guard that the listing
drops; the guarded form is one of the chains of ``boundit.bounds.chain``. It is here so that
anyone can compare.
"""

from dataclasses import dataclass

import numpy as np

from boundit.bounds.coin import HEADS
from boundit.bounds.sequential import Ends, values_of
from boundit.counts.evaluate import Evaluator
from boundit.estimand.expression import Expression, all_variables
from boundit.estimand.query import EffectQuery
from boundit.estimand.render import text
from boundit.estimand.substitutes import Substitute
from boundit.terms.bound import Rule
from boundit.terms.names import Nodes, in_order, listed


@dataclass(frozen=True, slots=True)
class Substitution:
    """One substitute ``W``, and ``P(c)`` to divide by."""

    query: EffectQuery
    substitute: Substitute
    base: Expression | None

    @property
    def needs(self) -> Nodes:
        """The variables whose counts it reads."""
        below = all_variables(self.base) if self.base is not None else frozenset[str]()
        return self.substitute.variables | all_variables(self.substitute.formula) | below

    def rule(self) -> Rule:
        """Say what it claims."""
        acted = listed(self.substitute.variables)
        below = f" / {text(self.base)}" if self.base is not None else ""
        shown = f"{text(self.substitute.formula)}{below}"
        verb = f"lies between min/max over {acted} of" if acted else "is"
        return Rule(
            f"substitute {acted}" if acted else "adjustment",
            f"{self.query} {verb} {shown}",
            tuple(map(str, self.substitute.reasons)),
        )

    def ends(self, evaluator: Evaluator) -> Ends:
        """Take the least and the greatest over the substitute's values (eq. 10)."""
        (outcome,) = self.query.outcomes
        axes = self.query.treatments + self.query.context
        order = (*axes, *in_order(self.substitute.variables))
        found = values_of(self.substitute.formula, evaluator, (*order, outcome))
        numbers = found.at({outcome: HEADS}).aligned(order)
        if self.base is not None:
            below = values_of(self.base, evaluator, axes).aligned(order)
            with np.errstate(invalid="ignore", divide="ignore"):
                numbers = numbers / below
        over = tuple(range(len(axes), len(order)))
        shape = [evaluator.levels[axis] for axis in axes]
        lower = np.nan_to_num(numbers, nan=0.0, posinf=0.0).min(axis=over).clip(0, 1)
        upper = np.nan_to_num(numbers, nan=1.0, posinf=1.0).max(axis=over).clip(0, 1)
        return Ends(np.broadcast_to(lower, shape), np.broadcast_to(upper, shape))
