"""Rows in groups: what is counted, what varies, what contradicts most."""

from collections import Counter

import numpy as np
import pytest

from boundit.checks import independence
from boundit.checks.independence import CodedRows, find_evidence
from boundit.counts.log import read_log
from boundit.graph.implications import Independence
from tests.checks.groups import lay_out

NAMES = ["A", "B", "C", "D"]
STATEMENT = Independence("A", "B", frozenset("CD"), selected=False)
ALONE = Independence("Y", "X", frozenset(), selected=False)


def draw_rows(seed: int, n_levels: int, *, weight: bool = False) -> CodedRows:
    rng = np.random.default_rng(seed)
    length = 400 + 10 * n_levels
    columns = {name: rng.integers(0, n_levels, length).tolist() for name in NAMES}
    columns["B"][:20] = [None] * 20
    if weight:
        columns["n"] = rng.integers(1, 9, length).tolist()
    log = read_log(columns, missing="level", weight="n" if weight else None)
    return CodedRows.from_table(log.count(NAMES))


@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize("n_levels", [2, 9, 30, 300])
@pytest.mark.parametrize("drop_nulls", [False, True])
@pytest.mark.parametrize("dense", [5, independence.DENSE])
def test_tables_are_those_of_the_rows_in_groups_where_both_vary(
    n_levels: int,
    dense: int,
    monkeypatch: pytest.MonkeyPatch,
    *,
    weight: bool,
    drop_nulls: bool,
) -> None:
    monkeypatch.setattr(independence, "DENSE", dense)
    rows = draw_rows(n_levels, n_levels, weight=weight)
    n = np.ones(rows.length) if rows.n is None else rows.n
    expected = Counter[tuple[int, ...]]()
    for i in range(rows.length):
        cell = tuple(int(rows.columns[name][i]) for name in "CDAB")
        if not drop_nulls or rows.levels["B"][cell[-1]] is not None:
            expected[cell] += n[i]
    varied = {
        group
        for group in {cell[:2] for cell in expected}
        if all(len({cell[i] for cell in expected if cell[:2] == group}) > 1 for i in (2, 3))
    }
    strata = rows.stratify(STATEMENT, drop_nulls=drop_nulls)
    found = {
        (
            *(rows.levels[v].index(x) for v, x in rows.find_values(frozenset("CD"), place)),
            one,
            other,
        ): count
        for place, one, other, count in zip(
            strata.place.tolist(), strata.one, strata.other, strata.n, strict=True
        )
    }

    assert found == {cell: count for cell, count in expected.items() if cell[:2] in varied}
    assert (np.diff(strata.place) >= 0).all()


def test_columns_take_a_byte_each_where_codes_allow() -> None:
    assert draw_rows(0, 20).columns["A"].dtype == np.uint8
    assert draw_rows(0, 300).columns["A"].dtype == np.uint16


def test_expected_counts_are_those_of_the_dense_tables() -> None:
    tables = np.random.default_rng(0).poisson(1.5, size=(40, 3, 4))
    strata = lay_out(tables)
    kept = tables[np.unique(strata.place)]
    n = kept.sum(axis=(1, 2))
    dense = kept.sum(2)[:, :, None] * kept.sum(1)[:, None, :] / n[:, None, None]

    assert np.allclose(strata.expected, dense[strata.group, strata.one, strata.other])


def test_nulls_are_dropped_or_kept_as_a_level() -> None:
    columns = {"X": [0, 1, None, 0, 1], "Y": [0, 1, 1, 1, None]}
    rows = CodedRows.from_table(read_log(columns, missing="level").count(["X", "Y"]))

    assert rows.stratify(ALONE, drop_nulls=True).n.sum() == 3
    assert rows.stratify(ALONE, drop_nulls=False).n.sum() == 5


EVIDENCE = Independence("X", "Y", frozenset("Z"), selected=False)
ROWS = CodedRows.from_table(
    read_log({"X": ["a", "b"], "Y": [0, 1], "Z": ["u", "v"]}).count(["X", "Y", "Z"])
)


def test_evidence_is_shown_over_all_groups() -> None:
    strata = lay_out([[[30, 70], [60, 40]], [[20, 80], [50, 50]]])
    found = find_evidence(strata, EVIDENCE, ROWS)

    assert (found.where, found.pooled, found.rows) == ((), True, 200)
    assert (found.one, found.other) == ("a", 0)
    assert [found.share, found.expected] == pytest.approx([0.25, 0.4])


def test_of_an_exact_distribution_evidence_is_shown_in_its_group() -> None:
    strata = lay_out([[[0.125, 0.125], [0.125, 0.125]], [[0.05, 0.2], [0.15, 0.1]]])
    found = find_evidence(strata, EVIDENCE, ROWS, exact=True)

    assert (found.where, found.pooled) == ((("Z", "v"),), False)
    assert (found.one, found.other) == ("a", 0)
    assert [found.share, found.expected] == pytest.approx([0.2, 0.4])
