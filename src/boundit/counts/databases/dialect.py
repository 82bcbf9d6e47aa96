"""How a database's SQL is written: as the standard has it, unless a database differs."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import NamedTuple

from boundit.counts.cells import ColumnKind
from boundit.counts.errors import ColumnsAlike
from boundit.counts.sql_text import quote_identifier


class QueryAnswer(NamedTuple):
    """What a query brought back: the names of its columns, their types by the driver, rows."""

    names: tuple[str, ...]
    types: tuple[object, ...]
    rows: list[tuple[object, ...]]


class DatabaseColumn(NamedTuple):
    """A column of a query: its name, what it holds, and its type in the database's words."""

    name: str
    kind: ColumnKind
    type: str = ""


Ask = Callable[[str], QueryAnswer]
"""Runs one query on a connection."""


class QueryDialect:
    """Standard SQL, for a database that is not known by name."""

    title = "the database"
    double = "DOUBLE PRECISION"
    folds_case = True
    """Whether two names that differ only in case are one."""

    def list_columns(
        self, ask: Ask, rows: str, driver: ModuleType | None
    ) -> list[DatabaseColumn]:
        """List the columns of a query and what each holds, without reading a row.

        ``rows`` is what stands after FROM. Called by ``DatabaseSource.columns``.
        """
        found = ask(f"SELECT * FROM {rows} WHERE 1 = 0")
        self.refuse_twins(found.names)
        return [
            DatabaseColumn(name, _find_kind(of, driver))
            for name, of in zip(found.names, found.types, strict=True)
        ]

    def refuse_twins(self, names: Sequence[str]) -> None:
        """Refuse columns of one name: the database would take one for the other.

        Called by ``QueryDialect.list_columns`` and those of other databases.
        """
        seen = set[str]()
        for name in names:
            folded = name.casefold() if self.folds_case else name
            if folded in seen:
                raise ColumnsAlike(name)
            seen.add(folded)

    def write_key(self, column: DatabaseColumn) -> str:
        """Write a column to group by. Called by ``DatabaseSource`` for every key."""
        return quote_identifier(column.name)

    def write_group(self, key: str) -> str:
        """Write one entry of GROUP BY. Called by ``DatabaseSource._write_query``."""
        return key

    def write_number(self, column: DatabaseColumn) -> str:
        """Write a column as a float of 64 bits, NaN as null.

        Called by ``DatabaseSource._write_query`` for weights, rewards, flags and bins.
        """
        return f"CAST({quote_identifier(column.name)} AS {self.double})"

    def write_fraction(self, number: str) -> str:
        """Write the fractional part of a number, for weights, which have none.

        Called by ``DatabaseSource._write_query``.
        """
        return f"{number} - FLOOR({number})"

    def write_misfit(self, column: DatabaseColumn) -> str | None:
        """Write what is 1 in rows whose value is no number; None where types forbid such rows.

        Called by ``DatabaseSource.group`` for every column that is to be a number.
        """
        del column
        return None

    def limit(self, query: str, most: int) -> str:
        """Let a query bring back no more rows than so many, where the database can say so.

        Called by ``DatabaseSource.group`` and ``DatabaseSource.find_oddity``.
        """
        del most
        return query


def _find_kind(of: object, driver: ModuleType | None) -> ColumnKind:
    """Find what a column holds by the type objects that a DB-API driver has.

    A type that it has no object for may be anything: only rows can tell. Called by
    ``QueryDialect.list_columns``.
    """
    named = {
        "NUMBER": ColumnKind.NUMBERS,
        "STRING": ColumnKind.TEXT,
        "DATETIME": ColumnKind.TIMES,
    }
    for name, kind in named.items():
        if of is not None and getattr(driver, name, None) == of:
            return kind
    return ColumnKind.OBJECTS
