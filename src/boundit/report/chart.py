"""Charts: intervals in rows, and lines with bands; each is a record that writes itself as SVG.

``report.plot`` draws the same records with matplotlib. Text stays text, colors are variables of
the page, and the same record gives the same bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import groupby
from math import ceil, floor, isfinite, log10
from operator import attrgetter
from typing import TypeAlias

from boundit.core.errors import BounditError
from boundit.report.lettering import estimate_width, wrap_names, wrap_words
from boundit.report.palette import SERIES, use_color
from boundit.results.text import join_words

WIDE, NARROW = 760.0, 350.0
MOST_ROWS = 30
"""How many rows a chart shows."""
TINT = 0.45
DASHES = ("", "6 3", "2 3", "8 3 2 3")
MARKERS = {
    "unadjusted": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
    "truth": "M0-5.5l5 5.5l-5 5.5l-5-5.5z",
}
"""Outlines of the two points that have one of their own, about (0, 0)."""
OTHER_MARKERS = ("M-3.5-3.5l7 7m0-7l-7 7", "M0-4v8m-4-4h8", "M-3.5-3.5h7v7h-7z")
_SIZE, _SMALL, _LINE = 13.0, 11.5, 15.0
_ROW, _HEAD, _AXIS, _KEY = 25.0, 30.0, 24.0, 34.0
_TALL = 420.0
"""From this height on the axis stands above the rows too."""
_MOST_POINTS = 300
_MOST_TICKS = 5
Span: TypeAlias = tuple[float, float]


class InvalidChart(BounditError):
    """A chart without content, or a curve whose parts differ in length."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of an interval chart: the interval, the identified set within, and points.

    ``note`` is a word at the end of the row. ``group`` is the heading that it stands below.
    """

    name: str
    lower: float
    upper: float
    inner: Span
    points: Mapping[str, float] = field(default_factory=dict)
    color: str = "series-1"
    group: str = ""
    note: str = ""

    @property
    def shape(self) -> tuple[object, ...]:
        """What is drawn of it."""
        return (
            self.lower,
            self.upper,
            self.inner,
            tuple(self.points.items()),
            self.color,
            self.note,
        )


@dataclass(frozen=True)
class IntervalChart:
    """Intervals in rows, on an axis that is zoomed to them.

    ``colors`` has the meaning of each color for the legend; ``zero`` draws the line of no
    effect. ``outcome_range`` bounds the axis; ``more`` says what is left out, ``inner``
    what the thick bar is.
    """

    title: str
    rows: tuple[Bar, ...]
    outcome_range: Span
    colors: Mapping[str, str] = field(default_factory=lambda: {"series-1": ""})
    zero: bool = False
    signed: bool = False
    more: str = ""
    inner: str = "identified set"

    def __post_init__(self) -> None:
        if not self.rows:
            raise InvalidChart("There is nothing to draw: the table has no rows.")

    @cached_property
    def scale(self) -> Span:
        """The ends of the axis: all that is drawn, and no more unless it is most of the range."""
        ends = [
            end for row in self.rows for end in (row.lower, row.upper, *row.points.values())
        ]
        ends += [0.0] * self.zero
        low, high = self.outcome_range
        least, most = min(ends), max(ends)
        pad = 0.03 * ((most - least) or (high - low) or 1.0)
        if most - least >= 0.8 * (high - low):
            least, most = min(low, least), max(high, most)
        return least - pad, most + pad

    @property
    def groups(self) -> Iterator[tuple[str, tuple[Bar, ...]]]:
        """The rows below each heading."""
        for name, rows in groupby(self.rows, attrgetter("group")):
            yield name, tuple(rows)

    @cached_property
    def sampled(self) -> bool:
        """Whether sampling error widens any interval."""
        return any((row.lower, row.upper) != row.inner for row in self.rows)

    @cached_property
    def markers(self) -> dict[str, tuple[str, str]]:
        """The outline and the color of each kind of point."""
        names = dict.fromkeys(name for row in self.rows for name in row.points)
        others = [name for name in names if name not in MARKERS]
        colors = {"unadjusted": "outcome", "truth": "ink"}
        return {
            name: (MARKERS[name], colors[name])
            if name in MARKERS
            else (
                OTHER_MARKERS[others.index(name) % len(OTHER_MARKERS)],
                SERIES[(others.index(name) + 1) % len(SERIES)],
            )
            for name in names
        }

    def list_ticks(self) -> list[tuple[float, str]]:
        """List the numbers of the axis, with a sign where they are effects."""
        ticks = list_ticks(*self.scale)
        if not self.signed:
            return ticks
        return [(at, f"+{words}" if at > 1e-12 else words) for at, words in ticks]

    def svg(self, width: float = WIDE) -> str:
        """Write the chart as SVG of a width in pixels."""
        return _IntervalDrawing(self, width).write()


class _IntervalDrawing:
    """Where the parts of an interval chart stand, for one width."""

    def __init__(self, chart: IntervalChart, width: float) -> None:
        self.chart, self.width = chart, width
        widest = (0.42 if width < _TALL else 0.34) * width
        self.names = wrap_names([row.name for row in chart.rows], widest, _SIZE)
        lines = [line for name in self.names.values() for line in name]
        self.left = max(estimate_width(line, _SIZE) for line in lines) + 14
        notes = [estimate_width(row.note, _SMALL) + 8 for row in chart.rows if row.note]
        self.right = width - max([16.0, *notes])

    def write(self) -> str:
        chart = self.chart
        rows, y = list[str](), 4.0
        tall = sum(_ROW for _ in chart.rows) > _TALL
        top = y + _AXIS if tall else y
        y = top
        for name, bars in chart.groups:
            if name:
                for line in wrap_words(name, self.width - 8, _SIZE):
                    y += _LINE
                    rows.append(_write(4, y, line, "ink", _SIZE, weight=650))
                y += _HEAD - _LINE - 8
            for bar in bars:
                lines = self.names[bar.name]
                high = _ROW + _LINE * (len(lines) - 1)
                rows += self._draw_row(bar, lines, y + high / 2)
                y += high
        grid = list(self._draw_grid(top, y, above=tall))
        y += _AXIS
        legend = list(self._draw_legend(y + 14))
        height = y + (legend[-1][0] - y + 14 if legend else 0)
        if chart.more:
            for line in wrap_words(chart.more, self.width - 8, _SMALL):
                height += _LINE
                rows.append(_write(4, height - 6, line, "muted", _SMALL))
        parts = [*grid, *rows, *(drawn for _, drawn in legend)]
        said = "; ".join(
            f"{f'{bar.group}, ' if bar.group else ''}{bar.name}: {bar.lower:.3g} to {bar.upper:.3g}"
            for bar in chart.rows
        )
        return _write_svg("intervals", self.width, height, chart.title, said, parts)

    def _place(self, number: float) -> float:
        low, high = self.chart.scale
        return self.left + (number - low) / (high - low) * (self.right - self.left)

    def _draw_grid(self, top: float, bottom: float, *, above: bool) -> Iterator[str]:
        for number, words in self.chart.list_ticks():
            x = self._place(number)
            yield _draw_path(f"M{x:.1f} {top:.1f}V{bottom:.1f}", "rule", 1)
            yield _write(x, bottom + 13, words, "muted", _SMALL, "middle")
            if above:
                yield _write(x, top - 12, words, "muted", _SMALL, "middle")
        if self.chart.zero:
            yield _draw_path(f"M{self._place(0):.1f} {top:.1f}V{bottom:.1f}", "muted", 1.6)

    def _draw_row(self, bar: Bar, lines: Sequence[str], y: float) -> Iterator[str]:
        first = y - _LINE * (len(lines) - 1) / 2
        for i, line in enumerate(lines):
            yield _write(self.left - 12, first + _LINE * i, line, "ink", _SIZE, "end")
        for ends, thick, tint in ((bar.inner, 9, TINT), ((bar.lower, bar.upper), 2, 1.0)):
            start, end = map(self._place, ends)
            # A line without length would not be seen.
            end = max(end, start + 1.5)
            yield _draw_path(f"M{start:.1f} {y:.1f}H{end:.1f}", bar.color, thick, tint)
        for name, at in bar.points.items():
            yield self._draw_point(name, self._place(at), y)
        if bar.note:
            color = "miss" if bar.color == "miss" else "muted"
            yield _write(self.right + 6, y, bar.note, color, _SMALL)

    def _draw_point(self, name: str, x: float, y: float) -> str:
        path, color = self.chart.markers[name]
        fill = use_color("paper") if "z" in path or "a" in path else "none"
        return (
            f'<path d="{path}" transform="translate({x:.1f} {y:.1f})" stroke-width="1.8" '
            f'fill="{fill}" stroke="{use_color(color)}"/>'
        )

    def _draw_legend(self, y: float) -> Iterator[tuple[float, str]]:
        """Draw a sample of each mark with its words; each with its height."""
        x = 4.0
        for words, sample in self._list_marks():
            wide = _KEY + estimate_width(words, _SMALL) + 16
            if x > 4 and x + wide > self.width:
                x, y = 4.0, y + 20
            label = _write(_KEY, 0, words, "ink", _SMALL)
            yield y, f'<g transform="translate({x:.1f} {y:.1f})">{sample}{label}</g>'
            x += wide

    def _list_marks(self) -> Iterator[tuple[str, str]]:
        used = {row.color for row in self.chart.rows}
        color = next(iter(self.chart.colors))
        thick = _draw_path("M2 0H26", color if color in used else min(used), 9, TINT)
        thin = _draw_path("M2 0H26", color if color in used else min(used), 2)
        if self.chart.sampled:
            yield self.chart.inner, thick
            yield "with sampling error", thin
        elif not any(self.chart.colors.values()):
            yield "bounds", thick + thin
        for name, words in self.chart.colors.items():
            if words and name in used:
                both = _draw_path("M2 0H26", name, 9, TINT) + _draw_path("M2 0H26", name, 2)
                yield words, both
        for name in self.chart.markers:
            yield name, self._draw_point(name, 14, 0)


def fold_rows(rows: Sequence[Bar]) -> tuple[Bar, ...]:
    """Fold groups with the same rows, then rows of a group that show the same.

    >>> rows = [Bar("A", 0, 1, (0, 1), group=g) for g in ("old", "young")]
    >>> [(row.group, row.name) for row in fold_rows(rows)]
    [('old; young', 'A')]
    """
    groups = dict[tuple[object, ...], tuple[list[str], list[Bar]]]()
    for name, found in groupby(rows, attrgetter("group")):
        bars = list(found)
        names, _ = groups.setdefault(tuple((b.name, b.shape) for b in bars), ([], bars))
        names.append(name)
    folded = list[Bar]()
    for names, bars in groups.values():
        heading = "; ".join([*names[:3], *([f"{len(names) - 3:,} more"] if names[3:] else [])])
        same = dict[tuple[object, ...], list[Bar]]()
        for bar in bars:
            same.setdefault(bar.shape, []).append(bar)
        folded += (
            replace(some[0], name=join_words([b.name for b in some], most=3), group=heading)
            for some in same.values()
        )
    return tuple(folded)


def draw_bar(bar: Bar, scale: Span, *, zero: bool = False) -> str:
    """Draw a row of a chart small enough for a cell of a table; numbers stand beside it."""
    low, high = scale
    width = (high - low) or 1.0

    def place(number: float) -> float:
        return round(100 * min(max((number - low) / width, 0.0), 1.0), 2)

    def draw(ends: Span, thick: float, tint: float) -> str:
        x, end = map(place, ends)
        wide = max(end - x, 1.0)
        return (
            f'<rect x="{min(x, 100 - wide):g}%" y="{(14 - thick) / 2:g}" width="{wide:.2f}%" '
            f'height="{thick:g}" fill-opacity="{tint:g}" fill="{use_color(bar.color)}"/>'
        )

    rail = '<rect y="6.5" width="100%" height="1" fill="currentColor" fill-opacity=".2"/>'
    at = place(0)
    line = f'<line x1="{at:g}%" x2="{at:g}%" y2="14" stroke="currentColor"/>' if zero else ""
    dots = "".join(
        f'<circle cx="{place(number):g}%" cy="7" r="3" fill="none" stroke-width="1.6" '
        f'stroke="{use_color("outcome")}"/>'
        for number in bar.points.values()
    )
    return (
        f'<svg class="bar" height="14" aria-hidden="true" focusable="false">{rail}{line}'
        f"{draw(bar.inner, 8, TINT)}{draw((bar.lower, bar.upper), 2, 1)}{dots}</svg>"
    )


@dataclass(frozen=True)
class Curve:
    """A line over rounds or limits: its mean, a band around it, and the median.

    A curve without a mean is drawn as its band alone.

    >>> Curve("UCB", at=(1, 2), mean=(0.3, 0.5), low=(0.2, 0.4), high=(0.4, 0.6)).name
    'UCB'
    """

    name: str
    at: tuple[float, ...]
    mean: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    median: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        parts = ("at", "mean", "low", "high", "median")
        for part in parts:
            object.__setattr__(self, part, tuple(map(float, getattr(self, part))))
        n, *lengths = (len(getattr(self, part)) for part in parts)
        if n == 0 or set(lengths) - {n, 0} or lengths[1] != lengths[2] or not any(lengths):
            raise InvalidChart(
                f"The curve {self.name!r} has {n} places and {lengths} values. "
                "They must be equally many."
            )

    @property
    def end(self) -> float:
        """Where it ends."""
        found = self.mean[-1] if self.mean else (self.low[-1] + self.high[-1]) / 2
        return found if isfinite(found) else 0.0


@dataclass(frozen=True)
class LineChart:
    """Curves over rounds or limits on common axes.

    ``y_range`` holds several charts to one axis; without it the axis starts at 0.
    """

    title: str
    curves: tuple[Curve, ...]
    x_label: str = "rounds"
    y_label: str = ""
    y_range: Span | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if not any(isfinite(x) for curve in self.curves for x in curve.at):
            raise InvalidChart("There is nothing to draw: no curves were given.")

    @cached_property
    def x_range(self) -> Span:
        """The first and the last place."""
        at = [x for curve in self.curves for x in curve.at if isfinite(x)]
        return min(at), max(at) if max(at) > min(at) else min(at) + 1

    @cached_property
    def y_scale(self) -> Span:
        """The ends of the vertical axis."""
        if self.y_range is not None:
            return self.y_range
        ends = [
            y for c in self.curves for y in (*c.mean, *c.low, *c.high, *c.median) if isfinite(y)
        ]
        least, most = min([0.0, *ends]), max([0.0, *ends])
        return least, most + 0.04 * ((most - least) or 1.0)

    @property
    def is_log(self) -> bool:
        """Whether the places are limits so far apart that factors count."""
        low, high = self.x_range
        return self.x_label.startswith("limit") and low > 0 and high >= 8 * low

    def list_x_ticks(self) -> list[tuple[float, str]]:
        """List round numbers of the horizontal axis."""
        low, high = self.x_range
        if not self.is_log:
            return list_ticks(low, high)
        tens = range(floor(log10(low)), ceil(log10(high)) + 1)
        round_ = [by * 10.0**ten for ten in tens for by in (1, 2, 5)]
        return [(x, f"{x:g}") for x in round_ if low <= x <= high]

    def svg(self, width: float = WIDE) -> str:
        """Write the chart as SVG of a width in pixels."""
        return _LineDrawing(self, width).write()


class _LineDrawing:
    """Where the parts of a line chart stand, for one width."""

    def __init__(self, chart: LineChart, width: float) -> None:
        self.chart, self.width = chart, width
        self.ticks = list_ticks(*chart.y_scale)
        self.left = max(estimate_width(words, _SMALL) for _, words in self.ticks) + 10
        names = wrap_names([c.name for c in chart.curves], 0.36 * width, _SMALL)
        self.names = [names[c.name] for c in chart.curves]
        several = len(chart.curves) > 1
        widest = max(estimate_width(line, _SMALL) for name in self.names for line in name)
        self.right = width - (widest + 24 if several else 14)
        lines = sum(map(len, self.names)) if several else 0
        self.top = 26.0 if chart.y_label else 10.0
        self.bottom = self.top + max(0.4 * width, 130.0, _LINE * (lines + 1))

    def write(self) -> str:
        chart, y = self.chart, self.bottom + 34
        parts = [*self._draw_axes()]
        for i, curve in enumerate(chart.curves):
            parts += self._draw_curve(curve, i)
        parts += self._name_ends() if len(chart.curves) > 1 else []
        for line in wrap_words(chart.note, self.width - 8, _SMALL) if chart.note else ():
            y += _LINE
            parts.append(_write(4, y - 4, line, "muted", _SMALL))
        ends = ", ".join(
            f"{c.name} {c.end:,.4g}" + (f" (median {c.median[-1]:,.4g})" if c.median else "")
            for c in chart.curves
        )
        return _write_svg("lines", self.width, y + 4, chart.title, f"At the end: {ends}", parts)

    def _x(self, at: float) -> float:
        low, high = self.chart.x_range
        if self.chart.is_log:
            at, low, high = (log10(number) for number in (at, low, high))
        return self.left + (at - low) / (high - low) * (self.right - self.left)

    def _y(self, number: float) -> float:
        low, high = self.chart.y_scale
        return self.bottom - (number - low) / (high - low) * (self.bottom - self.top)

    def _draw_axes(self) -> Iterator[str]:
        for at, words in self.ticks:
            y = self._y(at)
            yield _draw_path(f"M{self.left:.1f} {y:.1f}H{self.right:.1f}", "rule", 1)
            yield _write(self.left - 6, y, words, "muted", _SMALL, "end")
        last = -100.0
        for at, words in self.chart.list_x_ticks():
            x, half = self._x(at), estimate_width(words, _SMALL) / 2
            if x - half > last:
                yield _write(x, self.bottom + 12, words, "muted", _SMALL, "middle")
                last = x + half + 6
        middle = (self.left + self.right) / 2
        yield _write(middle, self.bottom + 27, self.chart.x_label, "muted", _SMALL, "middle")
        yield _write(4, 9, self.chart.y_label, "muted", _SMALL)

    def _draw_curve(self, curve: Curve, i: int) -> Iterator[str]:
        color, dash = SERIES[i % len(SERIES)], DASHES[i % len(DASHES)]
        step = max(1, len(curve.at) // _MOST_POINTS)
        steps = (*range(0, len(curve.at) - 1, step), len(curve.at) - 1)
        kept = [k for k in steps if isfinite(curve.at[k])]

        def trace(numbers: Sequence[float], places: Sequence[int]) -> str:
            return "L".join(
                f"{self._x(curve.at[k]):.1f} {self._y(numbers[k]):.1f}"
                for k in places
                if isfinite(numbers[k])
            )

        if curve.low:
            there, back = trace(curve.low, kept), trace(curve.high, kept[::-1])
            yield (f'<path d="M{there}L{back}Z" fill-opacity=".17" fill="{use_color(color)}"/>')
        lines = [(curve.mean, 2.2)] if curve.mean else [(curve.low, 2.0), (curve.high, 2.0)]
        lines += [(curve.median, 0.9)] if curve.median else []
        for numbers, thick in lines:
            yield _draw_path(f"M{trace(numbers, kept)}", color, thick, dash=dash)

    def _name_ends(self) -> Iterator[str]:
        """Write the name of each curve beside its end, no two over one another."""
        wishes = sorted((self._y(c.end), i) for i, c in enumerate(self.chart.curves))
        heights = [_LINE * len(self.names[i]) for _, i in wishes]
        places, below = list[float](), self.top
        for (wish, _), high in zip(wishes, heights, strict=True):
            places.append(max(wish, below + high / 2))
            below = places[-1] + high / 2
        above = self.bottom + _LINE / 2
        for k in reversed(range(len(places))):
            places[k] = min(places[k], above - heights[k] / 2)
            above = places[k] - heights[k] / 2
        for (wish, i), place in zip(wishes, places, strict=True):
            color = SERIES[i % len(SERIES)]
            x = self.right
            yield _draw_path(f"M{x + 2:.1f} {wish:.1f}L{x + 14:.1f} {place:.1f}", color, 1)
            first = place - _LINE * (len(self.names[i]) - 1) / 2
            for k, line in enumerate(self.names[i]):
                yield _write(x + 18, first + _LINE * k, line, color, _SMALL)


def draw_key(i: int) -> str:
    """Draw the line of the ``i``-th curve as a sample for a table beside the chart."""
    path = _draw_path("M0 4H34", SERIES[i % len(SERIES)], 2.4, dash=DASHES[i % len(DASHES)])
    return f'<svg class="key" width="34" height="8" aria-hidden="true">{path}</svg>'


def list_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """List round numbers between two ends, at most five, each with its words.

    >>> [words for _, words in list_ticks(-0.02, 1.02)], list_ticks(120, 480)[0]
    (['0.00', '0.25', '0.50', '0.75', '1.00'], (200.0, '200'))
    """
    size = 10.0 ** floor(log10((high - low) / _MOST_TICKS))

    def count(step: float) -> int:
        return floor(high / step + 1e-9) - ceil(low / step - 1e-9) + 1

    steps = (size * by for by in (1, 2, 2.5, 5, 10, 20))
    step = next(step for step in steps if count(step) <= _MOST_TICKS)
    first = ceil(low / step - 1e-9)
    places = next(p for p in range(12) if abs(round(step, p) - step) <= 1e-9 * step)
    numbers = [(first + i) * step for i in range(count(step))]
    return [(number, f"{number + 0.0:,.{places}f}") for number in numbers]


def _draw_path(
    path: str, color: str, thick: float, tint: float = 1.0, *, dash: str = ""
) -> str:
    look = f' stroke-opacity="{tint}"' if tint < 1 else ""
    look += f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<path d="{path}" fill="none" stroke-width="{thick:g}"{look} '
        f'stroke="{use_color(color)}"/>'
    )


def _write(
    x: float,
    y: float,
    words: str,
    color: str,
    size: float,
    anchor: str = "start",
    *,
    weight: int = 400,
) -> str:
    bold = f' font-weight="{weight}"' if weight != 400 else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size:g}"{bold} '
        f'dominant-baseline="central" fill="{use_color(color)}">{escape(words)}</text>'
    )


def _write_svg(
    kind: str, width: float, height: float, title: str, said: str, parts: Sequence[str]
) -> str:
    return (
        f'<svg class="{kind}" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'font-family="system-ui, sans-serif"><title>{escape(title)}</title>'
        f"<desc>{escape(said)}</desc>{''.join(parts)}</svg>"
    )
