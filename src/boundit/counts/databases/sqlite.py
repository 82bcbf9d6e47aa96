"""SQLite: columns have no types, values have."""

from types import ModuleType

from boundit.counts.cells import ColumnKind
from boundit.counts.databases.dialect import Ask, DatabaseColumn, QueryDialect
from boundit.counts.errors import ColumnsAlike
from boundit.counts.sql_text import quote_identifier

SAMPLE = 20_480
"""So many first rows tell what a column holds; the others are held against it when counted."""


class SqliteQueryDialect(QueryDialect):
    """SQL as SQLite has it."""

    title = "SQLite"
    double = "REAL"

    def list_columns(
        self, ask: Ask, rows: str, driver: ModuleType | None
    ) -> list[DatabaseColumn]:
        """List the columns of a query in SQLite, and what their first rows hold.

        Called by ``DatabaseSource.columns``.
        """
        del driver
        names = ask(f"SELECT * FROM {rows} WHERE 1 = 0").names
        self.refuse_twins(names)
        known = {name.casefold() for name in names}
        for name in names:
            # Of two columns called x, a subquery calls the second x:1.
            of, mark, number = name.rpartition(":")
            if mark and number.isdigit() and of.casefold() in known:
                raise ColumnsAlike(of)
        looked = ", ".join(
            f"max(typeof({c}) IN ('text', 'blob')), max(typeof({c}) IN ('integer', 'real'))"
            for c in map(quote_identifier, names)
        )
        (held,) = ask(f"SELECT {looked} FROM (SELECT * FROM {rows} LIMIT {SAMPLE})").rows
        kinds = map(_choose_kind, held[::2], held[1::2])
        return [DatabaseColumn(name, kind) for name, kind in zip(names, kinds, strict=True)]

    def write_group(self, key: str) -> str:
        """Write one entry of GROUP BY: a column may be told to take "a" for "A".

        Called by ``DatabaseSource._write_query``.
        """
        return f"{key} COLLATE BINARY"

    def write_number(self, column: DatabaseColumn) -> str:
        """Write a column as a float; a text would be cast to 0, so it is null.

        Called by ``DatabaseSource._write_query``, which counts such texts by
        ``SqliteQueryDialect.write_misfit``.
        """
        name = quote_identifier(column.name)
        return f"CASE WHEN typeof({name}) IN ('integer', 'real') THEN CAST({name} AS REAL) END"

    def write_fraction(self, number: str) -> str:
        """Write the fractional part of a number; not every SQLite has a function for it.

        Called by ``DatabaseSource._write_query``.
        """
        return f"{number} - CAST({number} AS INTEGER)"

    def write_misfit(self, column: DatabaseColumn) -> str:
        """Write what is 1 in rows where a column holds text in place of a number.

        Called by ``DatabaseSource.group``.
        """
        name = quote_identifier(column.name)
        return f"CASE WHEN typeof({name}) IN ('text', 'blob') THEN 1 END"

    def limit(self, query: str, most: int) -> str:
        """Let a query bring back no more rows than so many.

        Called by ``DatabaseSource.group`` and ``DatabaseSource.find_oddity``.
        """
        return f"{query} LIMIT {most}"


def _choose_kind(text: object, number: object) -> ColumnKind:
    """Choose what a column holds by whether some of its rows are text, and some numbers.

    Where all are null, only later rows can tell. Called by ``SqliteQueryDialect.list_columns``.
    """
    if text:
        return ColumnKind.TEXT
    return ColumnKind.NUMBERS if number else ColumnKind.OBJECTS
