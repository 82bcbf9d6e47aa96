"""The door: what can be known exactly of ``P(y | do(x), c)``, and by which steps."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations

from boundit.estimand.language.derivation import Recovery, Step
from boundit.estimand.language.expression import find_free_variables
from boundit.estimand.language.simplify import simplify
from boundit.estimand.recovery.compact import compact
from boundit.estimand.recovery.question import Question, lighten
from boundit.estimand.recovery.search import search
from boundit.estimand.recovery.solver import Solver
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.errors import MalformedQuery, OverlappingRoles
from boundit.terms.names import Nodes, sort_names

SEARCHED = 7
"""Up to how many relevant variables the whole do-calculus is searched: about 0.2 s."""

_ID = "ID and IDC are complete (Shpitser and Pearl 2006)"
_RC = "Algorithm 2 with Identify is complete for P(v | S=1) (Correa, Tian and Bareinboim 2019)"


def recover(
    graph: CausalGraph,
    *,
    outcomes: Nodes,
    treatments: Nodes = frozenset(),
    context: Nodes = frozenset(),
    external: Iterable[Nodes] = (),
) -> Recovery:
    """Recover ``P(outcomes | do(treatments), context)`` from the log and unbiased tables.

    The log shows ``P(v | S=1)``, or ``P(v)`` when the graph has no selection node; each set of
    ``external`` adds the law of these variables in the whole population. The answer is false
    when no formula was found, and then says "not recoverable" only where that is proved.

    >>> graph = CausalGraph.of(
    ...     directed=[("X", "Y"), ("Z", "X"), ("Z", "Y"), ("Z", "S")], selection="S"
    ... )
    >>> y, x, z = frozenset("Y"), frozenset("X"), frozenset("Z")
    >>> print(recover(graph, outcomes=y, treatments=x, context=z))
    P(Y | X, Z, S=1)
    >>> print(recover(graph, outcomes=y, treatments=x, external=[z]))
    Σ_{Z} P(Y | X, Z, S=1) P(Z)
    >>> bool(recover(graph, outcomes=y, treatments=x))
    False
    """
    asked = Question(outcomes, treatments, context)
    tables = [names for table in external if (names := graph.require(table))]
    _check_question(graph, asked, tables)
    answer = compact(graph, asked, tables, Solver(graph, tables).solve(asked))
    light, _ = lighten(graph, asked)
    proof = _find_proof(graph, light, tables)
    if not answer and proof is None:
        searched = _search_rules(graph, light, tables)
        answer = searched or searched.after(*answer.steps)
    if answer.expression is None:
        return replace(answer, proof=proof)
    formula = simplify(answer.expression)
    return replace(
        answer, expression=formula, arbitrary=find_free_variables(formula) - asked.variables
    )


def _check_question(graph: CausalGraph, asked: Question, tables: list[Nodes]) -> None:
    graph.require(asked.variables)
    if not asked.outcomes:
        raise MalformedQuery("", "it names no outcome", column=1)
    if graph.selection in asked.variables:
        raise OverlappingRoles(str(graph.selection), "the selection node", "in the query")
    if any(graph.selection in table for table in tables):
        raise OverlappingRoles(str(graph.selection), "the selection node", "in a table")
    roles = (
        ("an outcome", asked.outcomes),
        ("a treatment", asked.treatments),
        ("context", asked.context),
    )
    for (first, some), (second, others) in combinations(roles, 2):
        if both := some & others:
            raise OverlappingRoles(sort_names(both)[0], first, second)


def _find_proof(graph: CausalGraph, light: Question, tables: list[Nodes]) -> str | None:
    """Name the theorem by which a failed search means that there is no formula."""
    if graph.selection is None:
        return _ID
    return _RC if not light.context and not tables else None


def _search_rules(graph: CausalGraph, light: Question, tables: list[Nodes]) -> Recovery:
    """Search the whole do-calculus when what bears on the question is small."""
    relevant = graph.ancestors(light.variables) | graph.selecting()
    if len(relevant & graph.observed) > SEARCHED:
        reason = f"the graph is too large to search: {len(relevant)} nodes bear on the question"
        return Recovery(None, (Step(None, reason, "search"),))
    return search(graph.induced(relevant), light, tables)
