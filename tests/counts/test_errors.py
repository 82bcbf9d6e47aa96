"""One line each: what is wrong, and what would work."""

import inspect

import pytest

from boundit.core.errors import DataError
from boundit.counts import errors
from boundit.counts.errors import (
    MissingColumn,
    NotNumeric,
    TooLarge,
    shorten_error,
)

CASES: list[tuple[DataError, str]] = [
    (MissingColumn("x1", ["X1", "Y"]),
     "the log has no column 'x1'; did you mean 'X1'? (columns={'x1': 'X1'} renames)"),
    (MissingColumn("Price", ["X1", "Y"]),
     "the log has no column 'Price'; it has X1, Y (columns={'Price': ...} renames)"),
    (MissingColumn("n", [], is_node=False), "the log has no column 'n'; it has none"),
    (MissingColumn("time of day", ["X1"], may_hide=True),
     "the log has no column 'time of day'; it has X1 (columns={'time of day': ...} renames); "
     "in the graph, write 'hidden \"time of day\"' if nobody measured it, [\"time of day\"] "
     "if it says which rows were kept"),
    (NotNumeric("Y", "reward", "text"),
     "reward 'Y' must be numeric or boolean; it holds text"),
    (NotNumeric("Y", "reward", "text", "'NA' in row 5"),
     "reward 'Y' must be numeric or boolean; it holds text such as 'NA' in row 5; "
     "write numbers, and nothing where one is missing"),
    (TooLarge(["X", "C"], 2000, 1000),
     "a dense table over C, X has 2,000 cells, more than 1,000; "
     "ask for fewer variables or levels"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "message"), CASES)
def test_messages(error: DataError, message: str) -> None:
    assert str(error) == message


def test_an_engines_message_becomes_one_line() -> None:
    assert shorten_error(ValueError("a.\n\nOriginal Line: 1,2\n b:\nc")) == "a; b"
    assert shorten_error(ValueError()) == "ValueError"
    assert len(shorten_error(ValueError("x" * 999))) == 200


def test_every_error_of_this_room_can_be_caught_as_one() -> None:
    own = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if kind.__module__ == errors.__name__
    ]
    assert all(issubclass(kind, DataError) for kind in own)
