"""The marks of a figure of intervals: one list for the figure's legend and the page's."""

from collections.abc import Sequence
from dataclasses import dataclass

from boundit.report.palette import name_series_colour, write_colour_variable
from boundit.report.records import IntervalSeries, PointEstimates

_SHAPES = ("x", "+", "s", "^", "v", "o")
INNER_TINT = 0.4
_FIRST_NAIVE = 1
"""The first colour is that of the bounds."""
_PATHS = {
    "x": "M9 4l6 6m0-6l-6 6",
    "+": "M12 3v8m-4-4h8",
    "s": "M9 4h6v6h-6z",
    "^": "M12 3l4 7h-8z",
    "v": "M12 11l-4-7h8z",
    "o": "M8.5 7a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
    "D": "M12 2l5 5l-5 5l-5-5z",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """How one series is drawn: as a marker, or as a line of some width."""

    name: str
    colour: str
    marker: str = ""
    thick: float = 0.0
    tint: float = 1.0

    @property
    def path(self) -> str:
        """The outline of its marker as SVG, about the point (12, 7)."""
        return _PATHS[self.marker]

    @property
    def key(self) -> str:
        """A small sample of how the series is drawn, as SVG, for the legend of a page."""
        colour = write_colour_variable(self.colour)
        if self.marker:
            shape = f'<path d="{self.path}"/>'
        else:
            look = f'stroke-width="{self.thick}" stroke-opacity="{self.tint}"'
            shape = f'<path d="M4 7h16" {look}/>'
        return (
            '<svg class="key" viewBox="0 0 24 14" width="24" height="14" aria-hidden="true" '
            f'stroke-width="1.7" stroke-linecap="round" style="fill: none; stroke: {colour}">'
            f"{shape}</svg>"
        )


TRUTH = Mark("truth", "ink", marker="D")
MISSED = Mark("leaves the truth out", "miss", thick=3)


def make_bound_marks(*, sampled: bool) -> tuple[Mark, ...]:
    """Make the legend's marks of bounds, and of bounds without sampling error."""
    inner = Mark("what the rules leave open", "series-1", thick=8, tint=INNER_TINT)
    whole = Mark("with sampling error", "series-1", thick=1.6)
    return (
        (inner, whole) if sampled else (Mark("bounds", "series-1", thick=8, tint=INNER_TINT),)
    )


def make_point_marks(points: Sequence[PointEstimates]) -> tuple[Mark, ...]:
    """Make the marker of each series of naive estimates."""
    return tuple(
        Mark(p.name, name_series_colour(i + _FIRST_NAIVE), marker=_SHAPES[i % len(_SHAPES)])
        for i, p in enumerate(points)
    )


def make_span_marks(spans: Sequence[IntervalSeries], after: int) -> tuple[Mark, ...]:
    """Make the fine line of each series of intervals besides the bounds."""
    return tuple(
        Mark(s.name, name_series_colour(i + after + _FIRST_NAIVE), thick=2.5)
        for i, s in enumerate(spans)
    )
