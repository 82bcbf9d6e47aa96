r"""The paper's first bound: a sum of c-factors, lost ones anywhere in [0, 1] (Theorem 3).

.. math:: L_q = \sum_{D \setminus \{Y, C\}} \prod_i L_{Q[D_i]} \Big/ P_x(c), \qquad
          U_q = \sum_{D \setminus \{Y, C\}} \prod_i U_{Q[D_i]} \Big/ P_x(c)

The sum counts 1 for each value of the variables of a lost factor, so it can pass 1; the ends
are clipped to the reward's range. One lost factor makes the lower end 0.
"""

from dataclasses import dataclass

import numpy as np

from boundit.bounds.coin import HEADS
from boundit.bounds.sequential import Ends, values_of
from boundit.counts.evaluate import Evaluator
from boundit.counts.named_array import Floats
from boundit.estimand.expression import Expression, all_variables
from boundit.estimand.query import EffectQuery
from boundit.estimand.recover_factor import recover_factor
from boundit.estimand.recovery import Recovery
from boundit.estimand.render import text
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import Rule
from boundit.terms.names import Nodes, in_order, listed

NAME = "c-component factorization"


@dataclass(frozen=True, slots=True)
class Factorization:
    """``P(y, c | do(x))`` as a sum of products of c-factors, and ``P(c)`` to divide by."""

    query: EffectQuery
    factors: tuple[tuple[Nodes, Recovery], ...]
    summed: tuple[str, ...]
    base: Expression | None

    @property
    def needs(self) -> Nodes:
        """The variables whose counts it reads; those it sums over need their levels."""
        found = frozenset(self.summed)
        for _, answer in self.factors:
            if answer.expression is not None:
                found |= all_variables(answer.expression)
        return found | (all_variables(self.base) if self.base is not None else frozenset())

    def rule(self) -> Rule:
        """Say what it claims and which factors are lost."""
        shown = " ".join(
            f"[{text(answer.expression)}]" if answer.expression is not None else "[0 to 1]"
            for _, answer in self.factors
        )
        over = f"sum over {', '.join(self.summed)} of " if self.summed else ""
        below = f" / {text(self.base)}" if self.base is not None else ""
        said = tuple(
            f"Q[{listed(part)}]: {step}"
            for part, answer in self.factors
            for step in answer.steps
        )
        return Rule(NAME, f"{self.query} lies within {over}{shown}{below}", said)

    def ends(self, evaluator: Evaluator) -> Ends:
        """Multiply the ends of the factors, sum, divide and clip (eq. 7)."""
        axes = self.query.treatments + self.query.context
        order = (*axes, *self.summed)
        lower = upper = np.ones([evaluator.levels[axis] for axis in order])
        for _, answer in self.factors:
            low, high = self._factor(answer, evaluator, order)
            lower, upper = lower * low, upper * high
        over = tuple(range(len(axes), len(order)))
        below = np.ones([1] * len(axes))
        if self.base is not None:
            below = values_of(self.base, evaluator, axes).aligned(axes)
        with np.errstate(invalid="ignore", divide="ignore"):
            ends = lower.sum(axis=over) / below, upper.sum(axis=over) / below
        return Ends(
            np.nan_to_num(ends[0], nan=0.0, posinf=0.0).clip(0, 1),
            np.nan_to_num(ends[1], nan=1.0, posinf=1.0).clip(0, 1),
        )

    def _factor(
        self, answer: Recovery, evaluator: Evaluator, order: tuple[str, ...]
    ) -> tuple[Floats, Floats]:
        (outcome,) = self.query.outcomes
        if answer.expression is None:
            return np.zeros(()), np.ones(())
        found = values_of(answer.expression, evaluator, (*order, outcome))
        if outcome in found.names:
            found = found.at({outcome: HEADS})
        numbers = found.aligned(order)
        return np.nan_to_num(numbers, nan=0.0), np.nan_to_num(numbers, nan=1.0)


def factorization(
    graph: CausalGraph, query: EffectQuery, base: Expression | None
) -> Factorization:
    """Decompose ``P(y, c | do(x))`` and recover what can be (Algorithm 1, lines 6 to 9)."""
    wanted = frozenset(query.outcomes + query.context)
    untreated = graph.induced(graph.nodes.difference(query.treatments))
    relevant = untreated.ancestors(wanted)
    parts = untreated.induced(relevant).components()
    return Factorization(
        query,
        tuple((part, recover_factor(part, graph)) for part in parts),
        tuple(in_order(relevant - wanted)),
        base,
    )
