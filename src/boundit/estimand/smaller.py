r"""Smaller formulas: an equal one of fewer variables, or of fewer cells.

A product of c-factors sums over every cause of the outcomes; on a graph of a hundred nodes
these are dozens. Often few of them would do. By the chain rule, for any variables ``w``,

.. math:: P(y \mid do(x), c) = \sum_w P(y \mid do(x), c, w)\, P(w \mid do(x), c)

and both factors may be such that the log or a table shows them as they stand. So it is for
covariates that separate the outcomes from how treatments came about and from selection
(adjustment in context, with the weights of the log or of a table), for mediators that separate
the outcomes from the treatments themselves (the front door), and for what separates the
outcomes from selection. Of each kind the smallest separators are tried, near either end. Where
that is not enough, variables are hidden as long as there is an answer (``compact``). What comes
out is the formula of the fewest cells, the one that was there among them.

``compact`` hides variables: a formula that sums over every ancestor is true and useless, as no
log fills its cells. What is identified in the latent projection is identified in the graph, by
the same formula. So variables are hidden, many at a time, then fewer, for as long as there is
an answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import final

from boundit.core.names import Nodes, join_names
from boundit.estimand.derivation import Identification, Question, Step
from boundit.estimand.expression import (
    Expression,
    count_cells,
    find_variables,
    is_large,
    multiply,
    sum_out,
)
from boundit.estimand.solver import Solver
from boundit.graph.causal_graph import CausalGraph, project
from boundit.graph.separation import find_connected_nodes
from boundit.graph.separators import smallest_separator

WORK = 150_000
"""How much all trials may cost; one costs the square of the nodes it leaves in sight."""
_QUESTIONS = 100
"""What one trial may spend on smaller questions, see ``solver``."""
_DEPTH = 2
"""How often a factor may itself be split: once in the front door, twice with covariates."""
_SPLITS = 3_000
"""How many nodes may be looked at to split factors further: under half a second's worth."""
_COMPACTIONS = 2
_WORK = 40_000
"""How often variables are hidden, and what each time may cost: about 0.1 s."""
_ENOUGH = 1_024
"""With so few cells an equal formula is taken without a look for yet smaller ones."""
_FAILURES = 8
"""After so many searches in vain, none goes on: what makes one formula large makes all large."""
_TOO_MANY = 4_096
"""With more cells, variables are hidden in the hope of fewer."""


def compact(
    graph: CausalGraph,
    asked: Question,
    tables: Sequence[Nodes],
    answer: Identification,
    *,
    work: int = WORK,
) -> Identification:
    """Answer again with as few variables beside those asked about as a greedy search finds.

    A formula with fewer variables needs fewer cells of the log. Returns the shorter one, or the
    same.

    >>> graph = CausalGraph.of(directed=[("A", "B"), ("B", "X"), ("A", "Y"), ("X", "Y")])
    >>> asked = Question(frozenset("Y"), frozenset("X"))
    >>> found = Solver(graph).solve(asked)
    >>> print(found)
    Σ_{A} P(A) P(Y | A, X)
    >>> print(compact(graph, asked, (), found))
    Σ_{A} P(A) P(Y | A, X)
    """
    if answer.expression is None:
        return answer
    needed = find_variables(answer.expression) - asked.variables
    left = [node for node in graph.order if node in needed]
    if not left:
        return answer
    drawn, shown = graph, list(tables)

    def try_without(hidden: Nodes) -> Identification:
        """Identify the effect with ``hidden`` projected out; if found, keep the smaller graph."""
        nonlocal drawn, shown, work
        cost = (len(drawn.nodes) - len(hidden)) ** 2
        if work < cost:
            return Identification(None)
        work -= cost
        smaller, seen = project(drawn, hidden), [table - hidden for table in shown]
        if found := Solver(smaller, seen, work=_QUESTIONS).solve(asked):
            drawn, shown = smaller, seen
        return found

    best = answer
    idle = graph.observed - needed - asked.variables
    if idle and not (best := try_without(idle)):
        return answer
    size = len(left)
    while size:
        start = 0
        while start < len(left):
            if found := try_without(frozenset(left[start : start + size])):
                left, best = left[:start] + left[start + size :], found
            else:
                start += size
        size //= 2
    if not (hidden := graph.observed - asked.variables.union(left)):
        return answer
    return best.after(Step(None, f"{join_names(hidden)} may be hidden", "projection"))


