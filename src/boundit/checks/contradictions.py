"""What counts that were made for bounds say against the graph, at hardly any cost.

``check`` reads a log for every implication of a graph. Bounds count some columns anyway, and the
plainest implications about these can be tested on that table: pairs of variables given few
others. The level is strict: a table of bounds should not raise false alarms.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, count

from boundit.checks.independence import (
    CodedRows,
    IndependenceTest,
    correct_by_holm,
    judge_independence,
)
from boundit.core.long_work import FOR_EVER, TimeBudget
from boundit.core.message import Caveat
from boundit.core.names import Nodes, sort_names, write_name
from boundit.counts.table import CountTable
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.groups import NodeGroup
from boundit.graph.implications import Independence, list_apart, state_independence

LEVEL = 0.001
"""The probability of any false alarm on one table."""
MOST_GIVEN = 2
"""Implications given more variables are left to ``check``: their groups are many and thin."""
MOST_WORK = 2 * 10**7
"""How many cells may be looked at, over all implications: a second at most."""
_SHOWN = 3


def note_contradictions(
    graph: CausalGraph,
    table: CountTable,
    budget: TimeBudget = FOR_EVER,
    *,
    binary_reward: bool = False,
    ungrouped: Nodes = frozenset(),
) -> Iterator[Caveat]:
    """Yield a caveat where counts contradict the graph: which pairs, and what to write instead.

    Nothing is said of an exact distribution, of rows that depend on earlier ones or on others of
    their cluster, and of a log whose rows with a null were dropped, which is a selection of its
    own. Variables that are ``ungrouped``, such as arms, are not put into a group.
    """
    if table.exact or table.adaptive or table.clusters is not None or table.dropped:
        return
    found = find_contradictions(graph, table, budget, binary_reward=binary_reward)
    if found:
        shown = "; ".join(_describe(*each) for each in found[:_SHOWN])
        more = len(found) - _SHOWN
        others = f"; and {more} more pair{'s' * (more > 1)}" if more > 0 else ""
        advice = _advise(graph, [statement for statement, _, _ in found], ungrouped)
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
) -> list[tuple[Independence, IndependenceTest, float]]:
    """Find the plain independences of a graph that counts refute, strongest first.

    Each comes with its test and its p-value corrected by Holm. Only those that name the table's
    variables and few of them are tested, and of those as many as the ``budget`` has time for. A
    ``binary_reward`` is a variable too.
    """
    rows = CodedRows.from_table(table, binary_outcome=binary_reward)
    columns, plain = frozenset(rows.levels) & graph.observed, list[Independence]()
    for one, other in list_apart(graph):
        if {one, other} <= columns and not budget.is_over():
            statement = state_independence(graph, one, other, within=columns)
            if statement is not None and len(statement.given) <= MOST_GIVEN:
                plain.append(statement)
    plain.sort(key=lambda each: (len(each.given), sort_names(each.given)))
    plain = plain[: MOST_WORK // max(1, rows.length)]
    outcomes = [
        None if budget.is_over() else judge_independence(rows.stratify(each, drop_nulls=False))
        for each in plain
    ]
    corrected = correct_by_holm([1.0 if found is None else found.p for found in outcomes])
    refuted = [
        (statement, found, p)
        for statement, found, p in zip(plain, outcomes, corrected, strict=True)
        if found is not None and p <= LEVEL
    ]
    return sorted(refuted, key=lambda each: (each[2], -each[1].strength))


def _describe(said: Independence, outcome: IndependenceTest, p: float) -> str:
    """Write which two variables are dependent although the graph implies that they are not."""
    rows = " in the logged rows" if said.selected else ""
    given = f" given {' and '.join(sort_names(said.given))}" if said.given else ""
    size = "< 1e-9" if p < 1e-9 else f"= {p:.1g}"
    return (
        f"{said.one} and {said.other} are dependent{given}{rows} "
        f"(Cramér's V {outcome.strength:.2g}, p {size})"
    )


def _advise(graph: CausalGraph, statements: Sequence[Independence], ungrouped: Nodes) -> str:
    """Say what to write in the graph so that it no longer implies what the log refutes.

    Covariates that are related belong into a group; of other pairs only the reader knows which
    causes which.
    """

    def can_be_grouped(names: Nodes) -> bool:
        apart = all(graph.ancestors(name).isdisjoint(names - {name}) for name in names)
        return apart and ungrouped.isdisjoint(names)

    pairs = [frozenset((s.one, s.other)) for s in statements if not s.given]
    if pairs := [pair for pair in pairs if can_be_grouped(pair)]:
        together = frozenset[str]().union(*pairs)
        names = together if can_be_grouped(together) else pairs[0]
        held = [group for group in graph.groups if group.members & names]
        free = chain(["Related"], (f"Related{i}" for i in count(2)))
        taken = graph.nodes | {group.name for group in graph.groups}
        name = held[0].name if held else next(name for name in free if name not in taken)
        group = NodeGroup(name, names.union(*(group.members for group in held)))
        return f"If they may be related in any way, write '{group}'"
    ends = statements[0].one, statements[0].other
    arrows = " or ".join(
        f"'{write_name(a)} -> {write_name(b)}'"
        for a, b in (ends, ends[::-1])
        if b not in graph.ancestors(a)
    )
    arc = " <-> ".join(map(write_name, ends))
    return f"Add {arrows} or '{arc}'" if arrows else f"Add '{arc}'"
