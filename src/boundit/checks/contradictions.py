"""What counts that were made for bounds say against the graph, at hardly any cost.

``check`` reads a log for every statement of a graph. Bounds count some columns anyway, and the
plainest statements about these can be tested on that table: pairs of variables given few
others. The level is strict: a table of bounds should not cry wolf.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

import numpy as np

from boundit.checks.coded_rows import CodedRows
from boundit.checks.independence import TestOutcome, correct_by_holm, judge_independence
from boundit.checks.strata import stratify
from boundit.core.long_work import FOR_EVER, TimeBudget
from boundit.core.message import Caveat
from boundit.core.names import Nodes, sort_names, write_name
from boundit.counts.table import CountTable
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.groups import NodeGroup
from boundit.graph.implications import Independence, list_apart, state_independence

LEVEL = 0.001
"""The chance of any false alarm on one table."""
MOST_GIVEN = 2
"""Statements given more variables are left to ``check``: their groups are many and thin."""
MOST_WORK = 2 * 10**7
"""How many cells may be looked at, over all statements: a second at most."""
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Contradiction:
    """An independence of the graph that the counts refute; ``p`` is corrected by Holm."""

    statement: Independence
    outcome: TestOutcome
    p: float


def note_contradictions(
    graph: CausalGraph,
    table: CountTable,
    budget: TimeBudget = FOR_EVER,
    *,
    binary_reward: bool = False,
    ungrouped: Nodes = frozenset(),
) -> Iterator[Caveat]:
    """Yield a caveat where counts contradict the graph: which pairs, and what to write instead.

    Nothing is said of an exact law, of rows that hang on earlier ones or on others of their
    cluster, and of a log whose rows with a null were dropped, which is a selection of its own.
    Variables that are ``ungrouped``, such as arms, are not put into a group.
    """
    if table.exact or table.adaptive or table.clusters is not None or table.dropped:
        return
    found = find_contradictions(graph, table, budget, binary_reward=binary_reward)
    if found:
        shown = "; ".join(map(_describe, found[:_SHOWN]))
        more = len(found) - _SHOWN
        others = f"; and {more} more pair{'s' * (more > 1)}" if more > 0 else ""
        advice = _advise(graph, [each.statement for each in found], ungrouped)
        yield Caveat(
            f"The data contradict the graph: {shown}{others}. {advice}. Details: boundit check.",
            kind="critical",
            code="contradiction",
        )


def find_contradictions(
    graph: CausalGraph,
    table: CountTable,
    budget: TimeBudget = FOR_EVER,
    *,
    binary_reward: bool = False,
) -> list[Contradiction]:
    """Find the plain independences of a graph that a table of counts refutes, strongest first.

    Only statements that name the table's variables and few of them are tested, and of those as
    many as the ``budget`` has time for. A ``binary_reward`` is a variable too.
    """
    rows = _add_reward(table) if binary_reward else CodedRows.from_table(table)
    statements = _list_plain(graph, frozenset(rows.levels) & graph.observed, budget)
    statements = statements[: MOST_WORK // max(1, rows.length)]
    if not statements:
        return []
    outcomes = [
        None if budget.is_over() else judge_independence(stratify(rows, each, drop_nulls=False))
        for each in statements
    ]
    corrected = correct_by_holm([1.0 if found is None else found.p for found in outcomes])
    refuted = [
        Contradiction(statement, found, p)
        for statement, found, p in zip(statements, outcomes, corrected, strict=True)
        if found is not None and p <= LEVEL
    ]
    return sorted(refuted, key=lambda each: (each.p, -each.outcome.strength))


def _list_plain(graph: CausalGraph, columns: Nodes, budget: TimeBudget) -> list[Independence]:
    """List what a graph says of two columns given few others, those given fewest first."""
    found = list[Independence]()
    for one, other in list_apart(graph):
        if {one, other} <= columns and not budget.is_over():
            statement = state_independence(graph, one, other, within=columns)
            if statement is not None and len(statement.given) <= MOST_GIVEN:
                found.append(statement)
    return sorted(found, key=lambda each: (len(each.given), sort_names(each.given)))


def _add_reward(table: CountTable) -> CodedRows:
    """Make rows of a count table in which a 0/1 reward is a variable like any other."""
    rows = CodedRows.from_table(table)
    assert table.reward is not None
    assert table.sums is not None
    won = np.rint(table.sums)
    n = np.concatenate([table.n - won, won])
    seen = n > 0
    columns = {name: np.tile(column, 2)[seen] for name, column in rows.columns.items()}
    columns[table.reward] = np.repeat(np.arange(2, dtype=np.uint8), rows.length)[seen]
    levels = {**rows.levels, table.reward: (0, 1)}
    return CodedRows(levels, columns, n[seen], int(seen.sum()))


def _describe(found: Contradiction) -> str:
    """Write which two variables are dependent although the graph implies that they are not."""
    said = found.statement
    rows = " in the logged rows" if said.selected else ""
    given = f" given {' and '.join(sort_names(said.given))}" if said.given else ""
    return (
        f"{said.one} and {said.other} are dependent{given}{rows} "
        f"(Cramér's V {found.outcome.strength:.2g}, p {_write_p(found.p)})"
    )


def _write_p(p: float) -> str:
    """Write a p-value after its sign, no smaller than anyone cares."""
    return "< 1e-9" if p < 1e-9 else f"= {p:.1g}"


def _advise(graph: CausalGraph, statements: Sequence[Independence], ungrouped: Nodes) -> str:
    """Say what to write in the graph so that it no longer says what the log refutes.

    Covariates that go together belong into a group; of other pairs only the reader knows which
    causes which.
    """
    pairs = [{s.one, s.other} for s in statements if not s.given]
    pairs = [pair for pair in pairs if _can_be_grouped(graph, pair, ungrouped)]
    if pairs:
        together = set().union(*pairs)
        members = together if _can_be_grouped(graph, together, ungrouped) else pairs[0]
        group = _make_group(graph, frozenset(members))
        return f"If they may be related in any way, write '{group}'"
    ends = statements[0].one, statements[0].other
    arrows = " or ".join(
        f"'{write_name(a)} -> {write_name(b)}'"
        for a, b in (ends, ends[::-1])
        if b not in graph.ancestors(a)
    )
    arc = " <-> ".join(map(write_name, ends))
    return f"Add {arrows} or '{arc}'" if arrows else f"Add '{arc}'"


def _can_be_grouped(graph: CausalGraph, names: Collection[str], ungrouped: Nodes) -> bool:
    """Tell whether variables can be one group: none is asked about, and none causes another."""
    apart = all(graph.ancestors(name).isdisjoint({*names} - {name}) for name in names)
    return apart and ungrouped.isdisjoint(names)


def _make_group(graph: CausalGraph, names: Nodes) -> NodeGroup:
    """Make the group that variables could be in, with all that share one with them already."""
    held = [group for group in graph.groups if group.members & names]
    members = names.union(*(group.members for group in held))
    free = chain(["Related"], (f"Related{i}" for i in count(2)))
    taken = graph.nodes | {group.name for group in graph.groups}
    name = held[0].name if held else next(name for name in free if name not in taken)
    return NodeGroup(name, members)
