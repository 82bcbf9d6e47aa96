"""The log and its external tables on common ground: the same levels for the same variables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from boundit.counts.caveats import when_strange
from boundit.counts.levels import united
from boundit.counts.table import CountTable, shared_domain


def alike(
    log: CountTable,
    others: Sequence[CountTable],
    declared: Mapping[str, Iterable[object]] | None = None,
) -> tuple[CountTable, ...]:
    """Give the log and its external tables the levels of all of them and those declared.

    A level that only an external table has gets a caveat there: it may be a slip.

    >>> from boundit.counts.read import read_log
    >>> log, survey = read_log({"X": ["a", "b"]}), read_log({"X": ["b", "B"]})
    >>> one, other = alike(log.count("X"), [survey.count("X")])
    >>> one.levels == other.levels == {"X": ("B", "a", "b")}
    True
    >>> print(other.caveats[0])
    X is never 'B' in the log, only in the dict of columns: a slip for 'b'? If it is right, declare it with domain=
    """  # noqa: E501
    told = {name: tuple(levels) for name, levels in (declared or {}).items()}
    tables = [_widened(table, told) for table in (log, *others)]
    levels = shared_domain(tables)
    noted = [tables[0], *(_noted(table, log, told) for table in others)]
    return tuple(_widened(table, levels) for table in noted)


def _widened(table: CountTable, levels: Mapping[str, Iterable[object]]) -> CountTable:
    held = {name: found for name, found in levels.items() if name in table.variables}
    return table.with_levels(held)


def _noted(
    table: CountTable, log: CountTable, declared: Mapping[str, Iterable[object]]
) -> CountTable:
    """Ask about levels that the log never has, and that nobody declared."""
    notes = [
        note
        for name in table.variables
        if name in log.variables
        for note in when_strange(
            name,
            table.levels[name],
            united(name, log.levels[name], declared.get(name, ())),
            table.label,
        )
    ]
    return replace(table, notes=(*table.notes, *notes))
