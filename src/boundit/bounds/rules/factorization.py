r"""The paper's first bound: a sum of c-factors, lost ones anywhere in [0, 1] (Theorem 3).

.. math:: L_q = \sum_{D \setminus \{Y, C\}} \prod_i L_{Q[D_i]} \Big/ P_x(c), \qquad
          U_q = \sum_{D \setminus \{Y, C\}} \prod_i U_{Q[D_i]} \Big/ P_x(c)

The sum counts 1 for each value of the variables of a lost factor, so it can pass 1; the ends
are clipped to the reward's range. One lost factor makes the lower end 0.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from boundit.bounds.numbers import Ends, Numbers
from boundit.bounds.rules.claims import divide
from boundit.bounds.rules.rule import BoundRule
from boundit.counts.formulas.elimination import ProductTable, eliminate, multiply_out
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import Expression
from boundit.estimand.language.notation import make_sentence
from boundit.estimand.language.simplify import simplify
from boundit.estimand.query import EffectQuery
from boundit.estimand.recovery.derivation import Identification
from boundit.estimand.recovery.factorize import factorize
from boundit.estimand.recovery.question import Question
from boundit.estimand.recovery.recover_factor import recover_factor
from boundit.estimand.recovery.solver import Solver
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import RuleRecord
from boundit.terms.formula import Group, Over, Part, Sentence, Variable, make_factor
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes, sort_names

NAME = "c-component factorization"


@dataclass(frozen=True)
class Factorization(BoundRule):
    """``P(y, c | do(x))`` as a sum of products of c-factors, and ``P(c)`` to divide by."""

    query: EffectQuery
    factors: tuple[tuple[Nodes, Identification], ...]
    summed: tuple[str, ...]
    base: Expression | None

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The formulas read off counts: the recovered c-factors, and ``P(c)`` to divide by."""
        found = [answer.expression for _, answer in self.factors]
        return tuple(formula for formula in (*found, self.base) if formula is not None)

    @property
    def range_variables(self) -> Nodes:
        """The variables summed over, besides the query's: all their levels must be known."""
        return frozenset(self.summed)

    @property
    def n_unknown(self) -> int:
        """How many c-factors (laws of variables that share hidden causes) have no formula."""
        return sum(answer.expression is None for _, answer in self.factors)

    def write_record(self) -> RuleRecord:
        """Write the rule's name, its claim with "0 to 1" for lost c-factors, and the steps.

        Lost are those without a formula. A bound table keeps the record and explains its ends
        by it.
        """
        summed = tuple(Variable(name, bare=True) for name in self.summed)
        parts: list[Part] = [Over("sum", summed)] if summed else []
        for _, answer in self.factors:
            known = answer.expression
            inside = ("0 to 1",) if known is None else make_sentence(known).parts
            parts.append(Group(inside, square=True))
        shown = Sentence(tuple(part for one in parts for part in (" ", one))[1:])
        claim = Sentence.of(self.query.formula, " lies within ", divide(shown, self.base))
        said = tuple(
            step.record.prefix(make_factor(part), ": ")
            for part, answer in self.factors
            for step in answer.steps
        )
        return RuleRecord(NAME, claim, said)

    def find_ends(self, numbers: Numbers, budget: TimeBudget = FOR_EVER) -> Ends:
        """Bound every arm and context by equation 7 of the paper, a sum of c-factors.

        Their ends (0 and 1 without a formula) are multiplied, summed, divided by ``P(c)`` and
        clipped.
        """
        del budget  # it solves no program
        lower, upper = self._sum_factors(numbers)
        if self.n_unknown:
            lower = np.zeros(())
        least = most = np.ones(())
        if self.base is not None:
            least, most = numbers.read_ends(self.base, self.axes)
        shape = [numbers.levels[axis] for axis in self.axes]
        ends = divide_ends(lower, upper, least, most)
        return Ends(np.broadcast_to(ends.lower, shape), np.broadcast_to(ends.upper, shape))

    def _sum_factors(self, numbers: Numbers) -> tuple[Floats, Floats]:
        """Sum the product of the known c-factors' ends over all variables besides the query's.

        Each factor is read by itself, and none is multiplied out over variables it has not. A
        variable that only lost factors have counts 1 for each of its levels.
        """
        order = (*self.axes, *self.summed)
        factors = [ProductTable((), (np.ones(()), np.ones(())))]
        for _, answer in self.factors:
            if answer.expression is not None:
                own = tuple(name for name in order if name in answer.expression.free)
                low, high = numbers.read_ends(answer.expression, (*own, self.outcome))
                factors.append(ProductTable(own, (low[..., -1], high[..., -1])))  # -1: success
        held = frozenset[str]().union(*(factor.axes for factor in factors))
        summed = [name for name in self.summed if name in held]
        left = eliminate(factors, summed, numbers.levels, numbers.workspace)
        lower, upper = multiply_out(left, self.axes, numbers.levels, numbers.workspace)
        times = prod(numbers.levels[name] for name in self.summed if name not in held)
        return lower, upper * float(times)


def divide_ends(lower: Floats, upper: Floats, least: Floats, most: Floats) -> Ends:
    """Divide ends of ``P(y, c | do(x))`` by ``P(c)``, itself between two ends, and clip.

    What is divided by nothing is anything from 0 to 1.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = lower / most, upper / least
    return Ends(
        np.nan_to_num(low, nan=0.0, posinf=0.0).clip(0, 1),
        np.nan_to_num(high, nan=1.0, posinf=1.0).clip(0, 1),
    )


def factorize_effect(
    graph: CausalGraph, query: EffectQuery, base: Expression | None
) -> Factorization:
    """Decompose ``P(y, c | do(x))`` into c-factors and recover those with a formula.

    What comes out is the rule of Theorem 3 of the paper: a sum of products of c-factors (laws
    of variables that share hidden causes). Algorithm 1, lines 6 to 9.
    """
    wanted = frozenset(query.outcomes + query.context)
    whole = factorize(graph, outcomes=wanted, treatments=frozenset(query.treatments))
    return Factorization(
        query,
        tuple((part, recover_factor(part, graph)) for part in whole.parts),
        tuple(sort_names(whole.summed)),
        base,
    )


def find_factorizations(
    graph: CausalGraph,
    query: EffectQuery,
    tables: tuple[Nodes, ...],
    *,
    budget: TimeBudget = FOR_EVER,
) -> list[Factorization]:
    """Make the rule of Theorem 3, if ``P(c)`` and the reward's c-factor have formulas.

    It bounds the effect by a sum of products of c-factors, those without a formula anywhere
    from 0 to 1. One rule or none.
    """
    base: Expression | None = None
    if budget.is_over():
        return []
    if query.context:
        found = Solver(graph, tables).solve(Question(frozenset(query.context)))
        if found.expression is None:
            return []
        base = simplify(found.expression)
    sums = factorize_effect(graph, query, base)
    (outcome,) = query.outcomes
    known = any(outcome in part and answer for part, answer in sums.factors)
    return [sums] if known else []
