"""Identification: what can be known exactly of ``P(y | do(x), c)``, and by which steps.

One way: the structured ways of ``Solver``, made compact; where they fail and no theorem says
that they had to, a search of the whole do-calculus; then the formula in its simplest form.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from boundit.estimand.language.expression import find_free_variables
from boundit.estimand.language.simplify import simplify
from boundit.estimand.query import EffectQuery, parse_query
from boundit.estimand.recovery.compact import compact
from boundit.estimand.recovery.derivation import Identification, Step
from boundit.estimand.recovery.question import Question, lighten
from boundit.estimand.recovery.search import search
from boundit.estimand.recovery.solver import Solver
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import GraphLike, require_graph
from boundit.terms.errors import OverlappingRoles
from boundit.terms.names import Names, Nodes

SEARCH_LIMIT = 7
"""Up to how many relevant variables the whole do-calculus is searched: about 0.2 s."""

_ID = "ID and IDC are complete (Shpitser and Pearl 2006)"
_RC = "Algorithm 2 with Identify is complete for P(v | S=1) (Correa, Tian and Bareinboim 2019)"


def identify(
    graph: GraphLike, query: EffectQuery | str, *, external: Iterable[Names] = ()
) -> Identification:
    """Say what the log determines of ``P(y | do(x), z)``, by which formula, and why.

    The log shows ``P(v | S=1)``, or ``P(v)`` when the graph has no selection node: then this is
    plain identification (ID and IDC). ``external`` are sets of variables, each measured
    together without selection. The answer is false when no formula was found, its steps say
    where it stopped, and it says "not identified" only where that is proved.

    >>> from boundit.graph.text import parse
    >>> front_door = parse("X -> M -> Y; X <-> Y")
    >>> print(identify(front_door, "Y | do(X)"))
    Σ_{M} P(M | X) Σ_{X'} P(X') P(Y | M, X')
    >>> print(identify(parse("X -> Y; X <-> Y"), "Y | do(X)"))
    not identified: ID and IDC are complete (Shpitser and Pearl 2006)
    >>> selected = parse("Z -> X -> Y; Z -> Y; Z -> [S]")
    >>> print(identify(selected, "Y | do(X), Z"))
    P(Y | X, Z, S=1)
    >>> print(identify(selected, "Y | do(X)", external=["Z"]))
    Σ_{Z} P(Y | X, Z, S=1) P(Z)
    """
    graph = require_graph(graph)
    asked = _read_question(graph, query)
    tables = _read_tables(graph, external)
    answer = compact(graph, asked, tables, Solver(graph, tables).solve(asked))
    light, _ = lighten(graph, asked)
    proof = _find_proof(graph, light, tables)
    if not answer and proof is None:
        searched = _search_rules(graph, light, tables)
        answer = searched or searched.after(*answer.steps)
    selected = graph.selection is not None
    if answer.expression is None:
        return replace(answer, proof=proof, selected=selected)
    formula = simplify(answer.expression)
    return replace(
        answer,
        expression=formula,
        arbitrary=find_free_variables(formula) - asked.variables,
        selected=selected,
    )


def _read_question(graph: CausalGraph, query: EffectQuery | str) -> Question:
    """Turn the user's query (text or ``EffectQuery``) into sets of nodes, checked by the graph.

    Returns a ``Question``.
    """
    asked = parse_query(query) if isinstance(query, str) else query
    asked.require_in(graph)
    return Question(
        frozenset(asked.outcomes), frozenset(asked.treatments), frozenset(asked.context)
    )


def _read_tables(graph: CausalGraph, external: Iterable[Names]) -> list[Nodes]:
    """Read the variables of each external table, measured without selection, as a set of nodes.

    Raises OverlappingRoles where a table names the selection node.
    """
    tables = [names for table in external if (names := graph.require(table))]
    if any(graph.selection in table for table in tables):
        raise OverlappingRoles(str(graph.selection), "the selection node", "in a table")
    return tables


def _find_proof(graph: CausalGraph, light: Question, tables: Sequence[Nodes]) -> str | None:
    """Name the completeness theorem that turns "not found" into "there is no formula", or None.

    There is one for graphs without selection, and for effects without context and tables.
    """
    if graph.selection is None:
        return _ID
    return _RC if not light.context and not tables else None


def _search_rules(
    graph: CausalGraph, light: Question, tables: Sequence[Nodes]
) -> Identification:
    """Search the do-calculus exhaustively for a formula, if few enough variables bear on it.

    With more than ``SEARCH_LIMIT`` of them it returns a ``Identification`` without a formula.
    """
    relevant = graph.ancestors(light.variables) | graph.selecting()
    if len(relevant & graph.observed) > SEARCH_LIMIT:
        reason = f"the graph is too large to search: {len(relevant)} nodes bear on the question"
        return Identification(None, (Step(None, reason, "search"),))
    return search(graph.induced(relevant), light, tables)
