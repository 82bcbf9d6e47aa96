"""What is wrong with the data is said in one line; what is left out is counted."""

from typing import Any

import numpy as np
import pytest

from boundit.core.errors import DataError
from boundit.counts.errors import TooManyCells
from boundit.counts.log import read_log


def test_dropped_rows_are_counted_and_said() -> None:
    log = read_log({"X": [0, None, 1, 1], "Z": ["a", None, None, "b"], "Y": [1, 1, 1, None]})
    table = log.count(["X", "Z"], reward="Y")

    assert table.rows == 1
    assert table.dropped == {"X": 1, "Z": 2, "Y": 1}
    assert table.caveats == (
        "of 4 rows, those with a null were dropped: X (1), Z (2), Y (1); the numbers describe "
        "complete rows, and being complete may itself be a selection",
    )
    assert table.levels == {"X": (0, 1), "Z": ("a", "b")}


def test_dropped_rows_of_a_weighted_log_count_by_their_weight() -> None:
    rows = {"X": [0, None, 1], "Y": [1, 1, None], "n": [2, 5, 3]}

    assert read_log(rows, weight="n").count("X", reward="Y").dropped == {"X": 5, "Y": 3}
    exact = read_log(rows, weight="n", exact=True).count("X", reward="Y")
    assert exact.dropped == {"X": 1, "Y": 1}
    assert exact.n.tolist() == [1]


def test_an_exact_law_sums_to_one_and_so_do_its_rewards_scale() -> None:
    rows = {"X": [0, 0, 1], "Y": [4, 0, 2], "p": [0.5, 0.5, 3.0]}
    table = read_log(rows, weight="p", exact=True).count("X", reward="Y")

    assert table.n.tolist() == [0.25, 0.75]
    assert table.sums is not None
    assert table.squares is not None
    assert table.sums.tolist() == [0.5, 1.5]
    assert table.squares.tolist() == [2, 3]


def test_a_row_of_weight_zero_shows_a_level_and_no_more() -> None:
    rows = {"X": [0, 1, 2], "Y": [0, 1, 99], "n": [4, 1, 0]}
    table = read_log(rows, weight="n").count("X", reward="Y")

    assert table.levels["X"] == (0, 1, 2)
    assert table.n.tolist() == [4, 1]
    assert table.highest is not None
    assert table.highest.max() == 1


def test_null_may_be_a_level_and_comes_last() -> None:
    table = read_log({"X": ["b", None, "a", None]}, missing="level").count("X")

    assert table.levels["X"] == ("a", "b", None)
    assert table.n.tolist() == [1, 1, 2]
    assert (table.dropped, table.caveats) == ({}, ())


def test_a_domain_adds_levels_that_were_never_logged() -> None:
    table = read_log({"X": [2, 1]}).count("X", domain={"X": [0, 1.0], "Q": [5]})

    assert table.levels == {"X": (0, 1, 2)}
    assert table.marginalize("X").values.tolist() == [0, 1, 1]


def test_cells_that_become_one_are_added_up() -> None:
    table = read_log({"X": [1, True, 1.0], "Y": [0, 1, 5]}).count("X", reward="Y")

    assert table.n.tolist() == [3]
    assert table.highest is not None
    assert table.highest.tolist() == [5]


REFUSED: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any], type[DataError], str]] = [
    ({"X": []}, {}, {"variables": "X"}, DataError,
     "Nothing to count in the dict of columns: it has no rows"),
    ({"X": [None, 1], "Y": [1, None]}, {}, {"variables": "X", "reward": "Y"}, DataError,
     "Nothing to count in the dict of columns: every row has a null: X (1), Y (1)"),
    ({"X": [1], "n": [0]}, {"weight": "n"}, {"variables": "X"}, DataError,
     "Nothing to count in the dict of columns: every weight is zero"),
    ({"X": [1, None]}, {"missing": "error"}, {"variables": "X"}, DataError,
     "'X' is null or NaN in 1 of 2 rows; drop such rows with missing='drop' or missing='level'"),
    ({"Y": [1.0, np.nan]}, {"missing": "level"}, {"variables": (), "reward": "Y"}, DataError,
     "'Y' is null or NaN in 1 of 2 rows; drop such rows with missing='drop'; "
     "a reward cannot be a level"),
    ({"X": [1, 2, 3], "S": [1, 0, None]}, {}, {"variables": "X", "selection": "S"},
     DataError, "The selection 'S' is not 1 in 2 of 3 rows. Filter the log to S = 1, and pass "
     "all rows, with the columns that all of them have, as external=."),
    ({"Y": [1, float("inf")]}, {}, {"variables": (), "reward": "Y"}, DataError,
     "The outcome 'Y' is infinite in some rows. Correct or filter them."),
    ({"X": [1, 2], "n": [1, float("inf")]}, {"weight": "n"}, {"variables": "X"}, DataError,
     "The weight 'n' is infinite in some rows. Correct or filter them."),
    ({"X": [1, 2], "n": [1, -2]}, {"weight": "n", "exact": True}, {"variables": "X"},
     DataError, "weight 'n' is negative (-2) in some rows; a weight counts rows"),
    ({"X": [0.1, 0.2, 0.7]}, {}, {"variables": "X"}, DataError,
     "'X' looks continuous: 3 levels in 3 rows; cut it with bins={'X': [...]} "
     "(the graph must then hold for the bins)"),
    ({"X": [i / 2 for i in range(33)] * 9}, {}, {"variables": "X"}, DataError,
     "'X' looks continuous: 33 levels in 297 rows; cut it with bins={'X': [...]} "
     "(the graph must then hold for the bins)"),
    ({"X": list(range(101))}, {}, {"variables": "X"}, DataError,
     "'X' looks continuous: 101 levels in 101 rows; cut it with bins={'X': [...]} "
     "(the graph must then hold for the bins)"),
    ({"X": [f"user {i}" for i in range(101)]}, {}, {"variables": "X"}, DataError,
     "'X' looks like an identifier: 101 levels in 101 rows; "
     "group its values first, or leave it out of the graph"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "opened", "asked", "error", "message"), REFUSED)
