"""Files: Parquet, CSV, JSON lines and Arrow, one or many, through an embedded DuckDB."""

import csv
import datetime as dt
import gzip
import json
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from glob import escape, glob, has_magic
from itertools import chain, islice
from os import SEEK_END
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

import duckdb
from duckdb import DuckDBPyConnection, DuckDBPyRelation

from boundit.core.errors import (
    BounditError,
    DataError,
    MissingExtra,
    UnreadableFile,
    hide_password,
    shorten,
)
from boundit.counts.errors import NotNumeric, shorten_error
from boundit.counts.look import TableLook, look_at_relation
from boundit.counts.sources import (
    Cells,
    ColumnKind,
    GroupBy,
    Oddity,
    count_relation_levels,
    find_first_oddity,
    follow_interrupts,
    group_relation,
    quote_identifier,
    read_kinds,
)

_PACKED = ("", ".gz", ".zst")
_DATABASES = {"duckdb", "mssql", "mysql", "postgres", "postgresql", "sqlite"}


class FileFormat(Enum):
    """A kind of file, and what it is called in messages."""

    PARQUET = "Parquet"
    CSV = "CSV"
    JSON = "JSON lines"
    ARROW = "Arrow"


ENDINGS = {
    FileFormat.PARQUET: (".parquet", ".parq", ".pq"),
    FileFormat.CSV: tuple(name + pack for pack in _PACKED for name in (".csv", ".tsv")),
    FileFormat.JSON: tuple(name + pack for pack in _PACKED for name in (".jsonl", ".ndjson")),
    FileFormat.ARROW: (".arrow", ".feather", ".ipc"),
}
"""How the names of files of each kind end."""
_TYPED = {FileFormat.PARQUET, FileFormat.ARROW}  # files of these say the types of columns
KINDS = "Parquet, CSV, JSON lines or Arrow"
"""The kinds in the words of a message."""


def find_format(path: str) -> FileFormat | None:
    """Find the kind of a file by how its name ends; None where that says nothing.

    >>> find_format("logs/2024.JSONL.gz"), find_format("notes.txt")
    (<FileFormat.JSON: 'JSON lines'>, None)
    """
    name = path.lower()
    return next((kind for kind, ends in ENDINGS.items() if name.endswith(ends)), None)


def _find_here(path: str) -> tuple[None, list[str]]:
    """Find the files that a path, directory or pattern on this machine stands for."""
    root = Path(path).expanduser()
    if root.is_file():
        return None, [str(root)]
    if root.is_dir():
        # Engines keep their own notes beside the data, under names such as _SUCCESS or .crc.
        files = [
            p
            for p in root.rglob("*")
            if not any(part[0] in "._" for part in p.relative_to(root).parts)
        ]
        reason = f"the directory holds no {KINDS} file"
    elif has_magic(str(root)):
        # Unlike Path.glob, this takes absolute and relative patterns alike.
        files = [Path(p) for p in glob(str(root), recursive=True)]  # noqa: PTH207
        reason = f"no {KINDS} file matches"
    else:
        files, reason = [], "there is no such file or directory"
    kept = sorted(str(p) for p in files if find_format(str(p)) and p.is_file())
    if not kept:
        raise UnreadableFile(str(root), reason)
    return None, kept


