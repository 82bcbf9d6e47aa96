"""Bounds under several candidate graphs, of which one is right: the union of their bounds.

Only the right graph's table need hold, so the union holds at the confidence of one table; the
error is not divided. It says nothing of graphs that are not among them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from boundit.core.errors import BounditError, OptionError
from boundit.core.interval import Interval
from boundit.core.message import Message, sort_caveats
from boundit.core.rounding import ROUNDING
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import is_networkx, require_graph
from boundit.results.bound import Bound, Key, RuleRecord
from boundit.results.bound_table import PLAIN, BoundTable
from boundit.results.contrast import Pair
from boundit.results.explanation import RANGE


def read_candidates(given: object) -> dict[str, CausalGraph] | None:
    """Read candidate graphs, by name or in a list; None if one graph is given.

    Raises
    ------
    OptionError
        If the list is empty.
    """
    one = isinstance(given, str | CausalGraph) or is_networkx(given)
    if one or not isinstance(given, Iterable):
        return None
    pairs = given.items() if isinstance(given, Mapping) else enumerate(given, 1)
    named = {
        str(name) if isinstance(given, Mapping) else f"graph {name}": require_graph(graph)
        for name, graph in pairs
    }
    if not named:
        raise OptionError("there is no candidate graph; give at least one")
    return named


def name_graph(error: BounditError, name: str) -> BounditError:
    """Put the name of a candidate graph before what it is refused for."""
    error.message = Message(f"{name}: ", error.message)
    error.args = (str(error.message),)
    return error


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
        caveats=sort_caveats(caveat for t in tables.values() for caveat in t.caveats),
        pooling=PLAIN,
        models="; or ".join(dict.fromkeys(t.models for t in tables.values() if t.models)),
    )


def _require_alike(tables: Mapping[str, BoundTable]) -> BoundTable:
    """Refuse tables that are not about one question; give the first one."""
    if not tables:
        raise OptionError("there is no table to unite; give at least one")
    (first_name, first), *others = tables.items()
    for name, table in others:
        if (table.bounds.keys(), table.confidence) != (first.bounds.keys(), first.confidence):
            raise OptionError(
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
