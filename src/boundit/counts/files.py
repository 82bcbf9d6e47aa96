"""Files: Parquet and CSV, one or many, through an embedded DuckDB."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from glob import escape, glob, has_magic
from os import SEEK_END
from pathlib import Path
from typing import TypeAlias

import duckdb
from duckdb import DuckDBPyConnection, DuckDBPyRelation

from boundit.counts.cells import Cells, ColumnKind, GroupBy, Oddity
from boundit.counts.csv_faults import find_fault
from boundit.counts.errors import EmptyLog, MixedFiles, NoFiles, SameName, shorten_error
from boundit.counts.relations import (
    count_relation_levels,
    find_first_oddity,
    group_relation,
    heed_interrupts,
    read_kinds,
)
from boundit.terms.errors import UnreadableFile

Paths: TypeAlias = str | Path | Sequence[str | Path]
_PARQUET = (".parquet", ".parq", ".pq")
_CSV = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst")
_MAGIC = b"PAR1"
# What looks like a preamble or a comment would be skipped in silence.
_CSV_RULES = "skip=0, comment=''"


@dataclass(frozen=True)
class FileSource:
    """Files of one kind, read as one table; columns that a file lacks are null in it."""

    paths: tuple[str, ...]
    parquet: bool

    @property
    def label(self) -> str:
        """What messages call the log: its file, or the first and how many more.

        Read by ``Log.count`` and wherever a message names the log.
        """
        more = len(self.paths) - 1
        return repr(self.paths[0]) + (f" and {more} more" if more else "")

    @cached_property
    def kinds(self) -> dict[str, ColumnKind]:
        """The columns of the files, and what each holds, read from footers and first rows.

        Read by ``Log.names`` and the checks of ``Log``.
        """
        if not self.parquet and all(_is_empty(path) for path in self.paths):
            raise EmptyLog(self.label, "the file is empty, it has not even a header")
        with self._open() as relation:
            kinds = read_kinds(relation)
        self._check_names(kinds)
        header = next(iter(kinds))
        if not self.parquet and len(kinds) == 1 and any(mark in header for mark in ",;\t|"):
            reason = find_fault(self.paths[0]) or f"its rows do not fit its header {header!r}"
            raise UnreadableFile(self.paths[0], reason)
        return kinds

    def group(self, plan: GroupBy) -> Cells:
        """Group the rows of all files with DuckDB, in one scan, by a ``GroupBy`` plan.

        Its other columns (weight, reward) are added up. Called by ``Log.count``.
        """
        try:
            with self._open(memory_limit=plan.memory_limit) as relation:
                return group_relation(relation, plan)
        except UnreadableFile as error:
            if self.parquet or not isinstance(error.__cause__, duckdb.ConversionException):
                raise
        # The first rows of a CSV file misled about a column: look at all of them first.
        with self._open(sample_size=-1, memory_limit=plan.memory_limit) as relation:
            return group_relation(relation, plan)

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Guess how many values each column of the files has, in one scan.

        Called by ``Log.count_levels``.
        """
        with self._open(sample_size=-1) as relation:
            return count_relation_levels(relation, columns)

    def find_oddity(self, column: str) -> Oddity | None:
        """Find the first text in a column that is no number; its row, if there is but one file.

        Called by ``Log._check_may_be_summed`` for an error message.
        """
        with self._open(sample_size=-1) as relation:
            found = find_first_oddity(relation, column)
        return found if found is None or len(self.paths) == 1 else Oddity(found.text)

    def _open(
        self, sample_size: int = 20_480, memory_limit: int | None = None
    ) -> AbstractContextManager[DuckDBPyRelation]:
        """Open the files as one DuckDB relation, its types guessed from ``sample_size`` rows.

        With a ``memory_limit`` what DuckDB groups beyond it goes to disk. Called by
        ``FileSource.kinds``, ``FileSource.group`` and ``FileSource.find_oddity``.
        """
        if self.parquet:
            return self._select("* FROM read_parquet(?, union_by_name=true)", memory_limit)
        # A header of text over text is not recognised as one, and a log always has one.
        rules = f"union_by_name=true, header=true, sample_size={sample_size}"
        return self._select(f"* FROM read_csv(?, {_CSV_RULES}, {rules})", memory_limit)

    @contextmanager
    def _select(self, sql: str, memory_limit: int | None = None) -> Iterator[DuckDBPyRelation]:
        """Run an SQL query over the files on a DuckDB connection of its own.

        Gives the relation, its errors turned into ours. Called by ``FileSource._open`` and
        ``FileSource._check_names``.
        """
        paths = list(map(escape, self.paths))
        try:
            with closing(_connect()) as connection, heed_interrupts():
                if memory_limit is not None:
                    room = max(memory_limit, _LEAST_MEMORY)
                    connection.execute(f"SET memory_limit='{room}B'")
                yield connection.sql(f"SELECT {sql}", params=[paths])
        except duckdb.Error as error:
            raise self._explain_error(error) from error

    def _check_names(self, kinds: Iterable[str]) -> None:
        """Refuse column names that differ only in case: DuckDB has numbered them, as Y and y_1.

        Called by ``FileSource.kinds``.
        """
        folded = {name.casefold() for name in kinds}
        numbered = [(name, *name.rpartition("_")[::2]) for name in kinds]
        suspects = [(n, of) for n, of, i in numbered if of.casefold() in folded and i.isdigit()]
        if not suspects:
            return
        sql = "DISTINCT name FROM parquet_schema(?)"
        if not self.parquet:
            rules = "header=false, all_varchar=true"
            sql = f"* FROM read_csv(?, {_CSV_RULES}, {rules}) LIMIT 1"
        with self._select(sql) as relation:
            real = {value for row in relation.fetchall() for value in row}
        for name, of in suspects:
            if name not in real:
                raise SameName(self.paths[0], of)

    def _explain_error(self, error: duckdb.Error) -> UnreadableFile:
        """Say in our words what is wrong with a file that DuckDB refused.

        Called by ``FileSource._select``.
        """
        if self.parquet and (broken := next(filter(_is_cut, self.paths), None)):
            reason = "not a whole Parquet file; was it cut short, or is it still being written?"
            return UnreadableFile(broken, reason)
        path = next((p for p in self.paths if p in str(error)), self.paths[0])
        return UnreadableFile(
            path, (not self.parquet and find_fault(path)) or shorten_error(error)
        )


