"""Files: Parquet, CSV, JSON lines and Arrow, one or many, through an embedded DuckDB."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from glob import escape, glob, has_magic
from os import SEEK_END
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
from duckdb import DuckDBPyConnection, DuckDBPyRelation

from boundit.counts.cells import Cells, ColumnKind, GroupBy, Oddity
from boundit.counts.errors import (
    EmptyLog,
    MixedFiles,
    NoFiles,
    NotNumeric,
    SameName,
    shorten_error,
)
from boundit.counts.formats.arrow_files import open_arrow
from boundit.counts.formats.column_looks import TableLook, look_at_relation
from boundit.counts.formats.faults import DAMAGED, find_fault
from boundit.counts.formats.file_format import ENDINGS, KINDS, FileFormat, find_format
from boundit.counts.formats.json_columns import (
    DETECT_JSON,
    LIST_KEYS,
    choose_types,
    read_json_kinds,
    write_json_reader,
)
from boundit.counts.formats.packed_files import is_cut_short
from boundit.counts.formats.remote_files import FoundFiles, find_remote
from boundit.counts.relations import (
    RelationSource,
    count_relation_levels,
    find_first_oddity,
    group_relation,
    heed_interrupts,
    read_kinds,
)
from boundit.terms.errors import BounditError, UnreadableFile, hide_password

Paths: TypeAlias = str | Path | Sequence[str | Path]
_MAGIC = b"PAR1"
# What looks like a preamble or a comment would be skipped in silence; where first rows have no
# quotes, or one that is left open, quotes would be taken for part of the values.
_CSV_RULES = "skip=0, comment='', quote='\"'"
_DATABASES = ("duckdb", "mssql", "mysql", "postgres", "postgresql", "sqlite")


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
        here = not self.format.has_types and self.filesystem is None
        if here and all(Path(path).stat().st_size == 0 for path in self.paths):
            header = ", it has not even a header" if self.format is FileFormat.CSV else ""
            raise EmptyLog(self.label, f"the file is empty{header}")
        with self._open() as relation:
            read = read_json_kinds if self.format is FileFormat.JSON else read_kinds
            kinds = read(relation)
        self._check_names(kinds)
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
        self._refuse_mixed(plan)
        try:
            with self._open(memory_limit=plan.memory_limit) as relation:
                return group_relation(relation, plan)
        except UnreadableFile as error:
            misled = isinstance(error.__cause__, duckdb.ConversionException)
            if self.format is not FileFormat.CSV or not misled:
                raise
        # The first rows of a CSV file misled about a column: look at all of them first.
        numbers = {plan.reward: "reward", plan.weight: "weight"}
        numbers |= dict.fromkeys(plan.cuts, "the binned column")
        for column, role in numbers.items():
            if column is not None and (odd := self.find_oddity(column)):
                raise NotNumeric(column, role, ColumnKind.TEXT.value, str(odd))
        with self._open(sample_size=-1, memory_limit=plan.memory_limit) as relation:
            return group_relation(relation, plan)

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Guess how many values each column of the files has, in one scan."""
        with self._open(sample_size=-1) as relation:
            return count_relation_levels(relation, columns)

    def find_oddity(self, column: str) -> Oddity | None:
        """Find the first text in a column that is no number; its row, if there is but one file."""
        with self._open(sample_size=-1) as relation:
            found = find_first_oddity(relation, column)
        return found if found is None or len(self.paths) == 1 else Oddity(found.text)

    def look(
        self, progress: Callable[[int, int], None], memory_limit: int | None = None
    ) -> TableLook:
        """Look at all columns of the files at once: levels, missing values, histograms."""
        kinds = self.kinds
        try:
            with self._open(memory_limit=memory_limit) as relation:
                return look_at_relation(relation, kinds, progress)
        except UnreadableFile as error:
            misled = isinstance(error.__cause__, duckdb.ConversionException)
            if self.format is not FileFormat.CSV or not misled:
                raise
        with self._open(sample_size=-1, memory_limit=memory_limit) as relation:
            return look_at_relation(relation, read_kinds(relation), progress)

    @cached_property
    def _json_types(self) -> dict[str, str]:
        """The columns of JSON lines and their types; read by ``FileSource._open``."""

        def select(sql: str) -> list[tuple[object, ...]]:
            with self._select(sql) as relation:
                return relation.fetchall()

        with self._select(DETECT_JSON) as relation:
            return choose_types(relation, select)

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
                return self._select(
                    f"* FROM {write_json_reader(self._json_types)}", memory_limit
                )
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
            with closing(_connect()) as connection, heed_interrupts():
                if self.filesystem is not None:
                    connection.register_filesystem(self.filesystem)
                if memory_limit is not None:
                    room = max(memory_limit, _LEAST_MEMORY)
                    connection.execute(f"SET memory_limit='{room}B'")
                yield connection
        except duckdb.Error as error:
            raise self._explain_error(error) from error

    def _refuse_mixed(self, plan: GroupBy) -> None:
        """Refuse a column of JSON lines that holds values of several types, with the lines."""
        summed = [name for name in (plan.reward, plan.weight) if name is not None]
        for column in (*plan.keys, *summed, *plan.flags):
            if self.kinds.get(column) is not ColumnKind.MIXED:
                continue
            for path in self.paths:
                if problem := find_fault(path, self.format, column):
                    raise UnreadableFile(path, problem)
            reason = f"{column!r} holds values of several types; give it one"
            raise UnreadableFile(self.paths[0], reason)

    def _check_names(self, kinds: Iterable[str]) -> None:
        """Refuse column names that differ only in case: DuckDB has numbered them, as Y and y_1."""
        folded = {name.casefold() for name in kinds}
        numbered = [(name, *name.rpartition("_")[::2]) for name in kinds]
        suspects = [(n, of) for n, of, i in numbered if of.casefold() in folded and i.isdigit()]
        if not suspects:
            return
        real = self._list_real_names()
        for name, of in suspects:
            if name not in real:
                raise SameName(self.paths[0], of)

    def _list_real_names(self) -> set[object]:
        """List the names of columns as the files have them."""
        match self.format:
            case FileFormat.ARROW:
                return set(open_arrow(self.paths, self.filesystem).schema.names)
            case FileFormat.PARQUET:
                sql = "DISTINCT name FROM parquet_schema(?)"
            case FileFormat.JSON:
                sql = LIST_KEYS
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
            broken = next(filter(_is_cut, self.paths), None)
            whole = "not a whole Parquet file; was it cut short, or is it still being written?"
            return UnreadableFile(broken or path, whole if broken else shorten_error(error))
        if not self.format.has_types:
            for each in self.paths if self.format is FileFormat.JSON else [path]:
                if fault := find_fault(each, self.format):
                    return UnreadableFile(each, fault)
        if "expected records" in str(error):
            return EmptyLog(self.label, "no line is an object with a key")
        return UnreadableFile(path, shorten_error(error))


