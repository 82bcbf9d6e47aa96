"""Unbiased tables: ``P(t)`` of everyone, and whatever the log adds to them safely.

When ``(w _||_ S | t)`` the log knows ``P(w | t)``; so ``P(t, w) = P(w | t, S=1) P(t)`` is a law
of everyone too. On these variables nothing is selected, and plain identification applies to
the graph in which all others are hidden.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from boundit.estimand.language.algebra import divide, multiply, sum_out
from boundit.estimand.language.expression import Expression, P
from boundit.estimand.language.law import Law, order_from_end
from boundit.estimand.recovery.conditional import recover_by_factors
from boundit.estimand.recovery.derivation import Identification, Step
from boundit.estimand.recovery.question import (
    Question,
    lighten,
    may_observe_treatments,
    state_rule_2,
)
from boundit.estimand.recovery.recover_factor import recover_factor
from boundit.graph.boundary import find_boundary
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.projection import project
from boundit.graph.separation import open_walk
from boundit.terms.names import Nodes, join_names, sort_names


@dataclass(frozen=True, slots=True)
class ExternalTable:
    """An unbiased table over ``measured``, and ``safe``: what the log adds, itself included."""

    measured: Nodes
    safe: Nodes
    seen: CausalGraph
    whole: CausalGraph

    @classmethod
    def of(cls, graph: CausalGraph, measured: Nodes) -> "ExternalTable":
        """Find the variables whose law in the whole population an external table makes known.

        They are those it measured, and those that selection tells nothing of once these are
        known.

        >>> graph = CausalGraph.of(directed=[("Z", "Y"), ("Z", "S")], selection="S")
        >>> sorted(ExternalTable.of(graph, frozenset("Z")).safe)
        ['Y', 'Z']
        """
        selection = str(graph.selection)
        added = (
            node
            for node in graph.observed - measured
            if open_walk(graph, node, selection, given=measured) is None
        )
        safe = measured.union(added)
        everyone = graph.induced(graph.observed)
        return cls(measured, safe, project(everyone, graph.observed - safe), graph)

    def answer(self, asked: Question) -> Identification:
        """Identify an effect from one unselected table and what the log adds to it.

        Returns the formula and its steps, or none.
        """
        if not asked.variables <= self.safe:
            return Identification(None)
        table = join_names(self.measured)
        what = f"P({join_names(self.safe)}) of everyone, by the table over {table}"
        light, steps = lighten(self.seen, asked)
        steps = (Step(None, what, "external"), *steps)
        if not may_observe_treatments(self.seen, light):
            return recover_by_factors(self.seen, light, self._recover_factor).after(*steps)
        if light.treatments:
            reason = f"{join_names(light.treatments)} may be seen"
            steps += (Step(None, reason, "Rule 2", state_rule_2(self.seen, light)),)
        given = find_boundary(self.seen, light.outcomes, given=light.treatments | light.context)
        return Identification(self._write_conditional(light.outcomes, given), steps)

    def _recover_factor(self, target: Nodes, graph: CausalGraph) -> Identification:
        """Recover a c-factor from the law of everyone that the table and the log give together.

        A c-factor is the law of nodes joined by bidirected edges when all else is set by hand.
        ``ExternalTable.answer`` hands it to ``recover_by_factors``, which calls it for each
        factor.
        """
        return recover_factor(target, graph, self.write_law)

    def write_law(self, graph: CausalGraph, late: Sequence[Nodes]) -> Law:
        """Write the law of everyone, logged or not, as one conditional for each node.

        Each comes from the table where it can, else from the log or both.
        """
        order = order_from_end(graph, late)
        places = {node: i for i, node in enumerate(order)}

        @cache
        def conditional(node: str) -> Expression:
            before = frozenset(order[: places[node]])
            given = find_boundary(graph, node, given=before, closed=before)
            return self._write_conditional(frozenset((node,)), given)

        return Law(order, conditional)

    def _write_conditional(self, of: Nodes, given: Nodes) -> Expression:
        """Write ``P(of | given)`` of the population: from the table, the log, or both."""
        if of | given <= self.measured:
            return P(of, given, logged=False)
        selection = str(self.whole.selection)
        if open_walk(self.whole, of, selection, given=given) is None:
            return P(of, given)
        joint, extra = self._write_joint(of | given)
        top = sum_out(extra, joint)
        return divide(top, sum_out(of, top))

    def _write_joint(self, names: Nodes) -> tuple[Expression, Nodes]:
        """Write the joint law, in the whole population, of ``names`` and nodes it needs.

        Returns the formula, and the further nodes of the table that it speaks of.
        """
        parts, needed, known = list[Expression](), names & self.measured, self.measured
        selected = frozenset((str(self.whole.selection),))
        for node in sort_names(names - self.measured):
            given = find_boundary(self.whole, node, given=known | selected) - selected
            parts.append(P(frozenset((node,)), given))
            known, needed = known | {node}, needed | (given & self.measured)
        return multiply(*parts, P(needed, logged=False)), needed - names
