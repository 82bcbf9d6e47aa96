"""Arrow files, which PyArrow opens and DuckDB counts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boundit.terms.errors import MissingExtra

_MAGIC = b"ARROW1"


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
    if filesystem is None and any(map(_is_stream, paths)):
        tables = [_read_table(pa, path) for path in paths]
        return pa.concat_tables(tables, promote_options="permissive")
    inner = [path.partition("://")[2] for path in paths] if filesystem else list(paths)
    found = ds.dataset(inner, format="ipc", partitioning="hive", filesystem=filesystem)
    schemas = [found.schema, *(part.physical_schema for part in found.get_fragments())]
    return found.replace_schema(pa.unify_schemas(schemas, promote_options="permissive"))


def _is_stream(path: str) -> bool:
    """Tell whether an Arrow file is a stream, which lacks the mark of a file."""
    with Path(path).open("rb") as file:
        return file.read(len(_MAGIC)) != _MAGIC


def _read_table(pa: Any, path: str) -> Any:
    """Map an Arrow file into memory as a table."""
    mapped = pa.memory_map(path)
    opened = pa.ipc.open_stream(mapped) if _is_stream(path) else pa.ipc.open_file(mapped)
    return opened.read_all()
