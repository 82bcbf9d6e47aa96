"""A first look at a table: what each column holds, for setting up a question."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from duckdb import DuckDBPyRelation

from boundit.counts.sources import ColumnKind, quote_identifier

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