def _find_remote(path: str) -> tuple[Any, list[str]]:
    """Find the files that a URL, a pattern or a folder in an object store stands for."""
    is_file = find_format(path) is not None and not has_magic(path)
    scheme, shown = path.partition("://")[0].lower(), hide_password(path)
    if scheme.partition("+")[0] in _DATABASES:
        reason = (
            "it is a database; pass an Ibis table in Python, or write the counts of a GROUP BY "
            "to a CSV file and name their column as the weight"
        )
        raise UnreadableFile(shown, reason)
    try:
        import fsspec  # noqa: PLC0415, only who has such files has it
    except ModuleNotFoundError:
        raise MissingExtra("fsspec", "remote") from None
    try:
        filesystem = fsspec.filesystem(scheme)
        if type(filesystem).modified is fsspec.AbstractFileSystem.modified:
            # DuckDB asks when a file was written; a web server need not tell.
            filesystem.modified = lambda _: dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        list_all = filesystem.glob if has_magic(path) else filesystem.find
        is_there = is_file and filesystem.exists(path)
        found = [] if is_file else sorted(list_all(path))
    except Exception as error:
        # Each store has errors of its own: a missing package, credentials, no network.
        raise UnreadableFile(shown, shorten_error(error)) from error
    if is_there:
        return filesystem, [path]
    kept = [
        filesystem.unstrip_protocol(name)
        for name in found
        if find_format(name) and not any(part[0] in "._" for part in name.split("/") if part)
    ]
    if not kept:
        raise UnreadableFile(
            shown, "there is no such file" if is_file else f"no {KINDS} file is there"
        )
    return filesystem, kept


DAMAGED = "it is damaged or was cut short: it cannot be unpacked"
_MOST_LINES = 10**7


def find_fault(path: str, kind: FileFormat) -> str | None:
    """Find the first line of a CSV or JSON file that cannot be read, and say why.

    DuckDB names none, or a wrong one. None where there is none to be found, or where zstd
    packed the file.
    """
    if path.lower().endswith(".zst"):
        return None
    at = 0

    def decode(lines: Iterator[bytes]) -> Iterator[str]:
        nonlocal at
        for line in lines:
            at += 1
            yield line.decode()

    try:
        with gzip.open(path) if path.lower().endswith(".gz") else Path(path).open("rb") as file:
            lines = decode(islice(file, _MOST_LINES))
            if kind is FileFormat.CSV:
                return _check_csv(lines)
            for line in lines:
                found = json.loads(line) if line.strip() else {}
                if not isinstance(found, dict):
                    return f'line {at:,} is not an object, such as {{"Age": 30, "Click": 1}}'
                json.dumps(found, ensure_ascii=False).encode()  # half a character is an error
    except UnicodeError:
        return f"line {at:,} is not UTF-8 text; save the file as UTF-8"
    except RecursionError:
        return f"line {at:,} is nested too deeply; a log's line is a flat object"
    except json.JSONDecodeError as error:
        return f"line {at:,} is not JSON: {error.msg}"
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return DAMAGED
    except OSError as error:
        return error.strerror or str(error)
    return None


def _check_csv(lines: Iterator[str]) -> str | None:
    header = next(lines, "").removeprefix("\ufeff")
    rows = csv.reader(
        chain([header], lines), delimiter=max(",;\t|", key=header.count), strict=True
    )
    first = 1
    try:
        names = next(rows, [])
        first = rows.line_num + 1
        for row in rows:
            # A mark at the end of each line makes a last value of nothing.
            found = len(row) - (len(row) == len(names) + 1 and not row[-1])
            if row and found != len(names):
                shown = shorten(", ".join(names), 60)
                values = f"{found:,} value{'s' * (found != 1)}"
                return f"line {first:,} has {values}, the header has {len(names):,} ({shown})"
            first = rows.line_num + 1
    except csv.Error as error:
        is_open = "end of data" in str(error)
        why = "leaves a quote open" if is_open else f"is not CSV: {str(error).split(' - ')[0]}"
        return f"line {first:,} {why}"
    return None


_FRAME = b"\x28\xb5\x2f\xfd"
_RLE = 1  # a block of one byte that is repeated


def is_cut_parquet(path: str) -> bool:
    """Tell whether a Parquet file lacks its opening or closing mark, as when cut short."""
    try:
        with Path(path).open("rb") as file:
            head, size = file.read(4), file.seek(0, SEEK_END)
            file.seek(max(4, size - 4))
            return not head == file.read() == b"PAR1"
    except OSError:
        return False


