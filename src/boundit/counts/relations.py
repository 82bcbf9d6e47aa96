"""DuckDB relations: one GROUP BY in SQL, wherever the relation's connection keeps its rows."""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
from duckdb import DuckDBPyRelation

from boundit.core.errors import DataError
from boundit.counts.errors import shorten_error
from boundit.counts.sources import (
    Cells,
    Column,
    ColumnKind,
    GroupBy,
    Oddity,
    choose_aggregates,
    derive_columns,
    list_numbers,
)

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
        """Find a text in a column that is not a number; a relation has no order of rows."""
        with self._refuse_errors():
            found = find_first_oddity(self.relation, column)
        return found and Oddity(found.text)

    @contextmanager
    def _refuse_errors(self) -> Iterator[None]:
        """Turn whatever DuckDB raises in this block into an error of one line."""
        try:
            with follow_interrupts():
                yield
        except duckdb.Error as error:
            raise DataError(f"cannot read {self.label}: {shorten_error(error)}") from error


@contextmanager
def follow_interrupts() -> Iterator[None]:
    """Let Ctrl-C end a query as it ends anything else: DuckDB raises an error of its own."""
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

    A type that is not a number, text, boolean or structure is a date or a time.
    """
    types = zip(relation.columns, relation.types, strict=True)
    return {name: _KINDS.get(kind.id, ColumnKind.TIMES) for name, kind in types}


def group_relation(relation: DuckDBPyRelation, plan: GroupBy) -> Cells:
    """Group the rows of a DuckDB relation by the plan's keys, and read the answer as cells."""
    types = dict(zip(relation.columns, (kind.id for kind in relation.types), strict=True))
    keys = [_write_key(name, types[name], plan.cuts.get(name)) for name in plan.keys]
    names = [f"key_{i}" for i in range(len(keys))]
    prepared = dict(zip(names, keys, strict=True))
    prepared |= {n: _write_number(of, types[of]) for n, of in list_numbers(plan).items()}
    derived = derive_columns(
        plan,
        column=duckdb.ColumnExpression,
        when=duckdb.CaseExpression,
        is_known=lambda value: value.isnotnull(),
        find_part=lambda weight: weight % 1,
    )
    aggregates = choose_aggregates(plan)
    added = [
        f"{_AGGREGATES[how].format(of)} AS {name}" for name, (of, how) in aggregates.items()
    ]
    answer = (
        relation.project(", ".join(f"{e} AS {name}" for name, e in prepared.items()) or "1")
        .project(duckdb.StarExpression(), *(e.alias(name) for name, e in derived.items()))
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
    """Find the first text in a column that is not a number, and its row."""
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


MOST_LEVELS, BARS = 50, 30
"""How many levels of a column are listed, the most common first, and bars of a histogram."""
MANY = 5_000
"""From how many levels on their number is a guess, and numbers are not listed."""
_TABLE, _SEEN = "boundit_look", "boundit_seen"
_NUMBERS = ColumnKind.NUMBERS, ColumnKind.BOOLEANS
_TEXT = "CAST(level AS VARCHAR)"
_SHOWN = {
    "timestamp with time zone": "CAST(level AT TIME ZONE 'UTC' AS VARCHAR) || '+00:00'",
    "blob": f"coalesce(TRY(decode(level)), {_TEXT})",
}
"""How levels of some types are written as text in SQL: Python may have no such value."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many numbers lie from each edge to the next; the last edge is in the last bar."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ColumnLook:
    """What a column holds: which values and how many, and how many rows lack one."""

    name: str
    kind: ColumnKind
    levels: tuple[tuple[object, int], ...]
    n_levels: int
    n_missing: int
    histogram: Histogram | None


@dataclass(frozen=True, slots=True)
class TableLook:
    """A first look at a table: its rows, and each of its columns."""

    n_rows: int
    columns: tuple[ColumnLook, ...]


def look_at_relation(
    relation: DuckDBPyRelation,
    kinds: Mapping[str, ColumnKind],
    progress: Callable[[int, int], None],
) -> TableLook:
    """Look at every column of a relation; ``progress`` hears of how many, and of how many in all.

    Text is parsed once, and what does not fit into memory goes to disk.
    """
    progress(0, len(kinds))
    relation.create(_TABLE)
    # Asked through the relation itself, each query would look at the file again.
    table = relation.query(_SEEN, f"SELECT * FROM {_TABLE}")
    assert table is not None
    types = {name: kind.id for name, kind in zip(table.columns, table.types, strict=True)}
    columns = {name: quote_identifier(name) for name in kinds}
    for name in kinds:
        if types[name] in {"float", "double"}:
            columns[name] = f"nullif({columns[name]}, 'nan'::DOUBLE)"

    def select(sql: str) -> list[tuple[Any, ...]]:
        found = table.query(_SEEN, f"SELECT {sql}")
        return found.fetchall() if found is not None else []

    asked = ["count(*)"]
    for name, column in columns.items():
        number = f"CAST({column} AS DOUBLE)"
        finite = f"FILTER (WHERE isfinite({number}))"
        is_number, is_nested = (
            kinds[name] is ColumnKind.NUMBERS,
            kinds[name] is ColumnKind.NESTED,
        )
        asked += [f"count({column})", "0" if is_nested else f"approx_count_distinct({column})"]
        asked += [f"{of}({number}) {finite}" if is_number else "NULL" for of in ("min", "max")]
    ((n_rows, *seen),) = select(f"{', '.join(asked)} FROM {_SEEN}")
    ranges = dict(zip(columns, zip(seen[2::4], seen[3::4], strict=True), strict=True))
    bars = _draw_histograms(select, columns, ranges)
    found = list[ColumnLook]()
    for i, (name, kind) in enumerate(kinds.items()):
        n_there, n_levels = seen[4 * i : 4 * i + 2]
        rows = list[tuple[Any, ...]]()
        # Of very many numbers none is worth a line.
        if kind is not ColumnKind.NESTED and (
            n_levels <= MANY or kind is not ColumnKind.NUMBERS
        ):
            shown = "level" if kind in _NUMBERS else _SHOWN.get(types[name], _TEXT)
            grouped = (
                f"(SELECT {columns[name]} AS level, count(*) AS n FROM {_SEEN} GROUP BY 1)"
            )
            rows = select(
                f"{shown}, n, count(*) OVER () FROM {grouped} WHERE level IS NOT NULL "
                f"ORDER BY n DESC, level LIMIT {MOST_LEVELS}"
            )
            n_levels = rows[0][2] if rows else 0
        plain = (int, float, str)  # what JSON can hold
        levels = tuple((v if isinstance(v, plain) else str(v), n) for v, n, _ in rows)
        missing = n_rows - n_there
        found.append(ColumnLook(name, kind, levels, n_levels, missing, bars.get(name)))
        progress(i + 1, len(kinds))
    return TableLook(n_rows, tuple(found))


def _draw_histograms(
    select: Callable[[str], list[tuple[Any, ...]]],
    columns: Mapping[str, str],
    ranges: Mapping[str, tuple[float | None, float | None]],
) -> dict[str, Histogram]:
    """Count the numbers of all columns between equal steps, in one pass.

    Columns whose numbers are all the same have no histogram.
    """
    asked, edges = list[str](), dict[str, tuple[float, ...]]()
    for name, (low, high) in ranges.items():
        if low is None or high is None or not low < high:
            continue
        # By halves, so that the largest numbers do not overflow.
        step = high / BARS - low / BARS
        number = f"CAST({columns[name]} AS DOUBLE)"
        place = f"CAST(floor({number} / {step!r} - {low / step!r}) AS INTEGER)"
        inside = (
            f"CASE WHEN isfinite({number}) THEN greatest(least({place}, {BARS - 1}), 0) END"
        )
        asked.append(f"histogram({inside})")
        edges[name] = (*(low + i * step for i in range(BARS)), high)
    if not asked:
        return {}
    (row,) = select(f"{', '.join(asked)} FROM {_SEEN}")
    return {
        name: Histogram(edges[name], tuple(counted.get(i, 0) for i in range(BARS)))
        for name, counted in zip(edges, row, strict=True)
    }
