"""Open a query or a table as a source of rows, by whatever connection there is."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from boundit.counts.cells import Source
from boundit.counts.databases.address import ConnectionUrl
from boundit.counts.databases.connection import recognize_connection
from boundit.counts.databases.dialect import QueryDialect
from boundit.counts.databases.source import Database, DatabaseSource, GivenConnection
from boundit.counts.errors import InvalidLog, InvalidOption, NotOneQuery, shorten_error
from boundit.counts.frames import read_frame
from boundit.counts.relations import RelationSource, heed_interrupts
from boundit.counts.sql_text import quote_identifier
from boundit.terms.errors import BounditError
from boundit.terms.message import Option

_QUERY = re.compile(r"(?is)[\s(]*(?:select|with|values|table|from)[\s(*\"'].*")
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')


def open_database(source: object, connection: object) -> Source:
    """Make a source of rows of a query or a table's name, on a connection or at a URL.

    Called by ``_open_source`` when ``read_log`` is given a connection.
    """
    if not isinstance(source, str) or not source.strip():
        found = type(source).__name__ if not isinstance(source, str) else "an empty text"
        raise InvalidOption(
            "with ", Option("connection"), f" a log is a query or a table's name; found {found}"
        )
    if is_query(source):
        query, what, of = _require_one_query(source), "the query to", None
    else:
        of, what = _split_name(source), f"table {source!r} of"
        query = f"SELECT * FROM {'.'.join(map(quote_identifier, of))}"
    if isinstance(connection, str):
        address = ConnectionUrl(connection)
        if address.scheme == "duckdb":
            return _open_relation(_connect_duckdb(address), query, what)
        title = "SQLite" if address.scheme == "sqlite" else "PostgreSQL"
        return _open_rows(address, query, f"{what} {title}")
    if _is_of_ibis(connection):
        return _open_ibis(connection, query, what, of)
    return _open_connection(connection, query, what)


def open_ibis_table(table: Any) -> Source:
    """Make a source of rows of an Ibis table.

    On PostgreSQL and SQLite its query is counted by our own SQL: through Narwhals, truth values
    cannot be added up there, nor NaN be told. Called by ``_open_source``.
    """
    with _refuse_errors("the Ibis table"):
        backend = table.get_backend()
        if backend.name in _OWN_SQL:
            query = str(table.compile())
            return _open_rows(GivenConnection(backend.con), query, "the Ibis table")
    return read_frame(table)


def is_query(text: str) -> bool:
    """Tell whether a text is a query, not the name of a table or file.

    Called by ``open_database``, and by ``_open_source`` for a query without a connection.

    >>> [is_query(text) for text in ("select * from log", "log", "selected", "sales.log")]
    [True, False, False, False]
    """
    return _QUERY.fullmatch(_COMMENT.sub(" ", text)) is not None


def is_ibis_table(source: object) -> bool:
    """Tell whether something is a table of Ibis. Called by ``_open_source``."""
    return _is_of_ibis(source) and hasattr(source, "get_backend")


_OWN_SQL = frozenset(["postgres", "sqlite"])


def _open_connection(connection: object, query: str, what: str) -> Source:
    """Open a query on a connection of DuckDB, a DB-API or an ADBC driver.

    Called by ``open_database`` and ``_open_ibis``.
    """
    if isinstance(connection, DuckDBPyConnection):
        return _open_relation(connection, query, what)
    with _refuse_errors(f"{what} the database"):
        title = recognize_connection(connection).dialect.title
    return _open_rows(GivenConnection(connection), query, f"{what} {title}")


def _open_ibis(connection: Any, query: str, what: str, name: list[str] | None) -> Source:
    """Open a query, or a table by the parts of its name, on an Ibis connection.

    Where Ibis would make a view to learn the query's types, which writes, the driver's own
    connection is asked. Called by ``open_database``.
    """
    if connection.name in _OWN_SQL | {"duckdb"}:
        return _open_connection(connection.con, query, what)
    with _refuse_errors(f"{what} {connection.name}"):
        if name is None:
            return read_frame(connection.sql(query))
        within = tuple(name[:-1]) or None
        return read_frame(connection.table(name[-1], database=within))


def _open_rows(database: Database, query: str, label: str) -> DatabaseSource:
    """Wrap a query as a subquery, on lines of its own so that a last comment ends.

    Called by ``open_database``, ``open_ibis_table`` and ``_open_connection``.
    """
    return DatabaseSource(database, f"(\n{query}\n) boundit_log", label)


def _open_relation(connection: DuckDBPyConnection, query: str, what: str) -> RelationSource:
    """Open a query on a connection of DuckDB as a relation.

    Called by ``open_database`` and ``_open_connection``.
    """
    label = f"{what} DuckDB"
    with _refuse_errors(label), heed_interrupts():
        relation = connection.sql(f"SELECT * FROM (\n{query}\n)")
        _refuse_twins(connection, query, relation.columns)
        return RelationSource(relation, label)


def _refuse_twins(connection: DuckDBPyConnection, query: str, names: Sequence[str]) -> None:
    """Refuse columns that differ only in case, or in nothing: DuckDB has numbered them.

    Called by ``_open_relation``.
    """
    folded = {name.casefold() for name in names}
    stems = [name.rpartition("_")[0] for name in names if name.rpartition("_")[2].isdigit()]
    if any(stem.casefold() in folded for stem in stems):
        cursor = connection.execute(f"{query}\nLIMIT 0")
        QueryDialect().refuse_twins([str(entry[0]) for entry in cursor.description or ()])


def _connect_duckdb(address: ConnectionUrl) -> DuckDBPyConnection:
    """Open the file of a DuckDB database for reading. Called by ``open_database``."""
    with _refuse_errors(f"the DuckDB database {str(address.file)!r}"):
        connection = duckdb.connect(str(address.file), read_only=True)
        connection.execute("SET enable_progress_bar = false")
        return connection


def _require_one_query(text: str) -> str:
    """Give a query without its last semicolon; refuse a text that is more than one query.

    Called by ``open_database``. A parenthesis that closes what it did not open would end the
    subquery that the text becomes.
    """
    query = text.strip().rstrip("; \t\r\n")
    depth = 0
    for mark in re.findall(r"[;()]", _QUOTED.sub(" ", query)):
        depth += {"(": 1, ")": -1}.get(mark, 0)
        if mark == ";" or depth < 0:
            raise NotOneQuery(text)
    if depth:
        raise NotOneQuery(text)
    return query


def _split_name(text: str) -> list[str]:
    """Split the name of a table at its dots, except within quotes: schema, then table.

    Called by ``open_database``.

    >>> _split_name('sales."the.log"')
    ['sales', 'the.log']
    """
    found, at = list[str](), 0
    while match := _PART.match(text.strip(), at):
        found.append((match[1] or match[2]).replace('""', '"'))
        at = match.end() + 1
        if text.strip()[match.end() : at] != ".":
            break
    if not found or at <= len(text.strip()):
        raise InvalidOption(f"{text!r} is no name of a table, such as 'log' or 'schema.log'")
    return found


def _is_of_ibis(found: object) -> bool:
    """Tell whether a value is of a class of Ibis. Called by ``is_ibis_table``."""
    return any(base.__module__.split(".")[0] == "ibis" for base in type(found).__mro__)


@contextmanager
def _refuse_errors(label: str) -> Iterator[None]:
    """Turn whatever an engine raises in this block into an error of one line.

    Called by ``_open_ibis``, ``_open_relation`` and ``_connect_duckdb``.
    """
    try:
        yield
    except BounditError:
        raise
    except Exception as error:
        raise InvalidLog(f"cannot read {label}: {shorten_error(error)}") from error
