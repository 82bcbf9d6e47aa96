"""Columns of JSON lines, by all lines."""

import datetime as dt
from pathlib import Path

import pytest

from boundit.counts.cells import ColumnKind
from boundit.counts.errors import EmptyLog, NotACategory, SameName
from boundit.counts.formats.json_columns import write_json_reader
from boundit.counts.read import read_log


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_kinds_are_those_of_the_values(tmp_path: Path) -> None:
    path = write(
        tmp_path / "log.jsonl",
        '{"n": 1, "t": "1", "b": true, "d": "2024-02-29", "l": [1], "o": {"a": {"b": 1}}}',
        '{"n": 2.5, "m": null, "l": ["a"], "u": "550E8400-E29B-41D4-A716-446655440000"}',
    )
    log = read_log(path)

    assert log.source.kinds == {
        "n": ColumnKind.NUMBERS,
        "t": ColumnKind.TEXT,
        "b": ColumnKind.BOOLEANS,
        "d": ColumnKind.TIMES,
        "l": ColumnKind.NESTED,
        "o": ColumnKind.NESTED,
        "m": ColumnKind.TEXT,
        "u": ColumnKind.TEXT,
    }
    assert log.count(["u"]).levels["u"] == ("550E8400-E29B-41D4-A716-446655440000",)
    for name in ("l", "o"):
        with pytest.raises(NotACategory, match="lists or structures"):
            log.count([name])


def test_a_key_that_comes_late_is_a_column(tmp_path: Path) -> None:
    lines = ['{"X": 1}'] * 30_000
    path = write(tmp_path / "log.jsonl", *lines, '{"X": 2.5, "W": "a"}')

    table = read_log(path, missing="level").count(["X", "W"])
    assert table.levels == {"X": (1, 2.5), "W": ("a", None)}


def test_many_keys_that_are_seldom_there_are_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", *(f'{{"k{i}": {i % 3}}}' for i in range(400)))

    assert len(read_log(path).columns) == 400


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (["2024-01-31", "2024-02-01"], (dt.date(2024, 1, 31), dt.date(2024, 2, 1))),
        (["01-02-24", "02-02-24"], ("01-02-24", "02-02-24")),
        (["31-12-2024", "30-12-2024"], ("30-12-2024", "31-12-2024")),
        (["2024-01-31", "later"], ("2024-01-31", "later")),
        (["2024-01-31T10:30:00"], (dt.datetime(2024, 1, 31, 10, 30),)),  # noqa: DTZ001
        (["12", "007"], ("007", "12")),
    ],
)
def test_only_days_written_year_first_are_days(
    tmp_path: Path, values: list[str], levels: tuple[object, ...]
) -> None:
    path = write(tmp_path / "log.jsonl", *(f'{{"X": "{value}"}}' for value in values))

    assert read_log(path).count(["X"]).levels["X"] == levels


def test_keys_that_differ_only_in_case_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", '{"Y": 1, "y": 2}')
    fine = write(tmp_path / "fine.jsonl", '{"Y": 1, "Y_1": 2}')

    with pytest.raises(SameName, match=r"log\.jsonl' has several columns called '[Yy]'"):
        read_log(path)
    assert read_log(fine).columns == ("Y", "Y_1")


def test_parts_of_the_path_are_columns(tmp_path: Path) -> None:
    for day in ("2024-01-01", "2024-01-02"):
        (tmp_path / f"day={day}").mkdir()
        write(tmp_path / f"day={day}" / "a.jsonl", '{"X": 1}')

    table = read_log(tmp_path).count(["day", "X"])
    assert table.levels["day"] == (dt.date(2024, 1, 1), dt.date(2024, 1, 2))


@pytest.mark.parametrize("text", ["", "\n \n", "{}\n{}\n"])
def test_a_file_without_anything_is_said_to_be_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "log.jsonl").write_text(text)

    with pytest.raises(EmptyLog, match=r"nothing to count in '.*log\.jsonl'"):
        read_log(tmp_path / "log.jsonl")


def test_names_are_never_taken_for_sql(tmp_path: Path) -> None:
    name = "a'; DROP TABLE x; --"
    path = write(tmp_path / "log.jsonl", f'{{"{name}": 1}}')

    assert read_log(path).count([name]).levels[name] == (1,)
    assert "'a''; DROP" in write_json_reader({name: "BIGINT"})
