"""A broken file is refused in one line, with the file and the row."""

import gzip
import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.core.errors import BounditError, UnreadableFile
from boundit.counts.files import is_cut_short
from boundit.counts.log import read_log
from tests.cli.answer import answer
from tests.counts.backends import pack

GOOD = b'{"X": 1, "Y": 0}\n'
MANY = b"1,2\n" * 30_000
NO_OBJECT = 'line 2 is not an object, such as {"Age": 30, "Click": 1}'
NO_UTF8 = "is not UTF-8 text; save the file as UTF-8"
DEEP = b'{"X": 1, "q": ' + b"[" * 10**5 + b"]" * 10**5 + b"}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"X,Y\n1,2\n1,2,3\n", "line 3 has 3 values, the header has 2 (X, Y)"),
        (b"X;Y\n1;2\n\n1\n", "line 4 has 1 value, the header has 2 (X, Y)"),
        (b"X\tY\n1\t2\t3\n", "line 2 has 3 values, the header has 2 (X, Y)"),
        (b'X,Y\n"a\nb",2\n1\n', "line 4 has 1 value, the header has 2 (X, Y)"),
        (b'X,Y\n1,2\n"b,2\n1,2\n', "line 3 leaves a quote open"),
        (b'X,Y\n"a",2\na,3\n1,"b\n' + b"1,2\n" * 40, "line 4 leaves a quote open"),
        (b"X,Y\n" + MANY + b'1,"b\n' + b"1,2\n" * 40, "line 30,002 leaves a quote open"),
        (b'X,Y\n"c"d,2\n', "line 2 is not CSV: ',' expected after '\"'"),
        (b"\xef\xbb\xbfX,Y\n1\n", "line 2 has 1 value, the header has 2 (X, Y)"),
        (b"X,Y\n" + MANY + b"1\n", "line 30,002 has 1 value, the header has 2 (X, Y)"),
        (b"X,Y\n1,2\n\xe9,2\n", f"line 3 {NO_UTF8}"),
        (b"X,Y\n" + MANY + b"\xe9,2\n", f"line 30,002 {NO_UTF8}"),
        ("X,Y\n1,2\n".encode("utf-16"), f"line 1 {NO_UTF8}"),
        (b"X,Y\n1,2\n1\r,2\n", "line 3 is not CSV: new-line character seen in unquoted field"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_the_first_line_of_csv_that_does_not_fit_is_named(
    tmp_path: Path, text: bytes, said: str, packed: str
) -> None:
    path = tmp_path / f"log.csv{packed}"
    path.write_bytes(gzip.compress(text) if packed else text)

    with pytest.raises(UnreadableFile) as caught:
        read_log(path).count(["X"], reward="Y")
    assert str(caught.value) == f"cannot read {str(path)!r}: {said}"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"X": 1\n', "line 2 is not JSON: Expecting ',' delimiter"),
        (b'{"X": 1} {"X": 2}\n', "line 2 is not JSON: Extra data"),
        (
            b"{'X': 1}\n",
            "line 2 is not JSON: Expecting property name enclosed in double quotes",
        ),
        (b"[1, 2]\n", NO_OBJECT),
        (b"7\n", NO_OBJECT),
        (b'{"X": "\xe9"}\n', f"line 2 {NO_UTF8}"),
        (b'{"X": "\\ud800"}\n', f"line 2 {NO_UTF8}"),
        (b'{"X": "\x00"}\n', "line 2 is not JSON: Invalid control character at"),
        (DEEP, "line 2 is nested too deeply; a log's line is a flat object"),
    ],
)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_the_first_line_of_json_that_is_no_object_is_named(
    tmp_path: Path, line: bytes, said: str, packed: str
) -> None:
    path = tmp_path / f"log.jsonl{packed}"
    data = GOOD + line + GOOD + b"{\n"
    path.write_bytes(gzip.compress(data) if packed else data)

    with pytest.raises(UnreadableFile) as caught:
        read_log(path).count(["X"], reward="Y")
    assert str(caught.value) == f"cannot read {str(path)!r}: {said}"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "cut.csv.gz",
            gzip.compress(b"X,Y\n" + bytes(9999), mtime=0)[:20],
            "cannot be unpacked",
        ),
        ("no.csv.gz", b"X,Y\n1,2\n", "cannot be unpacked"),
        ("a.csv", b"X,Y\n" + MANY + b"1,abc\n", "such as 'abc' in row 30,001"),
        ("a.csv", b"", "Nothing to count in {}: the file is empty, it has not even a header"),
        ("a.jsonl", b"", "Nothing to count in {}: the file is empty"),
        ("a.jsonl", b"{}\n", "Nothing to count in {}: no line is an object with a key"),
        (
            "a.jsonl",
            b'{\n "X": 1\n}\n',
            "cannot read {}: line 1 is not JSON: Expecting property",
        ),
        ("a.jsonl", b"\xef\xbb\xbf" + GOOD, "cannot read {}: line 1 is not JSON: Unexpected"),
        ("a.jsonl", GOOD + b'{"X": 1, "X": 2}\n', 'has duplicate key "X"'),
    ],
)
def test_python_and_the_command_line_say_it_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text)

    with pytest.raises(BounditError) as caught:
        read_log(path).count(["X"], reward="Y")
    code, _, err = answer(capsys, "bound", "X -> Y", "Y | do(X)", str(path))

    assert said.format(repr(str(path))) in str(caught.value)
    assert code == 2
    assert err.count("\n") == 1


