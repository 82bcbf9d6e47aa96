"""Frames: one group-by through Narwhals, on the engine that already holds the rows."""

import warnings
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, reduce
from operator import add
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from narwhals.exceptions import NarwhalsError
from narwhals.typing import IntoLazyFrame, IntoSeries

from boundit.core.errors import DataError, MissingExtra
from boundit.core.names import join_names
from boundit.counts.errors import NotACategory, NotNumeric, shorten_error
from boundit.counts.sources import (
    NUMBER,
    Cells,
    Column,
    ColumnKind,
    GroupBy,
    Oddity,
    choose_aggregates,
    derive_columns,
    list_numbers,
)

# What pandas turns into a float, its missing values included.
_NUMBERS = (int, float, Decimal, np.number, np.bool_, type(None))
Lazy: TypeAlias = nw.LazyFrame[IntoLazyFrame]


@dataclass(frozen=True, eq=False)
class FrameSource:
    """A frame of any library that Narwhals knows; only the grouped table is collected."""

    frame: Lazy
    label: str

    @cached_property
    def kinds(self) -> dict[str, ColumnKind]:
        """The frame's columns that have a name, and what each holds: numbers, text, times."""
        with self._refuse_errors():
            schema = self.frame.collect_schema()
        return {name: _find_kind(of) for name, of in schema.items() if isinstance(name, str)}

    def group(self, plan: GroupBy) -> Cells:
        """Group the rows of a data frame on its own engine, by the keys of a ``GroupBy`` plan.

        Errors of the engine become ours.
        """
        self._check_objects(plan)
        with self._refuse_errors(), warnings.catch_warnings():
            # Of a hundred columns and more pandas says that they were put together one by one.
            warnings.filterwarnings("ignore", message="DataFrame is highly fragmented")
            return self._group(plan)

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Look how many values each column of a frame has, on the engine that holds it."""
        if not columns:
            return []
        with self._refuse_errors():
            if self._ibis is None:
                counted = self.frame.select(*(nw.col(name).n_unique() for name in columns))
            else:  # Narwhals would count the null too, by a cast that PostgreSQL lacks
                counts = [self._ibis[name].nunique().name(name) for name in columns]
                counted = nw.from_native(self._ibis.aggregate(counts))
            found = counted.collect()
            return [int(found[name][0]) for name in columns]

    def find_oddity(self, column: str) -> Oddity | None:
        """Find a text in a column that is not a number; not every engine keeps rows in order."""
        with self._refuse_errors():
            known, text = ~nw.col(column).is_null(), nw.col(column).cast(nw.String)
            texts = self.frame.filter(known).select(text)
            odd = texts.filter(~nw.col(column).str.contains(NUMBER)).head(1).collect()
        return Oddity(odd[column][0]) if len(odd) else None

    @contextmanager
    def _refuse_errors(self) -> Iterator[None]:
        """Turn whatever the frame's engine raises in this block into an error of one line."""
        try:
            yield
        except Exception as error:
            if isinstance(error, ModuleNotFoundError) and self._ibis is None:
                raise MissingExtra(str(error.name), "spark") from None
            raise DataError(f"cannot read {self.label}: {shorten_error(error)}") from error

    def _check_objects(self, plan: GroupBy) -> None:
        """Refuse Python objects that are not numbers where summed, or cannot be grouped by.

        Engines would fail on them late and unclearly; SQLite would take a text for 0.
        """
        numeric = {"weight": plan.weight, "reward": plan.reward}
        roles = {of: role for role, of in numeric.items() if of is not None}
        roles |= dict.fromkeys(plan.flags, "selection")
        roles |= dict.fromkeys(plan.cuts, "binned column")
        for name in dict.fromkeys([*roles, *plan.keys]):
            if name in roles and (text := self._find_loose_text(name)):
                raise NotNumeric(name, roles[name], ColumnKind.TEXT.value, text)
            if self.frame.collect_schema()[name] != nw.Object:
                continue
            held = {type(v) for v in self.frame.select(name).collect()[name].to_list()}
            fits = _NUMBERS if name in roles else (Hashable,)
            if odd := join_names(t.__name__ for t in held if not issubclass(t, fits)):
                if name in roles:
                    raise NotNumeric(name, roles[name], odd)
                raise NotACategory(name, odd)

    def _find_loose_text(self, column: str) -> str | None:
        """Find a text in a column of numbers: SQLite checks no types."""
        if self._ibis is None or self._ibis.get_backend().name != "sqlite":
            return None
        with self._refuse_errors():
            loose = self._ibis.filter(self._ibis[column].typeof().isin(["text", "blob"]))
            texts = nw.from_native(loose).select(nw.col(column).cast(nw.String))
            found = texts.head(1).collect()[column].to_list()
        return repr(found[0]) if found else None

    def _group(self, plan: GroupBy) -> Cells:
        """Group the frame by the plan's keys, and read the grouped table as cells."""
        keys = [f"key_{i}" for i in range(len(plan.keys))]
        aggregates = choose_aggregates(plan)
        added = [
            (getattr(nw.col(of), how)() if of else nw.len()).alias(name)
            for name, (of, how) in aggregates.items()
        ]
        derived = derive_columns(
            plan,
            column=nw.col,
            when=lambda condition, value: nw.when(condition).then(value),
            is_known=lambda value: ~value.is_null(),
            # Larger floats are whole, and databases floor to integers of 64 bits.
            find_part=lambda w: nw.when(w.abs() < 2.0**53).then(w - w.floor()),
        )
        # Without a key the rows are one group, and some column must say how many there are.
        anchor = [] if keys else [nw.col(next(iter(self.kinds))).alias("all")]
        prepared = self.frame.select(
            *anchor,
            *(self._select_key(c, plan).alias(k) for c, k in zip(plan.keys, keys, strict=True)),
            *(self._select_number(of).alias(name) for name, of in list_numbers(plan).items()),
        ).with_columns(nw.lit(0).alias("all"), **derived)
        grouped = prepared.group_by(*keys or ["all"]).agg(*added).head(plan.most_cells + 1)
        # Streaming needs an eighth of the memory that Polars' default engine takes.
        streaming = self.frame.implementation.is_polars()
        answer = grouped.collect(engine="streaming") if streaming else grouped.collect()
        spelled = {c for c in plan.keys if self._is_spelled(c) and c not in plan.cuts}
        return Cells(
            tuple(
                _read_whole(answer[k], c) if c in spelled else _read_column(answer[k])
                for c, k in zip(plan.keys, keys, strict=True)
            ),
            {name: _read_floats(answer[name]) for name in aggregates},
        )

    def _select_key(self, column: str, plan: GroupBy) -> nw.Expr:
        """Write the Narwhals expression of a column to group by, cut into bins where asked."""
        key, of = nw.col(column), self.frame.collect_schema()[column]
        if column in plan.cuts:
            number, edges = self._select_number(column), plan.cuts[column]
            passed = reduce(add, (nw.when(number >= e).then(1).otherwise(0) for e in edges))
            return nw.when(~number.is_null()).then(passed)
        if self._may_be_nan(column):
            return self._select_number(column)
        if self._ibis is None:
            return key
        if of == nw.String:
            # A column may be set to take "a" for "A"; what is put together is not.
            return nw.concat_str(key, nw.lit(""))
        return key.cast(nw.String) if self._is_spelled(column) or of == nw.Unknown else key

    def _is_spelled(self, column: str) -> bool:
        """Tell whether whole numbers come as text: Ibis makes them floats beside a null."""
        return self._ibis is not None and self.frame.collect_schema()[column].is_integer()

    def _select_number(self, column: str) -> nw.Expr:
        """Write the Narwhals expression of a column as floats, NaN as null."""
        found = nw.col(column)
        if self.kinds[column] is ColumnKind.BOOLEANS:  # which PostgreSQL does not cast
            found = nw.when(~found.is_null()).then(nw.when(found).then(1).otherwise(0))
        number = found.cast(nw.Float64)
        return nw.when(~number.is_nan()).then(number) if self._may_be_nan(column) else number

    def _may_be_nan(self, column: str) -> bool:
        """Tell whether a column can hold NaN: floats, and in a database that has it decimals."""
        of = self.frame.collect_schema()[column]
        if self._ibis is None or not (of.is_float() or of.is_decimal()):
            return of.is_float()
        asked = self._ibis[column].cast("float64").isnan().op()
        return bool(self._ibis.get_backend().has_operation(type(asked)))

    @property
    def _ibis(self) -> Any:
        """The Ibis table, None of other frames."""
        return self.frame.to_native() if self.frame.implementation.is_ibis() else None


