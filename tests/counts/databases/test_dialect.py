"""Standard SQL, and what a driver's type objects say."""

from types import SimpleNamespace
from typing import Any

import pytest

from boundit.counts.cells import ColumnKind
from boundit.counts.databases.dialect import DatabaseColumn, QueryAnswer, QueryDialect
from boundit.counts.errors import ColumnsAlike

DRIVER: Any = SimpleNamespace(NUMBER="number", STRING="string", DATETIME="time")


def test_kinds_are_those_of_the_drivers_type_objects() -> None:
    answer = QueryAnswer(("a", "b", "c", "d"), ("number", "string", "time", None), [])
    found = QueryDialect().list_columns(lambda _: answer, "log", DRIVER)

    kinds = [ColumnKind.NUMBERS, ColumnKind.TEXT, ColumnKind.TIMES, ColumnKind.OBJECTS]
    assert [column.kind for column in found] == kinds


def test_names_that_differ_in_case_are_one_in_the_standard() -> None:
    with pytest.raises(ColumnsAlike, match="'a'"):
        QueryDialect().refuse_twins(["A", "b", "a"])
    QueryDialect().refuse_twins(["A", "b"])


def test_names_are_quoted_wherever_they_stand() -> None:
    odd, standard = DatabaseColumn('a"b', ColumnKind.NUMBERS), QueryDialect()

    assert standard.write_key(odd) == '"a""b"'
    assert standard.write_number(odd) == 'CAST("a""b" AS DOUBLE PRECISION)'
    assert standard.write_misfit(odd) is None
