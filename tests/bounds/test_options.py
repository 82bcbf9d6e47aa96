import pandas as pd
import pytest

from boundit.bounds.options import InvalidLimit, check_limits, open_external_logs
from boundit.counts.read import read_log
from boundit.graph.text import parse

GRAPH = parse("X -> Y")
PLAIN = {"max_condition": 3, "time_limit": None, "domain": None}


@pytest.mark.parametrize(
    "change",
    [
        {"max_condition": -1},
        {"max_condition": 1.5},
        {"max_condition": True},
        {"max_condition": "3"},
        {"time_limit": -1},
        {"time_limit": float("nan")},
        {"time_limit": "1"},
        {"domain": ["X"]},
        {"domain": "X"},
    ],
)
def test_limits_that_make_no_sense_are_refused(change: dict[str, object]) -> None:
    check_limits(**PLAIN)
    with pytest.raises(InvalidLimit, match=f"{next(iter(change))} must be"):
        check_limits(**(PLAIN | change))


@pytest.mark.parametrize(
    "alone",
    ["pop.csv", read_log({"X": [0]}), {"X": [0]}, pd.DataFrame({"X": [0]}), None, 5],
    ids=["path", "log", "dict", "frame", "none", "number"],
)
def test_one_table_where_a_list_was_meant_is_refused(alone: object) -> None:
    with pytest.raises(InvalidLimit, match="external must be a list of tables"):
        open_external_logs(GRAPH, alone)  # type: ignore[arg-type]


def test_a_table_of_other_things_is_refused() -> None:
    with pytest.raises(InvalidLimit, match="the dict of columns, given as external=, has Q"):
        open_external_logs(GRAPH, [{"X": [0]}, {"Q": [0]}])
    assert [log.columns for log in open_external_logs(GRAPH, ({"X": [0], "Q": [1]},))] == [
        ("X", "Q")
    ]
