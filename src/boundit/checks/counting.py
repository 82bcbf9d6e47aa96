"""How the log is counted for many statements: one pass if its rows fit, else a few."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

from boundit.counts.cells import GroupBy
from boundit.counts.errors import TooManyCells
from boundit.counts.log import Log
from boundit.counts.table import CountTable
from boundit.graph.implications import Independence
from boundit.terms.names import Nodes, sort_names
from boundit.terms.time_budget import FOR_EVER, TimeBudget

ONE_PASS = 2 * 10**6
"""A log of so many rows is brought back whole: its table has no more cells than it has rows."""
SMALL = 2**20
"""Of a longer log, statements share a pass while their table stays below so many cells."""
_BYTES_PER_CODE = 32
"""What a code takes while a table is made: as a key of the engine, coded, sorted and copied."""
_BYTES_PER_CELL = 64
"""What else a cell takes: its count, and where it goes."""


def find_columns(statement: Independence) -> Nodes:
    """Collect the columns an independence needs: its two variables and those given.

    Called by ``_restate_in_columns`` to see what the log lacks, and by ``group_statements``.
    """
    return statement.given | {statement.one, statement.other}


@dataclass(frozen=True, slots=True)
class DoesNotFit:
    """A table that was not counted: it would take ``size`` bytes, more than the limit."""

    size: int


Counted: TypeAlias = CountTable | TooManyCells | DoesNotFit


def count_statements(
    log: Log,
    statements: Sequence[Independence],
    selection: str | None,
    unmarked: Nodes = frozenset(),
    *,
    memory: int,
    time: TimeBudget = FOR_EVER,
) -> Iterator[tuple[list[Independence], Counted]]:
    """Count what the statements need, and yield each table with the statements it serves.

    A statement is an independence to test. If the log drops nulls, they are counted as a level
    here: each statement drops them in its own columns only, so that it does not matter which
    others shared its pass. A statement whose table is too large comes with the error, or with
    its size if it takes more than ``memory`` bytes; none is counted once the ``time`` is over.
    ``unmarked`` may be a selection node. Called by ``check``.
    """
    if not statements or time.is_over():
        return
    whole = replace(log, nulls="level") if log.nulls == "drop" else log
    for names, served, size in _plan_passes(whole, statements, selection, memory):
        if time.is_over():
            return
        if size > memory:
            yield served, DoesNotFit(size)
            continue
        try:
            yield (
                served,
                whole.count(sort_names(names), selection=selection, unmarked=unmarked),
            )
        except TooManyCells as error:
            yield served, error


@dataclass(frozen=True, slots=True)
class _Shelf:
    """How much a table may hold: ``rows`` are logged, and its memory is limited."""

    rows: int
    memory: int

    def estimate(self, n_cells: int, n_columns: int) -> int:
        """Estimate the bytes that it takes to count a table of so many cells and columns.

        No table has more cells than the log has rows. Called by ``_Shelf.has_room`` and
        ``_plan_passes``.
        """
        return min(n_cells, self.rows) * (_BYTES_PER_CODE * n_columns + _BYTES_PER_CELL)

    def has_room(self, n_cells: int, n_columns: int, most: int) -> bool:
        """Tell whether statements may share a table of so many cells and columns.

        Where all rows can be brought back cells do not matter; of a longer log ``most`` may be.
        Called by ``group_statements``.
        """
        small = self.rows <= ONE_PASS or n_cells <= most
        return small and self.estimate(n_cells, n_columns) <= self.memory


def _plan_passes(
    log: Log, statements: Sequence[Independence], selection: str | None, memory: int
) -> list[tuple[Nodes, list[Independence], int]]:
    """Plan the passes over the log: which columns each counts, and for which independences.

    Each comes with the bytes it will take. One pass over a short log, else a few. Called by
    ``count_statements``.
    """
    everything = frozenset[str]().union(*map(find_columns, statements))
    shelf = _Shelf(int(log.source.group(GroupBy(()))["lines"].sum()), memory)
    size = shelf.estimate(shelf.rows, len(everything))
    if shelf.rows <= ONE_PASS and size <= memory:
        return [(everything, list(statements), size)]
    sizes = {
        name: len(log.count([name], selection=selection).levels[name])
        for name in sort_names(everything)
    }
    return [
        (names, served, shelf.estimate(prod(sizes[name] for name in names), len(names)))
        for names, served in group_statements(statements, sizes, shelf.rows, memory)
    ]


def group_statements(
    statements: Sequence[Independence],
    n_levels: Mapping[str, int],
    rows: int = 10**12,
    memory: int = 10**12,
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
    shelf = _Shelf(rows, memory)

    def size(names: Nodes) -> int:
        return prod(n_levels[name] for name in names)

    found: list[tuple[Nodes, int, list[Independence]]] = []
    for statement in sorted(statements, key=lambda s: (-size(find_columns(s)), str(s))):
        needed = find_columns(statement)
        fits = []
        for i, (names, held, _) in enumerate(found):
            cells = held * size(needed - names)
            if shelf.has_room(cells, len(names | needed), max(SMALL, held)):
                fits.append((cells, i))
        if not fits:
            found.append((needed, size(needed), [statement]))
            continue
        cells, i = min(fits)
        found[i] = (found[i][0] | needed, cells, [*found[i][2], statement])
    return [(names, served) for names, _, served in found]
