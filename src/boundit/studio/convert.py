"""A file that is not read as it should be, copied with its encoding, decimals, dates and gaps."""

import codecs
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

import duckdb
from msgspec import Struct

from boundit.studio.errors import StudioError
from boundit.studio.folder import Folder

Encoding: TypeAlias = Literal["utf-8", "cp1252", "latin-1", "utf-16"]
DatePart: TypeAlias = Literal["year", "quarter", "month", "weekday", "hour", "days"]
_PARTS = {
    "year": "year({0})",
    "quarter": "year({0}) || ' Q' || quarter({0})",
    "month": "strftime({0}, '%Y-%m')",
    "weekday": "dayname({0})",
    "hour": "hour({0}::TIMESTAMP)",
    "days": "date_diff('day', DATE '1970-01-01', {0}::DATE)",
}
_TEXTS = frozenset({".csv", ".tsv", ".txt"})


class Reading(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a file is read: ``missing`` are texts that stand for no value."""

    encoding: Encoding = "utf-8"
    decimal_comma: bool = False
    missing: tuple[str, ...] = ()
    header: bool = True
    dates: dict[str, DatePart] = {}


def convert_file(file: str, reading: Reading, folder: Folder) -> str:
    """Copy a file into Parquet as it should be read, and give the copy's name."""
    source = folder.find(file)
    name = folder.choose_free(f"{source.name.partition('.')[0]}-read.parquet")
    with _decode(source, reading.encoding) as path, duckdb.connect() as connection:
        try:
            relation = connection.sql(_write_source(source, reading), params=[str(path)])
            shown = [
                _select(column, str(kind), reading)
                for column, kind in zip(relation.columns, relation.types, strict=True)
            ]
            copied = connection.sql(f"SELECT {', '.join(shown)} FROM relation")
            copied.write_parquet(str(folder.path / name))
        except duckdb.Error as error:
            (folder.path / name).unlink(missing_ok=True)
            reason = str(error).partition("\n")[0][:300]
            hint = "Try another encoding, or the other decimal mark."
            raise StudioError(
                "refused", f"it cannot be read so: {reason}", where="data.file", hint=hint
            ) from None
    return name


@contextmanager
def _decode(path: Path, encoding: Encoding) -> Iterator[Path]:
    """Give the file in UTF-8."""
    if encoding == "utf-8" or path.suffix.lower() not in _TEXTS:
        yield path
        return
    with tempfile.TemporaryDirectory() as place:
        plain = Path(place) / path.name
        try:
            with (
                codecs.open(str(path), "r", encoding) as source,
                plain.open("w", encoding="utf-8", newline="") as out,
            ):
                shutil.copyfileobj(source, out)
        except UnicodeError as error:
            raise StudioError(
                "refused", f"the file is not {encoding}: {error}", where="data.file"
            ) from None
        yield plain


def _write_source(path: Path, reading: Reading) -> str:
    if path.suffix.lower() == ".parquet":
        return "SELECT * FROM read_parquet(?)"
    gaps = ", ".join("'" + text.replace("'", "''") + "'" for text in ("", *reading.missing))
    comma = ", decimal_separator=','" if reading.decimal_comma else ""
    header = str(reading.header).lower()
    return (
        f"SELECT * FROM read_csv(?, header={header}, nullstr=[{gaps}], sample_size=-1{comma})"
    )


def _select(column: str, kind: str, reading: Reading) -> str:
    """Read one column: a date as a part of it, numbers without what stands for a gap."""
    name = '"' + column.replace('"', '""') + '"'
    if part := reading.dates.get(column):
        as_date = (
            name if kind.startswith(("DATE", "TIMESTAMP")) else f"CAST({name} AS TIMESTAMP)"
        )
        return f"{_PARTS[part].format(as_date)} AS {name}"
    return name