def is_cut_short(path: str) -> bool:
    """Tell whether the end of a file that zstd packed is missing.

    DuckDB would read what there is and say nothing. Only the sizes of blocks are read.
    """
    size = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        while file.tell() < size:
            magic = file.read(4)
            skipped = magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5
            if skipped:
                file.seek(_read_number(file, 4), 1)
            elif magic == _FRAME:
                _skip_frame(file, size)
            else:
                # Other bytes are an engine's to refuse; too few are a frame that begins.
                return len(magic) < len(_FRAME)
        return file.tell() > size


def _skip_frame(file: BinaryIO, size: int) -> None:
    """Go from the header of a frame to behind its last block and checksum.

    Where the file ends before, the place is behind its end.
    """
    described = _read_number(file, 1)
    single, checked = bool(described & 0x20), bool(described & 0x04)
    content = (int(single), 2, 4, 8)[described >> 6]
    file.seek((not single) + (0, 1, 2, 4)[described & 3] + content, 1)
    last = False
    while not last:
        if file.tell() + 3 > size:
            file.seek(size + 1)
            return
        header = _read_number(file, 3)
        last, kind = bool(header & 1), header >> 1 & 3
        file.seek(1 if kind == _RLE else header >> 3, 1)
    file.seek(4 * checked, 1)


def _read_number(file: BinaryIO, width: int) -> int:
    """Read a number of so many bytes, the least first."""
    return int.from_bytes(file.read(width), "little")


Paths: TypeAlias = str | Path | Sequence[str | Path]
Read = TypeVar("Read")
# What looks like a preamble or a comment would be skipped in silence; where first rows have no
# quotes, or one that is left open, quotes would be taken for part of the values.
_CSV_RULES = "skip=0, comment='', quote='\"'"
_ARROW_MARK = b"ARROW1"  # which a stream lacks
_LEAST_MEMORY = 2**28  # with less DuckDB cannot even read the blocks of a file
_LINES = "format='newline_delimited', records=true"
# Sparse or many keys would else become one column, a map.
_WHOLE = "sample_size=-1, map_inference_threshold=-1, field_appearance_threshold=0"
_DETECT_JSON = f"* FROM read_json(?, {_LINES}, {_WHOLE}, maximum_depth=2, union_by_name=true)"
_LIST_KEYS = (
    "DISTINCT unnest(json_keys(json)) FROM read_json(?, format='newline_delimited', "
    "records=false, columns={'json': 'JSON'})"
)
_DAY = r"\d{4}-\d{2}-\d{2}"
_MOMENT = rf"{_DAY}[T ]\d{{2}}:\d{{2}}(:\d{{2}}(\.\d+)?)?"
_TIMES = {
    "DATE": _DAY,
    "TIMESTAMP": _MOMENT,
    "TIMESTAMP WITH TIME ZONE": rf"{_MOMENT}(Z|[+-]\d{{2}}(:?\d{{2}})?)",
}


