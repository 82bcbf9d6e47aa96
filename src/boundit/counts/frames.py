"""Frames: one group-by through Narwhals, on the engine that already holds the rows."""

import warnings
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, reduce
from operator import add
from typing import TypeAlias

import narwhals as nw
import numpy as np
from narwhals.exceptions import NarwhalsError
from narwhals.typing import IntoDataFrame, IntoLazyFrame, IntoSeries

from boundit.counts.cells import (
    NUMBER,
    Cells,
    Column,
    ColumnKind,
    GroupBy,
    Oddity,
    choose_aggregates,
)
from boundit.counts.errors import (
    InvalidLog,
    NotACategory,
    NotNumeric,
    UnknownSource,
    shorten_error,
)
from boundit.terms.errors import MissingExtra
from boundit.terms.names import join_names

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
        """The frame's columns that have a name, and what each holds: numbers, text, times.

        Read by ``Log.names`` and the checks of ``Log``.
        """
        with self._refuse_errors():
            schema = self.frame.collect_schema()
        return {name: _find_kind(of) for name, of in schema.items() if isinstance(name, str)}

    def group(self, plan: GroupBy) -> Cells:
        """Group the rows of a data frame on its own engine, by the keys of a ``GroupBy`` plan.

        Errors of the engine become ours. Called by ``Log.count``.
        """
        self._check_objects(plan)
        with self._refuse_errors(), warnings.catch_warnings():
            # Of a hundred columns and more pandas says that they were put together one by one.
            warnings.filterwarnings("ignore", message="DataFrame is highly fragmented")
            return self._group(plan)

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Look how many values each column of a frame has, on the engine that holds it.

        Called by ``Log.count_levels``.
        """
        if not columns:
            return []
        with self._refuse_errors():
            found = self.frame.select(*(nw.col(name).n_unique() for name in columns)).collect()
            return [int(found[name][0]) for name in columns]

    def find_oddity(self, column: str) -> Oddity | None:
        """Find a text in a column that is no number; not every engine keeps rows in order.

        Called by ``Log._check_may_be_summed`` for an error message.
        """
        with self._refuse_errors():
            known, text = ~nw.col(column).is_null(), nw.col(column).cast(nw.String)
            texts = self.frame.filter(known).select(text)
            odd = texts.filter(~nw.col(column).str.contains(NUMBER)).head(1).collect()
        return Oddity(odd[column][0]) if len(odd) else None

    @contextmanager
    def _refuse_errors(self) -> Iterator[None]:
        """Turn whatever the frame's engine raises in this block into an error of one line.

        Called by ``FrameSource.kinds``, ``FrameSource.group`` and ``FrameSource.find_oddity``.
        """
        try:
            yield
        except ModuleNotFoundError as error:
            raise MissingExtra(str(error.name), "spark") from None
        except Exception as error:
            raise InvalidLog(f"cannot read {self.label}: {shorten_error(error)}") from error

    def _check_objects(self, plan: GroupBy) -> None:
        """Refuse Python objects that are no numbers where summed, or cannot be grouped by.

        Engines would fail on them late and unclearly. Called by ``FrameSource.group`` first.
        """
        numeric = {"weight": plan.weight, "reward": plan.reward}
        roles = {of: role for role, of in numeric.items() if of is not None}
        roles |= dict.fromkeys(plan.flags, "selection")
        roles |= dict.fromkeys(plan.cuts, "the binned column")
        for name in dict.fromkeys([*roles, *plan.keys]):
            if self.frame.collect_schema()[name] != nw.Object:
                continue
            held = {type(v) for v in self.frame.select(name).collect()[name].to_list()}
            fits = _NUMBERS if name in roles else (Hashable,)
            if odd := join_names(t.__name__ for t in held if not issubclass(t, fits)):
                if name in roles:
                    raise NotNumeric(name, roles[name], odd)
                raise NotACategory(name, odd)

    def _group(self, plan: GroupBy) -> Cells:
        """Group the frame by the plan's keys, and read the grouped table as cells.

        Called by ``FrameSource.group``.
        """
        keys = [f"key_{i}" for i in range(len(plan.keys))]
        aggregates = choose_aggregates(plan)
        added = [
            _write_aggregate(of, how).alias(name) for name, (of, how) in aggregates.items()
        ]
        # Without a key the rows are one group, and some column must say how many there are.
        anchor = [] if keys else [nw.col(next(iter(self.kinds))).alias("all")]
        prepared = self.frame.select(
            *anchor,
            *(self._select_key(c, plan).alias(k) for c, k in zip(plan.keys, keys, strict=True)),
            *self._select_numbers(plan),
        ).with_columns(nw.lit(0).alias("all"), *_derive_columns(plan))
        grouped = prepared.group_by(*keys or ["all"]).agg(*added).head(plan.most_cells + 1)
        answer = self._collect(grouped)
        return Cells(
            tuple(_read_column(answer[key]) for key in keys),
            {name: _read_floats(answer[name]) for name in aggregates},
        )

    def _select_key(self, column: str, plan: GroupBy) -> nw.Expr:
        """Write the Narwhals expression of a column to group by, cut into bins where asked.

        Called by ``FrameSource._group``.
        """
        key = nw.col(column)
        if column in plan.cuts:
            number, edges = self._select_number(column), plan.cuts[column]
            passed = reduce(add, ((number >= edge).cast(nw.Int64) for edge in edges))
            return nw.when(~number.is_null()).then(passed)
        return self._select_number(column) if self._may_be_nan(column) else key

    def _select_numbers(self, plan: GroupBy) -> list[nw.Expr]:
        """Write the Narwhals expressions of weight, reward and flags as floats.

        Called by ``FrameSource._group``.
        """
        named = {"weight": plan.weight, "reward": plan.reward}
        named |= {f"flag_{i}": flag for i, flag in enumerate(plan.flags)}
        return [
            self._select_number(of).alias(name) for name, of in named.items() if of is not None
        ]

    def _select_number(self, column: str) -> nw.Expr:
        """Write the Narwhals expression of a column as floats, NaN as null.

        Called by ``FrameSource._select_key`` and ``FrameSource._select_numbers``.
        """
        number = nw.col(column).cast(nw.Float64)
        return nw.when(~number.is_nan()).then(number) if self._may_be_nan(column) else number

    def _may_be_nan(self, column: str) -> bool:
        """Tell whether a column is of floats, which alone can hold NaN.

        Called by ``FrameSource._select_key`` and ``FrameSource._select_number``.
        """
        return self.frame.collect_schema()[column].is_float()

    def _collect(self, grouped: Lazy) -> nw.DataFrame[IntoDataFrame]:
        # Streaming needs an eighth of the memory that the default engine takes.
        """Compute the grouped table on the frame's engine and bring it into memory.

        Called by ``FrameSource._group``.
        """
        streaming = self.frame.implementation.is_polars()
        return grouped.collect(engine="streaming") if streaming else grouped.collect()


def read_frame(source: object) -> FrameSource:
    """Make a source of rows of a data frame of any library, or raise UnknownSource.

    Called by ``_open_source`` for whatever is no path, dict or relation.
    """
    try:
        frame = nw.from_native(source)  # type: ignore[call-overload]
        return FrameSource(frame.lazy(), f"the {frame.implementation.value} frame")
    except TypeError:
        raise UnknownSource(source) from None
    except NarwhalsError as error:
        raise InvalidLog(f"cannot read the frame: {shorten_error(error)}") from None


def _find_kind(of: nw.dtypes.DType) -> ColumnKind:
    """Tell what a column holds (numbers, text, times) by its data type.

    Called by ``FrameSource.kinds``.
    """
    if of.is_numeric():
        return ColumnKind.NUMBERS
    if of == nw.Boolean:
        return ColumnKind.BOOLEANS
    if of.is_temporal():
        return ColumnKind.TIMES
    if of.is_nested():
        return ColumnKind.NESTED
    return ColumnKind.TEXT if of in {nw.String, nw.Categorical, nw.Enum} else ColumnKind.OBJECTS


def _derive_columns(plan: GroupBy) -> list[nw.Expr]:
    """Write the Narwhals expressions of the numbers to add up: weight, reward, their products.

    Called by ``FrameSource._group``.
    """
    weight, reward = nw.col("weight"), nw.col("reward")
    columns = []
    if plan.weight:
        columns.append((weight - weight.floor()).alias("part"))
    if plan.reward:
        times = weight * reward if plan.weight else reward
        columns += [times.alias("once"), (times * reward).alias("twice")]
        counted = nw.when(weight > 0).then(reward) if plan.weight else reward
        columns.append(counted.alias("counted"))
        if plan.weight:
            columns.append(nw.when(~reward.is_null()).then(weight).alias("given"))
    flags = [nw.col(f"flag_{i}") for i in range(len(plan.flags))]
    columns += [nw.when(f == 1).then(f).alias(f"flag_{i}") for i, f in enumerate(flags)]
    return columns


def _write_aggregate(of: str, how: str) -> nw.Expr:
    """Write the Narwhals expression that adds up, counts or takes the extreme of a column.

    Called by ``FrameSource._group`` for each aggregate of the plan.
    """
    column = nw.col(of) if of else None
    match how, column:
        case "count", nw.Expr():
            return column.count()
        case "sum", nw.Expr():
            return column.sum()
        case "min", nw.Expr():
            return column.min()
        case "max", nw.Expr():
            return column.max()
        case _:
            return nw.len()


def _read_column(series: nw.Series[IntoSeries]) -> Column:
    # With nulls, integers would come back as floats, and neighbours become one level.
    """Read a key column of the grouped table into NumPy or a list, whole numbers as such.

    Called by ``FrameSource._group``.
    """
    plain = series.dtype.is_numeric() and not series.dtype.is_decimal()
    if plain and series.null_count() == 0:
        return series.to_numpy()
    return series.to_list()


def _read_floats(series: nw.Series[IntoSeries]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Read an aggregate of the grouped table as floats, null as nan.

    Called by ``FrameSource._group``.
    """
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
