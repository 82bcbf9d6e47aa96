"""What is asked of an engine, and what comes back: the one pass over the data.

Every engine answers the same ``GroupBy`` with the same ``Cells``. It groups rows by the keys,
nulls and NaN being one more value, and adds up a few columns; whatever is judged about the
data (bad weights, nulls, levels) is judged from the cells, the same way for all engines. Here
are the engines for a dict of columns (NumPy) and for DuckDB relations, which files become too.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias

import duckdb
import numpy as np
from duckdb import DuckDBPyRelation
from numpy.typing import NDArray

from boundit.core.errors import DataError, OptionError
from boundit.counts.errors import NotNumeric, shorten_error
from boundit.counts.levels import encode_column, to_native
from boundit.counts.named_array import Floats, find_distinct

Column: TypeAlias = NDArray[np.generic] | Sequence[object]
CELL_LIMIT = 2**24
"""The most cells that are brought back; an engine may stop at one more."""


class ColumnKind(Enum):
    """What a column holds, in the words of an error message."""

    NUMBERS = "numbers"
    BOOLEANS = "booleans"
    TEXT = "text"
    TIMES = "dates or times"
    OBJECTS = "Python objects"
    NESTED = "lists or structures"
    MIXED = "values of several types"

    @property
    def may_be_summed(self) -> bool:
        """Whether a column of this kind may be added up, as a reward or a weight is.

        A column of Python objects counts as one: only its rows can tell. So does one of several
        types, which its source refuses with the line.
        """
        return self not in {ColumnKind.TEXT, ColumnKind.TIMES, ColumnKind.NESTED}


@dataclass(frozen=True, slots=True)
class GroupBy:
    """One GROUP BY: the columns to group by, where to cut them, and what to add up."""

    keys: tuple[str, ...]
    cuts: Mapping[str, Sequence[float]] = field(default_factory=dict)
    reward: str | None = None
    weight: str | None = None
    flags: tuple[str, ...] = ()
    most_cells: int = CELL_LIMIT
    memory_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Cells:
    """One line per combination of key values; a key that is cut holds the number of its bin.

    ``lines`` are the rows of a cell. The other aggregates are there when the plan asks:

    - ``weighed``: rows whose weight is a number; ``weight``, ``least_weight``,
      ``most_weight`` their sum and range, ``part_weight`` the largest fractional part;
    - ``rewarded``: rows whose reward is a number; ``rewarded_weight``, ``sums``, ``squares``
      their weight and weighted sums, ``lowest``, ``highest`` the range where weights are
      positive;
    - ``flag_0``, ``flag_1`` and so on: rows whose flag is 1 or true.
    """

    keys: tuple[Column, ...]
    aggregates: Mapping[str, Floats]

    def __getitem__(self, name: str) -> Floats:
        return self.aggregates[name]


class Oddity(NamedTuple):
    """A text where a number was meant; which row it is in, if rows have an order."""

    text: str
    row: int | None = None

    def __str__(self) -> str:
        return repr(self.text) + (f" in row {self.row:,}" if self.row else "")


class Source(Protocol):
    """Rows somewhere, and an engine that can group them."""

    @property
    def label(self) -> str:
        """What messages call the source of rows: a file's name, or "the dict of columns"."""

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The source's columns, and what each holds: numbers, text, times."""

    def group(self, plan: GroupBy) -> Cells:
        """Group the rows by the plan's keys and add up its other columns, in one pass.

        Returns one cell for each combination of values. Each source has its own engine for it.
        """

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Look how many values each column has; the engine may guess where there are many."""

    def find_oddity(self, column: str) -> Oddity | None:
        """Find the first text in a column that is not a number, for a message."""


AGGREGATES = {
    "lines": ("", "rows"),
    "weighed": ("weight", "count"),
    "weight": ("weight", "sum"),
    "least_weight": ("weight", "min"),
    "most_weight": ("weight", "max"),
    "part_weight": ("part", "max"),
    "rewarded": ("reward", "count"),
    "rewarded_weight": ("given", "sum"),
    "sums": ("once", "sum"),
    "squares": ("twice", "sum"),
    "lowest": ("counted", "min"),
    "highest": ("counted", "max"),
}
"""Each aggregate: the derived column it is made of, and how. Flags are counted besides."""
NUMBER = r"^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$"
"""What a number looks like as text."""


_CELL_BYTES = 8
_AGGREGATES = 12  # numbers of a cell beside its keys
_COPIES = 4  # from the engine's answer to the sorted table


def limit_cells(n_keys: int, memory_limit: int | None) -> int:
    """Limit how many cells are brought back, by the memory that they may take here."""
    if memory_limit is None:
        return CELL_LIMIT
    return max(1, min(CELL_LIMIT, memory_limit // estimate_memory(1, n_keys)))


def estimate_memory(n_cells: int, n_keys: int) -> int:
    """Estimate the bytes that it takes to bring back and sort so many cells of so many keys."""
    return n_cells * _CELL_BYTES * _COPIES * (n_keys + _AGGREGATES)


def choose_aggregates(plan: GroupBy) -> dict[str, tuple[str, str]]:
    """Choose which aggregates (sums, counts, extremes) a GROUP BY needs, by their names.

    Returns for each aggregate the column and how it is added up; without weights or a reward
    they are fewer.
    """
    names = ["lines"]
    if plan.weight:
        names += ["weighed", "weight", "least_weight", "most_weight", "part_weight"]
    if plan.reward:
        names += ["rewarded", "sums", "squares", "lowest", "highest"]
        names += ["rewarded_weight"] if plan.weight else []
    flags = [f"flag_{i}" for i in range(len(plan.flags))]
    return {name: AGGREGATES[name] for name in names} | {f: (f, "count") for f in flags}


def list_numbers(plan: GroupBy) -> dict[str, str]:
    """List the columns of numbers that a plan needs: weight, reward, and a mark for each flag."""
    named = {"weight": plan.weight, "reward": plan.reward}
    named |= {f"mark_{i}": flag for i, flag in enumerate(plan.flags)}
    return {name: column for name, column in named.items() if column is not None}


def derive_columns(
    plan: GroupBy,
    column: Callable[[str], Any],
    when: Callable[[Any, Any], Any],
    is_known: Callable[[Any], Any],
    find_part: Callable[[Any], Any],
) -> dict[str, Any]:
    """Derive what is added up from the plan's numbers, in expressions of the engine.

    ``column`` is one of the numbers by its name, nulls and NaN as null; ``when`` is a value
    where a condition holds, else null; ``find_part`` is the fractional part of weights.
    """
    columns: dict[str, Any] = {}
    if plan.weight:
        columns["part"] = find_part(column("weight"))
    if plan.reward:
        reward, weight = column("reward"), column("weight") if plan.weight else None
        once = reward if weight is None else weight * reward
        columns |= {"once": once, "twice": once * reward, "counted": reward}
        if weight is not None:
            columns["counted"] = when(weight > 0, reward)
            columns["given"] = when(is_known(reward), weight)
    for i in range(len(plan.flags)):
        mark = column(f"mark_{i}")
        columns[f"flag_{i}"] = when(mark == 1, mark)
    return columns


_PLAIN = frozenset((int, float, bool, type(None)))  # what NumPy reads as numbers by itself


@dataclass(frozen=True, eq=False)
class ColumnSource:
    """Sequences of one length, by name."""

    columns: Mapping[str, Sequence[object]]
    label: str = "the dict of columns"

    @cached_property
    def kinds(self) -> dict[str, ColumnKind]:
        """The columns of the dict, and what each holds: numbers, text, times."""
        return {name: _find_kind(values) for name, values in self.columns.items()}

    def group(self, plan: GroupBy) -> Cells:
        """Group the rows of a dict of columns with NumPy, by the keys of a ``GroupBy`` plan.

        Its other columns (weight, reward) are added up.
        """
        pairs = [encode_column(name, self._read_key(name, plan)) for name in plan.keys]
        n_rows = len(next(iter(self.columns.values()), ()))
        codes = np.array([codes for _, codes in pairs], dtype=np.int64)
        first, group = find_distinct(
            codes.reshape(len(pairs), n_rows).T, [len(levels) for levels, _ in pairs]
        )
        numbers = {
            name: self._read_numbers(of, name if name in {"weight", "reward"} else "selection")
            for name, of in list_numbers(plan).items()
        }
        numbers |= derive_columns(
            plan,
            column=numbers.__getitem__,
            when=lambda condition, value: np.where(condition, value, np.nan),
            is_known=lambda value: ~np.isnan(value),
            find_part=lambda weight: np.where(np.isinf(weight), 0, weight) % 1,
        )
        aggregates = {
            name: aggregate_by_group(numbers.get(of, np.ones(n_rows)), how, group, len(first))
            for name, (of, how) in choose_aggregates(plan).items()
        }
        keys = [[levels[c] for c in codes[first]] for levels, codes in pairs]
        return Cells(tuple(keys), aggregates)

    def _read_key(self, name: str, plan: GroupBy) -> Column:
        """Read a column to group by, as numbers of bins where the plan has cuts for it."""
        if name not in plan.cuts:
            return self.columns[name]
        numbers = self._read_numbers(name, "binned column")
        bins: list[int] = np.searchsorted(plan.cuts[name], numbers, side="right").tolist()
        return [None if x != x else i for x, i in zip(numbers.tolist(), bins, strict=True)]

    def _read_numbers(self, name: str, role: str) -> Floats:
        """Read a column as floats, missing values as nan, or raise NotNumeric."""
        try:
            numbers = self.columns[name]
            if not _PLAIN.issuperset(map(type, numbers)):
                numbers = [to_native(value) for value in numbers]
            return np.array(numbers, dtype=np.float64)  # which makes nan of None
        except (TypeError, ValueError):
            raise NotNumeric(name, role, self.kinds[name].value) from None

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Count the values of each column of a dict."""
        return [len(encode_column(name, self.columns[name])[0]) for name in columns]

    def find_oddity(self, column: str) -> Oddity | None:
        """Find the first text in a column that is not a number, for an error message."""
        known = [(i, str(v)) for i, v in enumerate(self.columns[column], 1) if v is not None]
        return next((Oddity(t, i) for i, t in known if not re.match(NUMBER, t)), None)