def test_what_is_fine_has_no_fault(tmp_path: Path) -> None:
    json, csv = tmp_path / "log.jsonl", tmp_path / "log.csv"
    json.write_bytes(GOOD + b'\n  \n{"X": 2, "Y": NaN, "q": [[["]}\\\\"]]]}')
    csv.write_bytes(b"X,Y\n1,2,\n3,4,\n")
    table = read_log(json).count(["X"], reward="Y")

    assert (table.rows, dict(table.dropped)) == (1, {"Y": 1})
    assert read_log(csv).count(["X"], reward="Y").rows == 2


@pytest.mark.parametrize("values", [["1", '"a"'], ["null", "1.5", "true"], ["[1]", "2"]])
def test_a_column_of_two_kinds_is_refused_by_its_name(
    tmp_path: Path, values: list[str]
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f'{{"X": {value}, "Y": 1}}\n' for value in values))

    assert read_log(path).count(["Y"]).rows == len(values)
    for opened, asked in (
        ({}, {"variables": ["X"]}),
        ({}, {"variables": [], "reward": "X"}),
        ({"weight": "X"}, {"variables": []}),
        ({"bins": {"X": [1]}}, {"variables": ["X"]}),
    ):
        with pytest.raises(UnreadableFile, match="'X' holds values of several types"):
            read_log(path, **opened).count(**asked)


def test_a_column_of_two_kinds_in_two_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"X": 1}\n')
    (tmp_path / "b.jsonl").write_text('{"X": "a"}\n')

    with pytest.raises(UnreadableFile, match="'X' holds values of several types; give it one"):
        read_log(tmp_path).count(["X"])


PIECES = b'{ } [ ] " : , \n \\ null 1e999 {"X": \xff'.split(b" ")


@pytest.mark.full
@given(
    st.binary(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join),
    st.integers(0, 9999),
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


RNG = random.Random(3)
ROWS = "".join(f"{RNG.randrange(3)},{RNG.random() < 0.5:d}\n" for _ in range(2000))
CSV = f"X,Y\n{ROWS}".encode()
JSON = "".join(f'{{"X": {line[0]}, "Y": {line[2]}}}\n' for line in ROWS.split()).encode()
STORED = bytes(range(256)) * 2000  # blocks that are raw, packed and of one repeated byte
CONTENTS = {"csv": CSV, "jsonl": JSON}


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd"))


@pytest.mark.parametrize("data", [b"", b"x", CSV, STORED, RNG.randbytes(300_000), bytes(10**6)])
def test_every_cut_of_a_file_is_told(tmp_path: Path, data: bytes) -> None:
    path, whole = tmp_path / "a.csv.zst", zstd(data)
    path.write_bytes(whole)
    assert not is_cut_short(str(path))
    cuts = {*range(1, min(40, len(whole))), *range(max(1, len(whole) - 20), len(whole))}
    for cut in sorted(cuts | {RNG.randrange(1, len(whole)) for _ in range(40)}):
        path.write_bytes(whole[:cut])
        assert is_cut_short(str(path)), cut


def test_frames_one_after_the_other_and_frames_to_skip(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.zst"
    skipped = b"\x53\x2a\x4d\x18\x05\x00\x00\x00notes"
    for whole in (zstd(CSV) + zstd(CSV), skipped + zstd(CSV), zstd(CSV) + skipped):
        path.write_bytes(whole)
        assert not is_cut_short(str(path))
        path.write_bytes(whole[:-1])
        assert is_cut_short(str(path))


def test_frames_with_checksums_and_sizes(tmp_path: Path) -> None:
    """As the program zstd writes them: a window, no size, a checksum; by the format's text."""
    raw = b"X\n1\n"
    block = ((len(raw) << 3) | 1).to_bytes(3, "little") + raw
    magic = b"\x28\xb5\x2f\xfd"
    headers = {
        "window, checksum": b"\x04\x00",
        "window, dictionary": b"\x01\x00\x07",
        "single, size": b"\x20\x04",
        "size of 8 bytes": b"\xc0\x00" + len(raw).to_bytes(8, "little"),
    }
    for name, header in headers.items():
        whole = magic + header + block + b"sums" * (name == "window, checksum")
        (tmp_path / "a.zst").write_bytes(whole)
        assert not is_cut_short(str(tmp_path / "a.zst")), name
        (tmp_path / "a.zst").write_bytes(whole[:-1])
        assert is_cut_short(str(tmp_path / "a.zst")), name


@pytest.mark.parametrize("packed", [".gz", ".zst"])
@pytest.mark.parametrize("kind", CONTENTS)
def test_no_prefix_of_a_packed_log_is_counted(tmp_path: Path, kind: str, packed: str) -> None:
    path = tmp_path / f"log.{kind}{packed}"
    whole = pack(CONTENTS[kind], packed)
    path.write_bytes(whole)
    assert read_log(path).count(["X"], reward="Y").rows == 2000
    for cut in [*range(1, 24), len(whole) // 2, *range(len(whole) - 12, len(whole))]:
        path.write_bytes(whole[:cut])
        with pytest.raises(BounditError, match=rf"log\.{kind}{packed}") as caught:
            read_log(path).count(["X"], reward="Y")
        assert "\n" not in str(caught.value)
