"""DuckDB relations: one GROUP BY in SQL, wherever the relation's connection keeps its rows."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
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

_AGGREGATES = {
    "rows": "count(*)",
    "count": "count({})",
    "sum": "sum({})",
    "min": "min({})",
    "max": "max({})",
}
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
        """The columns of a DuckDB relation, and what each holds: numbers, text, times."""
        with self._refuse_errors():
            return read_kinds(self.relation)

    def group(self, plan: GroupBy) -> Cells:
        """Group the rows of a DuckDB relation on its own connection, by a ``GroupBy`` plan."""
        with self._refuse_errors():
            return group_relation(self.relation, plan)

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Guess how many values each column of a DuckDB relation has, in one pass."""
        with self._refuse_errors():
            return count_relation_levels(self.relation, columns)

    def find_oddity(self, column: str) -> Oddity | None:
        """Find a text in a column that is no number; a relation has no order of rows."""
        with self._refuse_errors():
            found = find_first_oddity(self.relation, column)
        return found and Oddity(found.text)

    @contextmanager
    def _refuse_errors(self) -> Iterator[None]:
        """Turn whatever DuckDB raises in this block into an error of one line."""
        try:
            with heed_interrupts():
                yield
        except duckdb.Error as error:
            raise InvalidLog(f"cannot read {self.label}: {shorten_error(error)}") from error


@contextmanager
def heed_interrupts() -> Iterator[None]:
    """Let Ctrl-C end a query as it ends anything else: DuckDB tells of it by an error."""
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

    A type that is no number, text, boolean or structure is a date or a time.
    """
    types = zip(relation.columns, relation.types, strict=True)
    return {name: _KINDS.get(kind.id, ColumnKind.TIMES) for name, kind in types}


def group_relation(relation: DuckDBPyRelation, plan: GroupBy) -> Cells:
    """Group the rows of a DuckDB relation by the plan's keys, and read the answer as cells."""
    types = dict(zip(relation.columns, (kind.id for kind in relation.types), strict=True))
    keys = [_write_key(name, types[name], plan.cuts.get(name)) for name in plan.keys]
    names = [f"key_{i}" for i in range(len(keys))]
    prepared = dict(zip(names, keys, strict=True)) | _derive_columns(plan, types)
    aggregates = choose_aggregates(plan)
    added = [
        f"{_AGGREGATES[how].format(of)} AS {name}" for name, (of, how) in aggregates.items()
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
    """Guess how many values each column of a relation has, in one pass."""
    if not columns:
        return []
    guessed = [f"approx_count_distinct({quote_identifier(name)})" for name in columns]
    (found,) = relation.aggregate(", ".join(guessed)).fetchall()
    return [int(n) for n in found]


def find_first_oddity(relation: DuckDBPyRelation, column: str) -> Oddity | None:
    """Find the first text in a column that is no number, and its row."""
    text = f"CAST({quote_identifier(column)} AS VARCHAR)"
    numbered = relation.project(f"{text} AS text, row_number() OVER () AS place")
    odd = "FILTER (WHERE text IS NOT NULL AND TRY_CAST(text AS DOUBLE) IS NULL)"
    found = numbered.aggregate(f"arg_min(text, place) {odd}, min(place) {odd}").fetchall()
    ((first, place),) = found
    return None if place is None else Oddity(first, place)


def quote_identifier(name: str) -> str:
    """Put a column's name in the quotes of SQL.

    >>> print(quote_identifier('6" pipe'))
    "6"" pipe"
    """
    return '"' + name.replace('"', '""') + '"'


def _derive_columns(plan: GroupBy, types: Mapping[str, str]) -> dict[str, str]:
    """Write in SQL the numbers to aggregate: weight, reward, their products, flags."""
    columns: dict[str, str] = {}
    if plan.weight:
        weight = _write_number(plan.weight, types[plan.weight])
        columns |= {"weight": weight, "part": f"{weight} % 1"}
    if plan.reward:
        reward = _write_number(plan.reward, types[plan.reward])
        columns["reward"] = reward
        times = f"{weight} * " if plan.weight else ""
        columns |= {"once": f"{times}{reward}", "twice": f"{times}{reward} * {reward}"}
        counted = f"CASE WHEN {weight} > 0 THEN {reward} END" if plan.weight else reward
        columns["counted"] = counted
        if plan.weight:
            columns["given"] = f"CASE WHEN {reward} IS NOT NULL THEN {weight} END"
    for i, flag in enumerate(plan.flags):
        columns[f"flag_{i}"] = f"CASE WHEN {_write_number(flag, types[flag])} = 1 THEN 1 END"
    return columns


def _write_key(name: str, kind: str, edges: Sequence[float] | None) -> str:
    """Write in SQL a column to group by, as NumPy can hold it, cut into bins where asked."""
    column = quote_identifier(name)
    if edges is not None:
        number = _write_number(name, kind)
        passed = (f"CAST({number} >= {float(e)!r}::DOUBLE AS INTEGER)" for e in edges)
        return " + ".join(passed)
    match kind:
        case "float" | "double":
            return f"nullif({column}, 'nan'::DOUBLE)"
        case "hugeint" | "uhugeint" | "bignum":
            # NumPy has no such integers; as floats, neighbours would become one level.
            return f"CAST({column} AS BIGINT)"
        case "enum" | "uuid" | "bit" | "time with time zone":
            return f"CAST({column} AS VARCHAR)"
        case "blob":
            return f"decode({column})"
        case _:
            return column


def _write_number(name: str, kind: str) -> str:
    """Write a column in SQL as a DOUBLE, NaN as null."""
    number = f"CAST({quote_identifier(name)} AS DOUBLE)"
    return f"nullif({number}, 'nan'::DOUBLE)" if kind in {"float", "double"} else number


def _read_floats(column: Column) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Read an aggregate that DuckDB brought back as floats, null as nan."""
    return np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan)


def _read_moments(column: Column) -> list[object]:
    """Read a key of time stamps with a zone as datetimes in UTC, or a number beyond those."""
    moments = np.ma.asarray(column).astype("M8[us]").tolist()
    return [m.replace(tzinfo=dt.UTC) if isinstance(m, dt.datetime) else m for m in moments]
