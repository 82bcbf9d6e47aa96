"""A question with its sets, and the do-calculus that makes it lighter without changing it.

References
----------
J. Pearl, Causal diagrams for empirical research, Biometrika 1995: Rules 1 to 3.
I. Shpitser and J. Pearl, Identification of conditional interventional distributions, UAI 2006:
IDC, which moves conditions into interventions first.
"""

from dataclasses import dataclass, replace

from boundit.estimand.recovery.derivation import SeparationFact, Step
from boundit.graph.boundary import find_boundary, find_causes
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.terms.formula import Term, Variable, name_variables
from boundit.terms.names import Nodes, sort_names, write_name


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
    """Find a walk by which selection tells of the outcomes; None when it tells nothing.

    None is Rule 1 of the do-calculus for S: the logged rows give the same answer as everyone.

    >>> graph = CausalGraph.of(directed=[("Z", "Y"), ("Z", "S")], selection="S")
    >>> find_selection_walk(graph, Question(frozenset("Y")))
    ('Y', '<-', 'Z', '->', 'S')
    """
    cut = graph.without_edges_into(asked.treatments)
    given = asked.treatments | asked.context
    return open_walk(cut, asked.outcomes, graph.selection or (), given=given)


def may_ignore_selection(graph: CausalGraph, asked: Question) -> bool:
    """Tell whether the logged rows give the same answer as everyone (Rule 1 for S).

    It says yes exactly where ``find_selection_walk`` finds none, and cuts no graph to see it.

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
    """Tell whether all treatments may be observed instead of set (Rule 2 of the do-calculus).

    The question is then a conditional probability.

    >>> graph = CausalGraph.of(directed=[("X", "Y"), ("Z", "X"), ("Z", "Y")])
    >>> may_observe_treatments(graph, Question(frozenset("Y"), frozenset("X"), frozenset("Z")))
    True
    >>> may_observe_treatments(graph, Question(frozenset("Y"), frozenset("X")))
    False
    """
    given, treatments = asked.treatments | asked.list_known(graph), asked.treatments
    return not treatments & find_boundary(graph, asked.outcomes, given=given, out_of=treatments)


def lighten(graph: CausalGraph, asked: Question) -> tuple[Question, tuple[Step, ...]]:
    """Simplify a question by the do-calculus: drop actions and conditions that do not matter.

    Conditions are turned into actions where that is the same. Returns the simpler question and
    the steps.

    >>> chain = CausalGraph.of(directed=[("X", "M"), ("M", "Y")])
    >>> asked = Question(frozenset("Y"), frozenset("X"), frozenset("M"))
    >>> light, steps = lighten(chain, asked)
    >>> print(light, *steps, sep="; ")
    P(Y | do(M)); Rule 3: drop do(X); Rule 2: M may be set by hand
    """
    steps = list[Step]()
    while move := _make_first_move(graph, asked):
        asked, made = move
        steps += made
    return asked, tuple(steps)


def _make_first_move(graph: CausalGraph, asked: Question) -> tuple[Question, list[Step]] | None:
    """Simplify a question by one rule of the do-calculus, the first of 3, 1 and 2 that applies.

    Rule 3 drops an action, Rule 1 conditions, Rule 2 turns a condition into an action. Returns
    the simpler question and its steps, None when no rule applies.
    """
    if (idle := _find_by_rule_3(graph, asked)) is not None:
        lighter = replace(asked, treatments=asked.treatments - idle.others)
        return lighter, [Step(None, f"drop do({_write_names(idle.others)})", "Rule 3", idle)]
    if facts := _find_by_rule_1(graph, asked):
        gone = frozenset[str]().union(*(fact.others for fact in facts))
        lighter = replace(asked, context=asked.context - gone)
        return lighter, [
            Step(None, f"drop the condition {_write_names(fact.others)}", "Rule 1", fact)
            for fact in facts
        ]
    if (same := _find_by_rule_2(graph, asked)) is not None:
        treatments, context = asked.treatments | same.others, asked.context - same.others
        exchanged = replace(asked, treatments=treatments, context=context)
        reason = f"{_write_names(same.others)} may be set by hand"
        return exchanged, [Step(None, reason, "Rule 2", same)]
    return None


def _find_by_rule_1(graph: CausalGraph, asked: Question) -> list[SeparationFact]:
    """Find the conditions to drop: ``(Y _||_ node | X, rest)`` in the graph cut into X.

    Returns the separation of each. All of them may go at once: what is outside the Markov
    boundary does not shape it.
    """
    idle = asked.context - _find_dependences(graph, asked, into=asked.treatments)
    return [
        _state_separation(graph, asked, node, into=asked.treatments)
        for node in sort_names(idle)
    ]


def _find_by_rule_2(graph: CausalGraph, asked: Question) -> SeparationFact | None:
    """Find a condition that may be set instead: ``(Y _||_ node | X, rest)`` once it is cut.

    The graph is cut into X and out of the node. Returns the separation, None when there is no
    such condition.
    """
    for node in sort_names(asked.context):
        out_of = frozenset((node,))
        if node not in _find_dependences(graph, asked, into=asked.treatments, out_of=out_of):
            return _state_separation(graph, asked, node, into=asked.treatments, out_of=out_of)
    return None


def _find_by_rule_3(graph: CausalGraph, asked: Question) -> SeparationFact | None:
    """Find a treatment to drop, since setting it does not act on the outcomes.

    The graph is cut into the other treatments, and into this one unless it causes a condition.
    Returns the separation that says so, None when every treatment acts.
    """
    known = asked.list_known(graph)
    for node in sort_names(asked.treatments):
        others = asked.treatments - {node}
        acts = node in find_causes(graph, known, into=others)
        into = others if acts else asked.treatments
        if node not in _find_dependences(graph, asked, into=into):
            return _state_separation(graph, asked, node, into=into)
    return None


def _state_separation(
    graph: CausalGraph, asked: Question, node: str, *, into: Nodes, out_of: Nodes = frozenset()
) -> SeparationFact:
    """State that the outcomes are separated from a node, in the graph cut into and out of sets.

    Returns the fact that a step of an explanation carries.
    """
    given = (asked.list_known(graph) | asked.treatments) - {node}
    return SeparationFact(asked.outcomes, frozenset((node,)), given, into, out_of)


def state_rule_1(
    graph: CausalGraph, asked: Question, walk: tuple[str, ...] = ()
) -> SeparationFact:
    """State as a fact that selection tells nothing of the outcomes, or by which walk it does."""
    selection = frozenset((graph.selection,)) if graph.selection else frozenset()
    given = asked.treatments | asked.context
    return SeparationFact(asked.outcomes, selection, given, into=asked.treatments, walk=walk)


def state_rule_2(graph: CausalGraph, asked: Question) -> SeparationFact:
    """State as a fact that all treatments may be observed instead of set (Rule 2).

    The fact is the separation of outcomes and treatments in the graph cut out of these.
    """
    known, treatments = asked.list_known(graph), asked.treatments
    return SeparationFact(asked.outcomes, treatments, known, out_of=treatments)


def _find_dependences(
    graph: CausalGraph, asked: Question, *, into: Nodes, out_of: Nodes = frozenset()
) -> Nodes:
    """Collect the conditions and treatments that the outcomes depend on in the cut graph."""
    given = asked.list_known(graph) | asked.treatments
    return find_boundary(graph, asked.outcomes, given=given, into=into, out_of=out_of)


def _write_names(names: Nodes) -> str:
    """Write a set of variables as text, in order, commas between."""
    return ", ".join(map(write_name, sort_names(names)))
