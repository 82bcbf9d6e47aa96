"""Every engine answers alike: the contract of all sources."""

import datetime as dt
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.core.errors import DataError
from boundit.counts.errors import NotACategory, NotNumeric
from boundit.counts.frames import read_frame
from boundit.counts.log import read_log
from tests.counts.backends import BACKENDS, Columns, arrow, shown


def mixed_rows(n: int = 200) -> Columns:
    """Rows of every kind of value, a tenth of them missing."""
    rng = random.Random(7)

    def some(*values: object) -> list[object]:
        return [None if rng.random() < 0.1 else rng.choice(values) for _ in range(n)]

    return {
        "whole": some(0, 1, 2),
        "text": some("a", "b c", "é,", '"q"'),
        "flag": some(True, False),
        "day": some(dt.date(2024, 1, 31), dt.date(2024, 2, 1)),
        "count": some(0.0, 1.0, 7.0),
        "dose": some(0.5, 1.0, 2.25),
        "age": [None if rng.random() < 0.1 else 90 * rng.random() for _ in range(n)],
        "Y": some(True, False),
        "R": some(-1.5, 0.25, 2.0),
        "n": [rng.randrange(4) for _ in range(n)],
        "Kept": [True] * n,
    }


ASKED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"variables": ["text", "whole"], "reward": "R"}),
    ({}, {"variables": ["flag", "day", "count", "dose"], "reward": "Y", "selection": "Kept"}),
    ({"missing": "level"}, {"variables": ["whole", "text", "flag", "day", "dose"]}),
    ({"weight": "n"}, {"variables": ["count", "text"], "reward": "R"}),
    ({"weight": "n", "exact": True}, {"variables": ["whole", "flag"], "reward": "Y"}),
    ({"bins": {"age": [18, 30.5, 50]}}, {"variables": ["age", "flag"]}),
    ({}, {"variables": []}),
    ({"columns": {"X": "whole"}}, {"variables": ["X"], "domain": {"X": [9, 1]}}),
    ({}, {"variables": ["flag"], "unmarked": ["Kept", "n", "flag", "text"]}),
]


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "dict"])
def test_every_engine_makes_the_same_table(backend: str, tmp_path: Path) -> None:
    table = arrow(mixed_rows())
    source = BACKENDS[backend](table, tmp_path)

    for opened, asked in ASKED:
        expected = read_log(table.to_pydict(), **opened).count(**asked)
        assert shown(read_log(source, **opened).count(**asked)) == shown(expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_engine_looks_at_the_same_levels(backend: str, tmp_path: Path) -> None:
    """Nulls may or may not count as a level of their own: it is but a look."""
    table = arrow(mixed_rows(60))
    log = read_log(BACKENDS[backend](table, tmp_path))
    names = [name for name in log.columns if name != "Y"]
    expected = {name: set(table.column(name).to_pylist()) - {None} for name in names}

    found = log.count_levels(names)

    assert list(found) == names
    for name, n_levels in found.items():
        assert n_levels - len(expected[name]) in {0, 1}, name
    assert log.count_levels([]) == {}


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_engine_finds_the_text_that_is_no_number(backend: str, tmp_path: Path) -> None:
    table = arrow({"Y": ["1", None, "2.5", "NA"], "X": ["3", "4", None, "-1e3"]})
    source = read_log(BACKENDS[backend](table, tmp_path)).source

    odd = source.find_oddity("Y")
    assert odd is not None
    assert odd.text == "NA"
    assert odd.row in (4, None)
    assert source.find_oddity("X") is None


values = {
    "whole": st.integers(-2, 2),
    "text": st.sampled_from(["a", "b", "A", "x y"]),
    "flag": st.booleans(),
    "day": st.dates(dt.date(2024, 2, 28), dt.date(2024, 3, 1)),
}


@st.composite
def small_logs(draw: st.DrawFn) -> Columns:
    n = draw(st.integers(1, 12))
    kinds = draw(st.lists(st.sampled_from(sorted(values)), min_size=1, max_size=3))
    columns = {
        f"V{i}": draw(st.lists(st.none() | values[kind], min_size=n, max_size=n))
        for i, kind in enumerate(kinds)
    }
    rewards = st.none() | st.integers(-3, 3) | st.floats(-2, 2, width=16)
    columns["Y"] = [*draw(st.lists(rewards, min_size=n - 1, max_size=n - 1)), 1.0]
    # An engine needs one value to know a column's type.
    return {
        name: column if any(v is not None for v in column) else [0] * n
        for name, column in columns.items()
    }


@given(small_logs(), st.sampled_from(sorted(BACKENDS)), st.integers(0, 3))
@settings(max_examples=100)
def test_counts_are_those_of_a_plain_loop(
    tmp_path_factory: pytest.TempPathFactory, columns: Columns, backend: str, n_keys: int
) -> None:
    names = [name for name in columns if name != "Y"][:n_keys]
    n, total = defaultdict[tuple[object, ...], int](int), defaultdict[object, float](float)
    for i, reward in enumerate(columns["Y"]):
        key = tuple(columns[name][i] for name in names)
        if reward is not None and None not in key:
            n[key] += 1
            total[key] += float(str(reward))

    folder = tmp_path_factory.mktemp("log")
    log = read_log(BACKENDS[backend](arrow(columns), folder))
    if not n:
        with pytest.raises(DataError, match="every row has a null"):
            log.count(names, reward="Y")
        return
    table = log.count(names, reward="Y")

    cells = [
        tuple(table.levels[name][c] for name, c in zip(names, line, strict=True))
        for line in table.codes.tolist()
    ]
    assert table.sums is not None
    assert dict(zip(cells, table.n.tolist(), strict=True)) == n
    assert dict(zip(cells, table.sums.tolist(), strict=True)) == pytest.approx(total)


def test_nan_is_missing_also_where_the_engine_tells_it_from_null() -> None:
    frame = pl.DataFrame({"X": [0.0, float("nan"), None, 1.0], "Y": [1.0, 1.0, 1.0, np.nan]})
    table = read_log(frame).count(["X"], reward="Y")

    assert table.levels["X"] == (0, 1)
    assert table.dropped == {"X": 2, "Y": 1}


def test_whole_numbers_too_large_for_floats_stay_apart_beside_nulls() -> None:
    large = 2**60
    frame = pl.DataFrame({"X": [large, large + 1, None]})

    assert read_log(frame).count(["X"]).levels["X"] == (large, large + 1)


def test_small_integers_do_not_overflow_when_squared() -> None:
    frame = pl.DataFrame({"Y": [100, 100]}, schema={"Y": pl.Int8})
    table = read_log(frame).count([], reward="Y")

    assert table.squares is not None
    assert table.squares.tolist() == [20_000]


def test_categories_of_numbers_stay_numbers() -> None:
    frame = pd.DataFrame({"X": pd.Categorical([2, 1, 2], categories=[3, 2, 1])})

    assert read_log(frame).count(["X"]).levels["X"] == (1, 2)


@pytest.mark.parametrize(
    ("frame", "asked", "error", "message"),
    [
        (pd.DataFrame({"O": [1, "a"]}), {"variables": [], "reward": "O"}, NotNumeric,
         "The outcome 'O' holds str, which cannot be added up. Write numbers or "
         "booleans, and nothing where one is missing."),
        (pd.DataFrame({"L": [[1], [2]]}), {"variables": ["L"]}, NotACategory,
         "'L' holds list. A category is a whole number, text, a boolean or a date."),
        (pl.DataFrame({"L": [[1], [2]]}), {"variables": ["L"]}, NotACategory,
         "'L' holds lists or structures. A category is a whole number, text, a boolean or a "
         "date."),
    ],
)  # fmt: skip
def test_columns_that_hold_something_else(
    frame: object, asked: dict[str, Any], error: type[DataError], message: str
) -> None:
    with pytest.raises(error) as caught:
        read_log(frame).count(**asked)
    assert str(caught.value) == message


def test_an_engines_own_refusal_is_one_line() -> None:
    broken = pl.LazyFrame({"X": [1]}).select(pl.col("nope"))
    with pytest.raises(DataError, match=r"cannot read the polars frame: .*nope") as caught:
        read_log(broken)
    assert "\n" not in str(caught.value)

    twice = pd.DataFrame([[1, 2]], columns=["X", "X"])
    with pytest.raises(DataError, match="cannot read the frame: Expected unique column names"):
        read_log(twice)


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(DataError, match=r"cannot read a log from pandas\.Series; give"):
        read_frame(pd.Series([1]))


@pytest.mark.parametrize("backend", sorted(BACKENDS))
@pytest.mark.parametrize(
    ("weights", "error", "problem"),
    [
        ([1.0, None], DataError, "weight 'n' is null or NaN in 1 of 2 rows"),
        ([1, -1], DataError, "weight 'n' is negative"),
        ([1, 0.5], DataError, "weight 'n' has a fractional part in some rows"),
        ([0, 0], DataError, "every weight is zero"),
    ],
)
def test_bad_weights_are_found_by_every_engine(
    backend: str, weights: list[object], error: type[DataError], problem: str, tmp_path: Path
) -> None:
    source = BACKENDS[backend](arrow({"X": [0, 1], "n": weights}), tmp_path)
    with pytest.raises(error, match=problem):
        read_log(source, weight="n").count(["X"])


def test_a_wide_frame_is_counted_without_a_warning() -> None:
    """From a hundred columns on pandas warns of how Narwhals puts keys together."""
    names = [f"V{i}" for i in range(120)]
    table = read_log(pd.DataFrame({name: [0, 1, 1] for name in names})).count(names)

    assert table.n.tolist() == [1, 2]
