from dataclasses import replace

import numpy as np
import pytest

from boundit.report.pages.row_values import RowValues
from tests.report.examples import random_table, small_table


def test_rows_come_context_by_context_with_what_they_have() -> None:
    table = small_table()
    found = RowValues.of(table)

    assert [where for _, where in found.keys] == [(0,)] * 4 + [(1,)] * 4
    for i, (arm, where) in enumerate(found.keys):
        bound = table.bounds[arm, where]
        assert found.bounds[i] is bound
        assert table.arms[found.arms[i]] == arm
        assert table.contexts[found.contexts[i]] == where
        assert found.numbers["low"][i] == bound.lower_estimate
        assert found.cells[0][i].splitlines() == list(bound.lower_cells)


@pytest.mark.parametrize("seed", range(4))
def test_widths_and_rivals_are_those_of_the_explanations(seed: int) -> None:
    table = random_table(seed)
    found = RowValues.of(table)

    assert (found.rivals > 0).any()
    for i, key in enumerate(found.keys):
        explained = table.explanation(*key)
        assert found.find_domination(i) == explained.dominated
        if explained.split:
            assert found.numbers["whole"][i] == explained.split.whole
            assert found.numbers["chance"][i] == explained.split.chance


def test_rows_that_are_said_in_the_same_words_are_alike() -> None:
    table = small_table()
    other = replace(next(iter(table.bounds.values())), n=1)
    marked = replace(other, n=7, marks=("rare",))
    bounds = dict(table.bounds)
    bounds[(0, 1), (0,)], bounds[(1, 0), (0,)] = other, marked
    found = replace(table, bounds=bounds)
    firsts, groups = RowValues.of(found).group_alike()

    assert len(firsts) == len(set(groups.tolist())) == 4, "as most, one row, marked, dominated"
    assert groups[firsts].tolist() == [0, 1, 2, 3]
    assert np.bincount(groups).max() == 3


def test_without_a_confidence_widths_are_not_split() -> None:
    assert "whole" not in RowValues.of(small_table(confidence=None)).numbers
