"""Two limits at once: up to which limit on one thing a claim holds, for limits on another.

Confounding and selection can go wrong together. Of pairs of limits those under which a claim is
proved lie below a curve that falls: the more one may hide, the less is left for the other.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

from boundit.bounds.request import RequestOptions, read_request
from boundit.decisions.breakdown.claims import Claim
from boundit.decisions.breakdown.find import find_fall
from boundit.decisions.breakdown.limited_tables import (
    LimitedClaim,
    LimitedTables,
)
from boundit.decisions.breakdown.result import Breakdown
from boundit.estimand.query import EffectQuery
from boundit.graph.read import GraphLike
from boundit.report.frame import make_frame
from boundit.terms.choices.choice import write_at_least
from boundit.terms.errors import InvalidLimit
from boundit.terms.long_work import Told, say_nothing
from boundit.terms.saving.frames import FrameKind


@dataclass(frozen=True, slots=True)
class Frontier:
    """Where a claim falls by the limit on ``of``, for each limit on ``against``.

    ``points`` are pairs of a limit on ``against`` and the ``Breakdown`` there.
    """

    of: str
    against: str
    claim: str
    points: tuple[tuple[float, Breakdown], ...]

    def rows(self) -> list[dict[str, object]]:
        """List the curve as dicts: both limits, and where the claim falls. For users."""
        return [
            {self.against: limit, "holds_to": found.holds_to, "falls_at": found.falls_at}
            for limit, found in self.points
        ]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a frame of pandas, ``"polars"`` or ``"arrow"``. For users."""
        return make_frame(self.rows(), to)

    def record(self) -> dict[str, Any]:
        """Write the curve as an object that JSON keeps. For users."""
        points = [{"limit": limit} | found.record() for limit, found in self.points]
        return {
            "of": self.of,
            "against": self.against,
            "claim": self.claim,
            "points": points,
        }

    def __repr__(self) -> str:
        return f"<Frontier of {self.of} against {self.against}: {len(self.points)} points>"

    def __str__(self) -> str:
        lines = [f"{self.claim}, by limits on {self.against} and {self.of}:"]
        for limit, found in self.points:
            to = "none" if found.holds_to is None else write_at_least(found.holds_to)
            lines.append(f"  {limit:g}: proved up to {to}")
        return "\n".join(lines)


def breakdown_frontier(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    of: str,
    against: str,
    limits: Iterable[float],
    claim: Claim,
    most: float = 100.0,
    told: Told | None = None,
    **options: Unpack[RequestOptions],
) -> Frontier:
    """Find where a claim falls by one limit, for each of several limits on another thing.

    ``of`` and ``against`` are edges, or ``"selection"``; the other options are those of
    ``breakdown``. The log is counted once. Users call it.
    """
    request = read_request(graph, query, log, **options)
    other = LimitedTables.read(request, against)
    one = LimitedTables.read(request, of)
    if one.of == other.of:
        raise InvalidLimit(f"of and against must be two things, found {one.of!r} twice")
    points = []
    for limit in sorted(set(map(float, limits))):
        tables = LimitedTables(other.limit(limit), one.of, told or say_nothing, one.kept)
        points.append((limit, find_fall(LimitedClaim(tables, claim), float(most))))
    return Frontier(one.of, other.of, str(claim), tuple(points))
