"""PostgreSQL: types that its catalogue tells, and casts that are its own."""

from types import ModuleType

from boundit.counts.cells import ColumnKind
from boundit.counts.databases.dialect import Ask, DatabaseColumn, QueryDialect
from boundit.counts.sql_text import quote_identifier

_WHOLE = frozenset(["int2", "int4", "int8"])
_NESTED = frozenset(["json", "jsonb", "hstore"])
# By the first letter of what the catalogue calls a type's category.
_KINDS = {
    "N": ColumnKind.NUMBERS,
    "B": ColumnKind.BOOLEANS,
    "D": ColumnKind.TIMES,
    "T": ColumnKind.TIMES,
    "A": ColumnKind.NESTED,
    "C": ColumnKind.NESTED,
}
# The catalogue's entry of a column's type, or of the type that its domain is made of. A join
# that matches nothing gives a row of nulls with their types, and runs nothing.
_ENTRY = (
    "(SELECT CAST(coalesce(b.typname, t.typname) AS text) || ' ' || CAST(t.typcategory AS text)"
    " FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_type b ON b.oid = t.typbasetype"
    " WHERE t.oid = pg_typeof(boundit_typed.{}))"
)


class PostgresQueryDialect(QueryDialect):
    """SQL as PostgreSQL has it."""

    title = "PostgreSQL"
    folds_case = False

    def list_columns(
        self, ask: Ask, rows: str, driver: ModuleType | None
    ) -> list[DatabaseColumn]:
        """List the columns of a query in PostgreSQL with their types, without reading a row.

        Called by ``DatabaseSource.columns``.
        """
        del driver
        names = ask(f"SELECT * FROM {rows} WHERE 1 = 0").names
        self.refuse_twins(names)
        if not names:
            return []
        entries = ", ".join(_ENTRY.format(quote_identifier(name)) for name in names)
        one = "(SELECT 1 AS one) boundit_one"
        typed = f"LEFT JOIN (SELECT * FROM {rows}) boundit_typed ON FALSE"
        (found,) = ask(f"SELECT {entries} FROM {one} {typed}").rows
        pairs = (str(entry).rsplit(" ", 1) for entry in found)
        return [
            DatabaseColumn(name, _choose_kind(of, category), of)
            for name, (of, category) in zip(names, pairs, strict=True)
        ]

    def write_key(self, column: DatabaseColumn) -> str:
        """Write a column to group by, so that every driver brings it back alike.

        Numbers that are not whole come as floats, and what is no number, time or truth value
        as text, by which texts that PostgreSQL takes for equal stay apart. Called by
        ``DatabaseSource`` for every key.
        """
        name = quote_identifier(column.name)
        match column.kind:
            case ColumnKind.NUMBERS if column.type not in _WHOLE:
                return self.write_number(column)
            case ColumnKind.TEXT:
                decoded = column.type == "bytea"
                text = f"convert_from({name}, 'UTF8')" if decoded else f"CAST({name} AS text)"
                return f'{text} COLLATE "C"'
            case _:
                return name

    def write_number(self, column: DatabaseColumn) -> str:
        """Write a column as a float, NaN as null and a truth value as 0 or 1.

        Called by ``DatabaseSource._write_query`` and ``PostgresQueryDialect.write_key``.
        """
        name = quote_identifier(column.name)
        if column.kind is ColumnKind.BOOLEANS:
            return f"CAST(CAST({name} AS integer) AS {self.double})"
        return f"NULLIF(CAST({name} AS {self.double}), 'NaN')"

    def limit(self, query: str, most: int) -> str:
        """Let a query bring back no more rows than so many.

        Called by ``DatabaseSource.group`` and ``DatabaseSource.find_oddity``.
        """
        return f"{query} LIMIT {most}"


def _choose_kind(of: str, category: str) -> ColumnKind:
    """Choose what a column holds by its type's name and category.

    Called by ``PostgresQueryDialect.list_columns``.
    """
    if of in _NESTED or of == "void":
        return ColumnKind.NESTED
    return _KINDS.get(category, ColumnKind.TEXT)
