"""Files: Parquet, CSV, JSON lines and Arrow, one or many, through an embedded DuckDB."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from glob import escape
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import duckdb
from duckdb import DuckDBPyConnection, DuckDBPyRelation

from boundit.core.errors import (
    BounditError,
    DataError,
    MissingExtra,
    UnreadableFile,
    hide_password,
)
from boundit.counts.errors import NotNumeric, shorten_error
from boundit.counts.faults import DAMAGED, find_fault, is_cut_parquet, is_cut_short
from boundit.counts.paths import FileFormat, list_files
from boundit.counts.relations import (
    TableLook,
    count_relation_levels,
    find_first_oddity,
    follow_interrupts,
    group_relation,
    look_at_relation,
    quote_identifier,
    read_kinds,
)
from boundit.counts.sources import Cells, ColumnKind, GroupBy, Oddity

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
        here = not self.format.has_types and self.filesystem is None
        if here and all(Path(path).stat().st_size == 0 for path in self.paths):
            header = ", it has not even a header" if self.format is FileFormat.CSV else ""
            raise DataError(f"nothing to count in {self.label}: the file is empty{header}")
        with self._open() as relation:
            kinds = read_kinds(relation)
            if self.format is FileFormat.JSON:
                types = zip(relation.columns, map(str, relation.types), strict=True)
                kinds |= {name: ColumnKind.MIXED for name, of in types if of == "JSON"}
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
        if ColumnKind.MIXED in self.kinds.values():
            self._refuse_mixed(plan)
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
        numbers |= dict.fromkeys(plan.cuts, "the binned column")
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
        if not self.format.has_types:
            for each in self.paths if self.format is FileFormat.JSON else [path]:
                if fault := find_fault(each, self.format):
                    return UnreadableFile(each, fault)
        if "expected records" in str(error):
            return DataError(
                f"nothing to count in {self.label}: no line is an object with a key"
            )
        return UnreadableFile(path, shorten_error(error))


def find_files(paths: Paths) -> FileSource:
    """Find the files that paths, patterns and directories stand for, as one source of rows."""
    asked = [paths] if isinstance(paths, str | Path) else paths
    return FileSource(*list_files([str(path) for path in asked]))


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
