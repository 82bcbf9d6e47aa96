"""Conditional effects: only the c-factors that bear on the outcomes have to be known.

``P(y | do(x), c)`` is ``F(y)`` divided by its sum over y, where ``F`` multiplies c-factors. A
factor that shares no varying variable with the outcomes, directly or through other factors, is
the same above and below the line, and cancels unread (Tian's cond-identify). So it is when
the rows are selected, and there the product of all factors with a say in selection is known up
to a constant, which cancels too.

References
----------
J. Tian, Identifying conditional causal effects, UAI 2004.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from boundit.estimand.language.algebra import divide, multiply, sum_out
from boundit.estimand.language.expression import Expression
from boundit.estimand.language.law import Law, write_observed_law
from boundit.estimand.recovery.derivation import Identification, Step
from boundit.estimand.recovery.factorize import factorize
from boundit.estimand.recovery.question import Question
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.formula import Sentence, make_factor
from boundit.terms.names import Nodes

FactorSolver = Callable[[Nodes, CausalGraph], Identification]
NAME = "c-factors"


@dataclass(frozen=True, slots=True)
class _Group:
    """The factors that bear on the outcomes, what is summed, and whether to norm them."""

    factors: tuple[Nodes, ...]
    summed: Nodes
    conditioned: bool


def recover_by_factors(
    graph: CausalGraph, asked: Question, solve: FactorSolver
) -> Identification:
    """Recover each c-factor that bears on the outcomes, and multiply them into the effect.

    A c-factor ``Q[C]`` is the law of nodes joined by bidirected edges when all else is set by
    hand; ``solve`` recovers one.

    >>> from boundit.estimand.recovery.recover_factor import recover_factor
    >>> graph = CausalGraph.of(
    ...     directed=[("X", "Y"), ("Z", "X"), ("Z", "Y"), ("Z", "S")], selection="S"
    ... )
    >>> asked = Question(frozenset("Y"), frozenset("X"), frozenset("Z"))
    >>> print(recover_by_factors(graph, asked, recover_factor))
    P(Y | X, Z, S=1)
    """
    group = _find_needed_factors(graph, asked)
    steps, parts = [_make_opening_step(group, asked)], list[Expression]()
    for factor in group.factors:
        answer = solve(factor, graph)
        steps += answer.steps
        if answer.expression is None:
            return Identification(
                None,
                (*steps, Step(None, Sentence.of(make_factor(factor), " is missing"), NAME)),
            )
        parts.append(answer.expression)
    return Identification(_write_effect(multiply(*parts), group, asked), tuple(steps))


def recover_among_selected(
    graph: CausalGraph, asked: Question, solve: FactorSolver
) -> Identification:
    """Recover an effect among the logged rows, from c-factors known up to a constant.

    Factors that cannot be recovered one by one may be known together but for P(S=1), which
    cancels. Returns the formula and its steps.
    """
    group = _find_needed_factors(graph, asked)
    steps, parts, left = [_make_opening_step(group, asked)], list[Expression](), list[Nodes]()
    for factor in group.factors:
        answer = Identification(None) if graph.selection in factor else solve(factor, graph)
        if answer.expression is None:
            left.append(factor)
        else:
            steps += answer.steps
            parts.append(answer.expression)
    wanted = frozenset[str]().union(*left)
    if wanted:
        law, remaining = _divide_clean(graph, wanted)
        connected = asked.outcomes | group.summed
        if not _is_all_but_constants(remaining, wanted, connected):
            reason = Sentence.of(
                "the logged rows do not give ", make_factor(wanted), " up to a constant"
            )
            return Identification(None, (*steps, Step(None, reason, NAME)))
        steps.append(Step(None, Sentence.of(make_factor(wanted), " up to a constant"), NAME))
        parts.append(law.write_formula())
        # The constant is one to the outcomes alone, so it must be divided away.
        group = replace(group, conditioned=True)
    return Identification(_write_effect(multiply(*parts), group, asked), tuple(steps))


def _find_needed_factors(graph: CausalGraph, asked: Question) -> _Group:
    """Collect the c-factors on which an effect depends: those linked to the outcomes.

    They are linked through variables that are neither set nor given; all others cancel.
    """
    known = asked.list_known(graph)
    whole = factorize(graph, outcomes=asked.outcomes | known, treatments=asked.treatments)
    varying = whole.relevant - known
    scopes = [(part, (part | graph.parents(part)) & varying) for part in whole.parts]
    connected, grown = asked.outcomes, True
    while grown:
        reach = frozenset[str]().union(*(scope for _, scope in scopes if scope & connected))
        grown, connected = not reach <= connected, connected | reach
    factors = tuple(c for c, scope in scopes if scope & connected)
    inside = frozenset[str]().union(*factors)
    return _Group(factors, (inside & varying) - asked.outcomes, bool(inside & known))


def _write_effect(body: Expression, group: _Group, asked: Question) -> Expression:
    """Write an effect from the product of its c-factors: sum it, and norm it where needed.

    ``body`` is the product; with ``group.conditioned`` it is divided by its sum over the
    outcomes.
    """
    top = sum_out(group.summed, body)
    return divide(top, sum_out(asked.outcomes, top)) if group.conditioned else top


def _divide_clean(graph: CausalGraph, wanted: Nodes) -> tuple[Law, CausalGraph]:
    """Reduce the law of the log to the nodes ``wanted`` and those that bear on selection.

    Returns the law that is left and its graph.

    With the ancestors of S first in the order, the conditionals of the other members of a
    c-component T are ``Q[T] / Q[T within An(S)]``: leaving them out turns the first factor into
    the second. The constant is P(S=1) from beginning to end.
    """
    selecting = graph.selecting()
    graph = graph.induced(graph.ancestors(wanted) | selecting)
    law = write_observed_law(graph, (graph.nodes - selecting - wanted, wanted - selecting))
    while True:
        kept = graph.ancestors(wanted & graph.nodes) | selecting
        law, graph = law.marginalize(kept), graph.induced(kept)
        outer = (component - selecting for component in graph.components())
        gone = frozenset[str]().union(*(part for part in outer if not part & wanted))
        if not gone:
            return law, graph
        law, graph = law.divide_by(gone), graph.induced(graph.nodes - gone)


def _is_all_but_constants(graph: CausalGraph, wanted: Nodes, connected: Nodes) -> bool:
    """Tell whether the reduced graph has only the wanted c-factors, and others that cancel.

    Others cancel when they share no variable with ``connected``: to the outcomes they are
    constants.
    """
    for component in graph.components():
        if not component <= wanted and (
            component & wanted or (component | graph.parents(component)) & connected
        ):
            return False
    return wanted <= graph.nodes


def _make_opening_step(group: _Group, asked: Question) -> Step:
    """Make the first step of an explanation: which c-factors the question needs."""
    factors = [part for c in group.factors for part in (", ", make_factor(c))][1:]
    return Step(None, Sentence.of(asked.formula, " needs ", *factors), NAME)
