"""Identification by structured ways, tried in turn; large questions fall into smaller ones.

A question is made lighter by the do-calculus first. Then, in this order: the log, where it
shows the answer as it stands; an external table that covers it; its c-factors, each through
selection (Algorithm 2); the logged rows, where selection leaves the answer as it is. With
external tables there are also the chain rule over several outcomes, a sum over variables that
separate the outcomes from selection, and Bayes' rule.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import final

from boundit.core.formula import Sentence
from boundit.core.names import Nodes, join_names, sort_names
from boundit.estimand.derivation import (
    Identification,
    Question,
    Step,
    find_selection_walk,
    lighten,
    may_ignore_selection,
    may_observe_treatments,
    state_rule_1,
    state_rule_2,
)
from boundit.estimand.expression import Expression, P, divide, multiply, sum_out
from boundit.estimand.factors import recover_by_factors, recover_factor
from boundit.graph.causal_graph import CausalGraph, project
from boundit.graph.separation import find_boundary, open_walk
from boundit.graph.separators import find_separator, minimal_separator, nearest_separator

_DEPTH = 2
"""How many sums may be nested; each level tries a handful of separators."""
WORK = 3_000
"""How many nodes may be looked at in all the smaller questions: enough to try every way on a
small graph, and under a second's worth on a large one."""


@dataclass(frozen=True, slots=True)
class ExternalTable:
    """An unselected table over ``measured``, and ``safe``: what the log adds, itself included.

    When ``(w _||_ S | t)`` the log knows ``P(w | t)``; so ``P(t, w) = P(w | t, S=1) P(t)`` is a
    distribution of the population too. On these variables nothing is selected, and plain
    identification applies to the graph ``seen``, in which all others are hidden.
    """

    measured: Nodes
    safe: Nodes
    seen: CausalGraph
    whole: CausalGraph

    @classmethod
    def of(cls, graph: CausalGraph, measured: Nodes) -> "ExternalTable":
        """Find the variables whose distribution in the population a table makes known.

        >>> graph = CausalGraph.of(directed=[("Z", "Y"), ("Z", "S")], selection="S")
        >>> sorted(ExternalTable.of(graph, frozenset("Z")).safe)
        ['Y', 'Z']
        """
        selection = str(graph.selection)
        safe = measured.union(
            node
            for node in graph.observed - measured
            if open_walk(graph, node, selection, given=measured) is None
        )
        seen = project(graph.induced(graph.observed), graph.observed - safe)
        return cls(measured, safe, seen, graph)

    def answer(self, asked: Question) -> Identification:
        """Identify an effect from the table and what the log adds to it."""
        if not asked.variables <= self.safe:
            return Identification(None)
        table = join_names(self.measured)
        what = f"P({join_names(self.safe)}) of the population, from external data on {table}"
        light, steps = lighten(self.seen, asked)
        steps = (Step(None, what, "external"), *steps)
        if not may_observe_treatments(self.seen, light):

            def solve(target: Nodes) -> Identification:
                return recover_factor(target, self.seen, self.write_conditional)

            return recover_by_factors(self.seen, light, solve).after(*steps)
        if light.treatments:
            steps += (state_rule_2(self.seen, light),)
        given = find_boundary(self.seen, light.outcomes, given=light.treatments | light.context)
        return Identification(self.write_conditional(light.outcomes, given), steps)

    def write_conditional(self, of: Nodes, given: Nodes) -> Expression:
        """Write ``P(of | given)`` of the population: from the table, the log, or both."""
        if of | given <= self.measured:
            return P(of, given, logged=False)
        selection = str(self.whole.selection)
        if open_walk(self.whole, of, selection, given=given) is None:
            return P(of, given)
        # The joint distribution of all names, and of further ones of the table.
        names, parts = of | given, list[Expression]()
        needed, known, selected = names & self.measured, self.measured, frozenset((selection,))
        for node in sort_names(names - self.measured):
            before = find_boundary(self.whole, node, given=known | selected) - selected
            parts.append(P(frozenset((node,)), before))
            known, needed = known | {node}, needed | (before & self.measured)
        top = sum_out(needed - names, multiply(*parts, P(needed, logged=False)))
        return divide(top, sum_out(of, top))