def test_bad_data_is_refused_in_one_line(
    rows: dict[str, Any],
    opened: dict[str, Any],
    asked: dict[str, Any],
    error: type[DataError],
    message: str,
) -> None:
    with pytest.raises(error) as caught:
        read_log(rows, **opened).count(**asked)
    assert str(caught.value) == message


def test_few_doses_many_days_and_an_exact_law_are_categories() -> None:
    assert read_log({"X": [0.5, 1.5, 0.5, 2] * 2}).count("X").levels["X"] == (0.5, 1.5, 2)
    assert read_log({"X": list(range(101)) * 2}).count("X").shape == (101,)
    law = {"X": [0.5, 1.5], "p": [0.25, 0.75]}
    assert read_log(law, weight="p", exact=True).count("X").shape == (2,)


def test_a_bin_makes_a_measurement_a_category() -> None:
    rows = {"Age": [17, 18.0, 29.9, 30, 80, None]}
    table = read_log(rows, bins={"Age": [18, 30]}).count("Age")

    assert table.levels["Age"] == ("< 18", "[18, 30)", ">= 30")
    assert table.n.tolist() == [1, 2, 2]
    assert table.dropped == {"Age": 1}
    assert table.caveats[0] == (
        "Age was cut into bins; the graph must hold for the binned Age, "
        "and within a bin it may still confound"
    )


def test_more_cells_than_fit_name_the_widest_columns() -> None:
    room_for_three = 3 * 8 * 4 * (2 + 12)
    with pytest.raises(
        TooManyCells, match=r"more than 3 distinct rows; widest are 'Z' \(4 lev"
    ):
        read_log({"X": [0, 1] * 2, "Z": [1, 2, 3, 4]}).count(
            ["X", "Z"], memory_limit=room_for_three
        )


@pytest.mark.parametrize(
    ("rewards", "weights", "warned"),
    [
        ([0.25, 0.5], [4, 2], True),
        ([0, 1], [4, 2], False),
        ([0.25, 0.5], [1, 1], False),
    ],
)
def test_averages_that_stand_for_many_rows_are_warned_of(
    rewards: list[float], weights: list[int], warned: bool
) -> None:
    log = read_log({"X": [0, 1], "Y": rewards, "n": weights}, weight="n")

    found = log.count("X", reward="Y").caveats

    assert any("averages" in note for note in found) == warned


def test_a_whole_number_with_many_levels_is_asked_about() -> None:
    """Age in years: no error, as days and shops have many levels too, but a hint."""
    rows = {"Age": [18 + i % 73 for i in range(400)], "Shop": [i % 32 for i in range(400)]}
    found = read_log(rows).count(["Age", "Shop"]).caveats

    assert found == (
        "Age has 73 levels, each counted by its own rows: if it is a measurement, "
        "cut it with bins={'Age': [...]}",
    )
    assert (
        read_log(rows, bins={"Age": [40]}).count(["Age"]).caveats[0].startswith("Age was cut")
    )
    law = read_log({**rows, "p": [1] * 400}, weight="p", exact=True)
    assert law.count(["Age"]).caveats == ()


def test_a_spelled_out_missing_value_is_asked_about() -> None:
    (found,) = read_log({"X": ["1", "NA", "2"]}).count("X").caveats

    assert found.startswith("X has the level 'NA': if it says that a value is missing")


@pytest.mark.parametrize(
    ("column", "noted"),
    [([1, 1, 1], True), ([True] * 3, True), ([1, 0, 1], False), ([1, 1, None], False)],
)
def test_a_flag_that_is_always_one_may_be_an_unmarked_selection(
    column: list[object], noted: bool
) -> None:
    log = read_log({"X": [0, 1, 1], "S": column})
    found = log.count("X", unmarked=["S"]).caveats

    assert found == (
        (
            "S is always 1 in this log: if it indicates which rows were logged, write [S] in "
            "the graph; as written, the log is taken for the whole population",
        )
        if noted
        else ()
    )
    assert log.count("X").caveats == ()


def test_a_selection_that_is_marked_is_not_asked_about() -> None:
    log = read_log({"X": [0, 1], "S": [1, 1], "T": [1, 1]})

    assert log.count("X", selection="S", unmarked=["T"]).caveats == ()
