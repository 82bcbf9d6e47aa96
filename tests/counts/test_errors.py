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
     "The data have no column 'x1'. Did you mean 'X1'? Map it with columns={'x1': 'X1'}."),
    (MissingColumn("Price", ["X1", "Y"]),
     "The data have no column 'Price' (columns: X1, Y). Map it with columns={'Price': ...}."),
    (MissingColumn("n", [], is_node=False), "The data have no column 'n' (columns: none)."),
    (MissingColumn("time of day", ["X1"], may_hide=True),
     "The data have no column 'time of day' (columns: X1). Map it with "
     "columns={'time of day': ...}, or write 'hidden \"time of day\"' in the graph if time of day "
     "is unmeasured."),
    (NotNumeric("Y", "outcome", "text"),
     "The outcome 'Y' holds text, which cannot be added up. Write numbers or booleans, and nothing "
     "where one is missing."),
    (NotNumeric("Y", "outcome", "text", "'NA' in row 5"),
     "The outcome 'Y' holds text such as 'NA' in row 5, which cannot be added up. Write numbers or "
     "booleans, and nothing where one is missing."),
    (TooLarge(["X", "C"], 2000, 1000),
     "A dense table over C, X has 2,000 cells, more than 1,000. "
     "Ask for fewer variables or levels."),
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
