"""How the log is counted for many independences: one pass if its rows fit, else a few."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod

from boundit.core.long_work import FOR_EVER, TimeBudget
from boundit.core.message import Message, Note, Option
from boundit.core.names import Nodes, sort_names
from boundit.counts.errors import TooManyCells
from boundit.counts.log import Log
from boundit.counts.memory import write_size
from boundit.counts.sources import GroupBy, estimate_memory
from boundit.counts.table import CountTable
from boundit.graph.implications import Independence

ONE_PASS = 2 * 10**6
"""A log of so many rows is brought back whole: its table has no more cells than it has rows."""
SMALL = 2**20
"""Of a longer log, independences share a pass while their table has no more cells."""


def find_columns(statement: Independence) -> Nodes:
    """Collect the columns an independence needs: its two variables and those given."""
    return statement.given | {statement.one, statement.other}


def count_statements(
    log: Log,
    statements: Sequence[Independence],
    selection: str | None,
    unmarked: Nodes = frozenset(),
    *,
    memory: int,
    time: TimeBudget = FOR_EVER,
) -> Iterator[tuple[list[Independence], CountTable | Note]]:
    """Count what independences need, and yield each table with those that it serves.

    If the log drops nulls, they are counted as a level here: each test drops them in its own
    columns only, so that it does not matter which others shared its pass. Where a table is too
    large, the reason comes in its place; none is counted once the ``time`` is over. ``unmarked``
    may be selection nodes.
    """
    if not statements or time.is_over():
        return
    whole = replace(log, missing="level") if log.missing == "drop" else log
    rows = int(whole.source.group(GroupBy(()))["lines"].sum())
    needs = {each: find_columns(each) for each in statements}
    every = frozenset[str]().union(*needs.values())
    known = dict[str, int]()  # without counts of levels, a table has as many cells as rows

    def count_cells(names: Iterable[str]) -> int:
        return prod(known.get(name, rows) for name in names)

    def estimate(names: Nodes) -> int:
        return estimate_memory(min(count_cells(names), rows), len(names))

    if rows > ONE_PASS or max(map(estimate, needs.values())) > memory:
        known = whole.count_levels(every)
    passes = list[tuple[Nodes, list[Independence]]]()
    # The widest first; each joins a table that has its columns, or the first that is large enough.
    order = [every] if rows <= ONE_PASS and estimate(every) <= memory else []
    passes += ((names, []) for names in order)
    for statement in sorted(needs, key=lambda each: (-count_cells(needs[each]), str(each))):
        if time.is_over():
            return
        for place, (names, served) in enumerate(passes):
            joined = names | needs[statement]
            fits = joined == names or (
                estimate(joined) <= memory
                and (rows <= ONE_PASS or count_cells(joined) <= SMALL)
            )
            if fits:
                passes[place] = joined, [*served, statement]
                break
        else:
            passes.append((needs[statement], [statement]))
    for names, served in passes:
        if time.is_over():
            return
        if (size := estimate(names)) > memory:
            limit = Option("memory_limit", write_size(memory))
            yield (
                served,
                Message(
                    f"Its counts would take about {write_size(size)}, more than ",
                    limit,
                    " allows; a higher limit, or fewer levels of its variables, would do.",
                ),
            )
            continue
        try:
            found = whole.count(sort_names(names), selection=selection, unmarked=unmarked)
        except TooManyCells as error:
            yield served, Message(error.message, ".")
        else:
            yield served, found
