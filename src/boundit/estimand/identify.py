"""Identification: what is known exactly of ``P(y | do(x), c)``, and by which steps.

One way: the structured ways of ``Solver``, made compact; where they fail and no theorem says
that they had to, a search of the whole do-calculus; then the formula in its simplest form.
"""

from collections.abc import Iterable
from dataclasses import replace

from boundit.core.errors import OverlappingRoles
from boundit.core.names import Names
from boundit.estimand.derivation import Identification, Question, Step
from boundit.estimand.expression import simplify
from boundit.estimand.query import EffectQuery, parse_query
from boundit.estimand.search import search
from boundit.estimand.smaller import compact
from boundit.estimand.solver import Solver
from boundit.graph.read import GraphLike, require_graph

SEARCH_LIMIT = 7
"""Up to how many relevant variables the whole do-calculus is searched: about 0.2 s."""

_ID = "ID and IDC are complete (Shpitser and Pearl 2006)"
_RC = "Algorithm 2 with Identify is complete for P(v | S=1) (Correa, Tian and Bareinboim 2019)"


def identify(
    graph: GraphLike, query: EffectQuery | str, *, external: Iterable[Names] = ()
) -> Identification:
    """Identify ``P(y | do(x), z)`` from the log, and from external data if there are any.

    The log shows ``P(v | S=1)``, or ``P(v)`` when the graph has no selection node: then this is
    plain identification (ID and IDC).

    Parameters
    ----------
    graph
        The causal graph.
    query
        The effect, as in ``"Y | do(X)"`` or ``"Y | do(X), Z"``.
    external
        Sets of variables, each measured together without selection.

    Returns
    -------
    Identification
        ``formula`` and ``derivation``, the minimal ``adjustment_sets``, the ``causal_paths``, the
        open ``biasing_paths`` and the testable ``implications``. It is false if no formula was
        found; then the derivation says where it stopped, and ``proof`` names the theorem if there
        can be none.

    Examples
    --------
    >>> print(identify("X -> M -> Y; X <-> Y", "Y | do(X)"))
    Σ_{M} P(M | X) Σ_{X'} P(X') P(Y | M, X')
    >>> found = identify("Z -> X -> Y; Z -> Y", "Y | do(X)")
    >>> found.formula, found.biasing_paths
    ('Σ_{Z} P(Y | X, Z) P(Z)', (('X', '<-', 'Z', '->', 'Y'),))
    >>> [sorted(covariates) for covariates in found.adjustment_sets]
    [['Z']]
    >>> print(identify("X -> Y; X <-> Y", "Y | do(X)"))
    not identified: ID and IDC are complete (Shpitser and Pearl 2006)
    >>> selected = "Z -> X -> Y; Z -> Y; Z -> [S]"
    >>> print(identify(selected, "Y | do(X), Z"))
    P(Y | X, Z, S=1)
    >>> print(identify(selected, "Y | do(X)", external=["Z"]))
    Σ_{Z} P(Y | X, Z, S=1) P(Z)
    """
    graph = require_graph(graph)
    query = parse_query(query) if isinstance(query, str) else query
    query.require_in(graph)
    asked = Question(
        frozenset(query.outcomes), frozenset(query.treatments), frozenset(query.context)
    )
    tables = [names for table in external if (names := graph.require(table))]
    if any(graph.selection in table for table in tables):
        raise OverlappingRoles(str(graph.selection), "the selection node", "in a table")
    solver = Solver(graph, tables)
    answer = compact(graph, asked, tables, solver.solve(asked))
    light, _ = solver.lighten(asked)
    # The completeness theorem that turns "not found" into "none exists".
    proof = _RC if not light.context and not tables else None
    if graph.selection is None:
        proof = _ID
    if not answer and proof is None:
        relevant = graph.ancestors(light.variables) | graph.selecting()
        if len(relevant & graph.observed) > SEARCH_LIMIT:
            reason = (
                f"the graph is too large to search: {len(relevant)} nodes bear on the question"
            )
            searched = Identification(None, (Step(None, reason, "search"),))
        else:
            searched = search(graph.induced(relevant), light, tables)
        answer = searched or searched.after(*answer.steps)
    answer = replace(
        answer, selected=graph.selection is not None, asked=(graph, query, tuple(tables))
    )
    if answer.expression is None:
        return replace(answer, proof=proof)
    formula = simplify(answer.expression)
    arbitrary = formula.free - asked.variables
    return replace(answer, expression=formula, arbitrary=arbitrary)
