"""Kinds of files by their names."""

import pytest

from boundit.counts.formats.file_format import ENDINGS, FileFormat, find_format


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.parquet", FileFormat.PARQUET),
        ("a.b.PQ", FileFormat.PARQUET),
        ("a.csv", FileFormat.CSV),
        ("a.tsv.zst", FileFormat.CSV),
        ("a.jsonl", FileFormat.JSON),
        ("a.ndjson.gz", FileFormat.JSON),
        ("a.arrow", FileFormat.ARROW),
        ("a.feather", FileFormat.ARROW),
        ("a.json", None),
        ("a.gz", None),
        ("csv", None),
    ],
)
def test_the_ending_says_what_it_is(name: str, kind: FileFormat | None) -> None:
    assert find_format(name) is kind


def test_no_ending_is_of_two_kinds() -> None:
    ends = [end for kind in FileFormat for end in ENDINGS[kind]]

    assert len(ends) == len(set(ends))
    assert [kind for kind in FileFormat if kind.has_types] == [
        FileFormat.PARQUET,
        FileFormat.ARROW,
    ]
