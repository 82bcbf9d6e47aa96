"""The same rows in every kind of source that a log is read from."""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as pa_dataset
import pyarrow.feather as pa_feather
import pyarrow.parquet as pa_parquet

from boundit.counts.table import CountTable

Columns: TypeAlias = Mapping[str, Sequence[object]]


def arrow(columns: Columns, types: Mapping[str, pa.DataType] | None = None) -> pa.Table:
    """Build an Arrow table, with the types it infers or those given."""
    given = types or {}
    return pa.table({k: pa.array(list(v), type=given.get(k)) for k, v in columns.items()})


def parquet(table: pa.Table, folder: Path) -> object:
    pa_parquet.write_table(table, folder / "log.parquet")
    return folder / "log.parquet"


def partitioned(table: pa.Table, folder: Path) -> object:
    half = table.num_rows // 2
    for name, rows in {"a": table[:half], "b": table[half:]}.items():
        (folder / "parts" / name).mkdir(parents=True, exist_ok=True)
        pa_parquet.write_table(rows, folder / "parts" / name / "0.parquet")
    (folder / "parts" / "_SUCCESS").touch()
    return str(folder / "parts")


def csv(table: pa.Table, folder: Path) -> object:
    pa_csv.write_csv(table, folder / "log.csv")
    return str(folder / "*.csv")


def pack(data: bytes, ending: str) -> bytes:
    """Pack bytes as the ending of a file's name says."""
    if ending.endswith(".gz"):
        return gzip.compress(data)
    return bytes(pa.compress(data, codec="zstd")) if ending.endswith(".zst") else data


def packed_csv(ending: str) -> Callable[[pa.Table, Path], object]:
    def write(table: pa.Table, folder: Path) -> object:
        sink = pa.BufferOutputStream()
        pa_csv.write_csv(table, sink)
        path = folder / f"log.csv{ending}"
        path.write_bytes(pack(sink.getvalue().to_pybytes(), ending))
        return path

    return write


def json_lines(ending: str) -> Callable[[pa.Table, Path], object]:
    """Objects of a line each, without the keys of nulls in every other line."""

    def write(table: pa.Table, folder: Path) -> object:
        lines = [
            json.dumps({k: v for k, v in row.items() if i % 2 or v is not None}, default=str)
            for i, row in enumerate(table.to_pylist())
        ]
        path = folder / f"log{ending}"
        path.write_bytes(pack("\n".join(lines).encode(), ending))
        return path

    return write


def arrow_files(table: pa.Table, folder: Path) -> object:
    """A file, a Feather file and an empty one."""
    half = table.num_rows // 2
    (folder / "arrow").mkdir(exist_ok=True)
    for name, rows in {"a": table[:half], "c": table[:0]}.items():
        path = str(folder / "arrow" / f"{name}.arrow")
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(rows)
    pa_feather.write_feather(table[half:], str(folder / "arrow" / "b.feather"))
    return folder / "arrow"


def arrow_stream(table: pa.Table, folder: Path) -> list[str]:
    path = str(folder / "stream.arrow")
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return [path]


def dataset(table: pa.Table, folder: Path) -> object:
    return pa_dataset.dataset(partitioned(table, folder), format="parquet", schema=table.schema)


def nullable_pandas(table: pa.Table, _: Path) -> object:
    return table.to_pandas().convert_dtypes()


def categories(table: pa.Table, _: Path) -> object:
    frame = table.to_pandas()
    discrete = [name for name in frame if frame[name].dtype.kind == "O" and name != "Y"]
    return frame.astype(dict.fromkeys(discrete, "category"))


def dictionaries(table: pa.Table, _: Path) -> object:
    columns = [
        column.dictionary_encode() if pa.types.is_string(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


BACKENDS: dict[str, Callable[[pa.Table, Path], object]] = {
    "dict": lambda table, _: table.to_pydict(),
    "parquet": parquet,
    "directory": partitioned,
    "csv": csv,
    "csv gz": packed_csv(".gz"),
    "csv zst": packed_csv(".zst"),
    "json lines": json_lines(".jsonl"),
    "json lines gz": json_lines(".ndjson.gz"),
    "json lines zst": json_lines(".jsonl.zst"),
    "arrow files": arrow_files,
    "arrow stream": arrow_stream,
    "arrow dataset": dataset,
    "pandas": lambda table, _: table.to_pandas(),
    "pandas nullable": nullable_pandas,
    "pandas arrow": lambda table, _: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categories": categories,
    "polars": lambda table, _: pl.from_arrow(table),
    "polars lazy": lambda table, _: pl.DataFrame(pl.from_arrow(table)).lazy(),
    "pyarrow": lambda table, _: table,
    "pyarrow dictionaries": dictionaries,
    "duckdb": lambda table, _: duckdb.connect().from_arrow(table),
}


def shown(table: CountTable) -> dict[str, object]:
    """Everything a table holds, to be compared; sums up to their last digits."""
    arrays = {
        name: array.round(9).tolist()
        for name in ("sums", "squares", "lowest", "highest")
        if (array := getattr(table, name)) is not None
    }
    return {
        "variables": table.variables,
        "levels": {k: [(type(v), v) for v in of] for k, of in table.levels.items()},
        "codes": table.codes.tolist(),
        "n": table.n.round(12).tolist(),
        "reward": table.reward,
        "exact": table.exact,
        "caveats": table.caveats,
        "dropped": dict(table.dropped),
        **arrays,
    }