_LEAST_MEMORY = 2**28  # with less DuckDB cannot even read the blocks of a file


def find_files(paths: Paths) -> FileSource:
    """Find the files that paths, patterns and directories stand for, as one source of rows.

    Called by ``_open_source`` for paths.
    """
    asked = [paths] if isinstance(paths, str | Path) else list(paths)
    found = [file for path in asked for file in _expand_path(str(path))]
    if not found:
        raise NoFiles(str(paths), "the list is empty")
    first = found[0]
    for file in found:
        if _is_parquet(file) != _is_parquet(first):
            raise MixedFiles(first, file)
    return FileSource(tuple(dict.fromkeys(found)), _is_parquet(first))


def _expand_path(path: str) -> list[str]:
    """Find the files that one path, directory or pattern stands for.

    Called by ``find_files``.
    """
    if "://" in path:
        raise NoFiles(path, "only local files; open it with a frame library and pass the frame")
    path = str(Path(path).expanduser())
    if Path(path).is_dir():
        return _list_directory(Path(path))
    if Path(path).is_file():
        if not path.lower().endswith(_PARQUET + _CSV):
            raise NoFiles(path, f"unknown kind; name it {', '.join(_PARQUET[:1] + _CSV[:2])}")
        return [path]
    if not has_magic(path):
        raise NoFiles(path, "there is no such file or directory")
    # Unlike Path.glob, this takes absolute and relative patterns alike.
    matches = sorted(p for p in glob(path, recursive=True) if Path(p).is_file())  # noqa: PTH207
    kept = [p for p in matches if p.lower().endswith(_PARQUET + _CSV)]
    if not kept:
        raise NoFiles(path, "no Parquet or CSV file matches")
    return kept


def _list_directory(directory: Path) -> list[str]:
    # Engines keep their own notes beside the data, under names such as _SUCCESS or .crc.
    """List the data files in a directory and below. Called by ``_expand_path``."""
    files = sorted(
        str(p)
        for p in directory.rglob("*")
        if p.is_file() and not any(part[0] in "._" for part in p.relative_to(directory).parts)
    )
    kept = [p for p in files if p.lower().endswith(_PARQUET + _CSV)]
    if not kept:
        raise NoFiles(str(directory), "the directory holds no Parquet or CSV file")
    return kept


def _connect() -> DuckDBPyConnection:
    """Open an embedded DuckDB that writes nothing to the screen.

    Called by ``FileSource._select``.
    """
    temp = tempfile.gettempdir()
    connection = duckdb.connect(
        config={"autoinstall_known_extensions": False, "temp_directory": temp}
    )
    # On where there is no script file, and it writes to standard output.
    connection.execute("SET enable_progress_bar = false")
    return connection


def _is_parquet(path: str) -> bool:
    """Tell whether a file's name ends like that of a Parquet file. Called by ``find_files``."""
    return path.lower().endswith(_PARQUET)


def _is_empty(path: str) -> bool:
    """Tell whether a file has no bytes.

    Called by ``FileSource.kinds``, which refuses such a file.
    """
    return Path(path).stat().st_size == 0


def _is_cut(path: str) -> bool:
    """Tell whether a Parquet file lacks its opening or closing mark, as when cut short.

    Called by ``FileSource._explain_error``.
    """
    try:
        with Path(path).open("rb") as file:
            head, size = file.read(4), file.seek(0, SEEK_END)
            file.seek(max(4, size - 4))
            return not head == file.read() == _MAGIC
    except OSError:
        return False