def read_frame(source: object) -> FrameSource:
    """Make a source of rows of a data frame of any library, or refuse it."""
    try:
        frame = nw.from_native(source)  # type: ignore[call-overload]
        return FrameSource(frame.lazy(), f"the {frame.implementation.value} frame")
    except TypeError:
        kind = type(source)
        package = kind.__module__.split(".")[0]
        name = kind.__name__ if package == "builtins" else f"{package}.{kind.__qualname__}"
        raise DataError(
            f"cannot read a log from {name}; give paths of Parquet or CSV files, a frame (pandas, "
            "Polars, PyArrow, DuckDB relation, PySpark, Ibis), or a dict of columns"
        ) from None
    except NarwhalsError as error:
        raise DataError(f"cannot read the frame: {shorten_error(error)}") from None


def _find_kind(of: nw.dtypes.DType) -> ColumnKind:
    """Tell what a column holds (numbers, text, times) by its data type."""
    if of.is_numeric():
        return ColumnKind.NUMBERS
    if of == nw.Boolean:
        return ColumnKind.BOOLEANS
    if of.is_temporal():
        return ColumnKind.TIMES
    if of.is_nested():
        return ColumnKind.NESTED
    return ColumnKind.TEXT if of in {nw.String, nw.Categorical, nw.Enum} else ColumnKind.OBJECTS


def _read_column(series: nw.Series[IntoSeries]) -> Column:
    # With nulls, integers would come back as floats, and neighbours become one level.
    """Read a key column of the grouped table into NumPy or a list, whole numbers as such."""
    plain = series.dtype.is_numeric() and not series.dtype.is_decimal()
    if plain and series.null_count() == 0:
        return series.to_numpy()
    return series.to_list()


def _read_whole(series: nw.Series[IntoSeries], column: str) -> list[int | None]:
    """Read whole numbers that came as text; SQLite may hold anything in their column."""
    texts = series.to_list()
    for text in texts:
        if text is not None and not text.lstrip("-").isdecimal():
            raise ValueError(f"{column!r} holds {text!r} among whole numbers")
    return [None if text is None else int(text) for text in texts]


def _read_floats(series: nw.Series[IntoSeries]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Read an aggregate of the grouped table as floats, null as nan."""
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
