"""Bounds that hold if any one of several graphs is right: the union of their bounds.

Only the right graph's table need hold, so the union holds at the confidence of one table; the
error is not shared out. It says nothing of graphs that are not among them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import permutations
from typing import TypeVar, Unpack

from boundit.bounds.confounding.limits import ConfoundingLimits
from boundit.bounds.request import BoundRequest, read_bandit_query, read_request
from boundit.decisions.stress.facts import Facts
from boundit.decisions.stress.rival_tables import RivalTables
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.nx import is_networkx
from boundit.graph.read import GraphLike, require_graph
from boundit.terms.bound import Bound, Key, RuleRecord
from boundit.terms.bound_table import PLAIN, BoundTable
from boundit.terms.contrast import Pair
from boundit.terms.errors import BounditError
from boundit.terms.explanation import RANGE
from boundit.terms.interval import Interval
from boundit.terms.long_work import Progress, TimeBudget, follow_progress
from boundit.terms.message import CRITICAL, Message, Note
from boundit.terms.names import Nodes
from boundit.terms.renamed import refuse_renamed
from boundit.terms.rounding import ROUNDING

_Said = TypeVar("_Said", str, Note)


class NoRivals(BounditError):
    """Nothing to unite, or tables that are not about the same question."""


@refuse_renamed
def bound_rivals(
    graphs: Mapping[str, GraphLike] | Iterable[GraphLike],
    query: EffectQuery | str,
    log: object,
    *,
    progress: Progress | bool | None = None,
    **facts: Unpack[Facts],
) -> BoundTable:
    """Bound what every arm would earn if any one of several rival graphs is right.

    Each end is the outermost of all graphs, and its rule names the graph that set it; of two
    arms the largest difference of all graphs is kept. The confidence is that of one table.

    Parameters
    ----------
    graphs
        The rivals, by name or in a list; they share the variables of the query.
    query, log
        What is asked, and anything ``read_log`` takes. It is read once for all graphs.
    progress
        True for a bar on stderr, or a function of (message, done, total).
    facts
        The options of ``derive_bounds``; they must hold under every graph.

    Examples
    --------
    >>> from boundit.graph.text import parse
    >>> rows = {"X": [0, 0, 1, 1] * 99, "Y": [0, 1, 1, 1] * 99}
    >>> rivals = {"clean": parse("X -> Y"), "confounded": parse("X -> Y; X <-> Y")}
    >>> found = bound_rivals(rivals, "Y | do(X)", rows, confidence=None)
    >>> print(found)
    X  lower  upper  n    by
    0  0.25   0.75   198  confounded: natural bounds on X
    1  0.5    1      198  confounded: natural bounds on X / whole range
    """
    if isinstance(graphs, str) or is_networkx(graphs) or not isinstance(graphs, Iterable):
        kind = type(graphs).__name__
        raise NoRivals(f"rivals are a list of graphs, or graphs by name, found {kind}")
    named = _name_graphs(graphs)
    if not named:
        raise NoRivals("there is no graph to bound; give at least one")
    first = next(iter(named.values()))
    with follow_progress(progress) as tell:
        return unite_rivals(read_request(first, query, log, **facts), named, progress=tell)


def unite_rivals(
    request: BoundRequest, named: Mapping[str, CausalGraph], *, progress: Progress
) -> BoundTable:
    """Bound the question of a request under each of several graphs, and unite the tables.

    The request was read under the first graph.
    """
    budget = TimeBudget(request.time_limit)
    for name, graph in named.items():
        with _name_refusal(name):
            read_bandit_query(graph, request.query)
            request.facts.require_in(graph)
            ConfoundingLimits.from_option(request.limits.by_edge, graph)
    tables = RivalTables.of(request, Nodes().union(*(graph.nodes for graph in named.values())))
    found = dict[str, BoundTable]()
    for done, (name, graph) in enumerate(named.items()):
        progress(f"bound {name}", done, len(named))
        with _name_refusal(name):
            found[name] = tables.derive(graph, budget)
    return unite_tables(found)


@contextmanager
def _name_refusal(name: str) -> Iterator[None]:
    """Put the name of a rival graph before what it is refused for."""
    try:
        yield
    except BounditError as error:
        error.message = Message(f"{name}: ", error.message)
        error.args = (str(error.message),)
        raise


def unite_tables(tables: Mapping[str, BoundTable]) -> BoundTable:
    """Unite tables of one question: for every row the hull, which holds if any table does.

    Reasons keep the name of the table that set each end.
    """
    first = _require_alike(tables)
    bounds = {
        key: _unite_rows({name: table.bounds[key] for name, table in tables.items()})
        for key in first.bounds
    }
    compared = {
        key: Interval(min(e.lower for e in ends), max(e.upper for e in ends))
        for key in first.intervals
        if (ends := [table.find_compared(*key) for table in tables.values()])
    }
    low, high = zip(*(table.outcome_range for table in tables.values()), strict=True)
    return replace(
        first,
        bounds=bounds,
        outcome_range=(min(low), max(high)),
        rules=dict(_rename_rules(tables)),
        contrasts=dict(_unite_contrasts(list(tables.values()), compared)),
        compared=compared,
        caveats=_put_first(c for t in tables.values() for c in t.caveats),
        notes=_put_first(note for t in tables.values() for note in t.notes),
        pooling=PLAIN,
        models="; or ".join(dict.fromkeys(t.models for t in tables.values() if t.models)),
    )


def _put_first(said: Iterable[_Said]) -> tuple[_Said, ...]:
    """List caveats of several tables once each, critical ones first."""
    once = dict.fromkeys(said)
    return tuple(sorted(once, key=lambda note: not str(note).startswith(CRITICAL)))


def _require_alike(tables: Mapping[str, BoundTable]) -> BoundTable:
    """Refuse tables that are not about one question; give the first one."""
    if not tables:
        raise NoRivals("there is no table to unite; give at least one")
    (first_name, first), *others = tables.items()
    for name, table in others:
        if (table.bounds.keys(), table.confidence) != (first.bounds.keys(), first.confidence):
            raise NoRivals(
                f"{first_name} and {name} are not about the same arms and contexts at the same "
                "confidence"
            )
    return first


def _unite_rows(rows: Mapping[str, Bound]) -> Bound:
    """Unite the bounds of one arm and context, with the names of those that set the ends.

    The first of several that agree is named.
    """
    low = min(rows, key=lambda name: rows[name].lower)
    high = max(rows, key=lambda name: rows[name].upper)
    one, other = rows[low], rows[high]
    marks = [mark for row in rows.values() for mark in row.marks]
    ends = (("its lower end", one.lower_rule, low), ("its upper end", other.upper_rule, high))
    open_ends = [f"{end} under {name}" for end, rule, name in ends if rule == RANGE]
    return Bound(
        one.lower,
        other.upper,
        min(row.lower_estimate for row in rows.values()),
        max(row.upper_estimate for row in rows.values()),
        one.n,
        _name_rule(low, one.lower_rule),
        _name_rule(high, other.upper_rule),
        one.lower_cells,
        other.upper_cells,
        tuple(dict.fromkeys([*marks, *(f"nothing bounds {end}" for end in open_ends)])),
    )


def _unite_contrasts(
    tables: Sequence[BoundTable], compared: Mapping[Key, Interval]
) -> Iterator[tuple[Pair, float]]:
    """Yield the largest difference of two arms under any table, where that is less than apart."""
    arms = tables[0].arms
    for context in tables[0].contexts:
        if not any(table.find_contrasts(context) for table in tables):
            continue
        for one, other in permutations(arms, 2):
            most = max(t.find_largest_difference(one, other, context) for t in tables)
            if most < compared[one, context].upper - compared[other, context].lower - ROUNDING:
                yield (context, one, other), most


def _rename_rules(tables: Mapping[str, BoundTable]) -> Iterator[tuple[str, RuleRecord]]:
    """Yield the rules of all tables, with the tables' names."""
    for name, table in tables.items():
        for rule, record in table.rules.items():
            named = _name_rule(name, rule)
            yield named, replace(record, name=named)


def _name_rule(table: str, rule: str) -> str:
    """Put the name of a table before that of a rule; the reward's range needs none."""
    return rule if rule == RANGE else f"{table}: {rule}"


def _name_graphs(
    graphs: Mapping[str, GraphLike] | Iterable[GraphLike],
) -> dict[str, CausalGraph]:
    """Read rival graphs, and name those of a list by their place."""
    if isinstance(graphs, Mapping):
        return {name: require_graph(graph) for name, graph in graphs.items()}
    return {f"graph {i}": require_graph(graph) for i, graph in enumerate(graphs, start=1)}
