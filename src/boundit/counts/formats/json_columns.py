"""Columns of JSON lines: there is no header, so every line is looked at."""

from collections.abc import Callable, Mapping

from duckdb import DuckDBPyRelation

from boundit.counts.cells import ColumnKind
from boundit.counts.relations import quote_identifier, read_kinds

_LINES = "format='newline_delimited', records=true"
# Sparse or many keys would else become one column, a map.
_WHOLE = "sample_size=-1, map_inference_threshold=-1, field_appearance_threshold=0"
DETECT_JSON = f"* FROM read_json(?, {_LINES}, {_WHOLE}, maximum_depth=2, union_by_name=true)"
"""Finds the columns of JSON lines and their types."""
LIST_KEYS = (
    "DISTINCT unnest(json_keys(json)) FROM read_json(?, format='newline_delimited', "
    "records=false, columns={'json': 'JSON'})"
)
"""Lists the keys as they are written."""
_DAY = r"\d{4}-\d{2}-\d{2}"
_MOMENT = rf"{_DAY}[T ]\d{{2}}:\d{{2}}(:\d{{2}}(\.\d+)?)?"
_TIMES = {
    "DATE": _DAY,
    "TIMESTAMP": _MOMENT,
    "TIMESTAMP WITH TIME ZONE": rf"{_MOMENT}(Z|[+-]\d{{2}}(:?\d{{2}})?)",
}
Select = Callable[[str], list[tuple[object, ...]]]
"""Runs a SELECT over the files."""


def choose_types(found: DuckDBPyRelation, select: Select) -> dict[str, str]:
    """Choose the type of each column by what detection found in all lines.

    Texts that look like days stay texts unless all are written year first: detection takes
    01-02-24 for a day of the year 2001.
    """
    listed = zip(found.columns, map(str, found.types), strict=True)
    # What has no type of its own is text, and needs no more detection.
    types = {name: "VARCHAR" if of in {"UUID", '"NULL"'} else of for name, of in listed}
    dated = {name: of for name, of in types.items() if of in _TIMES}
    if not dated:
        return types
    checks = ", ".join(
        # A part of the path, such as day=2024-01-31, keeps its own type.
        f"bool_and(regexp_full_match({quote_identifier(name)}::VARCHAR, '{_TIMES[of]}'))"
        for name, of in dated.items()
    )
    (plain,) = select(f"{checks} FROM {write_json_reader(dict.fromkeys(dated, 'VARCHAR'))}")
    return types | {
        name: "VARCHAR" for name, good in zip(dated, plain, strict=True) if not good
    }


def write_json_reader(types: Mapping[str, str]) -> str:
    """Write the SQL that reads JSON lines with columns of these types."""
    columns = ", ".join(f"{_quote(name)}: {_quote(of)}" for name, of in types.items())
    return f"read_json(?, {_LINES}, columns={{{columns}}})"


def read_json_kinds(relation: DuckDBPyRelation) -> dict[str, ColumnKind]:
    """Read what each column of JSON lines holds; values of several types are told apart."""
    mixed = {
        name
        for name, of in zip(relation.columns, relation.types, strict=True)
        if str(of) == "JSON"
    }
    kinds = read_kinds(relation)
    return {name: ColumnKind.MIXED if name in mixed else kind for name, kind in kinds.items()}


def _quote(text: str) -> str:
    """Put a text into the quotes of an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
