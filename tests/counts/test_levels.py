"""One value, one level, wherever it was stored."""

import datetime as dt
from decimal import Decimal
from itertools import permutations
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from boundit.core.errors import DataError
from boundit.core.names import name_bins
from boundit.counts.errors import NotACategory
from boundit.counts.levels import encode_column, join_levels, sort_levels, to_native

NOON = dt.datetime(2024, 2, 29, 12)  # noqa: DTZ001 - without a zone on purpose


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int8(3), 3), (np.float32(0.5), 0.5), (2.0, 2), (-0.0, 0), (np.bool_(True), True),
        (Decimal("1.00"), 1), (Decimal("0.1"), 0.1), (1e300, 1e300), (2**70, 2**70),
        (float("inf"), float("inf")), ("1", "1"), (np.str_("a"), "a"), (b"ab", "ab"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (None, None), (float("nan"), None), (Decimal("NaN"), None), (pd.NaT, None),
        (pd.NA, None), (np.datetime64("NaT", "s"), None),
        (NOON, NOON), (pd.Timestamp(NOON), NOON), (np.datetime64(NOON, "ns"), NOON),
        (pd.Timestamp("2024-02-29"), dt.date(2024, 2, 29)),
        (pd.Timestamp("2024-02-29 01:00+01:00"), dt.datetime(2024, 2, 29, tzinfo=dt.UTC)),
        (dt.time(9, 30), dt.time(9, 30)), (np.timedelta64(1, "D"), dt.timedelta(days=1)),
    ],
)  # fmt: skip
def test_a_value_is_written_in_one_way(value: object, expected: object) -> None:
    assert (type(to_native(value)), to_native(value)) == (type(expected), expected)


def test_levels_of_any_types_have_one_order() -> None:
    levels = (False, 2, "a", "< 3", dt.date(2024, 1, 1), NOON, dt.timedelta(1), None)

    assert all(
        sort_levels(shuffled) == levels for shuffled in permutations(levels, len(levels))
    )


def test_bins_are_ordered_by_their_edges() -> None:
    labels = name_bins([-1e-7, 5, 10.5, 1_000_000, 2_000_001])

    assert labels[0] == "< -1e-07"
    assert labels[-2:] == ("[1000000, 2000001)", ">= 2000001")
    assert sort_levels(sorted(labels)) == labels


def test_columns_are_coded_by_their_levels() -> None:
    text, codes = encode_column("X", ["b", None, "a", "b"])

    assert text == ("a", "b", None)
    assert codes.tolist() == [1, 2, 0, 1]
    masked = np.ma.MaskedArray([3, 1, 9], mask=[False, False, True])
    assert encode_column("X", masked)[0] == (1, 3, None)
    assert encode_column("X", [1, 1.0, Decimal(1), float("nan"), float("nan")])[0] == (1, None)
    assert encode_column("X", np.array([], dtype=np.int64))[0] == ()


@pytest.mark.parametrize(
    ("column", "held"), [([[1]], "list"), ([object()], "object"), ([1j], "complex")]
)
def test_what_is_no_category_is_named(column: list[object], held: str) -> None:
    with pytest.raises(NotACategory, match=rf"'X' holds {held}\. A category is"):
        encode_column("X", column)


def test_levels_of_two_tables_join_unless_they_are_of_two_types() -> None:
    assert join_levels("X", ("b",), ("a", None), ("b",)) == ("a", "b", None)
    assert join_levels("X", (0, 1), (True,)) == (0, 1)
    with pytest.raises(DataError, match="'X' has both 1 and '1' as levels"):
        join_levels("X", (1,), ("1",))
    with pytest.raises(NotACategory):
        join_levels("X", ([1],))
