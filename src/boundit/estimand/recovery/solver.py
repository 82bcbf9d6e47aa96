"""Every way to a formula, tried in turn; large questions fall into smaller ones.

A question is made lighter by the do-calculus first. Then, in this order: the log, where it
shows the answer as it stands; an unbiased table that covers it; its c-factors, each through
selection (Algorithm 2); the logged rows, where selection leaves the answer as it is. With
tables there are also the chain rule over several outcomes, a sum over variables that separate
the outcomes from selection, and Bayes' rule.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import final

from boundit.estimand.language.algebra import divide, multiply, sum_out
from boundit.estimand.language.expression import P
from boundit.estimand.recovery.conditional import recover_among_selected, recover_by_factors
from boundit.estimand.recovery.derivation import Identification, Step
from boundit.estimand.recovery.external import ExternalTable
from boundit.estimand.recovery.question import (
    Question,
    find_selection_walk,
    lighten,
    may_ignore_selection,
    may_observe_treatments,
    state_rule_1,
    state_rule_2,
)
from boundit.estimand.recovery.recover_factor import recover_factor
from boundit.graph.boundary import find_boundary
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separators import find_separator, minimal_separator, nearest_separator
from boundit.terms.formula import Sentence
from boundit.terms.names import Nodes, join_names, sort_names

_DEPTH = 2
"""How many sums may be nested; each level tries a handful of separators."""
WORK = 3_000
"""How many nodes may be looked at in all the smaller questions: enough to try every way on a
small graph, and under a second's worth on a large one."""


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
        """Find a formula for a question by structured ways: log, tables, c-factors, splitting.

        The answer, a ``Identification`` with or without a formula, is kept. ``depth`` limits how
        often a question is split.
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
        return self._read_off_tables(light).after(*steps)

    def _try_ways(self, asked: Question, depth: int) -> Identification:
        """Try to answer from the log, from tables, by c-factors, then by smaller questions."""
        if found := self.read_off(asked):
            return found
        light, steps = self.lighten(asked)
        first = recover_by_factors(
            self.graph, light, lambda t, _: self._recover_factor(t, depth)
        )
        if first or not self.graph.selection:
            return first.after(*steps)
        selected = self._among_selected(light)
        if found := selected or self._split_question(light, depth):
            return found.after(*steps)
        return Identification(None, (*steps, *first.steps, *selected.steps))

    def _split_question(self, asked: Question, depth: int) -> Identification:
        """Recover an effect from those of smaller questions, if there are external tables.

        It tries the chain rule over outcomes, a sum over separators, and Bayes' rule.
        """
        if not self.tables or not depth:
            return Identification(None)
        return (
            self._chain_outcomes(asked, depth)
            or self._sum_over_separators(asked, depth)
            or self._divide_by_condition(asked, depth)
        )

    def _read_off_tables(self, asked: Question) -> Identification:
        """Recover an effect from the first external (unselected) table that gives it."""
        answers = (table.answer(asked) for table in self.tables)
        return next((answer for answer in answers if answer), Identification(None))

    def _is_hopeless(self, asked: Question, depth: int) -> bool:
        """Tell whether ``solve`` failed on this question before, or used up its allowed work."""
        found = self._answers.get((asked, depth))
        return not found if found is not None else self._left == 0

    def _read_off_log(self, asked: Question) -> Identification:
        """Write an effect as a conditional of the log, where Rules 1 and 2 allow it.

        Selection must not matter, and treatments must be readable as conditions.
        """
        if not may_ignore_selection(self.graph, asked):
            return Identification(None)
        among = replace(asked, selected=self.graph.selection is not None)
        if not may_observe_treatments(self.graph, among):
            return Identification(None)
        selected = among.list_known(self.graph) - among.context
        given = asked.treatments | asked.context
        given = find_boundary(self.graph, asked.outcomes, given=given | selected) - selected
        formula = P(asked.outcomes, given, among.selected)
        steps = [_make_rule_1_step(self.graph, asked)] if selected else []
        if asked.treatments:
            reason, fact = (
                f"{join_names(asked.treatments)} may be seen",
                state_rule_2(self.graph, among),
            )
            steps.append(Step(None, reason, "Rule 2", fact))
        return Identification(formula, tuple(steps))

    def _recover_factor(self, target: Nodes, depth: int) -> Identification:
        """Recover a c-factor: by Algorithm 2, or as the effect of its parents on it.

        A c-factor is the law of nodes joined by bidirected edges when all else is set by hand.
        """
        if target not in self._factors:
            self._factors[target] = recover_factor(target, self.graph)
        plain = self._factors[target]
        if plain or not self.tables or not depth:
            return plain
        return self.solve(Question(target, self.graph.parents(target)), depth - 1) or plain

    def _answer_among_selected(self, asked: Question) -> Identification:
        """Recover an effect from the logged rows, where selection does not change it (Rule 1).

        ``Solver._try_ways`` and ``Solver._sum_over_separators`` call it as ``_among_selected``,
        which keeps its answers.
        """
        if (walk := find_selection_walk(self.graph, asked)) is not None:
            differs = f" is not the same given S=1 [{' '.join(walk)}]"
            reason = Sentence.of(asked.formula, differs)
            fact = state_rule_1(self.graph, asked, walk)
            return Identification(None, (Step(None, reason, "Rule 1", fact),))
        light, steps = self.lighten(replace(asked, selected=True))
        found = recover_among_selected(
            self.graph, light, lambda t, _: self._recover_factor(t, 0)
        )
        return found.after(_make_rule_1_step(self.graph, asked), *steps)

    def _chain_outcomes(self, asked: Question, depth: int) -> Identification:
        """Recover the effect on some outcomes, then on the others given them, and multiply.

        Returns the first such split (the chain rule) with both formulas, or none.
        """
        for first in self._list_first_outcomes(asked.outcomes):
            earlier = self.solve(replace(asked, outcomes=first), depth)
            if not earlier:
                continue
            context, rest = asked.context | first, asked.outcomes - first
            later = self.solve(replace(asked, outcomes=rest, context=context), depth)
            if earlier.expression is not None and later.expression is not None:
                formula = multiply(later.expression, earlier.expression)
                step = Step(None, f"{join_names(rest)} given {join_names(first)}", "chain rule")
                return Identification(formula, (step, *earlier.steps, *later.steps))
        return Identification(None)

    def _list_first_outcomes(self, outcomes: Nodes) -> Iterator[Nodes]:
        """List the sets of outcomes to recover first, those that a table covers in front."""
        candidates = [t.safe & outcomes for t in self.tables]
        candidates += [frozenset((node,)) for node in sort_names(outcomes)]
        candidates += [outcomes - {node} for node in sort_names(outcomes)]
        return (c for c in dict.fromkeys(candidates) if c and c < outcomes)

    def _sum_over_separators(self, asked: Question, depth: int) -> Identification:
        """Recover an effect as a sum over variables given which selection no longer matters."""
        for through in self._list_separators(asked):
            first = replace(asked, outcomes=through)
            if self._is_hopeless(first, depth - 1):
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
        """Recover the effect on the outcomes and one condition together, and divide it.

        It is divided by its sum over the outcomes (Bayes' rule).
        """
        for node in sort_names(asked.context):
            outcomes, context = asked.outcomes | {node}, asked.context - {node}
            joint = self._chain_outcomes(
                replace(asked, outcomes=outcomes, context=context), depth - 1
            )
            if joint.expression is not None:
                whole = sum_out(asked.outcomes, joint.expression)
                step = Step(
                    None,
                    Sentence.of(asked.formula, f" by Bayes' rule, dividing by {node}"),
                    "chain rule",
                )
                return Identification(divide(joint.expression, whole), (step, *joint.steps))
        return Identification(None)

    def _list_separators(self, asked: Question) -> Iterator[Nodes]:
        """List sets that separate the outcomes from S: few, the likeliest first, each once."""
        cut = self.graph.without_edges_into(asked.treatments)
        include, selection = asked.treatments | asked.context, str(self.graph.selection)
        seen = set[Nodes]()
        pools = [t.safe for t in self.tables] + [self.graph.observed]
        for pool in pools:
            for search in (minimal_separator, nearest_separator, find_separator):
                for ends in ((asked.outcomes, selection), (selection, asked.outcomes)):
                    found = search(cut, *ends, include=include, within=pool)
                    if found is not None and (extra := found - include) and extra not in seen:
                        seen.add(extra)
                        yield extra


def _make_rule_1_step(graph: CausalGraph, asked: Question) -> Step:
    """Make the step of an explanation that says: the logged rows answer for everyone (Rule 1)."""
    fact = state_rule_1(graph, asked)
    reason = Sentence.of(asked.formula, " is the same given S=1")
    return Step(None, reason, "Rule 1", fact)
