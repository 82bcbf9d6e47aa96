"""A question with its sets, and the do-calculus that makes it lighter without changing it.

References
----------
J. Pearl, Causal diagrams for empirical research, Biometrika 1995: Rules 1 to 3.
I. Shpitser and J. Pearl, Identification of conditional interventional distributions, UAI 2006:
IDC, which moves conditions into interventions first.
"""

from dataclasses import dataclass, replace

from boundit.estimand.recovery import Step
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.terms.names import Nodes, in_order, spelled


@dataclass(frozen=True, slots=True)
class Question:
    """``P(outcomes | do(treatments), context)``, of the logged rows when it is ``selected``."""

    outcomes: Nodes
    treatments: Nodes = frozenset()
    context: Nodes = frozenset()
    selected: bool = False

    def __str__(self) -> str:
        bar = [f"do({_spelled(self.treatments)})"] if self.treatments else []
        bar += [_spelled(self.context)] if self.context else []
        bar += ["S=1"] if self.selected else []
        return f"P({_spelled(self.outcomes)}{' | ' * bool(bar)}{', '.join(bar)})"

    @property
    def variables(self) -> Nodes:
        """Every variable it names."""
        return self.outcomes | self.treatments | self.context

    def known(self, graph: CausalGraph) -> Nodes:
        """What is given: the context, and that the row was selected if it was."""
        if self.selected and graph.selection:
            return self.context | {graph.selection}
        return self.context


def feels_selection(graph: CausalGraph, asked: Question) -> tuple[str, ...] | None:
    """Find a walk by which selection bears on the answer; None when the log is as good.

    None is Rule 1 for S: the logged rows give the same answer as everyone.

    >>> graph = CausalGraph.of(directed=[("Z", "Y"), ("Z", "S")], selection="S")
    >>> feels_selection(graph, Question(frozenset("Y")))
    ('Y', '<-', 'Z', '->', 'S')
    """
    cut = graph.without_edges_into(asked.treatments)
    given = asked.treatments | asked.context
    return open_walk(cut, asked.outcomes, graph.selection or (), given=given)


def doing_is_seeing(graph: CausalGraph, asked: Question) -> bool:
    """Tell whether all treatments may be read as conditions (Rule 2).

    >>> graph = CausalGraph.of(directed=[("X", "Y"), ("Z", "X"), ("Z", "Y")])
    >>> doing_is_seeing(graph, Question(frozenset("Y"), frozenset("X"), frozenset("Z")))
    True
    >>> doing_is_seeing(graph, Question(frozenset("Y"), frozenset("X")))
    False
    """
    cut = graph.without_edges_out_of(asked.treatments)
    return open_walk(cut, asked.outcomes, asked.treatments, given=asked.known(graph)) is None


def lightened(graph: CausalGraph, asked: Question) -> tuple[Question, tuple[Step, ...]]:
    """Drop what the outcomes do not feel, and turn conditions into interventions.

    >>> chain = CausalGraph.of(directed=[("X", "M"), ("M", "Y")])
    >>> asked = Question(frozenset("Y"), frozenset("X"), frozenset("M"))
    >>> light, steps = lightened(chain, asked)
    >>> print(light, *steps, sep="; ")
    P(Y | do(M)); Rule 3: drop do(X); Rule 2: M may be set by hand
    """
    steps = list[Step]()
    while move := _first_move(graph, asked):
        asked, step = move
        steps.append(step)
    return asked, tuple(steps)


def _first_move(graph: CausalGraph, asked: Question) -> tuple[Question, Step] | None:
    """Make the first move that is open: drop what can be dropped before exchanging."""
    for rule, number, words in (
        (_rule_3, 3, "drop do({})"),
        (_rule_1, 1, "drop the condition {}"),
        (_rule_2, 2, "{} may be set by hand"),
    ):
        for node in in_order(asked.treatments | asked.context):
            if (after := rule(graph, asked, node)) is not None:
                return after, Step(None, words.format(spelled(node)), f"Rule {number}")
    return None


def _rule_1(graph: CausalGraph, asked: Question, node: str) -> Question | None:
    """Drop a condition: ``(Y _||_ node | X, rest)`` in the graph cut into X."""
    if node not in asked.context:
        return None
    lighter = replace(asked, context=asked.context - {node})
    cut = graph.without_edges_into(asked.treatments)
    given = lighter.known(graph) | asked.treatments
    return lighter if open_walk(cut, asked.outcomes, node, given=given) is None else None


def _rule_2(graph: CausalGraph, asked: Question, node: str) -> Question | None:
    """Set a condition by hand: ``(Y _||_ node | X, rest)``, cut into X and out of the node."""
    if node not in asked.context:
        return None
    rest = replace(asked, context=asked.context - {node})
    cut = graph.without_edges_into(asked.treatments).without_edges_out_of(node)
    given = rest.known(graph) | asked.treatments
    if open_walk(cut, asked.outcomes, node, given=given) is not None:
        return None
    return replace(rest, treatments=asked.treatments | {node})


def _rule_3(graph: CausalGraph, asked: Question, node: str) -> Question | None:
    """Drop a treatment: cut into the others, and into it unless it acts on what is known."""
    if node not in asked.treatments:
        return None
    lighter = replace(asked, treatments=asked.treatments - {node})
    known = asked.known(graph)
    cut = graph.without_edges_into(lighter.treatments)
    if node not in cut.ancestors(known):
        cut = cut.without_edges_into(node)
    given = known | lighter.treatments
    return lighter if open_walk(cut, asked.outcomes, node, given=given) is None else None


def _spelled(names: Nodes) -> str:
    return ", ".join(map(spelled, in_order(names)))
