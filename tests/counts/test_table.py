"""Marginals of a sparse table are those of the dense one."""

import numpy as np
import pytest

from boundit.counts.errors import LevelsClash, NoReward, NotALevel, TooLarge
from boundit.counts.named_array import MissingAxis
from boundit.counts.read import read_log
from boundit.counts.table import CountTable, join_domains, merge_cells

RNG = np.random.default_rng(3)
ROWS = {
    name: RNG.integers(0, n, 500).tolist() for name, n in zip("ABCD", (2, 3, 4, 2), strict=True)
}
REWARD = (RNG.integers(-8, 9, 500) / 4).tolist()
TABLE = read_log({**ROWS, "Y": REWARD}).count([*"ABCD"], reward="Y")


def dense(weights: list[float]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    array = np.zeros((2, 3, 4, 2))
    np.add.at(array, tuple(np.array(ROWS[name]) for name in "ABCD"), weights)
    return array


@pytest.mark.parametrize("names", ["", "A", "CB", "DAB", "ABCD"])
def test_marginals_are_those_of_the_dense_table(names: str) -> None:
    gone = tuple(i for i, name in enumerate("ABCD") if name not in names)
    squares = [y * y for y in REWARD]

    assert TABLE.marginalize(set(names)).axes == tuple(sorted(names))
    assert (TABLE.marginalize(set(names)).values == dense([1] * 500).sum(gone)).all()
    assert np.allclose(TABLE.sum_rewards(set(names)).values, dense(REWARD).sum(gone))
    assert np.allclose(TABLE.sum_squares(set(names)).values, dense(squares).sum(gone))


def test_cells_beyond_the_range_of_one_integer_stay_apart() -> None:
    """Twenty variables of 50 levels: their 50 ** 20 combinations do not fit into 64 bits."""
    codes = RNG.integers(0, 50, (300, 20))
    twice = np.concatenate([codes, codes[::-1]])
    joined, n, _, _ = merge_cells(twice, [50] * 20, np.ones(600), {})

    assert (n == 2).all()
    assert joined.tolist() == sorted(codes.tolist())


def test_the_rows_are_the_total() -> None:
    assert float(TABLE.marginalize(())) == TABLE.rows == 500


def test_wider_levels_keep_the_counts() -> None:
    wider = TABLE.add_levels({"A": [-1, 0], "B": ["x"], "Z": [1]})

    assert wider.levels["A"] == (-1, 0, 1)
    assert wider.shape == (3, 4, 4, 2)
    assert (wider.marginalize("A").values == [0, *TABLE.marginalize("A").values]).all()
    assert (wider.codes == merge_cells(wider.codes, wider.shape, wider.n, {})[0]).all()
    with pytest.raises(LevelsClash):
        TABLE.add_levels({"A": ["1"]})


def test_tables_share_a_domain() -> None:
    one, other = read_log({"X": ["b"]}).count("X"), read_log({"X": ["a"], "Z": [1]})

    assert join_domains([one, other.count(["X", "Z"])]) == {"X": ("a", "b"), "Z": (1,)}
    with pytest.raises(LevelsClash):
        join_domains([TABLE, read_log({"A": ["1"]}).count("A")])


def test_values_are_found_by_what_they_are() -> None:
    table = read_log({"X": [1, 2, 1], "Z": ["a", "b", "b"]}).count(["X", "Z"])

    assert [table.find_code("X", v) for v in (1, 2.0, np.int8(2), True)] == [0, 1, 1, 0]
    with pytest.raises(NotALevel, match=r"'X' has no level '1'; did you mean 1\?"):
        table.find_code("X", "1")
    with pytest.raises(NotALevel, match="'Z' has no level 1; it has 'a', 'b'"):
        table.find_code("Z", 1)
    with pytest.raises(NotALevel):
        table.find_code("Z", [1])
    with pytest.raises(MissingAxis, match="no variable 'W'; it has X, Z"):
        table.find_code("W", 1)


def test_a_dense_table_that_would_not_fit_is_refused() -> None:
    levels = {name: tuple(range(200)) for name in "XYZW"}
    codes = np.zeros((1, 4), dtype=np.int64)
    table = CountTable(tuple("XYZW"), levels, codes, np.ones(1))

    assert table.marginalize({"X", "Y", "Z"}).values.size == 200**3
    with pytest.raises(TooLarge, match="W, X, Y, Z has 1,600,000,000 cells, more than"):
        table.marginalize(table.variables)


def test_without_a_reward_there_are_no_sums() -> None:
    table = read_log({"X": [1]}).count("X")

    assert table.sums is None
    with pytest.raises(NoReward, match="the table holds no reward; count with reward="):
        table.sum_rewards("X")


def test_numbers_cannot_be_changed_from_outside() -> None:
    for array in (TABLE.codes, TABLE.n, TABLE.sums):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9


def test_it_says_what_it_is() -> None:
    assert (
        str(TABLE) == "CountTable of A, B, C, D: 500 rows in 48 of 48 cells, with the reward Y"
    )
    law = read_log({"p": [1, 3]}, weight="p", exact=True).count([])
    assert repr(law) == "CountTable of no variables: an exact law in 1 of 1 cells"
