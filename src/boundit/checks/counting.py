"""How the log is counted for many statements: one pass if its rows fit, else a few."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from boundit.counts.cells import GroupBy
from boundit.counts.errors import TooManyCells
from boundit.counts.log import Log
from boundit.counts.table import CountTable
from boundit.graph.implications import Independence
from boundit.terms.names import Nodes, sort_names

ONE_PASS = 2 * 10**6
"""A log of so many rows is brought back whole: its table has no more cells than it has rows."""
SMALL = 2**20
"""Of a longer log, statements share a pass while their table stays below so many cells."""


def find_columns(statement: Independence) -> Nodes:
    """Collect the columns an independence needs: its two variables and those given.

    Called by ``_restate_in_columns`` to see what the log lacks, and by ``group_statements``.
    """
    return statement.given | {statement.one, statement.other}


def count_statements(
    log: Log,
    statements: Sequence[Independence],
    selection: str | None,
    unmarked: Nodes = frozenset(),
) -> Iterator[tuple[list[Independence], CountTable | TooManyCells]]:
    """Count what the statements need, and yield each table with the statements it serves.

    A statement is an independence to test. If the log drops nulls, they are counted as a level
    here: each statement drops them in its own columns only, so that it does not matter which
    others shared its pass. A statement whose table is too large comes with the error.
    ``unmarked`` may be a selection node. Called by ``check``.
    """
    if not statements:
        return
    whole = replace(log, nulls="level") if log.nulls == "drop" else log
    for names, served in _plan_passes(whole, statements, selection):
        try:
            yield (
                served,
                whole.count(sort_names(names), selection=selection, unmarked=unmarked),
            )
        except TooManyCells as error:
            yield served, error


def _plan_passes(
    log: Log, statements: Sequence[Independence], selection: str | None
) -> list[tuple[Nodes, list[Independence]]]:
    """Plan the passes over the log: which columns each counts, and for which independences.

    One pass over a short log, else a few. Called by ``count_statements``.
    """
    everything = frozenset[str]().union(*map(find_columns, statements))
    if log.source.group(GroupBy(()))["lines"].sum() <= ONE_PASS:
        return [(everything, list(statements))]
    sizes = {
        name: len(log.count([name], selection=selection).levels[name])
        for name in sort_names(everything)
    }
    return group_statements(statements, sizes)


def group_statements(
    statements: Sequence[Independence], n_levels: dict[str, int]
) -> list[tuple[Nodes, list[Independence]]]:
    """Group independences that can be tested on one table, so that few passes count them all.

    Statements join, the widest first, where the table grows least and stays small. Returns the
    columns and statements of each table. Called by ``_plan_passes`` for a log too long to be
    brought back whole.

    >>> pairs = [("A", "B"), ("C", "D"), ("B", "C")]
    >>> each = [Independence(*pair, frozenset(), selected=False) for pair in pairs]
    >>> [sort_names(names) for names, _ in group_statements(each, dict.fromkeys("ABCD", 100))]
    [['A', 'B', 'C'], ['C', 'D']]
    """

    def size(names: Nodes) -> int:
        return prod(n_levels[name] for name in names)

    found: list[tuple[Nodes, list[Independence]]] = []
    for statement in sorted(statements, key=lambda s: (-size(find_columns(s)), str(s))):
        needed = find_columns(statement)
        together = [(size(names | needed), i) for i, (names, _) in enumerate(found)]
        fits = [(cells, i) for cells, i in together if cells <= max(SMALL, size(found[i][0]))]
        if not fits:
            found.append((needed, [statement]))
            continue
        _, i = min(fits)
        found[i] = (found[i][0] | needed, [*found[i][1], statement])
    return found