@dataclass(frozen=True)
class FileSource:
    """Files of one kind, read as one table; columns that a file lacks are null in it.

    Files that are not on this machine have a ``filesystem`` of fsspec.
    """

    paths: tuple[str, ...]
    format: FileFormat
    filesystem: Any = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """What messages call the log: its file, or the first and how many more."""
        more = len(self.paths) - 1
        return repr(hide_password(self.paths[0])) + (f" and {more} more" if more else "")

    @cached_property
    def kinds(self) -> dict[str, ColumnKind]:
        """The columns of the files, and what each holds, read from footers or from rows."""
        here = self.format not in _TYPED and self.filesystem is None
        if here and all(Path(path).stat().st_size == 0 for path in self.paths):
            header = ", it has not even a header" if self.format is FileFormat.CSV else ""
            raise DataError(f"Nothing to count in {self.label}: the file is empty{header}")
        with self._open() as relation:
            kinds = read_kinds(relation)
            if self.format is FileFormat.JSON:
                types = zip(relation.columns, map(str, relation.types), strict=True)
                kinds |= {name: ColumnKind.MIXED for name, of in types if of == "JSON"}
        folded = {name.casefold() for name in kinds}
        numbered = [(name, *name.rpartition("_")[::2]) for name in kinds]
        suspects = [(n, of) for n, of, i in numbered if of.casefold() in folded and i.isdigit()]
        if suspects:
            self._check_names(suspects)
        header = next(iter(kinds), "")
        one = self.format is FileFormat.CSV and len(kinds) == 1
        if one and any(mark in header for mark in ",;\t|"):
            reason = (
                find_fault(self.paths[0], self.format)
                or f"its rows do not fit its header {header!r}"
            )
            raise UnreadableFile(self.paths[0], reason)
        return kinds

    def group(self, plan: GroupBy) -> Cells:
        """Group the rows of all files with DuckDB, in one scan, by a ``GroupBy`` plan.

        Its other columns (weight, reward) are added up.
        """
        for column in (*plan.keys, plan.reward, plan.weight, *plan.flags):
            if column is not None and self.kinds.get(column) is ColumnKind.MIXED:
                raise UnreadableFile(
                    self.paths[0], f"{column!r} holds values of several types; give it one"
                )
        return self._read(lambda relation: group_relation(relation, plan), plan)

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Guess how many values each column of the files has, in one scan."""
        with self._open(sample_size=-1) as relation:
            return count_relation_levels(relation, columns)

    def find_oddity(self, column: str) -> Oddity | None:
        """Find the first text in a column that is not a number; its row, if there is one file."""
        with self._open(sample_size=-1) as relation:
            found = find_first_oddity(relation, column)
        return found if found is None or len(self.paths) == 1 else Oddity(found.text)

    def look(
        self, progress: Callable[[int, int], None], memory_limit: int | None = None
    ) -> TableLook:
        """Look at all columns of the files at once: levels, missing values, histograms."""
        mixed = {n: kind for n, kind in self.kinds.items() if kind is ColumnKind.MIXED}
        return self._read(
            lambda relation: look_at_relation(relation, read_kinds(relation) | mixed, progress),
            GroupBy((), memory_limit=memory_limit),
        )

    def _read(self, read: Callable[[DuckDBPyRelation], Read], plan: GroupBy) -> Read:
        """Read from the files; where the first rows of CSV misled about a column, from all rows."""
        try:
            with self._open(memory_limit=plan.memory_limit) as relation:
                return read(relation)
        except UnreadableFile as error:
            misled = isinstance(error.__cause__, duckdb.ConversionException)
            if self.format is not FileFormat.CSV or not misled:
                raise
        numbers = {plan.reward: "reward", plan.weight: "weight"}
        numbers |= dict.fromkeys(plan.cuts, "binned column")
        for column, role in numbers.items():
            if column is not None and (odd := self.find_oddity(column)):
                raise NotNumeric(column, role, ColumnKind.TEXT.value, str(odd))
        with self._open(sample_size=-1, memory_limit=plan.memory_limit) as relation:
            return read(relation)

    @cached_property
    def _json_types(self) -> dict[str, str]:
        """The columns of JSON lines and their types, by all lines.

        Texts that look like days stay texts unless all are written year first: detection takes
        01-02-24 for a day of the year 2001.
        """
        with self._select(_DETECT_JSON) as relation:
            listed = dict(zip(relation.columns, map(str, relation.types), strict=True))
        # What has no type of its own is text, and needs no more detection.
        types = {n: "VARCHAR" if of in {"UUID", '"NULL"'} else of for n, of in listed.items()}
        dated = {name: of for name, of in types.items() if of in _TIMES}
        if dated:
            checks = ", ".join(
                # A part of the path, such as day=2024-01-31, keeps its own type.
                f"bool_and(regexp_full_match({quote_identifier(n)}::VARCHAR, '{_TIMES[of]}'))"
                for n, of in dated.items()
            )
            texts = write_json_reader(dict.fromkeys(dated, "VARCHAR"))
            with self._select(f"{checks} FROM {texts}") as relation:
                (plain,) = relation.fetchall()
            loose = [name for name, good in zip(dated, plain, strict=True) if not good]
            types |= dict.fromkeys(loose, "VARCHAR")
        return types

    def _open(
        self, sample_size: int = 20_480, memory_limit: int | None = None
    ) -> AbstractContextManager[DuckDBPyRelation]:
        """Open the files as one DuckDB relation; in CSV ``sample_size`` rows tell the types.

        With a ``memory_limit`` what DuckDB groups beyond it goes to disk.
        """
        match self.format:
            case FileFormat.PARQUET:
                return self._select("* FROM read_parquet(?, union_by_name=true)", memory_limit)
            case FileFormat.JSON:
                reader = write_json_reader(self._json_types)
                return self._select(f"* FROM {reader}", memory_limit)
            case FileFormat.ARROW:
                return self._open_arrow(memory_limit)
            case FileFormat.CSV:
                # A header of text over text is not recognised as one, and a log has one.
                rules = f"union_by_name=true, header=true, sample_size={sample_size}"
                return self._select(f"* FROM read_csv(?, {_CSV_RULES}, {rules})", memory_limit)

    @contextmanager
    def _select(self, sql: str, memory_limit: int | None = None) -> Iterator[DuckDBPyRelation]:
        """Run an SQL query over the files on a DuckDB connection of its own.

        Gives the relation, its errors turned into ours.
        """
        paths = list(self.paths if self.filesystem else map(escape, self.paths))
        with self._connect(memory_limit) as connection:
            yield connection.sql(f"SELECT {sql}", params=[paths])

    @contextmanager
    def _open_arrow(self, memory_limit: int | None) -> Iterator[DuckDBPyRelation]:
        """Open Arrow files as a relation, or say which one is none."""
        try:
            found = open_arrow(self.paths, self.filesystem)
        except (OSError, ValueError, TypeError) as error:  # PyArrow's are of these kinds
            path = next((p for p in self.paths if p in str(error)), self.paths[0])
            reason = "not a whole Arrow file; was it cut short, or is it still being written?"
            cut = "Not an Arrow file" in str(error) or "Not a Feather" in str(error)
            raise UnreadableFile(path, reason if cut else shorten_error(error)) from error
        with self._connect(memory_limit) as connection:
            yield connection.from_arrow(found)

    @contextmanager
    def _connect(self, memory_limit: int | None) -> Iterator[DuckDBPyConnection]:
        """Open a DuckDB of its own for as long as files are read, its errors turned into ours."""
        if self.filesystem is None:
            for path in self.paths:
                if path.lower().endswith(".zst") and is_cut_short(path):
                    raise UnreadableFile(path, DAMAGED)
        try:
            with closing(connect()) as connection, follow_interrupts():
                if self.filesystem is not None:
                    connection.register_filesystem(self.filesystem)
                if memory_limit is not None:
                    size = max(memory_limit, _LEAST_MEMORY)
                    connection.execute(f"SET memory_limit='{size}B'")
                yield connection
        except duckdb.Error as error:
            raise self._explain_error(error) from error

    def _check_names(self, suspects: Iterable[tuple[str, str]]) -> None:
        """Refuse column names that differ only in case: DuckDB has numbered them, as Y and y_1."""
        real = self._list_real_names()
        for name, of in suspects:
            if name not in real:
                raise DataError(
                    f"{self.paths[0]!r} has several columns called {of!r}, or that differ from it "
                    "only in case; rename all but one"
                )

    def _list_real_names(self) -> set[object]:
        """List the names of columns as the files have them."""
        match self.format:
            case FileFormat.ARROW:
                return set(open_arrow(self.paths, self.filesystem).schema.names)
            case FileFormat.PARQUET:
                sql = "DISTINCT name FROM parquet_schema(?)"
            case FileFormat.JSON:
                sql = _LIST_KEYS
            case FileFormat.CSV:
                rules = "header=false, all_varchar=true"
                sql = f"* FROM read_csv(?, {_CSV_RULES}, {rules}) LIMIT 1"
        with self._select(sql) as relation:
            return {value for row in relation.fetchall() for value in row}

    def _explain_error(self, error: duckdb.Error) -> BounditError:
        """Say in our words what is wrong with a file that DuckDB refused."""
        path = next((p for p in self.paths if p in str(error)), self.paths[0])
        if self.filesystem is not None:
            return UnreadableFile(hide_password(path), shorten_error(error))
        if self.format is FileFormat.PARQUET:
            broken = next(filter(is_cut_parquet, self.paths), None)
            whole = "not a whole Parquet file; was it cut short, or is it still being written?"
            return UnreadableFile(broken or path, whole if broken else shorten_error(error))
        if self.format not in _TYPED:
            for each in self.paths if self.format is FileFormat.JSON else [path]:
                if fault := find_fault(each, self.format):
                    return UnreadableFile(each, fault)
        if "expected records" in str(error):
            return DataError(
                f"Nothing to count in {self.label}: no line is an object with a key"
            )
        return UnreadableFile(path, shorten_error(error))


def find_files(paths: Paths) -> FileSource:
    """Find the files that paths, patterns and directories stand for; they are of one kind."""
    asked = [str(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    groups = [(_find_remote if "://" in path else _find_here)(path) for path in asked]
    found = [file for _, files in groups for file in files]
    if not found:
        raise UnreadableFile(str(asked), "the list is empty")
    first, place = found[0], groups[0][0]
    for filesystem, files in groups:
        if filesystem is not place:
            reason = f"it is not at the same place as {hide_password(first)!r}"
            raise UnreadableFile(hide_password(files[0]), reason)
    kind = find_format(first)
    for file in found:
        if find_format(file) is not kind:
            raise DataError(
                f"{first!r} and {file!r} are of different kinds; give files of one kind, such as "
                "'logs/*.parquet'"
            )
    if kind is None:
        ends = ", ".join(of[0] for of in ENDINGS.values())
        raise UnreadableFile(first, f"unknown kind; name it {ends}")
    return FileSource(tuple(dict.fromkeys(found)), kind, place)


def connect() -> DuckDBPyConnection:
    """Open an embedded DuckDB that writes nothing to the screen."""
    temp = tempfile.gettempdir()
    connection = duckdb.connect(
        config={"autoinstall_known_extensions": False, "temp_directory": temp}
    )
    # On without a script file, and it writes to standard output.
    connection.execute("SET enable_progress_bar = false")
    return connection


def open_arrow(paths: Sequence[str], filesystem: object = None) -> Any:
    """Open Arrow files as one dataset, or as a table where some are streams.

    Columns meet by name, and one that a file lacks is null in it; parts of a path such as
    ``day=1`` are columns too.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415, only who has such files has it
        import pyarrow.dataset as ds  # noqa: PLC0415
    except ModuleNotFoundError:
        raise MissingExtra("pyarrow", "arrow") from None
    streams = list[bool]()
    for path in paths if filesystem is None else ():
        with Path(path).open("rb") as file:
            streams.append(file.read(len(_ARROW_MARK)) != _ARROW_MARK)
    if any(streams):
        readers = [pa.ipc.open_stream if stream else pa.ipc.open_file for stream in streams]
        mapped = zip(readers, map(pa.memory_map, paths), strict=True)
        tables = [read(file).read_all() for read, file in mapped]
        return pa.concat_tables(tables, promote_options="permissive")
    inner = [path.partition("://")[2] for path in paths] if filesystem else list(paths)
    found = ds.dataset(inner, format="ipc", partitioning="hive", filesystem=filesystem)
    schemas = [found.schema, *(part.physical_schema for part in found.get_fragments())]
    return found.replace_schema(pa.unify_schemas(schemas, promote_options="permissive"))


def write_json_reader(types: Mapping[str, str]) -> str:
    """Write the SQL that reads JSON lines with columns of these types."""
    quoted = {name.replace("'", "''"): of.replace("'", "''") for name, of in types.items()}
    columns = ", ".join(f"'{name}': '{of}'" for name, of in quoted.items())
    return f"read_json(?, {_LINES}, columns={{{columns}}})"
