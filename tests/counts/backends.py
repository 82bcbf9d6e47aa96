"""The same rows in every kind of source that a log is read from."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
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
