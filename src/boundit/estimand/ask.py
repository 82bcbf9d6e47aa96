"""The public door to recovery: a graph and a question as people write it."""

from collections.abc import Iterable

from boundit.estimand.language.derivation import Recovery
from boundit.estimand.query import EffectQuery, parse_query
from boundit.estimand.recovery.recover import recover as recover_effect
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import require_graph
from boundit.terms.names import Names


def recover(
    graph: CausalGraph, query: EffectQuery | str, *, external: Iterable[Names] = ()
) -> Recovery:
    """Say what the log determines of ``P(y | do(x), z)``, by which formula, and why.

    ``external`` are sets of variables, each measured together without selection. The answer is
    false when no formula was found; its steps say where it stopped. Without a selection node
    this is plain identification (ID and IDC).

    >>> from boundit.graph.text import parse
    >>> front_door = parse("X -> M -> Y; X <-> Y")
    >>> print(recover(front_door, "Y | do(X)"))
    Σ_{M} P(M | X) Σ_{X'} P(X') P(Y | M, X')
    >>> print(recover(parse("X -> Y; X <-> Y"), "Y | do(X)"))
    not recoverable: ID and IDC are complete (Shpitser and Pearl 2006)
    """
    require_graph(graph)
    asked = parse_query(query) if isinstance(query, str) else query
    asked.require_in(graph)
    return recover_effect(
        graph,
        outcomes=frozenset(asked.outcomes),
        treatments=frozenset(asked.treatments),
        context=frozenset(asked.context),
        external=[graph.require(names) for names in external],
    )
