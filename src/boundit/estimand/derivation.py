"""Questions, the do-calculus on them, and identifications with the steps that led there.

References
----------
J. Pearl, Causal diagrams for empirical research, Biometrika 1995: Rules 1 to 3.
I. Shpitser and J. Pearl, Identification of conditional interventional distributions, UAI 2006:
IDC, which turns conditions into interventions first.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import Any, NamedTuple

from boundit.core.errors import shorten
from boundit.core.formula import (
    Line,
    Sentence,
    StepRecord,
    Term,
    Variable,
    join_line,
    name_variables,
)
from boundit.core.names import Nodes, join_names, sort_names, write_name
from boundit.core.public_names import find_forwarded
from boundit.estimand.expression import Expression
from boundit.estimand.notation import write_latex, write_text
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.implications import Independence, implications
from boundit.graph.paths import list_causal_paths, list_shortest_paths, make_back_door_graph
from boundit.graph.separation import open_walk

MOST_LISTED = 100
MOST_TRIED = 1_000
"""How many adjustment sets, and how many causal and non-causal paths, are looked at."""


@dataclass(frozen=True, slots=True)
class SeparationFact:
    """What a rule of the do-calculus looked at: ``(of _||_ others | given)`` in a cut graph.

    The graph is without the edges ``into`` and ``out_of`` these nodes. ``walk`` is an open walk
    between the two sides, as it would be drawn, where they are not separated; else it is empty.
    """

    of: Nodes
    others: Nodes
    given: Nodes
    into: Nodes = frozenset()
    out_of: Nodes = frozenset()
    walk: tuple[str, ...] = ()

    @property
    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The two sets of variables, each in order."""
        return tuple(sort_names(self.of)), tuple(sort_names(self.others))


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a published algorithm, or one rule, and what it did.

    ``fact`` is the separation that a rule of the do-calculus rests on, or that failed; steps of
    other kinds have none. Two steps are equal when they say the same.

    >>> print(Step(15, "divide by Q[U2, X2]"))
    Algorithm 2, line 15: divide by Q[U2, X2]
    >>> print(Step(None, "sum over Z", "chain rule"))
    chain rule: sum over Z
    """

    line: int | None
    reason: Line
    algorithm: str = "Algorithm 2"
    fact: SeparationFact | None = field(default=None, compare=False, repr=False)

    @property
    def sentence(self) -> Line:
        """The step as a line of an explanation, such as "Rule 3: do(X) may be dropped".

        Formulas in it stay values that pages can render.
        """
        place = self.algorithm if self.line is None else f"{self.algorithm}, line {self.line}"
        return join_line(f"{place}: ", self.reason)

    @property
    def record(self) -> StepRecord:
        """The step as tables keep it: its sentence, and the separation on which it rests."""
        if self.fact is None or self.fact.walk or not all(self.fact.sides):
            return StepRecord(self.sentence)
        sets = (self.fact.given, self.fact.into, self.fact.out_of)
        given, into, out_of = (tuple(sort_names(names)) for names in sets)
        return StepRecord(self.sentence, self.fact.sides, given, into, out_of)

    def __str__(self) -> str:
        return str(self.sentence)


def _is_open(path: tuple[str, ...], given: Nodes, opening: Nodes) -> bool:
    """Whether ``given``, whose ancestors are ``opening``, leave a path open."""
    nodes, signs = path[::2], path[1::2]
    for node, (before, after) in zip(nodes[1:-1], pairwise(signs), strict=True):
        is_collider = before != "<-" and after != "->"
        if (node not in opening) if is_collider else (node in given):
            return False
    return True


class Paths(NamedTuple):
    """The proper ``causal`` paths of an effect, and its ``biasing`` ones: open non-causal paths."""

    causal: tuple[tuple[str, ...], ...]
    biasing: tuple[tuple[str, ...], ...]


def list_paths(graph: CausalGraph, query: EffectQuery | str) -> Paths:
    """List causal and biasing paths, the first ``MOST_LISTED`` of each, shortest first."""
    query = parse_query(query) if isinstance(query, str) else query
    query.require_in(graph)
    roles = {"treatments": query.treatments, "outcomes": query.outcomes}
    causal = list_causal_paths(graph.without_groups(), *roles.values(), most=MOST_LISTED)
    given = frozenset(query.context) | ({graph.selection} if graph.selection else set())
    opening = graph.ancestors(given)
    rest = make_back_door_graph(graph, **roles)
    every = list_shortest_paths(rest, *roles.values(), most=MOST_TRIED)
    biasing = (path for path in every if _is_open(path, given, opening))
    return Paths(tuple(causal), tuple(islice(biasing, MOST_LISTED)))


@dataclass(frozen=True, slots=True)
class Identification:
    """A formula, or none, with the steps that led there; false when there is none.

    ``arbitrary`` are variables of the formula outside the question: any values of theirs give
    the same number. ``proof`` names the completeness theorem that turns "not found" into
    "there is none"; without it only these rules have failed. ``selected`` tells whether the
    graph has a selection node; without one the log is the population. ``asked`` are the graph,
    the query and the external tables of ``identify``.
    """

    expression: Expression | None
    steps: tuple[Step, ...] = ()
    arbitrary: Nodes = frozenset()
    proof: str | None = None
    selected: bool = True
    asked: tuple[CausalGraph, EffectQuery, tuple[Nodes, ...]] | None = field(
        default=None, compare=False, repr=False
    )

    def __bool__(self) -> bool:
        return self.expression is not None

    def after(self, *steps: Step) -> "Identification":
        """Put earlier steps in front of its own."""
        return replace(self, steps=(*steps, *self.steps))

    @property
    def formula(self) -> str | None:
        """The formula as text; None where there is none."""
        return None if self.expression is None else write_text(self.expression)

    @property
    def derivation(self) -> tuple[str, ...]:
        """The steps as lines."""
        return tuple(map(str, self.steps))

    @property
    def adjustment_sets(self) -> tuple[Nodes, ...]:
        """The minimal adjustment sets, the first ``MOST_LISTED`` of them.

        Shares are read off the log, or off one of the external tables.
        """
        if self.asked is None:
            return ()
        from boundit.estimand.adjustment import adjustment_sets  # noqa: PLC0415, it reads this

        graph, query, tables = self.asked
        listed = (
            found.covariates
            for table in tables or (Nodes(),)
            for found in adjustment_sets(graph, query, external=table)
        )
        return tuple(dict.fromkeys(islice(listed, MOST_LISTED)))

    @property
    def causal_paths(self) -> tuple[tuple[str, ...], ...]:
        """The proper causal paths, as they are drawn: the first ``MOST_LISTED``, shortest first."""
        return self._paths.causal

    @property
    def implications(self) -> tuple[Independence, ...]:
        """The testable implications of the graph."""
        return implications(self.asked[0]) if self.asked else ()

    @property
    def biasing_paths(self) -> tuple[tuple[str, ...], ...]:
        """The shortest open non-causal paths from treatments to outcomes, as they are drawn.

        Open in logged rows of one context, without any adjustment: the first ``MOST_LISTED``
        of the ``MOST_TRIED`` shortest non-causal paths.
        """
        return self._paths.biasing

    @property
    def _paths(self) -> Paths:
        return list_paths(*self.asked[:2]) if self.asked else Paths((), ())

    def evaluate(self, log: object, *, external: Iterable[object] = ()) -> Any:
        """Compute the formula from a log and from external data.

        Parameters
        ----------
        log
            Anything ``read_log`` takes.
        external
            Tables without selection, each anything ``read_log`` takes.

        Returns
        -------
        NamedArray
            A number for each combination of levels, in order, of the variables in ``axes``.
        """
        return find_forwarded("evaluate_identified")(self, log, external)

    def latex(self) -> str:
        """Write the formula in LaTeX, or in words that there is none."""
        if self.expression is None:
            return rf"\text{{{self._say_none()}}}"
        return write_latex(self.expression)

    def __repr__(self) -> str:
        return f"<Identification {shorten(str(self), 200)}>"

    def _repr_html_(self) -> str:
        """Show the formula in a notebook, drawn, and the steps that led to it."""
        shown: str = find_forwarded("show_recovery")(self)
        return shown

    def __str__(self) -> str:
        if self.expression is None:
            return self._say_none()
        shown = write_text(self.expression)
        if self.arbitrary:
            shown += f", for any {', '.join(map(write_name, sort_names(self.arbitrary)))}"
        return shown

    def _say_none(self) -> str:
        """Say that none was found, and the theorem if there can be none."""
        return f"not identified: {self.proof}" if self.proof else "not found by these rules"


_MOVES = {
    "Rule 1": "the condition {0} may be dropped",
    "Rule 2": "conditioning on {0} equals do({0})",
    "Rule 3": "do({0}) may be dropped",
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
    bits = graph.bits
    into = bits.mask(asked.treatments)
    given = into | bits.mask(asked.context) | bits.selection
    return not bits.selection & bits.find_boundary(bits.mask(asked.outcomes), given, into)


def may_observe_treatments(graph: CausalGraph, asked: Question) -> bool:
    """Return whether Rule 2 turns all interventions into conditions.

    The question is then a conditional probability.

    >>> graph = CausalGraph.of(directed=[("X", "Y"), ("Z", "X"), ("Z", "Y")])
    >>> may_observe_treatments(graph, Question(frozenset("Y"), frozenset("X"), frozenset("Z")))
    True
    >>> may_observe_treatments(graph, Question(frozenset("Y"), frozenset("X")))
    False
    """
    bits = graph.bits
    treated = bits.mask(asked.treatments)
    given = treated | bits.mask(asked.list_known(graph))
    return not treated & bits.find_boundary(bits.mask(asked.outcomes), given, 0, treated)


def state_rule_1(graph: CausalGraph, asked: Question, walk: tuple[str, ...] = ()) -> Step:
    """Say that the outcomes are separated from selection, or the walk by which they are not."""
    selection = frozenset((graph.selection,)) if graph.selection else frozenset()
    given, into = asked.treatments | asked.context, asked.treatments
    fact = SeparationFact(asked.outcomes, selection, given, into=into, walk=walk)
    said = (
        f" depends on selection [{' '.join(walk)}]" if walk else " does not depend on selection"
    )
    return Step(None, Sentence.of(asked.formula, said), "Rule 1", fact)


def state_rule_2(graph: CausalGraph, asked: Question, reason: Line = "") -> Step:
    """Say that outcomes and treatments are separated in the graph cut out of the treatments."""
    known, treatments = asked.list_known(graph), asked.treatments
    fact = SeparationFact(asked.outcomes, treatments, known, out_of=treatments)
    said = reason or f"do({join_names(treatments)}) equals conditioning"
    return Step(None, said, "Rule 2", fact)


def lighten(graph: CausalGraph, asked: Question) -> tuple[Question, tuple[Step, ...]]:
    """Simplify a question by the do-calculus, for as long as a rule applies.

    Rule 3 drops an intervention, Rule 1 conditions, Rule 2 turns a condition into an
    intervention. Returns the simpler question and the steps.

    >>> chain = CausalGraph.of(directed=[("X", "M"), ("M", "Y")])
    >>> asked = Question(frozenset("Y"), frozenset("X"), frozenset("M"))
    >>> light, steps = lighten(chain, asked)
    >>> print(light, *steps, sep="; ")
    P(Y | do(M)); Rule 3: do(X) may be dropped; Rule 2: conditioning on M equals do(M)
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
    bits, nothing = graph.bits, Nodes()
    y, x = bits.mask(asked.outcomes), bits.mask(asked.treatments)
    context = bits.mask(asked.context)
    known = context | bits.selection if asked.selected else context
    given = known | x
    for node in sort_names(asked.treatments):
        bit = bits.places[node]
        # The graph is cut into a treatment too unless it causes a condition.
        into = x & ~bit if bit & bits.ancestors(known, x & ~bit) else x
        if not bit & bits.find_boundary(y, given, into):
            return "Rule 3", [node], bits.read(into), nothing
    # All idle conditions may go at once: what is outside the boundary does not shape it.
    if context and (idle := context & ~bits.find_boundary(y, given, x)):
        return "Rule 1", sort_names(bits.read(idle)), asked.treatments, nothing
    for node in sort_names(asked.context):
        bit = bits.places[node]
        if not bit & bits.find_boundary(y, given, x, bit):
            return "Rule 2", [node], asked.treatments, frozenset((node,))
    return None