@final
class Solver:
    """One graph and its tables; answers are kept, so that shared parts are solved once."""

    def __init__(
        self, graph: CausalGraph, tables: Iterable[Nodes] = (), *, work: int = WORK
    ) -> None:
        self.graph = graph
        self.tables = (
            [ExternalTable.of(graph, t) for t in tables if t] if graph.selection else []
        )
        self._answers: dict[tuple[Question, int], Identification] = {}
        self._factors: dict[Nodes, Identification] = {}
        self.lighten = cache(partial(lighten, graph))
        """Makes a question lighter by the do-calculus, each once."""
        self._among_selected = cache(self._answer_among_selected)
        self._left = max(2, work // len(graph.nodes))

    @property
    def is_spent(self) -> bool:
        """Whether no work is left for further questions: they get no formula."""
        return self._left == 0

    def solve(self, asked: Question, depth: int = _DEPTH) -> Identification:
        """Find a formula for a question from the log, tables, c-factors or smaller questions.

        The answer is kept. ``depth`` limits how often a question is split.
        """
        key = (asked, depth)
        if key not in self._answers:
            if self._left == 0:
                return Identification(
                    None, (Step(None, "too many smaller questions", "search"),)
                )
            self._left -= 1
            # While a question is open it cannot answer itself.
            self._answers[key] = Identification(None)
            self._answers[key] = self._try_ways(asked, depth)
        return self._answers[key]

    def read_off(self, asked: Question) -> Identification:
        """Find a formula where the log, or else a table, shows the answer as it stands."""
        light, steps = self.lighten(asked)
        if found := self._read_off_log(light).after(*steps) or self._read_off_log(asked):
            return found
        answers = (table.answer(light) for table in self.tables)
        return next((found.after(*steps) for found in answers if found), Identification(None))

    def _try_ways(self, asked: Question, depth: int) -> Identification:
        """Try to answer from the log, from tables, by c-factors, then by smaller questions."""
        if found := self.read_off(asked):
            return found
        light, steps = self.lighten(asked)

        def solve_factor(target: Nodes) -> Identification:
            """Recover a c-factor by Algorithm 2, or as the effect of its parents on it."""
            plain = self._recover_factor(target)
            if plain or not self.tables or not depth:
                return plain
            return self.solve(Question(target, self.graph.parents(target)), depth - 1) or plain

        first = recover_by_factors(self.graph, light, solve_factor)
        if first or not self.graph.selection:
            return first.after(*steps)
        found = selected = self._among_selected(light)
        if not found and self.tables and depth:
            found = (
                self._chain_outcomes(light, depth)
                or self._sum_over_separators(light, depth)
                or self._divide_by_condition(light, depth)
            )
        return found.after(*steps) or Identification(
            None, (*steps, *first.steps, *selected.steps)
        )

    def _read_off_log(self, asked: Question) -> Identification:
        """Write an effect as a conditional of the log, where Rules 1 and 2 allow it."""
        if not may_ignore_selection(self.graph, asked):
            return Identification(None)
        among = replace(asked, selected=self.graph.selection is not None)
        if not may_observe_treatments(self.graph, among):
            return Identification(None)
        selected = among.list_known(self.graph) - among.context
        given = asked.treatments | asked.context
        given = find_boundary(self.graph, asked.outcomes, given=given | selected) - selected
        steps = [state_rule_1(self.graph, asked)] if selected else []
        if asked.treatments:
            steps.append(state_rule_2(self.graph, among))
        return Identification(P(asked.outcomes, given, among.selected), tuple(steps))

    def _recover_factor(self, target: Nodes) -> Identification:
        """Recover a c-factor by Algorithm 2, each once."""
        if target not in self._factors:
            self._factors[target] = recover_factor(target, self.graph)
        return self._factors[target]

    def _answer_among_selected(self, asked: Question) -> Identification:
        """Recover an effect from the logged rows, where selection does not change it (Rule 1)."""
        if (walk := find_selection_walk(self.graph, asked)) is not None:
            return Identification(None, (state_rule_1(self.graph, asked, walk),))
        light, steps = self.lighten(replace(asked, selected=True))
        found = recover_by_factors(self.graph, light, self._recover_factor)
        return found.after(state_rule_1(self.graph, asked), *steps)

    def _chain_outcomes(self, asked: Question, depth: int) -> Identification:
        """Recover the effect on some outcomes, then on the others given them, and multiply."""
        outcomes = asked.outcomes
        # Those that a table covers come first.
        candidates = [t.safe & outcomes for t in self.tables]
        candidates += [frozenset((node,)) for node in sort_names(outcomes)]
        candidates += [outcomes - {node} for node in sort_names(outcomes)]
        for first in dict.fromkeys(candidates):
            if not first or first == outcomes:
                continue
            earlier = self.solve(replace(asked, outcomes=first), depth)
            if not earlier:
                continue
            context, rest = asked.context | first, outcomes - first
            later = self.solve(replace(asked, outcomes=rest, context=context), depth)
            if earlier.expression is not None and later.expression is not None:
                formula = multiply(later.expression, earlier.expression)
                step = Step(None, f"{join_names(rest)} given {join_names(first)}", "chain rule")
                return Identification(formula, (step, *earlier.steps, *later.steps))
        return Identification(None)

    def _sum_over_separators(self, asked: Question, depth: int) -> Identification:
        """Recover an effect as a sum over variables given which selection no longer matters."""
        for through in self._list_separators(asked):
            first = replace(asked, outcomes=through)
            tried = self._answers.get((first, depth - 1))
            if self._left == 0 if tried is None else not tried:
                continue
            later = self._among_selected(replace(asked, context=asked.context | through))
            if not later:
                continue
            earlier = self.solve(first, depth - 1)
            if earlier.expression is not None and later.expression is not None:
                formula = sum_out(through, multiply(later.expression, earlier.expression))
                step = Step(None, f"sum over {join_names(through)}", "chain rule")
                return Identification(formula, (step, *earlier.steps, *later.steps))
        return Identification(None)

    def _divide_by_condition(self, asked: Question, depth: int) -> Identification:
        """Recover the effect on the outcomes and one condition together; apply Bayes' rule."""
        for node in sort_names(asked.context):
            outcomes, context = asked.outcomes | {node}, asked.context - {node}
            joint = self._chain_outcomes(
                replace(asked, outcomes=outcomes, context=context), depth - 1
            )
            if joint.expression is not None:
                whole = sum_out(asked.outcomes, joint.expression)
                reason = Sentence.of(asked.formula, f" by Bayes' rule, dividing by {node}")
                step = Step(None, reason, "chain rule")
                return Identification(divide(joint.expression, whole), (step, *joint.steps))
        return Identification(None)

    def _list_separators(self, asked: Question) -> Iterator[Nodes]:
        """List sets that separate the outcomes from S: few, the likeliest first, each once."""
        cut = self.graph.without_edges_into(asked.treatments)
        include, selection = asked.treatments | asked.context, str(self.graph.selection)
        seen = set[Nodes]()
        for pool in [t.safe for t in self.tables] + [self.graph.observed]:
            for search in (minimal_separator, nearest_separator, find_separator):
                for ends in ((asked.outcomes, selection), (selection, asked.outcomes)):
                    found = search(cut, *ends, include=include, within=pool)
                    if found is not None and (extra := found - include) and extra not in seen:
                        seen.add(extra)
                        yield extra
