"""The same answer with fewer variables.

A formula that sums over every ancestor is true and useless: no log fills its cells. What hides
a variable is latent projection, and what is recoverable from the smaller graph is recoverable
from the larger, by the same formula. So variables are hidden, many at a time, then fewer, for
as long as the question can still be answered.
"""

from collections.abc import Sequence

from boundit.estimand.language.expression import find_variables
from boundit.estimand.recovery.derivation import Identification, Step
from boundit.estimand.recovery.question import Question
from boundit.estimand.recovery.solver import Solver
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.projection import project
from boundit.terms.names import Nodes, join_names

WORK = 150_000
"""How much all trials may cost; one costs the square of the nodes it leaves in sight."""
_QUESTIONS = 100
"""What one trial may spend on smaller questions, see ``solver``."""


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
    extra = [node for node in graph.order if node in needed]
    if not extra:
        return answer
    left, trials = extra, _Trials(graph, asked, tables, work)
    if not (best := trials.try_without(graph.observed - needed - asked.variables)):
        return answer
    size = len(left)
    while size:
        start = 0
        while start < len(left):
            if found := trials.try_without(frozenset(left[start : start + size])):
                left, best = left[:start] + left[start + size :], found
            else:
                start += size
        size //= 2
    if not (hidden := graph.observed - asked.variables.union(left)):
        return answer
    return best.after(Step(None, f"{join_names(hidden)} may stay unseen", "projection"))


class _Trials:
    """The graph as it is after every variable that could be hidden was."""

    def __init__(
        self, graph: CausalGraph, asked: Question, tables: Sequence[Nodes], work: int
    ) -> None:
        self.graph, self.asked, self.tables = graph, asked, tables
        self.work = work

    def try_without(self, hidden: Nodes) -> Identification:
        """Recover the effect with ``hidden`` projected out; if found, keep the smaller graph.

        Returns a ``Identification``, without a formula where there is none or the work allowed is
        used up.
        """
        cost = (len(self.graph.nodes) - len(hidden)) ** 2
        if self.work < cost:
            return Identification(None)
        self.work -= cost
        smaller = project(self.graph, hidden)
        tables = [table - hidden for table in self.tables]
        if found := Solver(smaller, tables, work=_QUESTIONS).solve(self.asked):
            self.graph, self.tables = smaller, tables
        return found
