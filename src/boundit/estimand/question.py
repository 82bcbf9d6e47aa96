"""The do-calculus on a question with its sets: Rules 1 to 3, and what they make lighter.

References
----------
J. Pearl, Causal diagrams for empirical research, Biometrika 1995: Rules 1 to 3.
I. Shpitser and J. Pearl, Identification of conditional interventional distributions, UAI 2006:
IDC, which turns conditions into interventions first.
"""

from dataclasses import dataclass, replace

from boundit.core.formula import Term, Variable, name_variables
from boundit.core.names import Nodes, sort_names, write_name
from boundit.estimand.derivation import SeparationFact, Step
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import find_boundary, find_causes, open_walk

_MOVES = {
    "Rule 1": "drop the condition {}",
    "Rule 2": "{} may be set by hand",
    "Rule 3": "drop do({})",
}


@dataclass(frozen=True, slots=True)
class Question:
    """``P(outcomes | do(treatments), context)``, of the logged rows when it is ``selected``."""

    outcomes: Nodes
    treatments: Nodes = frozenset()
    context: Nodes = frozenset()
    selected: bool = False

    @property
    def formula(self) -> Term:
        """The question as a formula ``P(y | do(x), c)``, which text and HTML pages render."""
        done = (Term("do", name_variables(self.treatments)),) if self.treatments else ()
        selected = (Variable("S", value="1"),) if self.selected else ()
        given = (*done, *name_variables(self.context), *selected)
        return Term("P", name_variables(self.outcomes), given)

    def __str__(self) -> str:
        return str(self.formula)

    @property
    def variables(self) -> Nodes:
        """Every variable the question names: outcomes, treatments and context."""
        return self.outcomes | self.treatments | self.context

    def list_known(self, graph: CausalGraph) -> Nodes:
        """List what is given: the context, and the selection node where rows are selected."""
        if self.selected and graph.selection:
            return self.context | {graph.selection}
        return self.context


def find_selection_walk(graph: CausalGraph, asked: Question) -> tuple[str, ...] | None:
    """Find an open walk from the outcomes to selection; None if Rule 1 drops ``S = 1``.

    None means that logged rows and the population have the same answer.

    >>> graph = CausalGraph.of(directed=[("Z", "Y"), ("Z", "S")], selection="S")
    >>> find_selection_walk(graph, Question(frozenset("Y")))
    ('Y', '<-', 'Z', '->', 'S')
    """
    cut = graph.without_edges_into(asked.treatments)
    given = asked.treatments | asked.context
    return open_walk(cut, asked.outcomes, graph.selection or (), given=given)


def may_ignore_selection(graph: CausalGraph, asked: Question) -> bool:
    """Return whether Rule 1 drops ``S = 1``: ``find_selection_walk`` finds none.

    >>> graph = CausalGraph.of(directed=[("Z", "Y"), ("Z", "S")], selection="S")
    >>> may_ignore_selection(graph, Question(frozenset("Y"), context=frozenset("Z")))
    True
    """
    if graph.selection is None:
        return True
    given = asked.treatments | asked.context | {graph.selection}
    found = find_boundary(graph, asked.outcomes, given=given, into=asked.treatments)
    return graph.selection not in found


def may_observe_treatments(graph: CausalGraph, asked: Question) -> bool:
    """Return whether Rule 2 turns all interventions into conditions.

    The question is then a conditional probability.

    >>> graph = CausalGraph.of(directed=[("X", "Y"), ("Z", "X"), ("Z", "Y")])
    >>> may_observe_treatments(graph, Question(frozenset("Y"), frozenset("X"), frozenset("Z")))
    True
    >>> may_observe_treatments(graph, Question(frozenset("Y"), frozenset("X")))
    False
    """
    given, treatments = asked.treatments | asked.list_known(graph), asked.treatments
    return not treatments & find_boundary(graph, asked.outcomes, given=given, out_of=treatments)


def state_rule_1(
    graph: CausalGraph, asked: Question, walk: tuple[str, ...] = ()
) -> SeparationFact:
    """State that the outcomes are separated from selection, or the walk by which they are not."""
    selection = frozenset((graph.selection,)) if graph.selection else frozenset()
    given = asked.treatments | asked.context
    return SeparationFact(asked.outcomes, selection, given, into=asked.treatments, walk=walk)


def state_rule_2(graph: CausalGraph, asked: Question) -> SeparationFact:
    """State that outcomes and treatments are separated in the graph cut out of the treatments."""
    known, treatments = asked.list_known(graph), asked.treatments
    return SeparationFact(asked.outcomes, treatments, known, out_of=treatments)


def lighten(graph: CausalGraph, asked: Question) -> tuple[Question, tuple[Step, ...]]:
    """Simplify a question by the do-calculus, for as long as a rule applies.

    Rule 3 drops an intervention, Rule 1 conditions, Rule 2 turns a condition into an
    intervention. Returns the simpler question and the steps.

    >>> chain = CausalGraph.of(directed=[("X", "M"), ("M", "Y")])
    >>> asked = Question(frozenset("Y"), frozenset("X"), frozenset("M"))
    >>> light, steps = lighten(chain, asked)
    >>> print(light, *steps, sep="; ")
    P(Y | do(M)); Rule 3: drop do(X); Rule 2: M may be set by hand
    """
    steps = list[Step]()
    while move := _find_move(graph, asked):
        rule, names, into, out_of = move
        known, moved = asked.list_known(graph) | asked.treatments, frozenset(names)
        for name in names:
            given, other = known - {name}, frozenset((name,))
            fact = SeparationFact(asked.outcomes, other, given, into, out_of)
            steps.append(Step(None, _MOVES[rule].format(write_name(name)), rule, fact))
        treatments = asked.treatments | moved if rule == "Rule 2" else asked.treatments - moved
        asked = replace(asked, treatments=treatments, context=asked.context - moved)
    return asked, tuple(steps)


def _find_move(
    graph: CausalGraph, asked: Question
) -> tuple[str, list[str], Nodes, Nodes] | None:
    """Find the first of Rules 3, 1 and 2 that applies: its name, and the nodes that it moves.

    Returned with the nodes into which, and out of which, it cuts the edges.
    """
    y, x, known = asked.outcomes, asked.treatments, asked.list_known(graph)
    given, nothing = known | x, Nodes()
    for node in sort_names(x):
        # The graph is cut into a treatment too unless it causes a condition.
        others = x - {node}
        into = others if node in find_causes(graph, known, into=others) else x
        if node not in find_boundary(graph, y, given=given, into=into):
            return "Rule 3", [node], into, nothing
    # All idle conditions may go at once: what is outside the boundary does not shape it.
    if idle := asked.context - find_boundary(graph, y, given=given, into=x):
        return "Rule 1", sort_names(idle), x, nothing
    for node in sort_names(asked.context):
        out_of = frozenset((node,))
        if node not in find_boundary(graph, y, given=given, into=x, out_of=out_of):
            return "Rule 2", [node], x, out_of
    return None