_LEAST_MEMORY = 2**28  # with less DuckDB cannot even read the blocks of a file


def find_files(paths: Paths) -> FileSource:
    """Find the files that paths, patterns and directories stand for, as one source of rows."""
    asked = [paths] if isinstance(paths, str | Path) else list(paths)
    groups = [_expand_path(str(path)) for path in asked]
    found = [file for group in groups for file in group.paths]
    if not found:
        raise NoFiles(str(paths), "the list is empty")
    first = found[0]
    place = groups[0].filesystem
    for group in groups:
        if group.filesystem is not place:
            reason = f"it is not at the same place as {hide_password(first)!r}"
            raise NoFiles(hide_password(group.paths[0]), reason)
    for file in found:
        if find_format(file) is not find_format(first):
            raise MixedFiles(first, file)
    kind = find_format(first)
    if kind is None:
        raise NoFiles(
            first, f"unknown kind; name it {', '.join(of[0] for of in ENDINGS.values())}"
        )
    return FileSource(tuple(dict.fromkeys(found)), kind, place)


def read_dataset(dataset: object) -> RelationSource:
    """Make a source of rows of a PyArrow dataset, which DuckDB scans where it is."""
    return RelationSource(_connect().from_arrow(dataset), "the PyArrow dataset")


def _expand_path(path: str) -> FoundFiles:
    """Find the files that one path, directory or pattern stands for."""
    scheme, mark, _ = path.partition("://")
    if mark and scheme.partition("+")[0].lower() in _DATABASES:
        reason = (
            "it is a database; pass an Ibis table in Python, or write the counts of a GROUP BY "
            "to a CSV file and name their column as the weight"
        )
        raise NoFiles(hide_password(path), reason)
    if mark:
        return find_remote(path)
    path = str(Path(path).expanduser())
    if Path(path).is_dir():
        return FoundFiles(None, _list_directory(Path(path)))
    if Path(path).is_file():
        return FoundFiles(None, [path])
    if not has_magic(path):
        raise NoFiles(path, "there is no such file or directory")
    # Unlike Path.glob, this takes absolute and relative patterns alike.
    matches = sorted(p for p in glob(path, recursive=True) if Path(p).is_file())  # noqa: PTH207
    kept = [p for p in matches if find_format(p)]
    if not kept:
        raise NoFiles(path, f"no {KINDS} file matches")
    return FoundFiles(None, kept)


def _list_directory(directory: Path) -> list[str]:
    # Engines keep their own notes beside the data, under names such as _SUCCESS or .crc.
    """List the data files in a directory and below."""
    files = sorted(
        str(p)
        for p in directory.rglob("*")
        if p.is_file() and not any(part[0] in "._" for part in p.relative_to(directory).parts)
    )
    kept = [p for p in files if find_format(p)]
    if not kept:
        raise NoFiles(str(directory), f"the directory holds no {KINDS} file")
    return kept


def _connect() -> DuckDBPyConnection:
    """Open an embedded DuckDB that writes nothing to the screen."""
    temp = tempfile.gettempdir()
    connection = duckdb.connect(
        config={"autoinstall_known_extensions": False, "temp_directory": temp}
    )
    # On where there is no script file, and it writes to standard output.
    connection.execute("SET enable_progress_bar = false")
    return connection


def _is_cut(path: str) -> bool:
    """Tell whether a Parquet file lacks its opening or closing mark, as when cut short."""
    try:
        with Path(path).open("rb") as file:
            head, size = file.read(4), file.seek(0, SEEK_END)
            file.seek(max(4, size - 4))
            return not head == file.read() == _MAGIC
    except OSError:
        return False
