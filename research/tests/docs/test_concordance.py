"""The concordance is whole, and every function and test it names exists."""

import ast
import re
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "research" / "docs" / "concordance.md"
PLACES = (
    *(f"Definition {i}" for i in range(1, 3)),
    *(f"Theorem {i}" for i in range(1, 9)),
    *(f"Lemma {i}" for i in range(1, 11)),
    *(f"Algorithm {i}" for i in range(1, 7)),
    *(f"Eq. ({i})" for i in range(1, 12)),
    *(f"Figure {i}" for i in range(2, 5)),
    *(f"Table {i}" for i in range(1, 3)),
)
"""Counted in the paper: its statements, the equations of its main text, what it measures."""


class Row(NamedTuple):
    place: str
    says: str
    function: str
    test: str


def read_table() -> list[Row]:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    assert lines[0] == "| Place | What it says | Function | Test |"
    return [Row(*(cell.strip() for cell in line.strip("|").split("|"))) for line in lines[2:]]


def read_quoted(cell: str) -> list[str]:
    """The names in a cell that has nothing but names between backticks."""
    assert re.fullmatch(r"`[^`]+`(, `[^`]+`)*", cell), cell
    return re.findall(r"`([^`]+)`", cell)


@cache
def list_tests(path: Path) -> frozenset[str]:
    """The names of a file's tests; it is read, not imported."""
    return frozenset(
        node.name
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def is_missing(name: str) -> bool:
    path, _, test = name.partition("::")
    return not (ROOT / path).is_file() or test not in list_tests(ROOT / path)


def test_every_place_has_one_row() -> None:
    places = [row.place for row in read_table()]

    assert sorted(places) == sorted(PLACES)


@pytest.mark.parametrize("row", read_table(), ids=lambda row: row.place)
def test_a_row_names_what_exists(row: Row) -> None:
    assert row.says
    for name in read_quoted(row.function):
        assert callable(resolve_name(name))
    assert [name for name in read_quoted(row.test) if is_missing(name)] == []


def test_a_missing_name_is_noticed() -> None:
    """The checks above can fail."""
    here = "research/tests/docs/test_concordance.py"

    assert not is_missing(f"{here}::test_every_place_has_one_row")
    assert is_missing(f"{here}::test_of_nothing")
    assert is_missing("tests/docs/test_of_nothing.py::test_every_place_has_one_row")
    with pytest.raises(AttributeError):
        resolve_name("boundit.estimand.factors.factorise")
    with pytest.raises(AssertionError):
        read_quoted("factorize")
