"""Rows as models take them, whatever their order, source or kind."""

from datetime import date
from typing import Any

import numpy as np
import pytest

import boundit as bd
from boundit.bounds.models.features import (
    MAX_LEVELS,
    Coding,
    ModelRows,
    count_rows,
    encode,
    find_numbers,
    make_rows,
)
from boundit.core.errors import DataError, OptionError
from boundit.counts.errors import TooLarge
from boundit.counts.memory import Workspace
from boundit.counts.named_array import Floats
from boundit.counts.table import CountTable
from boundit.estimand.query import parse_query

QUERY = parse_query("Y | do(X), C")
ROWS: dict[str, list[Any]] = {
    "X": [0, 1, 0, 1],
    "C": ["a", "b", "a", "a"],
    "Z": [0.25, -1.5, 0.25, 3.0],
    "Y": [1, 0, 1, 1],
    "user": [7, 7, 8, 9],
}
LEVELS = {"X": (0, 1), "C": ("a", "b")}
NO_LIMIT = 10**9


def make(*tables: CountTable, limit: int = NO_LIMIT) -> list[ModelRows]:
    rows, _ = make_rows(tables, QUERY, ["Z"], LEVELS, (0, 1), Workspace(limit))
    return rows


def encode_lines(*tables: CountTable) -> list[Floats]:
    """Encode ``Z`` in every line once."""
    lines = [np.arange(len(table.n)) for table in tables]
    return encode(tables, lines, [Coding.of(tables, "Z")])


def test_rows_come_back_as_they_are_in_whatever_order() -> None:
    turned = {name: values[::-1] for name, values in ROWS.items()}
    found = [
        make(count_rows(bd.read_log(of), QUERY, ["Z"], None, NO_LIMIT))[0]
        for of in (ROWS, turned)
    ]

    for rows in found:
        assert len(rows) == 4
        assert rows.cluster is None
        assert rows.features.shape == (4, 1 + 2)  # C and Z, a level of each stands for itself
        assert rows.context.tolist() == [0, 0, 0, 1]
        assert sorted(zip(rows.arm.tolist(), rows.outcome.tolist(), strict=True)) == [
            (0, 1),
            (0, 1),
            (1, 0),
            (1, 1),
        ]
    assert (found[0].features == found[1].features).all()


def test_numbers_with_many_values_stay_numbers() -> None:
    numbers = np.linspace(-1, 1, 40).tolist()
    log = bd.read_log({"Z": numbers, "X": [0, 1] * 20, "C": ["a"] * 40, "Y": [1, 0] * 20})
    table = count_rows(log, QUERY, ["Z"], None, NO_LIMIT)
    (rows,) = make(table)

    assert rows.features.shape == (40, 1)
    assert sorted(rows.features[:, 0].tolist()) == pytest.approx(numbers)


def test_a_number_that_is_missing_is_a_level_of_its_own() -> None:
    numbers = [None, *np.linspace(0, 1, 39).tolist()]
    frame = {"Z": numbers, "X": [0, 1] * 20, "C": ["a"] * 40, "Y": [1, 0] * 20}
    dropped = count_rows(bd.read_log(frame), QUERY, ["Z"], None, NO_LIMIT)
    kept = count_rows(bd.read_log(frame, missing="level"), QUERY, ["Z"], None, NO_LIMIT)
    missing = kept.levels["Z"].index(None)

    assert dropped.rows == 39
    assert "of 40 rows, those with a null were dropped: Z (1)" in dropped.caveats[0]
    (features,) = encode_lines(kept)
    line = features[kept.codes[:, kept.variables.index("Z")] == missing]
    assert line.tolist() == [[pytest.approx(0.5), 1.0]]


def test_counts_are_rows_and_clusters_are_kept() -> None:
    weighted = {name: values for name, values in ROWS.items() if name != "user"} | {
        "n": [3, 1, 2, 1]
    }
    table = count_rows(bd.read_log(weighted, weight="n"), QUERY, ["Z"], None, NO_LIMIT)
    clustered = count_rows(bd.read_log(ROWS), QUERY, ["Z"], "user", NO_LIMIT)

    (whole,), (own,) = make(table), make(clustered)
    assert len(whole) == 7
    assert whole.cluster is None
    assert own.cluster is not None
    assert np.bincount(own.cluster).tolist() == [2, 1, 1]


