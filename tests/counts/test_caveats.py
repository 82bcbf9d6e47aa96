"""What a reader should know of the rows, in one line each."""

import numpy as np
import pytest

from boundit.counts.log import read_log
from boundit.counts.table import CountTable
from boundit.counts.tabulate import MOST_CHANCE, find_repeats
from boundit.graph.implications import ask_by_name, ask_if_selection, find_possible_selection
from boundit.graph.text import parse


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Age -> Ad -> Click; Click -> S", {"S"}),
        ("Age -> Ad -> Click; Click -> S -> Bonus", {"Bonus"}),
        ("Age -> Ad -> Click; Click -> [S]; Click -> Mail", set()),
        ("Age -> Ad -> Click; Click -> U; hidden U", set()),
        ("Age -> Ad -> Click", set()),
    ],
)
def test_a_suspect_causes_nothing_and_nobody_asks_about_it(text: str, found: set[str]) -> None:
    assert find_possible_selection(parse(text), ["Click", "Ad", "Age"]) == found


def test_names_alone_are_a_hint_only_where_the_log_has_no_column() -> None:
    (said,) = ask_by_name({"S", "Kept", "Mail"}, columns={"Kept"})

    assert said.startswith(
        "S is an ordinary node here: if it indicates which rows were logged, write"
    )
    assert ask_by_name({"Mail"}, columns=()) == ()


def test_the_hint_can_be_pasted_into_a_graph() -> None:
    assert 'write ["was kept"] in the graph' in ask_if_selection("was kept", "is")
    assert parse('Click -> ["was kept"]').selection == "was kept"


def draw_rows(seed: int, n: int = 600) -> dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    rng = np.random.default_rng(seed)
    rows = {"X": rng.integers(4, size=n), "C": rng.integers(5, size=n)}
    return rows | {"Y": (rng.random(n) < 0.2 + 0.1 * rows["X"]).astype(int)}


def count_repeated(seed: int, times: int, **scale: float) -> CountTable:
    rows = {name: np.tile(values, times) for name, values in draw_rows(seed).items()}
    low, high = scale.get("low", 0), scale.get("high", 1)
    log = read_log(rows | {"Y": np.where(rows["Y"], high, low)})
    return log.count(["X", "C"], reward="Y")


@pytest.mark.parametrize("times", [2, 3, 7])
def test_a_log_that_is_there_several_times_is_told(times: int) -> None:
    table = count_repeated(0, times)
    assert f"as if each row were there {times} times" in table.caveats[-1]
    assert count_repeated(0, times, low=-1, high=0.3).caveats == table.caveats
    assert find_repeats(table)[0] == times


def test_weights_that_all_are_multiples_are_told() -> None:
    rng = np.random.default_rng(0)
    rows = {"X": np.arange(30), "w": 100 * rng.integers(1, 500, size=30)}
    (said,) = read_log(rows, weight="w").count("X").caveats
    assert "every count is a multiple of 100" in said
    law = read_log(rows, weight="w", exact=True)
    assert not any("multiple" in note for note in law.count("X").caveats)


def test_rewards_of_many_values_leave_the_numbers_of_rows() -> None:
    rng = np.random.default_rng(1)
    rows = {"X": (60 * rng.random(3000) ** 2).astype(int), "Y": rng.random(3000)}
    twice = {name: np.tile(values, 2) for name, values in rows.items()}
    assert "2 times" in read_log(twice).count("X", reward="Y").caveats[-1]
    assert "multiple" not in str(read_log(rows).count("X", reward="Y").caveats)


def test_a_design_of_equal_cells_is_no_repeat() -> None:
    cells = np.repeat(np.arange(40), 50)
    assert read_log({"X": cells % 8, "C": cells // 8}).count(["X", "C"]).caveats == ()
    half = {"X": cells % 8, "C": cells // 8, "Y": (np.arange(2000) % 50 < 20).astype(int)}
    table = read_log(half).count(["X", "C"], reward="Y")
    assert find_repeats(table) == (10, 0.1)  # one count of successes, 20, in every cell


def test_a_few_even_counts_are_left_to_chance() -> None:
    table = read_log({"X": [0, 0, 1, 1, 1, 1], "Y": [1, 1, 0, 0, 1, 1]}).count("X", reward="Y")
    k, chance = find_repeats(table)
    assert (k, chance >= MOST_CHANCE, table.caveats) == (2, True, ())


def test_with_clusters_repeats_are_no_secret() -> None:
    rows = {name: np.tile(values, 2) for name, values in draw_rows(0).items()}
    rows["id"] = np.tile(np.arange(600), 2)
    table = read_log(rows).count(["X", "C"], reward="Y", cluster="id")
    assert not any("multiple" in note for note in table.caveats)


def test_honest_logs_raise_no_alarm() -> None:
    rng = np.random.default_rng(2)
    for seed in range(200):
        rows = draw_rows(seed, int(rng.integers(20, 2000)))
        assert "multiple" not in str(read_log(rows).count(["X", "C"], reward="Y").caveats)
