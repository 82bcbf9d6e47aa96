"""The options of ``derive_bounds``, checked before any row is read."""

from collections.abc import Iterable, Mapping
from math import isnan
from os import PathLike

from boundit.counts.log import Log
from boundit.counts.read import read_log
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.errors import BounditError, shorten
from boundit.terms.message import ANY, Option
from boundit.terms.names import join_names


class InvalidLimit(BounditError):
    """An option of ``derive_bounds`` that makes no sense."""


def check_limits(*, max_condition: object, time_limit: object, domain: object) -> None:
    """Refuse limits that are no numbers, or less than nothing, and a domain without names.

    Called by ``BoundDerivation``.
    """
    if (
        not isinstance(max_condition, int)
        or isinstance(max_condition, bool)
        or max_condition < 0
    ):
        raise InvalidLimit(
            Option("max_condition"),
            f" must be a whole number from 0 on, found {max_condition!r}",
        )
    if time_limit is not None and not (
        isinstance(time_limit, int | float) and not isnan(time_limit) and time_limit >= 0
    ):
        raise InvalidLimit(
            Option("time_limit"), f" must be seconds or None, found {time_limit!r}"
        )
    if domain is not None and not isinstance(domain, Mapping):
        shown = shorten(repr(domain), 40)
        raise InvalidLimit(
            Option("domain"), f" must be a mapping such as {{'X': [0, 1]}}, found {shown}"
        )


def open_external_logs(graph: CausalGraph, sources: Iterable[object]) -> list[Log]:
    """Open the unselected tables; each must speak of the graph.

    Called by ``BoundDerivation``.
    """
    alone = isinstance(sources, str | PathLike | Mapping | Log) or hasattr(sources, "columns")
    if alone or not isinstance(sources, Iterable):
        found = type(sources).__name__
        raise InvalidLimit(
            Option("external"), f" must be a list of tables, as in [table], found {found}"
        )
    opened = [read_log(source) for source in sources]
    for log in opened:
        if not graph.observed.intersection(log.columns):
            has, wanted = shorten(", ".join(log.columns)), shorten(join_names(graph.observed))
            raise InvalidLimit(
                f"{log.source.label}, given as ",
                Option("external", ANY),
                f", has {has}, none of which is in the graph ({wanted})",
            )
    return opened
