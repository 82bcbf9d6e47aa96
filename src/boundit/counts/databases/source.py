"""Rows of a query: counted in the database by one GROUP BY, from which only cells come back."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from boundit.counts.cells import (
    NUMBER,
    Cells,
    ColumnKind,
    GroupBy,
    Oddity,
    choose_aggregates,
)
from boundit.counts.databases.connection import DatabaseConnection, recognize_connection
from boundit.counts.databases.dialect import DatabaseColumn, QueryDialect
from boundit.counts.errors import InvalidLog, NotNumeric, shorten_error
from boundit.counts.named_array import Floats
from boundit.counts.sql_text import (
    AGGREGATE_SQL,
    derive_columns,
    quote_identifier,
    write_bin,
)
from boundit.terms.errors import BounditError

_MOST_TEXTS = 10_000


class Database(Protocol):
    """Something that a connection comes from."""

    def open(self) -> AbstractContextManager[DatabaseConnection]:
        """Give a connection for as long as something is read. Called by ``DatabaseSource``."""


@dataclass(frozen=True, eq=False)
class GivenConnection:
    """A connection that the user opened and will close."""

    connection: object = field(repr=False)

    @contextmanager
    def open(self) -> Iterator[DatabaseConnection]:
        """Give the user's connection, which stays open. Called by ``DatabaseSource``."""
        yield recognize_connection(self.connection)


@dataclass(frozen=True, eq=False)
class DatabaseSource:
    """The rows of a query or table in a database; ``rows`` is what stands after FROM."""

    database: Database
    rows: str
    label: str

    @cached_property
    def columns(self) -> dict[str, DatabaseColumn]:
        """The columns of the query with their types; read by ``DatabaseSource.kinds``."""
        with self._read() as connection:
            found = connection.dialect.list_columns(
                connection.ask, self.rows, connection.driver
            )
        return {column.name: column for column in found}

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The columns of a query in a database, and what each holds: numbers, text, times.

        Read by ``Log.names`` and the checks of ``Log``.
        """
        return {name: column.kind for name, column in self.columns.items()}

    def group(self, plan: GroupBy) -> Cells:
        """Group the rows in the database by a ``GroupBy`` plan, and bring back the cells.

        Called by ``Log.count``.
        """
        most, aggregates = plan.most_cells + 1, choose_aggregates(plan)
        numbers = {of: role for of, role in _list_numbers(plan).items() if of in self.columns}
        with self._read() as connection:
            dialect = connection.dialect
            misfits = {
                f"misfit_{i}": misfit
                for i, of in enumerate(numbers)
                if (misfit := dialect.write_misfit(self.columns[of]))
            }
            query = self._write_query(plan, dialect, misfits)
            answer = connection.ask(dialect.limit(query, most), most)
        columns = list(zip(*answer.rows, strict=True)) or [()] * len(answer.names)
        keys, added = columns[: len(plan.keys)], columns[len(plan.keys) :]
        read = dict(zip([*aggregates, *misfits], map(_read_floats, added), strict=True))
        self._refuse_misfits(numbers, [read.pop(name).sum() for name in misfits])
        return Cells(tuple(keys), read)

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Count the values of each column in the database, in one pass.

        Called by ``Log.count_levels``.
        """
        if not columns:
            return []
        with self._read() as connection:
            write = connection.dialect.write_key
            counted = [f"count(DISTINCT {write(self.columns[name])})" for name in columns]
            (found,) = connection.ask(f"SELECT {', '.join(counted)} FROM {self.rows}").rows
        return [int(str(n)) for n in found]

    def find_oddity(self, column: str) -> Oddity | None:
        """Find a text in a column that is no number; rows in a database have no order.

        Called by ``Log._check_may_be_summed`` and ``DatabaseSource._refuse_misfits``.
        """
        name = quote_identifier(column)
        with self._read() as connection:
            key = connection.dialect.write_key(self.columns[column])
            query = f"SELECT DISTINCT {key} FROM {self.rows} WHERE {name} IS NOT NULL"
            texts = connection.ask(connection.dialect.limit(query, _MOST_TEXTS), _MOST_TEXTS)
        odd = [str(text) for (text,) in texts.rows if not re.match(NUMBER, str(text))]
        return Oddity(min(odd)) if odd else None

    def _write_query(
        self, plan: GroupBy, dialect: QueryDialect, misfits: Mapping[str, str]
    ) -> str:
        """Write the one GROUP BY of a plan, with what counts texts in place of numbers.

        Called by ``DatabaseSource.group``.
        """

        def write_number(name: str) -> str:
            return dialect.write_number(self.columns[name])

        keys = {
            f"key_{i}": write_bin(write_number(name), plan.cuts[name], dialect.double)
            if name in plan.cuts
            else dialect.write_key(self.columns[name])
            for i, name in enumerate(plan.keys)
        }
        derived = derive_columns(plan, write_number, dialect.write_fraction)
        prepared = keys | {f"row_{name}": of for name, of in derived.items()} | dict(misfits)
        listed = ", ".join(f"{of} AS {name}" for name, of in prepared.items())
        added = [
            AGGREGATE_SQL[how].format(f"row_{of}")
            for of, how in choose_aggregates(plan).values()
        ]
        counted = [f"count({name})" for name in misfits]
        chosen = ", ".join([*keys, *added, *counted])
        inner = f"SELECT {listed or '1 AS one'} FROM {self.rows}"
        query = f"SELECT {chosen} FROM ({inner}) boundit_rows"
        groups = ", ".join(map(dialect.write_group, keys))
        return f"{query} GROUP BY {groups}" if keys else query

    def _refuse_misfits(self, numbers: Mapping[str, str], counts: Sequence[float]) -> None:
        """Refuse a column that is to be a number and holds text in some rows.

        Called by ``DatabaseSource.group``.
        """
        for (column, role), n in zip(numbers.items(), counts, strict=False):
            if n:
                odd = self.find_oddity(column)
                raise NotNumeric(column, role, ColumnKind.TEXT.value, odd and str(odd))

    @contextmanager
    def _read(self) -> Iterator[DatabaseConnection]:
        """Read from the database, and turn whatever its driver raises into one line.

        Called by ``DatabaseSource.columns``, ``DatabaseSource.group`` and the others.
        """
        try:
            with self.database.open() as connection, connection.read():
                yield connection
        except BounditError:
            raise
        except Exception as error:
            raise InvalidLog(f"cannot read {self.label}: {shorten_error(error)}") from error


def _list_numbers(plan: GroupBy) -> dict[str, str]:
    """List the columns of a plan that are to be numbers, and as what.

    Called by ``DatabaseSource.group``.
    """
    named = dict.fromkeys(plan.cuts, "the binned column")
    named |= {plan.reward: "reward"} if plan.reward else {}
    return named | ({plan.weight: "weight"} if plan.weight else {})


def _read_floats(column: Sequence[object]) -> Floats:
    """Read an aggregate that a database brought back as floats, null as nan.

    Called by ``DatabaseSource.group``.
    """
    return np.array([np.nan if n is None else float(str(n)) for n in column], dtype=np.float64)