def read_columns(columns: Mapping[str, object]) -> ColumnSource:
    """Make a source of rows of a dict of columns, which must be sequences of one length."""
    held = {}
    for name, found in columns.items():
        values = found.tolist() if isinstance(found, np.ndarray) else found
        if not isinstance(values, Sequence) or isinstance(values, str | bytes):
            msg = f"column {name!r} is {type(values).__name__}; give a list of its values"
            raise OptionError(msg)
        held[name] = values
    lengths = {name: len(values) for name, values in held.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} has {n}" for name, n in lengths.items())
        raise OptionError(f"columns differ in length: {shown}; every row needs all of them")
    return ColumnSource(held)


def _find_kind(values: Sequence[object]) -> ColumnKind:
    """Tell what a column holds by the types of its values."""
    types = {type(v) for v in values if v is not None}
    if types and types <= {bool, np.bool_}:
        return ColumnKind.BOOLEANS
    if types and all(issubclass(t, int | float | Decimal | np.number) for t in types):
        return ColumnKind.NUMBERS
    if any(issubclass(t, list | dict | set | tuple) for t in types):
        return ColumnKind.NESTED
    return ColumnKind.TEXT if types == {str} else ColumnKind.OBJECTS


def aggregate_by_group(
    numbers: Floats, how: str, group: NDArray[np.intp], n_groups: int
) -> Floats:
    """Add up a column, count its numbers or take their extreme, group by group."""
    known = ~np.isnan(numbers)
    match how:
        case "sum":
            added = np.bincount(group, np.where(known, numbers, 0.0), n_groups)
            return np.asarray(added, dtype=np.float64)
        case "min":
            return -_find_largest(-numbers[known], group[known], n_groups)
        case "max":
            return _find_largest(numbers[known], group[known], n_groups)
        case _:
            return np.bincount(group[known], minlength=n_groups).astype(np.float64)


def _find_largest(numbers: Floats, group: NDArray[np.intp], n_groups: int) -> Floats:
    """Find the largest number of each group, nan where there is none."""
    most = np.full(n_groups, np.nan)
    np.fmax.at(most, group, numbers)
    return most


_SQL = {
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
    added = [f"{_SQL[how].format(of)} AS {name}" for name, (of, how) in aggregates.items()]
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
    numbers = {
        name: np.ma.filled(np.ma.asarray(answer[name], dtype=np.float64), np.nan)
        for name in aggregates
    }
    return Cells(tuple(columns), numbers)


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


def _read_moments(column: Column) -> list[object]:
    """Read a key of time stamps with a zone as datetimes in UTC, or a number beyond those."""
    moments = np.ma.asarray(column).astype("M8[us]").tolist()
    return [m.replace(tzinfo=dt.UTC) if isinstance(m, dt.datetime) else m for m in moments]
