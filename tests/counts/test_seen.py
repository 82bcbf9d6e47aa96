"""Cells that were seen, whoever lists them."""

import numpy as np

from boundit.counts.read import read_log
from boundit.counts.seen import SeenCells, find_distinct

ROWS = {"A": [0, 1, 1, 1], "B": [2, 0, 0, 2], "Y": [1, 0, 1, 0]}


def make_dict(cells: SeenCells, *names: str) -> dict[tuple[int, ...], float]:
    codes = cells.select(names)
    return {
        tuple(map(int, code)): float(w) for code, w in zip(codes, cells.weights, strict=True)
    }


def test_a_table_an_array_and_rewards_list_the_same_cells() -> None:
    table = read_log(ROWS).count(["A", "B"], reward="Y")
    seen = {(0, 1): 1.0, (1, 0): 2.0, (1, 1): 1.0}

    assert make_dict(table.list_seen(["A", "B"]), "A", "B") == seen
    assert make_dict(table.marginalize(["A", "B"]).list_seen(["A", "B"]), "A", "B") == seen
    assert make_dict(table.list_rewards("B"), "B") == {(0,): 1.0, (1,): 1.0}


def test_no_variables_are_one_cell() -> None:
    cells = read_log(ROWS).count(["A"]).list_seen([])
    assert (cells.codes.shape, cells.weights.tolist()) == ((1, 0), [4.0])


def test_distinct_lines_are_found_whatever_their_codes_multiply_to() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (50, 5)) * 10**9
    first, group = find_distinct(codes, [2 * 10**9] * 5)

    assert (codes[first][group] == codes).all()
    assert len(first) == len(np.unique(codes, axis=0))
