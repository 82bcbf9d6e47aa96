"""A first look at the columns of a table: levels with their rows, gaps, histograms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from duckdb import DuckDBPyRelation

from boundit.counts.cells import ColumnKind
from boundit.counts.relations import quote_identifier

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
    plain = {name: kind for name, kind in kinds.items() if kind is not ColumnKind.NESTED}
    columns = {name: _write_column(name, types[name]) for name in kinds}
    n_rows, seen = _count_values(table, {name: columns[name] for name in kinds}, plain)
    bars = _draw_histograms(table, columns, seen, plain)
    found = list[ColumnLook]()
    for i, (name, kind) in enumerate(kinds.items()):
        shown = "level" if kind in _NUMBERS else _SHOWN.get(types[name], _TEXT)
        levels, n_levels = _list_levels(table, columns[name], seen[name].n_levels, kind, shown)
        missing = n_rows - seen[name].n_there
        found.append(ColumnLook(name, kind, levels, n_levels, missing, bars.get(name)))
        progress(i + 1, len(kinds))
    return TableLook(n_rows, tuple(found))


class _SeenColumn(NamedTuple):
    """What one pass tells of a column; many levels are counted by a guess."""

    n_there: int
    n_levels: int
    low: float | None
    high: float | None


def _write_column(name: str, kind: str) -> str:
    """Write a column in SQL, NaN as null; called by ``look_at_relation``."""
    column = quote_identifier(name)
    return f"nullif({column}, 'nan'::DOUBLE)" if kind in {"float", "double"} else column


def _count_values(
    table: DuckDBPyRelation, columns: Mapping[str, str], plain: Mapping[str, ColumnKind]
) -> tuple[int, dict[str, _SeenColumn]]:
    """Count rows and values of all columns, in one pass; called by ``look_at_relation``."""
    asked = ["count(*)"]
    for name, column in columns.items():
        number = f"CAST({column} AS DOUBLE)"
        finite = f"FILTER (WHERE isfinite({number}))"
        counted = f"approx_count_distinct({column})" if name in plain else "0"
        asked += [f"count({column})", counted]
        summed = plain.get(name) is ColumnKind.NUMBERS
        asked += [f"{of}({number}) {finite}" if summed else "NULL" for of in ("min", "max")]
    (row,) = _select(table, f"{', '.join(asked)} FROM {_SEEN}")
    parts = [row[1 + 4 * i : 5 + 4 * i] for i in range(len(columns))]
    return row[0], {name: _SeenColumn(*part) for name, part in zip(columns, parts, strict=True)}


def _draw_histograms(
    table: DuckDBPyRelation,
    columns: Mapping[str, str],
    seen: Mapping[str, _SeenColumn],
    plain: Mapping[str, ColumnKind],
) -> dict[str, Histogram]:
    """Count the numbers of all columns between equal steps, in one pass.

    Columns whose numbers are all the same have no histogram.
    """
    asked, edges = list[str](), dict[str, tuple[float, ...]]()
    for name in plain:
        low, high = seen[name].low, seen[name].high
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
    (row,) = _select(table, f"{', '.join(asked)} FROM {_SEEN}")
    return {
        name: Histogram(edges[name], tuple(counted.get(i, 0) for i in range(BARS)))
        for name, counted in zip(edges, row, strict=True)
    }


def _list_levels(
    table: DuckDBPyRelation, column: str, guessed: int, kind: ColumnKind, shown: str
) -> tuple[tuple[tuple[object, int], ...], int]:
    """List the most common levels of a column, and how many there are.

    ``shown`` is the SQL of a level as it is listed. Of very many numbers none is worth a line.
    """
    many = guessed > MANY
    if kind is ColumnKind.NESTED or (many and kind is ColumnKind.NUMBERS):
        return (), guessed
    grouped = f"(SELECT {column} AS level, count(*) AS n FROM {_SEEN} GROUP BY 1)"
    ordered = f"{shown}, n, count(*) OVER () FROM {grouped} WHERE level IS NOT NULL"
    rows = _select(table, f"{ordered} ORDER BY n DESC, level LIMIT {MOST_LEVELS}")
    return tuple((_plain(level), n) for level, n, _ in rows), rows[0][2] if rows else 0


def _select(table: DuckDBPyRelation, sql: str) -> list[tuple[Any, ...]]:
    """Run a query on a table that was read; called for every look."""
    found = table.query(_SEEN, f"SELECT {sql}")
    return found.fetchall() if found is not None else []


def _plain(level: object) -> object:
    """Give a level as JSON can hold it; called by ``_list_levels``."""
    return level if isinstance(level, int | float | str) else str(level)
