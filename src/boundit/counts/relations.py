"""DuckDB relations: one GROUP BY in SQL, wherever the relation's connection keeps its rows."""

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb
import numpy as np
from duckdb import DuckDBPyRelation

from boundit.counts.cells import (
    Cells,
    Column,
    ColumnKind,
    GroupBy,
    Oddity,
    choose_aggregates,
)
from boundit.counts.errors import InvalidLog, shorten_error
from boundit.counts.sql_text import (
    AGGREGATE_SQL,
    derive_columns,
    quote_identifier,
    write_bin,
)

_WHOLE = {"tinyint", "smallint", "integer", "bigint", "hugeint"}
_WHOLE |= {f"u{name}" for name in _WHOLE} | {"bignum"}
_KINDS = {
    **dict.fromkeys([*_WHOLE, "float", "double", "decimal"], ColumnKind.NUMBERS),
    "boolean": ColumnKind.BOOLEANS,
    **dict.fromkeys(["list", "struct", "map", "array", "union", "variant"], ColumnKind.NESTED),
    **dict.fromkeys(["varchar", "enum", "uuid", "blob", "bit"], ColumnKind.TEXT),
}


@dataclass(frozen=True, eq=False)
class RelationSource:
    """A relation that the user made, on the user's own connection."""

    relation: DuckDBPyRelation
    label: str = "the DuckDB relation"

    @property
    def kinds(self) -> dict[str, ColumnKind]:
        """The columns of a DuckDB relation, and what each holds: numbers, text, times.

        Read by ``Log.names`` and the checks of ``Log``.
        """
        with self._refuse_errors():
            return read_kinds(self.relation)

    def group(self, plan: GroupBy) -> Cells:
        """Group the rows of a DuckDB relation on its own connection, by a ``GroupBy`` plan.

        Called by ``Log.count``.
        """
        with self._refuse_errors():
            return group_relation(self.relation, plan)

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Guess how many values each column of a DuckDB relation has, in one pass.

        Called by ``Log.count_levels``.
        """
        with self._refuse_errors():
            return count_relation_levels(self.relation, columns)

    def find_oddity(self, column: str) -> Oddity | None:
        """Find a text in a column that is no number; a relation has no order of rows.

        Called by ``Log._check_may_be_summed`` for an error message.
        """
        with self._refuse_errors():
            found = find_first_oddity(self.relation, column)
        return found and Oddity(found.text)

    @contextmanager
    def _refuse_errors(self) -> Iterator[None]:
        """Turn whatever DuckDB raises in this block into an error of one line.

        Called by ``RelationSource.kinds``, ``RelationSource.group`` and
        ``RelationSource.find_oddity``.
        """
        try:
            with heed_interrupts():
                yield
        except duckdb.Error as error:
            raise InvalidLog(f"cannot read {self.label}: {shorten_error(error)}") from error


@contextmanager
def heed_interrupts() -> Iterator[None]:
    """Let Ctrl-C end a query as it ends anything else: DuckDB tells of it by an error.

    Called by ``RelationSource._refuse_errors`` and ``FileSource._connect``.
    """
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from None


def read_kinds(relation: DuckDBPyRelation) -> dict[str, ColumnKind]:
    """Read what each column of a DuckDB relation holds, by its SQL type.

    A type that is no number, text, boolean or structure is a date or a time. Called by
    ``FileSource.kinds`` and ``RelationSource.kinds``.
    """
    types = zip(relation.columns, relation.types, strict=True)
    return {name: _KINDS.get(kind.id, ColumnKind.TIMES) for name, kind in types}


def group_relation(relation: DuckDBPyRelation, plan: GroupBy) -> Cells:
    """Group the rows of a DuckDB relation by the plan's keys, and read the answer as cells.

    Called by ``FileSource.group`` and ``RelationSource.group``.
    """
    types = dict(zip(relation.columns, (kind.id for kind in relation.types), strict=True))
    keys = [_write_key(name, types[name], plan.cuts.get(name)) for name in plan.keys]
    names = [f"key_{i}" for i in range(len(keys))]
    derived = derive_columns(plan, lambda of: _write_number(of, types[of]), "{} % 1".format)
    prepared = dict(zip(names, keys, strict=True)) | derived
    aggregates = choose_aggregates(plan)
    added = [
        f"{AGGREGATE_SQL[how].format(of)} AS {name}" for name, (of, how) in aggregates.items()
    ]
    answer = (
        relation.project(", ".join(f"{e} AS {name}" for name, e in prepared.items()) or "1")
        .aggregate(", ".join(names + added), ", ".join(names))
        .limit(plan.most_cells + 1)
        .fetchnumpy()
    )
    columns = [
        _read_moments(answer[name])
        if types[key] == "timestamp with time zone"
        else answer[name]
        for name, key in zip(names, plan.keys, strict=True)
    ]
    return Cells(tuple(columns), {name: _read_floats(answer[name]) for name in aggregates})


def count_relation_levels(relation: DuckDBPyRelation, columns: Sequence[str]) -> list[int]:
    """Guess how many values each column of a relation has, in one pass.

    Called by ``FileSource.count_levels`` and ``RelationSource.count_levels``.
    """
    if not columns:
        return []
    guessed = [f"approx_count_distinct({quote_identifier(name)})" for name in columns]
    (found,) = relation.aggregate(", ".join(guessed)).fetchall()
    return [int(n) for n in found]


def find_first_oddity(relation: DuckDBPyRelation, column: str) -> Oddity | None:
    """Find the first text in a column that is no number, and its row.

    Called by ``FileSource.find_oddity`` and ``RelationSource.find_oddity``.
    """
    text = f"CAST({quote_identifier(column)} AS VARCHAR)"
    numbered = relation.project(f"{text} AS text, row_number() OVER () AS place")
    odd = "FILTER (WHERE text IS NOT NULL AND TRY_CAST(text AS DOUBLE) IS NULL)"
    found = numbered.aggregate(f"arg_min(text, place) {odd}, min(place) {odd}").fetchall()
    ((first, place),) = found
    return None if place is None else Oddity(first, place)


def _write_key(name: str, kind: str, edges: Sequence[float] | None) -> str:
    """Write in SQL a column to group by, as NumPy can hold it, cut into bins where asked.

    Called by ``group_relation``.
    """
    column = quote_identifier(name)
    if edges is not None:
        return write_bin(_write_number(name, kind), edges, "DOUBLE")
    match kind:
        case "float" | "double":
            return f"nullif({column}, 'nan'::DOUBLE)"
        case "hugeint" | "uhugeint" | "bignum":
            # NumPy has no such integers; as floats, neighbours would become one level.
            return f"CAST({column} AS BIGINT)"
        case "enum" | "uuid" | "bit":
            return f"CAST({column} AS VARCHAR)"
        case "blob":
            return f"decode({column})"
        case _:
            return column


def _write_number(name: str, kind: str) -> str:
    """Write a column in SQL as a DOUBLE, NaN as null.

    Called by ``_write_key`` and ``group_relation``.
    """
    number = f"CAST({quote_identifier(name)} AS DOUBLE)"
    return f"nullif({number}, 'nan'::DOUBLE)" if kind in {"float", "double"} else number


def _read_floats(column: Column) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Read an aggregate that DuckDB brought back as floats, null as nan.

    Called by ``group_relation``.
    """
    return np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan)


def _read_moments(column: Column) -> list[object]:
    """Read a key of time stamps with a zone as datetimes in UTC.

    Called by ``group_relation``.
    """
    moments = np.ma.asarray(column).astype("M8[us]").tolist()
    return [m if m is None else m.replace(tzinfo=dt.UTC) for m in moments]
