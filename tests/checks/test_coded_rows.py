"""Narrow columns count what wide ones do, whatever the number of groups."""

import numpy as np
import pytest

from boundit.checks import coded_rows
from boundit.checks.coded_rows import CodedRows
from boundit.counts.levels import Codes
from boundit.counts.log import read_log
from boundit.counts.named_array import Floats

NAMES = ["A", "B", "C", "D"]


def draw_rows(seed: int, n_levels: int, *, weight: bool = False) -> CodedRows:
    rng = np.random.default_rng(seed)
    length = 400 + 10 * n_levels
    columns = {name: rng.integers(0, n_levels, length).tolist() for name in NAMES}
    columns["B"][:20] = [None] * 20
    if weight:
        columns["n"] = rng.integers(1, 9, length).tolist()
    log = read_log(columns, missing="level", weight="n" if weight else None)
    return CodedRows.from_table(log.count(NAMES))


def count(rows: CodedRows, given: str, *, drop_nulls: bool) -> tuple[Codes, Floats]:
    return rows.count_pairs(frozenset(given), "A", "B", drop_nulls=drop_nulls)


@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize("n_levels", [2, 9, 30, 300])
@pytest.mark.parametrize("drop_nulls", [False, True])
def test_pairs_are_counted_as_in_the_rows(
    n_levels: int, *, weight: bool, drop_nulls: bool
) -> None:
    rows = draw_rows(n_levels, n_levels, weight=weight)
    n = np.ones(rows.length) if rows.n is None else rows.n
    _, found = count(rows, "CD", drop_nulls=drop_nulls)
    expected: dict[tuple[int, ...], float] = {}
    for i in range(rows.length):
        cell = tuple(int(rows.columns[name][i]) for name in "CDAB")
        if not drop_nulls or rows.levels["B"][cell[-1]] is not None:
            expected[cell] = expected.get(cell, 0.0) + n[i]

    assert found.tolist() == [expected[cell] for cell in sorted(expected)]


@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize("dense", [1, 5, 100])
def test_groups_that_are_numbered_close_together_keep_their_order(
    dense: int, *, weight: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = count(draw_rows(3, 5, weight=weight), "CD", drop_nulls=True)
    monkeypatch.setattr(coded_rows, "DENSE", dense)
    rows = draw_rows(3, 5, weight=weight)
    close = count(rows, "CD", drop_nulls=True)
    n_pairs = len(rows.levels["A"]) * len(rows.levels["B"])

    assert np.array_equal(whole[1], close[1])
    assert np.array_equal(whole[0] % n_pairs, close[0] % n_pairs)
    assert (np.diff(close[0]) > 0).all()


def test_the_values_of_a_group_are_found_by_its_number() -> None:
    rows, given = draw_rows(1, 4), frozenset("BD")
    numbers = rows.number_groups(given).of
    for row in range(0, rows.length, 7):
        values = rows.find_values(given, int(numbers[row]))
        assert values == tuple(
            rows.levels[name][int(rows.columns[name][row])] for name in ("B", "D")
        )


def test_groups_are_numbered_once_for_statements_in_a_row() -> None:
    rows = draw_rows(1, 4)

    assert rows.number_groups(frozenset("CD")) is rows.number_groups(frozenset("DC"))


def test_columns_take_a_byte_each_where_codes_allow() -> None:
    assert draw_rows(0, 20).columns["A"].dtype == np.uint8
    assert draw_rows(0, 300).columns["A"].dtype == np.uint16