@final
class SmallerSearch:
    """Looks for smaller formulas on one graph; answers to shared questions are kept."""

    def __init__(self, graph: CausalGraph, solver: Solver) -> None:
        self.graph, self._solver = graph, solver
        self._answers: dict[tuple[Question, int], Identification] = {}
        self._separators: dict[Question, dict[Nodes, None]] = {}
        self._failures = _FAILURES
        self._compactions, self._splits = _COMPACTIONS, _SPLITS // len(graph.nodes)
        self._selection = frozenset((graph.selection,)) if graph.selection else frozenset()

    def find_smaller(self, asked: Question, found: Identification) -> Identification:
        """Find a formula of fewer cells that equals ``found``; itself, if it is not large.

        >>> from boundit.graph.text import parse
        >>> ways = "; ".join(f"Z -> A{i} -> X; Z -> B{i} -> Y" for i in range(5))
        >>> graph = parse(f"X -> Y; {ways}")
        >>> asked, solver = Question(frozenset("Y"), frozenset("X")), Solver(graph)
        >>> print(SmallerSearch(graph, solver).find_smaller(asked, solver.solve(asked)))
        Σ_{Z} P(Y | X, Z) P(Z)
        """
        if found.expression is None or not is_large(found.expression) or not self._failures:
            return found
        best = found
        for depth in range(_DEPTH + 1):
            best = min((best, *self.list_equivalents(asked, depth)), key=_measure)
            if best is not found and _measure(best) <= (_ENOUGH, inf):
                return best
        best = self._hide_variables(asked, found, best)
        self._failures -= best is found
        return best

    def _hide_variables(
        self, asked: Question, found: Identification, best: Identification
    ) -> Identification:
        """Find a smaller formula by hiding variables, in the best one or in the first found.

        The best one has few variables left, so that it is quick; the first has more to choose
        from.
        """
        tables = [table.measured for table in self._solver.tables]
        for start in (found,) if best is found else (best, found):
            if self._compactions and (best is found or _measure(best) > (_TOO_MANY, inf)):
                self._compactions -= 1
                best = min(
                    (best, compact(self.graph, asked, tables, start, work=_WORK)), key=_measure
                )
        return best

    def list_equivalents(self, asked: Question, depth: int) -> Iterator[Identification]:
        """Yield formulas for a question as sums over separators, as it stands and lightened.

        The do-calculus, which makes a question lighter, may also turn conditions into actions,
        and these are harder to adjust for.
        """
        light, moves = self._solver.lighten(asked)
        for question, steps in dict.fromkeys(((asked, ()), (light, moves))):
            if question not in self._separators:
                self._separators[question] = dict.fromkeys(self._list_separators(question))
            for through in self._separators[question]:
                if found := self._sum_over(question, through, depth):
                    yield found.after(*steps)

    def _sum_over(self, asked: Question, through: Nodes, depth: int) -> Identification:
        """Write an effect as a sum over some variables, if both factors have formulas."""
        given = asked.context | through
        later = self._answer(replace(asked, context=given), depth)
        if later.expression is None:
            return later
        earlier = self._answer(replace(asked, outcomes=through), depth)
        if earlier.expression is None:
            return earlier
        formula = sum_out(through, multiply(later.expression, earlier.expression))
        step = Step(None, f"sum over {join_names(through)}", "chain rule")
        return Identification(formula, (step, *earlier.steps, *later.steps))

    def _answer(self, asked: Question, depth: int) -> Identification:
        """Answer a factor's question: as it stands in the log or a table, else by a sum.

        Answers are kept.
        """
        key = (asked, depth)
        if key not in self._answers:
            best = self._solver.read_off(asked)
            if not best and depth and self._splits:
                self._splits -= 1
                sums = self.list_equivalents(asked, depth - 1)
                best = min((self._multiply_out(asked, depth - 1), *sums), key=_measure)
            self._answers[key] = best
        return self._answers[key]

    def _multiply_out(self, asked: Question, depth: int) -> Identification:
        """Write the distribution of several outcomes by the chain rule, in a causal order."""
        if len(asked.outcomes) == 1:
            return Identification(None)
        order = [node for node in self.graph.order if node in asked.outcomes]
        steps = [Step(None, f"{', '.join(order)} one after another", "chain rule")]
        parts = list[Expression]()
        for i, node in enumerate(order):
            given = asked.context.union(order[:i])
            one = replace(asked, outcomes=frozenset((node,)), context=given)
            part = self._answer(one, depth)
            if part.expression is None:
                return part
            parts.append(part.expression)
            steps += part.steps
        return Identification(multiply(*parts), tuple(steps))

    def _list_separators(self, asked: Question) -> Iterator[Nodes]:
        """Yield small sets of variables to sum over, covariates before mediators."""
        graph, s = self.graph, self._selection
        y, x, c = asked.outcomes, asked.treatments, asked.context
        behind, ahead = graph.without_edges_out_of(x), graph.without_edges_into(x)
        early = graph.observed - graph.descendants(x)
        pools = [early - find_connected_nodes(graph, s, given=c)] if s else []
        pools += [early & table.safe for table in self._solver.tables] + [early, graph.observed]
        cuts = [(behind, x | s, c, pool) for pool in dict.fromkeys(pools)]
        cuts += [(ahead, x, c, graph.observed), (ahead, s, x | c, graph.observed)]
        for cut, others, include, pool in cuts:
            for ends in ((y, others), (others, y)) if others else ():
                found = smallest_separator(cut, *ends, include=include, within=pool)
                if found is None:
                    break
                if through := found - include:
                    yield through


def _measure(found: Identification) -> tuple[float, int]:
    """Measure a formula by the cells it touches, then by its variables; none is the largest."""
    if found.expression is None:
        return inf, 0
    return count_cells(found.expression), len(find_variables(found.expression))
