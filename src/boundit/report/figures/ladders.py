"""A curve of tables as what is drawn of it: the bounds of each arm and context by the limit."""

from collections.abc import Sequence
from typing import Protocol

from boundit.report.records import Ladder
from boundit.results.bound import Key
from boundit.results.bound_table import BoundTable


class LimitCurve(Protocol):
    """Tables of bounds by a limit, smallest first."""

    @property
    def limits(self) -> Sequence[float]:
        """The limits."""
        ...

    @property
    def tables(self) -> Sequence[BoundTable]:
        """A table for each limit."""
        ...

    def summary(self) -> str:
        """How the bounds widen, in words."""
        ...


def make_ladders(curve: LimitCurve) -> tuple[Ladder, ...]:
    """Make a ``Ladder`` for each arm and context of a curve: its bounds at all limits."""
    edge = _find_edge(curve)
    return tuple(
        Ladder(
            _name_row(curve.tables[0], key),
            tuple(curve.limits),
            tuple(table.bounds[key].lower for table in curve.tables),
            tuple(table.bounds[key].upper for table in curve.tables),
            edge,
        )
        for key in (curve.tables[0].bounds if curve.tables else ())
    )


def _find_edge(curve: LimitCurve) -> str:
    """Find the edge whose limit on hidden confounding varies; empty where selection's does."""
    pairs = list(zip(curve.limits, curve.tables, strict=True))
    edges = curve.tables[0].confounding_limit if curve.tables else {}
    varied = (
        edge
        for edge in edges
        if all(table.confounding_limit.get(edge) == limit for limit, table in pairs)
    )
    return next(varied, "")


def _name_row(table: BoundTable, key: Key) -> str:
    """Name a pair of arm and context: text values alone, others as ``X=1``."""
    parts = [
        ", ".join(
            value if isinstance(value, str) else f"{name}={value}"
            for name, value in zip(names, values, strict=True)
        )
        for names, values in zip((table.treatments, table.context), key, strict=True)
    ]
    return " | ".join(filter(None, parts))
