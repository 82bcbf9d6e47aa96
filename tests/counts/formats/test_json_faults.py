"""The line of a JSON file that does not fit, found by ourselves."""

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.counts.formats.json_faults import DEEPEST, find_json_fault, find_two_kinds
from boundit.counts.read import read_log
from boundit.terms.errors import BounditError, UnreadableFile

GOOD = b'{"X": 1, "Y": 0}\n'


def nest(depth: int) -> bytes:
    return b'{"X": 1, "Y": 1, "q": ' + b"[" * depth + b"]" * depth + b"}\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"X": 1\n', "line 2 is no JSON: Expecting ',' delimiter at character 8"),
        (b'{"X": 1} {"X": 2}\n', "line 2 is no JSON: Extra data at character 10"),
        (b"{'X': 1}\n", "line 2 is no JSON: Expecting property name enclosed in double quotes "
         "at character 2"),
        (b"[1, 2]\n", 'line 2 holds a list; every line is an object, such as {"Age": 30, '
         '"Click": 1}'),
        (b"7\n", "line 2 holds a number; every line is an object"),
        (b'"X"\n', "line 2 holds text; every line is an object"),
        (b"null\n", "line 2 holds null; every line is an object"),
        (b'{"X": 1, "X": 2}\n', "line 2 has the key 'X' twice"),
        (b'{"X": "\xe9"}\n', "line 2 is not UTF-8 text; save the file as UTF-8"),
        (b'{"X": "\\ud800"}\n', "line 2 holds half a character, a surrogate that stands alone"),
        (nest(DEEPEST), "line 2 is nested too deeply; a log's line is a flat object"),
        (nest(100_000), "line 2 is nested too deeply; a log's line is a flat object"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_the_first_line_that_is_no_object_is_named(
    tmp_path: Path, line: bytes, said: str, packed: str
) -> None:
    path = tmp_path / f"log.jsonl{packed}"
    data = GOOD + line + GOOD + b"{\n"
    path.write_bytes(gzip.compress(data) if packed else data)

    found = find_json_fault(str(path))
    assert found is not None
    assert found.startswith(said)
    with pytest.raises(UnreadableFile) as caught:
        read_log(path).count(["X"], reward="Y")
    assert str(caught.value) == f"cannot read {str(path)!r}: {found}"


def test_what_is_fine_has_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(
        GOOD + b"\n  \n" + nest(DEEPEST - 1) + b'{"X": 2, "Y": NaN, "q": "]}\\\\"}'
    )

    assert find_json_fault(str(path)) is None
    table = read_log(path).count(["X"], reward="Y")
    assert (table.rows, dict(table.dropped)) == (2, {"Y": 1})


def test_a_byte_order_mark_is_named(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b"\xef\xbb\xbf" + GOOD)

    with pytest.raises(UnreadableFile, match="line 1 begins with a byte order mark"):
        read_log(tmp_path / "log.jsonl").count(["X"])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            ["1", '"a"'],
            "'X' is text in line 2, \"a\", and line 1 has a number; give it one type",
        ),
        (
            ["null", "1.5", "true"],
            "'X' is true or false in line 3, true, and line 2 has a number",
        ),
        (["[1]", "2"], "'X' is a number in line 2, 2, and line 1 has a list"),
        (["{}", '"a"'], "'X' is text in line 2"),
    ],
)
def test_a_column_of_two_kinds_is_refused_with_both_lines(
    tmp_path: Path, values: list[str], said: str
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f'{{"X": {value}, "Y": 1}}\n' for value in values))

    assert str(find_two_kinds(str(path), "X")).startswith(said)
    assert find_two_kinds(str(path), "Y") is None
    assert read_log(path).count(["Y"]).rows == len(values)
    ways = ({"variables": ["X"]}, {"variables": [], "reward": "X"})
    for asked in ways:
        with pytest.raises(UnreadableFile, match="give it one type"):
            read_log(path).count(**asked)
    for option in ({"weight": "X"}, {"bins": {"X": [1]}}):
        with pytest.raises(UnreadableFile, match="give it one type"):
            read_log(path, **option).count(["X"] if "bins" in option else [])


def test_a_column_of_two_kinds_in_two_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"X": 1}\n')
    (tmp_path / "b.jsonl").write_text('{"X": "a"}\n')

    with pytest.raises(UnreadableFile, match="'X' holds values of several types; give it one"):
        read_log(tmp_path).count(["X"])


pieces = st.sampled_from(
    [
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b":",
        b",",
        b"\n",
        b"\\",
        b"null",
        b"1e999",
        b'{"X":',
        b"\xff",
    ]
)


@given(
    st.binary(max_size=60) | st.lists(pieces, max_size=40).map(b"".join), st.integers(0, 9999)
)
@settings(max_examples=150)
def test_hostile_lines_are_a_table_or_one_clear_line(
    tmp_path_factory: pytest.TempPathFactory, garbage: bytes, seed: int
) -> None:
    rng = random.Random(seed)
    lines = [GOOD, b'{"X": 0, "Y": 1}\n', garbage + b"\n", GOOD]
    rng.shuffle(lines)
    path = tmp_path_factory.mktemp("log") / rng.choice(["log.jsonl", "log.ndjson.gz"])
    data = b"".join(lines)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    said = "log counted"
    try:
        read_log(path).count(["X"], reward="Y")
    except BounditError as error:
        said = str(error)
    assert "\n" not in said
    assert any(name in said for name in ("log counted", path.name, "'X'", "'Y'"))
