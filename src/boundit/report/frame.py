"""Rows as a data frame of the library that a user works with."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from boundit.core.errors import BounditError, MissingExtra, shorten
from boundit.core.frames import FrameKind

_PACKAGES: Mapping[FrameKind, Literal["pandas", "polars", "pyarrow"]] = {
    "pandas": "pandas",
    "polars": "polars",
    "arrow": "pyarrow",
}
"""The package that each kind needs; our extra that installs it is called as the kind."""


class UnknownFrame(BounditError):
    """A kind of data frame that we do not make."""

    def __init__(self, to: object) -> None:
        self.to = to
        super().__init__(
            f"{to!r} is not a kind of data frame. Write one of {', '.join(get_args(FrameKind))}."
        )


class CannotFrame(BounditError):
    """Rows that a library of data frames cannot hold."""

    def __init__(self, to: str, column: str, reason: str) -> None:
        self.to, self.column = to, column
        super().__init__(
            f"{to} cannot hold the column {column!r} ({shorten(reason, 80)}). Use rows() or "
            "frame('pandas'), which hold anything."
        )


def make_frame(
    rows: Sequence[Mapping[str, object]],
    to: FrameKind = "pandas",
    *,
    columns: Sequence[str] = (),
) -> Any:
    """Make a frame of flat rows: of pandas, Polars or Arrow.

    ``columns`` are its columns where there may be no rows.

    >>> make_frame([{"Ad": "A", "lower": 0.1}], "polars").shape
    (1, 2)
    """
    if to not in _PACKAGES:
        raise UnknownFrame(to)
    package = _PACKAGES[to]
    names = list(columns or (rows[0] if rows else ()))
    try:
        __import__(package)
    except ImportError:
        raise MissingExtra(package, to) from None
    import narwhals as nw  # noqa: PLC0415, takes a while

    parts = {}
    for name in names:
        values = _unite_numbers([row[name] for row in rows])
        try:
            parts[name] = nw.new_series(name, values, backend=package)
        except Exception as error:  # noqa: BLE001, each library raises its own kinds
            first = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise CannotFrame(to, name, first) from None
    return nw.from_dict(parts, backend=package).to_native()


def _unite_numbers(values: list[object]) -> list[object]:
    """Give whole numbers among others as floats too; Polars takes one kind in a column.

    >>> _unite_numbers([0, 0.5, None]), _unite_numbers([0, True])
    ([0.0, 0.5, None], [0, True])
    """
    kinds = {type(value) for value in values} - {type(None)}
    if kinds != {int, float}:
        return values
    return [float(value) if type(value) is int else value for value in values]
