"""A question with its sets, and the do-calculus that makes it lighter without changing it.

References
----------
J. Pearl, Causal diagrams for empirical research, Biometrika 1995: Rules 1 to 3.
I. Shpitser and J. Pearl, Identification of conditional interventional distributions, UAI 2006:
IDC, which moves conditions into interventions first.
"""

from dataclasses import dataclass, replace

from boundit.estimand.recovery.derivation import Step
from boundit.graph.boundary import find_boundary, find_causes
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.terms.names import Nodes, sort_names, write_name


@dataclass(frozen=True, slots=True)
class Question:
    """``P(outcomes | do(treatments), context)``, of the logged rows when it is ``selected``."""

    outcomes: Nodes
    treatments: Nodes = frozenset()
    context: Nodes = frozenset()
    selected: bool = False

    def __str__(self) -> str:
        bar = [f"do({_write_names(self.treatments)})"] if self.treatments else []
        bar += [_write_names(self.context)] if self.context else []
        bar += ["S=1"] if self.selected else []
        return f"P({_write_names(self.outcomes)}{' | ' * bool(bar)}{', '.join(bar)})"

    @property
    def variables(self) -> Nodes:
        """Every variable it names."""
        return self.outcomes | self.treatments | self.context

    def list_known(self, graph: CausalGraph) -> Nodes:
        """What is given: the context, and that the row was selected if it was."""
        if self.selected and graph.selection:
            return self.context | {graph.selection}
        return self.context


def find_selection_walk(graph: CausalGraph, asked: Question) -> tuple[str, ...] | None:
    """Find a walk by which selection bears on the answer; None when the log is as good.

    None is Rule 1 for S: the logged rows give the same answer as everyone.

    >>> graph = CausalGraph.of(directed=[("Z", "Y"), ("Z", "S")], selection="S")
    >>> find_selection_walk(graph, Question(frozenset("Y")))
    ('Y', '<-', 'Z', '->', 'S')
    """
    cut = graph.without_edges_into(asked.treatments)
    given = asked.treatments | asked.context
    return open_walk(cut, asked.outcomes, graph.selection or (), given=given)


def may_observe_treatments(graph: CausalGraph, asked: Question) -> bool:
    """Tell whether all treatments may be read as conditions (Rule 2).

    >>> graph = CausalGraph.of(directed=[("X", "Y"), ("Z", "X"), ("Z", "Y")])
    >>> may_observe_treatments(graph, Question(frozenset("Y"), frozenset("X"), frozenset("Z")))
    True
    >>> may_observe_treatments(graph, Question(frozenset("Y"), frozenset("X")))
    False
    """
    given, treatments = asked.treatments | asked.list_known(graph), asked.treatments
    return not treatments & find_boundary(graph, asked.outcomes, given=given, out_of=treatments)


def lighten(graph: CausalGraph, asked: Question) -> tuple[Question, tuple[Step, ...]]:
    """Drop what the outcomes do not feel, and turn conditions into interventions.

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
    """Make the first move that is open: drop what can be dropped before exchanging."""
    if (node := _find_by_rule_3(graph, asked)) is not None:
        lighter = replace(asked, treatments=asked.treatments - {node})
        return lighter, [Step(None, f"drop do({write_name(node)})", "Rule 3")]
    if idle := _find_by_rule_1(graph, asked):
        lighter = replace(asked, context=asked.context - idle)
        words = [f"drop the condition {write_name(node)}" for node in sort_names(idle)]
        return lighter, [Step(None, reason, "Rule 1") for reason in words]
    if (node := _find_by_rule_2(graph, asked)) is not None:
        treatments, context = asked.treatments | {node}, asked.context - {node}
        exchanged = replace(asked, treatments=treatments, context=context)
        return exchanged, [Step(None, f"{write_name(node)} may be set by hand", "Rule 2")]
    return None


def _find_by_rule_1(graph: CausalGraph, asked: Question) -> Nodes:
    """Find the conditions to drop: ``(Y _||_ node | X, rest)`` in the graph cut into X.

    All of them may go at once: what is outside the Markov boundary does not shape it.
    """
    return asked.context - _find_dependences(graph, asked, into=asked.treatments)


def _find_by_rule_2(graph: CausalGraph, asked: Question) -> str | None:
    """Find a condition to set: ``(Y _||_ node | X, rest)``, cut into X and out of the node."""
    for node in sort_names(asked.context):
        out_of = frozenset((node,))
        if node not in _find_dependences(graph, asked, into=asked.treatments, out_of=out_of):
            return node
    return None


def _find_by_rule_3(graph: CausalGraph, asked: Question) -> str | None:
    """Find a treatment to drop: cut into the others, and it unless it acts on what is known."""
    known = asked.list_known(graph)
    for node in sort_names(asked.treatments):
        others = asked.treatments - {node}
        acts = node in find_causes(graph, known, into=others)
        if node not in _find_dependences(
            graph, asked, into=others if acts else asked.treatments
        ):
            return node
    return None


def _find_dependences(
    graph: CausalGraph, asked: Question, *, into: Nodes, out_of: Nodes = frozenset()
) -> Nodes:
    """Collect what the outcomes are not separated from by all else that is given or done."""
    given = asked.list_known(graph) | asked.treatments
    return find_boundary(graph, asked.outcomes, given=given, into=into, out_of=out_of)


def _write_names(names: Nodes) -> str:
    return ", ".join(map(write_name, sort_names(names)))
