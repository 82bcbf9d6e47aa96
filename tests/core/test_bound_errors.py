import pytest

from boundit.core.errors import (
    CannotSave,
    CannotWrite,
    DamagedFile,
    InvalidBounds,
    MalformedRow,
    NotAKey,
    OutsideDomain,
    ReservedName,
    WrongLength,
)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            ReservedName("n", ["lower", "n"]),
            "a variable cannot be called 'n': bound tables use lower, n for their own columns; "
            "rename it with columns=",
        ),
        (MalformedRow(3, "it is empty"), "row 3 of the bounds: it is empty"),
        (
            NotAKey("B"),
            "bounds are looked up by arm and context, as in bounds[(1, 0), (0,)], found 'B'; "
            "without context it is bounds[arm, ()]",
        ),
        (
            WrongLength("arm", (1,), ("X1", "X2")),
            "the arm (1,) must have one value each for X1, X2",
        ),
        (WrongLength("context", (1,), ()), "the context (1,) must have no values"),
        (
            OutsideDomain("X", "1", (0, 1)),
            "'X' has no level '1' (str); did you mean 1 (int)?",
        ),
        (
            OutsideDomain("X", 7, (0, 1)),
            "'X' has no level 7 (int); it has 0, 1; domain= declares others",
        ),
        (DamagedFile("b.json", "it is cut"), "'b.json' is no bound table of ours: it is cut"),
        (CannotWrite("b.json", "disk full"), "cannot write 'b.json': disk full"),
        (
            CannotSave(1j),
            "1j (complex) cannot be kept in a file; "
            "a level is a number, text, a boolean, a date or a time",
        ),
    ],
)
def test_an_error_is_one_line_that_says_what_would_work(
    error: InvalidBounds, line: str
) -> None:
    assert str(error) == line
