from base64 import b64decode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.report.pages.columns import TextColumn, number_values, pack_codes, write_codes


def read_back(column: TextColumn) -> list[str]:
    """The text of each holder."""
    return [column.texts[code] for code in column.codes]


@given(st.lists(st.text(max_size=2)))
def test_a_column_keeps_every_text_and_none_twice(texts: list[str]) -> None:
    column = TextColumn.of("row", texts)

    assert read_back(column) == texts
    assert len(set(column.texts)) == len(column.texts)


@given(
    st.lists(st.floats(-1e6, 1e6).map(abs) | st.sampled_from([0.0, -2.5, 0.0625, 1.0625, 2.5])),
    st.sampled_from([".4g", ".3g", ".3f", ",.0f", "g"]),
)
def test_numbers_are_written_as_python_writes_each(numbers: list[float], spec: str) -> None:
    column = TextColumn.spell(np.array(numbers, dtype=float), spec)

    assert read_back(column) == [f"{number:{spec}}" for number in numbers]


def test_very_many_numbers_are_written_few_times() -> None:
    numbers = np.random.default_rng(0).random(10_000)
    column = TextColumn.spell(numbers, ".2f")

    assert len(column.texts) == 101
    assert read_back(column) == [f"{number:.2f}" for number in numbers]


def test_values_are_numbered_as_they_come() -> None:
    distinct, codes = number_values([("b",), ("a",), ("b",)])

    assert distinct == [("b",), ("a",)]
    assert codes.tolist() == [0, 1, 0]


@pytest.mark.parametrize(("most", "size"), [(0, 1), (255, 1), (256, 2), (65_536, 4)])
def test_codes_take_as_few_bytes_as_they_can(most: int, size: int) -> None:
    written = write_codes(pack_codes(np.array([0, most])))

    assert written["bytes"] == size
    plain = b64decode(str(written["base64"]))
    assert [int.from_bytes(part, "little") for part in (plain[:size], plain[size:])] == [
        0,
        most,
    ]
    assert write_codes(pack_codes(np.array([], dtype=int)))["base64"] == ""
