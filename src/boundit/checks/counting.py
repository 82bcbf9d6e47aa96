"""How the log is counted for many statements: one pass if its rows fit, else a few."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, prod
from typing import TypeAlias

from boundit.core.long_work import FOR_EVER, TimeBudget
from boundit.core.names import Nodes, sort_names
from boundit.counts.errors import TooManyCells
from boundit.counts.log import Log
from boundit.counts.sources import GroupBy, estimate_memory
from boundit.counts.table import CountTable
from boundit.graph.implications import Independence

ONE_PASS = 2 * 10**6
"""A log of so many rows is brought back whole: its table has no more cells than it has rows."""
SMALL = 2**20
"""Of a longer log, statements share a pass while their table stays below so many cells."""


def find_columns(statement: Independence) -> Nodes:
    """Collect the columns an independence needs: its two variables and those given."""
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
    ``unmarked`` may be a selection node.
    """
    if not statements or time.is_over():
        return
    whole = replace(log, missing="level") if log.missing == "drop" else log
    for names, served, size in _plan_passes(whole, statements, memory, time):
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
class TableRoom:
    """What a table may hold: ``rows`` are logged, and its memory is limited.

    ``n_levels`` of each variable tell how many cells a table has; without them it is taken to
    have as many as there are rows.
    """

    rows: int
    memory: int
    n_levels: Mapping[str, int] = field(default_factory=dict)

    def count_cells(self, names: Iterable[str]) -> int:
        """Count the cells that a table of some variables has, if all its levels meet."""
        return prod(self.n_levels.get(name, self.rows) for name in names)

    def estimate(self, n_cells: int, n_columns: int) -> int:
        """Estimate the bytes that it takes to count a table of so many cells and columns.

        No table has more cells than the log has rows.
        """
        return estimate_memory(min(n_cells, self.rows), n_columns)

    def has_room(self, n_cells: int, n_columns: int, most: int) -> bool:
        """Tell whether statements may share a table of so many cells and columns.

        Where all rows can be brought back cells do not matter; of a longer log ``most`` may be.
        """
        small = self.rows <= ONE_PASS or n_cells <= most
        return small and self.estimate(n_cells, n_columns) <= self.memory


def _plan_passes(
    log: Log,
    statements: Sequence[Independence],
    memory: int,
    time: TimeBudget,
) -> list[tuple[Nodes, list[Independence], int]]:
    """Plan the passes over the log: which columns each counts, and for which independences.

    Each comes with the bytes it will take. One pass over a short log, else a few.
    """
    everything = frozenset[str]().union(*map(find_columns, statements))
    room = TableRoom(int(log.source.group(GroupBy(()))["lines"].sum()), memory)
    size = room.estimate(room.rows, len(everything))
    if room.rows <= ONE_PASS and size <= memory:
        return [(everything, list(statements), size)]
    widest = room.estimate(room.rows, max(len(find_columns(each)) for each in statements))
    if room.rows > ONE_PASS or widest > memory:
        room = replace(room, n_levels=log.count_levels(everything))
    return [
        (names, served, room.estimate(room.count_cells(names), len(names)))
        for names, served in group_statements(statements, room, time)
    ]


def group_statements(
    statements: Sequence[Independence], room: TableRoom, time: TimeBudget = FOR_EVER
) -> list[tuple[Nodes, list[Independence]]]:
    """Group independences that can be tested on one table, so that few passes count them all.

    Statements join, the widest first, a table that has their columns or else the one that grows
    least, while it has room. Returns the columns and statements of each table, of as many
    statements as there is time for.

    >>> pairs = [("A", "B"), ("C", "D"), ("B", "C")]
    >>> each = [Independence(*pair, frozenset(), selected=False) for pair in pairs]
    >>> room = TableRoom(10**9, 10**9, dict.fromkeys("ABCD", 100))
    >>> [sort_names(names) for names, _ in group_statements(each, room)]
    [['A', 'B', 'C'], ['C', 'D']]
    """
    needs = {each: find_columns(each) for each in statements}
    cells = {each: room.count_cells(names) for each, names in needs.items()}
    found: list[_SharedTable] = []
    for statement in sorted(statements, key=lambda s: (-cells[s], str(s))):
        if time.is_over():
            break
        needed = needs[statement]
        table = next((each for each in found if needed <= each.names), None)
        if table is None:
            table = _find_least_grown(found, needed, room)
        if table is None:
            table = _SharedTable(set(), 1, [])
            found.append(table)
        table.n_cells *= room.count_cells(needed - table.names)
        table.names |= needed
        table.served.append(statement)
    return [(frozenset(table.names), table.served) for table in found]


@dataclass(slots=True)
class _SharedTable:
    """The columns and cells of a table while statements join it."""

    names: set[str]
    n_cells: int
    served: list[Independence]


def _find_least_grown(
    tables: Iterable[_SharedTable], needed: Nodes, room: TableRoom
) -> _SharedTable | None:
    """Find the table that has the fewest cells with more columns; None where none has room."""
    best, least = None, (inf, inf)
    for table in tables:
        more = needed - table.names
        n_cells, n_columns = (
            table.n_cells * room.count_cells(more),
            len(table.names) + len(more),
        )
        if (n_cells, n_columns) < least and room.has_room(
            n_cells, n_columns, max(SMALL, table.n_cells)
        ):
            best, least = table, (n_cells, n_columns)
    return best
