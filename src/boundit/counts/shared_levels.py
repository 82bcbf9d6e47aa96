"""The log and its external tables on common ground: the same levels for the same variables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from boundit.counts.caveats import warn_of_strange_levels
from boundit.counts.levels import join_levels
from boundit.counts.table import CountTable, join_domains


def share_levels(
    log: CountTable,
    others: Sequence[CountTable],
    declared: Mapping[str, Iterable[object]] | None = None,
) -> tuple[CountTable, ...]:
    """Give the log and its external tables the levels of all of them and those declared.

    Returns the tables anew, the log first. A level that only an external table has gets a
    caveat there: it may be a slip.

    >>> from boundit.counts.read import read_log
    >>> log, survey = read_log({"X": ["a", "b"]}), read_log({"X": ["b", "B"]})
    >>> one, other = share_levels(log.count("X"), [survey.count("X")])
    >>> one.levels == other.levels == {"X": ("B", "a", "b")}
    True
    >>> print(other.caveats[0])
    X is never 'B' in the log, only in the dict of columns: a slip for 'b'? If it is right, declare it with domain=
    """  # noqa: E501
    extra = {name: tuple(levels) for name, levels in (declared or {}).items()}
    tables = [_add_relevant_levels(table, extra) for table in (log, *others)]
    levels = join_domains(tables)
    noted = [tables[0], *(_note_strange_levels(table, log, extra) for table in others)]
    return tuple(_add_relevant_levels(table, levels) for table in noted)


def _add_relevant_levels(
    table: CountTable, levels: Mapping[str, Iterable[object]]
) -> CountTable:
    """Add to a table those levels that belong to its own variables."""
    held = {name: found for name, found in levels.items() if name in table.variables}
    return table.add_levels(held)


def _note_strange_levels(
    table: CountTable, log: CountTable, declared: Mapping[str, Iterable[object]]
) -> CountTable:
    """Add a caveat to an external table for levels that the log never has and nobody declared."""
    notes = [
        note
        for name in table.variables
        if name in log.variables
        for note in warn_of_strange_levels(
            name,
            table.levels[name],
            join_levels(name, log.levels[name], declared.get(name, ())),
            table.label,
        )
    ]
    return replace(table, notes=(*table.notes, *notes))
