from collections import Counter

import numpy as np

from boundit.checks.coded_rows import CodedRows
from boundit.checks.strata import Margin, stratify
from boundit.counts.log import read_log
from boundit.graph.implications import Independence
from tests.checks.groups import lay_out


def test_groups_in_which_a_variable_does_not_vary_are_left_out() -> None:
    strata = lay_out([[[3, 1], [1, 2]], [[4, 5], [0, 0]], [[2, 0], [3, 0]]])

    assert len(strata) == 1
    assert strata.places.tolist() == [0]
    assert strata.rows == 7


def test_expected_counts_are_those_of_the_dense_tables() -> None:
    tables = np.random.default_rng(0).poisson(1.5, size=(40, 3, 4))
    strata = lay_out(tables)
    kept = tables[strata.places]
    n = kept.sum(axis=(1, 2))
    dense = kept.sum(2)[:, :, None] * kept.sum(1)[:, None, :] / n[:, None, None]

    assert np.array_equal(strata.totals, n)
    assert np.allclose(strata.expected, dense[strata.group, strata.one, strata.other])


STATEMENT = Independence("Y", "X", frozenset(), selected=False)


def code(columns: dict[str, list[int | None]]) -> CodedRows:
    names = list(columns)
    return CodedRows.from_table(read_log(columns, missing="level").count(names))


def test_tables_are_those_of_the_log() -> None:
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(0, 3, 60).tolist() for name in "XYZW"}
    seen = Counter(zip(*(columns[name] for name in "WZYX"), strict=True))
    statement = Independence("Y", "X", frozenset("ZW"), selected=False)
    strata = stratify(code(columns), statement, drop_nulls=True)
    found = {
        (*divmod(int(place), 3), int(y), int(x)): n
        for place, y, x, n in zip(
            strata.places[strata.group], strata.one, strata.other, strata.n, strict=True
        )
    }

    varied = {
        place
        for place in {cell[:2] for cell in seen}
        if all(len({cell[i] for cell in seen if cell[:2] == place}) > 1 for i in (2, 3))
    }
    assert found == {cell: n for cell, n in seen.items() if cell[:2] in varied}


def test_nulls_are_dropped_or_kept_as_a_level() -> None:
    rows = code({"X": [0, 1, None, 0, 1], "Y": [0, 1, 1, 1, None]})

    assert stratify(rows, STATEMENT, drop_nulls=True).rows == 3
    assert stratify(rows, STATEMENT, drop_nulls=False).rows == 5


def test_without_anything_given_there_is_one_group() -> None:
    strata = stratify(code({"X": [0, 1, 0, 1], "Y": [0, 1, 1, 1]}), STATEMENT, drop_nulls=True)

    assert (len(strata), strata.places.tolist()) == (1, [0])


def test_levels_that_seldom_occur_are_numbered_alike() -> None:
    """Marking and sorting find the same margins."""
    group, level = np.array([0, 0, 3, 3]), np.array([70, 900, 5, 900])
    margin = Margin.from_cells(group, level, np.ones(4), 1000)

    assert margin.group.tolist() == [0, 0, 3, 3]
    assert margin.line.tolist() == [0, 1, 2, 3]