def test_of_an_external_table_only_contexts_and_covariates_are_read() -> None:
    """A null in its arms or rewards, which nobody reads, costs no row."""
    survey = bd.read_log({**ROWS, "X": [None, 1, 0, 1], "Y": [None] * 4})
    table = count_rows(survey, QUERY, ["Z"], None, NO_LIMIT, external=True)

    assert table.rows == 4
    assert table.variables == ("C", "Z")
    assert table.caveats == ()


@pytest.mark.parametrize(
    ("logged", "asked", "said"),
    [
        ([0, 1], ["a", "b"], "in the log it has numbers, in the external table text;"),
        (["a", "b"], [0, 1], "in the log it has text, in the external table numbers;"),
        ([0, 1], [date(2024, 1, 1)] * 2, "in the external table dates or times;"),
        ([0, 1], [0, "x"], "in the external table numbers and text;"),
    ],
)
def test_a_covariate_is_of_one_kind_in_all_tables(
    logged: list[object], asked: list[object], said: str
) -> None:
    tables = [bd.read_log({"Z": of}).count(["Z"]) for of in (logged, asked)]
    with pytest.raises(OptionError) as caught:
        Coding.of(tables, "Z")
    assert "models cannot read 'Z'" in str(caught.value)
    assert said in str(caught.value)
    assert caught.value.option == "models"


def test_booleans_meet_numbers_and_nulls_meet_anything() -> None:
    for logged, asked in (([True, False], [0, 1]), ([0, 1], [None]), (["a", None], ["a"])):
        tables = [
            bd.read_log({"Z": of}, missing="level").count(["Z"]) for of in (logged, asked)
        ]
        assert Coding.of(tables, "Z").n_features <= 2


def test_two_tables_share_one_coding() -> None:
    one = bd.read_log({"Z": ["a", "b"]}).count(["Z"])
    two = bd.read_log({"Z": ["b", "c", "c"]}).count(["Z"])
    first, second = encode_lines(one, two)

    assert first.tolist()[-1] == second.tolist()[0]
    assert first.shape[1] == second.shape[1] == 2


def test_rare_levels_share_a_feature_and_a_caveat_says_so() -> None:
    levels = [f"v{i:02}" for i in range(MAX_LEVELS + 30)]
    common = [level for level in levels[20:] for _ in range(3)]
    table = bd.read_log({"Z": levels + common}).count(["Z"])
    coding = Coding.of([table], "Z")
    line = np.repeat(np.arange(len(table.n)), table.n.astype(int))
    (features,) = encode([table], [line], [coding])

    assert coding.n_features == features.shape[1] == MAX_LEVELS
    assert f"Z has {len(levels)} levels" in str(coding.notes[0])
    codes = table.codes[line, 0]
    rare = [tuple(features[codes == i][0]) for i in range(20)]
    assert len(set(rare)) == 1


def test_what_is_cut_into_bins_is_no_number() -> None:
    log = bd.read_log({"A": [0.5, 1.5], "B": [0.5, 1.5], "C": ["x", "y"]}, bins={"A": [1]})

    assert find_numbers(log, ["A", "B", "C", "D"]) == ["B"]


def test_an_identifier_is_refused_as_everywhere() -> None:
    many = {"C": ["a"] * 300, "Z": [f"id{i}" for i in range(300)], "X": [0] * 300}
    with pytest.raises(DataError):
        count_rows(bd.read_log(many | {"Y": [1] * 300}), QUERY, ["Z"], None, NO_LIMIT)


def test_a_covariate_must_be_finite() -> None:
    numbers = [float("inf"), *range(40)]
    table = bd.read_log({"Z": numbers}).count(["Z"], measured=["Z"])
    with pytest.raises(DataError, match="covariate 'Z' is infinite in some rows"):
        Coding.of([table], "Z")


def test_what_does_not_fit_into_memory_is_refused() -> None:
    table = count_rows(bd.read_log(ROWS), QUERY, ["Z"], None, NO_LIMIT)
    with pytest.raises(TooLarge):
        make(table, limit=100)


def test_an_outcome_must_be_finite() -> None:
    frame = {"C": ["a"] * 2, "Z": [0, 1], "X": [0, 1], "Y": [1.0, float("inf")]}
    table = count_rows(bd.read_log(frame), QUERY, ["Z"], None, NO_LIMIT)
    with pytest.raises(DataError):
        make(table)
