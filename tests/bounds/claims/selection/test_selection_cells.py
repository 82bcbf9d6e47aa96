"""The cells of a population: counts of pilot and rest, tables, and what each is worth."""

import numpy as np

from boundit.bounds.claims.selection.selection_cells import SelectionReader
from tests.bounds.claims.selection.worlds import (
    BOW,
    LEVELS,
    LIMIT,
    MEDIATOR,
    RATE,
    draw_law,
    find_mean,
    split,
)

COUNTS = np.rint(4000 * draw_law(np.random.default_rng(1), (2, 3, 2)))


def test_kinds_come_first_and_every_row_is_pilot_or_rest() -> None:
    reader = SelectionReader(find_mean(MEDIATOR, LIMIT), split(COUNTS, "XMY"), LEVELS)
    assert reader.find_fault() is None
    cells = reader.read()
    assert cells.counts.shape == (3, 4)
    assert cells.counts.sum() + cells.pilot_rows == COUNTS.sum()
    assert np.isclose(cells.shares.sum(), 1)
    assert cells.weights == (0.5, 2.0)
    assert reader.name_kind(2) == {"M": 2}


def test_worth_is_the_reward_among_rows_with_the_given_levels() -> None:
    reader = SelectionReader(find_mean(MEDIATOR, LIMIT), split(COUNTS, "XMY"), LEVELS)
    worth, there = reader.value_cells({"X": 1}, upper=False)
    assert (there == [[0, 0, 1, 1]] * 3).all()
    assert (worth == [[0, 1, 0, 1]] * 3).all()
    assert (reader.value_cells({"X": 1}, upper=True)[0] == [[1, 0, 1, 0]] * 3).all()


def test_without_a_limit_every_cell_is_a_kind() -> None:
    counts = np.array([[300.0, 200.0], [100.0, 400.0]])
    reader = SelectionReader(find_mean(BOW, RATE), split(counts, "XY"), {"X": 2, "Y": 2})
    cells = reader.read()
    assert cells.counts.shape == (4, 1)
    assert cells.weights == (0.5,)
    worth, there = reader.value_cells({"X": 1}, upper=False)  # axes are Y and X
    assert worth.ravel().tolist() == [0, 0, 0, 1]
    assert there.min() == 1
    assert reader.name_kind(3) == {"Y": 1, "X": 1}


def test_tables_say_in_which_cell_a_row_lies() -> None:
    form = find_mean(MEDIATOR, LIMIT, (frozenset({"X"}),))
    sources = split(COUNTS, "XMY", {"X": np.array([300.0, 700.0])})
    reader = SelectionReader(form, sources, LEVELS)
    (table,) = reader.read().tables
    assert (table.index == [[0, 0, 1, 1]] * 3).all()
    assert table.counts is not None
    assert 900 <= table.counts.sum() < 1000
    assert np.allclose(table.shares, [0.3, 0.7], atol=0.1)
