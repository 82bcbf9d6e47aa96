"""A selection node without its brackets is found by its column or by its name."""

import pytest

from boundit.counts.unmarked import ask_by_name, ask_if_always_one, find_possible_selection
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

    assert said.startswith("S is an ordinary node here: if it says which rows were kept, write")
    assert ask_by_name({"Mail"}, columns=()) == ()


def test_the_hint_can_be_pasted_into_a_graph() -> None:
    assert 'write ["was kept"] in the graph' in ask_if_always_one("was kept")
    assert parse('Click -> ["was kept"]').selection == "was kept"
