"""What can be drawn besides bound tables and graphs: plain records, each a finished value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from boundit.core.interval import Interval
from boundit.core.rounding import ROUNDING
from boundit.report.errors import UnevenCurve
from boundit.results.bound import Key

Judgement: TypeAlias = Literal["holds", "holds under a condition", "does not hold"]


@dataclass(frozen=True)
class Curve:
    """How something grew: its mean at some rounds, a band around it, and the median.

    >>> Curve("UCB", at=(1, 2), mean=(0.3, 0.5), low=(0.2, 0.4), high=(0.4, 0.6)).name
    'UCB'
    """

    name: str
    at: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    median: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        parts = ("at", "mean", "low", "high", "median")
        for part in parts:
            object.__setattr__(self, part, tuple(map(float, getattr(self, part))))
        lengths = tuple(len(getattr(self, part)) for part in parts)
        if lengths[0] == 0 or set(lengths) - {lengths[0], 0} or lengths[2] != lengths[3]:
            raise UnevenCurve(self.name, lengths)


@dataclass(frozen=True)
class Ladder:
    """One arm's bounds at growing limits: ``lower[i]`` at ``limits[i]``.

    The limits are selection limits G, or those on the hidden confounding of an ``edge``.
    """

    name: str
    limits: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    edge: str = ""

    def __post_init__(self) -> None:
        for part in ("limits", "lower", "upper"):
            object.__setattr__(self, part, tuple(map(float, getattr(self, part))))
        lengths = (len(self.limits), len(self.lower), len(self.upper))
        if lengths[0] == 0 or len(set(lengths)) > 1:
            raise UnevenCurve(self.name, lengths)


@dataclass(frozen=True, slots=True)
class PathHighlight:
    """The parts of a drawn graph that a step speaks of: two sides, what is given, edges.

    The edges are those on paths between the sides, as ``write_edge`` writes them; the caption
    says which paths these are.
    """

    between: tuple[tuple[str, ...], tuple[str, ...]]
    given: tuple[str, ...]
    edges: tuple[str, ...]
    caption: str


@dataclass(frozen=True, slots=True)
class PageLine:
    """One line of a page as HTML, and what it lights up in the graph if anything."""

    html: str
    highlight: PathHighlight | None = None


@dataclass(frozen=True)
class PointEstimates:
    """A number for each arm and context, such as a naive estimate."""

    name: str
    values: Mapping[Key, float]


@dataclass(frozen=True)
class IntervalSeries:
    """An interval for each arm and context; ``rounding`` is how far its digits reach."""

    name: str
    values: Mapping[Key, Interval]
    rounding: float = ROUNDING

    def has_missed(self, key: Key, truth: float) -> bool:
        """Tell whether the truth of a pair lies outside its interval, read to the digits given."""
        span = self.values.get(key)
        if span is None:
            return False
        return not span.lower - self.rounding <= truth <= span.upper + self.rounding


@dataclass(frozen=True)
class TruthComparison:
    """Intervals and estimates of the same arms and contexts, beside the truth where known."""

    treatments: tuple[str, ...]
    context: tuple[str, ...]
    spans: tuple[IntervalSeries, ...]
    points: tuple[PointEstimates, ...] = ()
    truth: Mapping[Key, float] = field(default_factory=dict)

    @property
    def keys(self) -> tuple[Key, ...]:
        """Every pair of arm and context that has an interval, an estimate or a truth, in order."""
        series = (self.truth, *(s.values for s in self.spans), *(p.values for p in self.points))
        return tuple(dict.fromkeys(key for values in series for key in values))

    def count_misses(self, spans: IntervalSeries) -> int:
        """Count the intervals of one series that leave the truth out."""
        return sum(spans.has_missed(key, truth) for key, truth in self.truth.items())


@dataclass(frozen=True, slots=True)
class Panel:
    """One of several small figures, and what it is of; a page writes the name above it."""

    name: str
    svg: str


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim of a text, whether it holds, and the number that shows it."""

    place: str
    said: str
    judgement: Judgement
    shown: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A plain table: what stands above each column, and the rows; numbers stand right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """What made a page: the command, the versions, and whatever else repeats it."""

    command: str
    versions: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)
