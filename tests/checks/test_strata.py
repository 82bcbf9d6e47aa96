import numpy as np
import pytest

from boundit.checks.strata import stratify
from boundit.counts.read import read_log
from boundit.graph.implications import Independence
from tests.checks.groups import lay_out


def test_groups_in_which_a_variable_does_not_vary_are_left_out() -> None:
    strata = lay_out([[[3, 1], [1, 2]], [[4, 5], [0, 0]], [[2, 0], [3, 0]]])

    assert len(strata) == 1
    assert strata.places.tolist() == [[0]]
    assert strata.rows == 7


def test_margins_are_those_of_the_dense_tables() -> None:
    rng = np.random.default_rng(0)
    tables = rng.poisson(1.5, size=(40, 3, 4))
    strata = lay_out(tables)
    kept = tables[strata.places[:, 0]]

    assert np.array_equal(strata.first_margin.to_dense(len(strata), 3), kept.sum(axis=2))
    assert np.array_equal(strata.second_margin.to_dense(len(strata), 4), kept.sum(axis=1))
    assert np.array_equal(strata.totals, kept.sum(axis=(1, 2)))


def test_the_least_expected_count_looks_at_empty_cells_too() -> None:
    strata = lay_out([[[9, 0], [0, 1]]])

    assert strata.least_expected.tolist() == [0.1]


def test_a_table_is_laid_out_alike_densely_and_sparsely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(0, 3, 200).tolist() for name in "XYZW"}
    table = read_log(columns).count(["W", "Z", "Y", "X"])
    statement = Independence("X", "Y", frozenset("ZW"), selected=False)
    dense = stratify(table, statement, drop_nulls=True)
    monkeypatch.setattr("boundit.checks.strata._DENSE", 1)
    sparse = stratify(table, statement, drop_nulls=True)

    for field in ("group", "one", "other", "n", "places"):
        assert np.array_equal(getattr(dense, field), getattr(sparse, field))


def test_nulls_are_dropped_or_kept_as_a_level() -> None:
    log = read_log({"X": [0, 1, None, 0, 1], "Y": [0, 1, 1, 1, None]}, nulls="level")
    table = log.count(["X", "Y"])
    statement = Independence("X", "Y", frozenset(), selected=False)

    assert stratify(table, statement, drop_nulls=True).rows == 3
    assert stratify(table, statement, drop_nulls=False).rows == 5


def test_without_anything_given_there_is_one_group() -> None:
    table = read_log({"X": [0, 1, 0, 1], "Y": [0, 1, 1, 1]}).count(["X", "Y"])

    strata = stratify(
        table, Independence("Y", "X", frozenset(), selected=False), drop_nulls=True
    )

    assert (len(strata), strata.places.shape) == (1, (1, 0))
