"""Bounds of one context as a small SVG of our own, for pages: they need no plotting library.

An arm is a line: thin the interval, thick what would remain without sampling error. Truth,
estimates and other intervals stand beside it as in a figure for a file; an arm that another
surely beats has the word "out" at its end.
"""

from collections.abc import Iterator
from html import escape
from math import ceil, floor, log10

from boundit.report.figures.marks import INNER_TINT, Mark
from boundit.report.figures.whiskers import Whiskers
from boundit.report.palette import write_colour_variable
from boundit.report.records import Panel
from boundit.report.text.contexts import name_contexts
from boundit.report.text.fitting import shorten_distinctly
from boundit.report.text.lettering import estimate_width, label_values
from boundit.results.bound import Context, Key

_WIDTH, _GAP, _EDGE = 340.0, 12.0, 14.0
_LINE, _STEP, _AXIS = 22.0, 8.0, 30.0
_NAME, _NUMBER, _WORD = 11.5, 10.5, 10.0
_WIDEST_NAME = 0.45 * _WIDTH - _GAP
_MOST_TICKS = 5


def draw_interval_panels(shown: Whiskers) -> tuple[Panel, ...]:
    """Draw the bounds of every context as an SVG of its own, for a page to lay out."""
    names = name_contexts(shown.table, shown.contexts)
    return tuple(
        Panel(name, _PanelDrawing(shown, context).write(f"Intervals per arm, {name}"))
        for context, name in zip(shown.contexts, names, strict=True)
    )


class _PanelDrawing:
    """The drawing of one context: where its numbers and lines stand."""

    def __init__(self, shown: Whiskers, context: Context) -> None:
        self.shown, self.context = shown, context
        self.out = shown.table.find_dominations(context)
        whole = [label_values(shown.table.treatments, arm) for arm in shown.arms]
        self.names = shorten_distinctly(whole, _WIDEST_NAME, _NAME)
        self.left = max(estimate_width(name, _NAME) for name in self.names) + _GAP
        # All panels of a page are alike, so that their axes stand below one another.
        worded = shown.marks_misses or any(map(shown.table.find_dominations, shown.contexts))
        self.right = _WIDTH - _EDGE - (estimate_width("misses", _WORD) if worded else 0)
        self.step = _LINE + _STEP * len(shown.spans)
        self.bottom = self.step * len(shown.arms) + 4

    def write(self, title: str) -> str:
        """Write the panel as SVG."""
        height = self.bottom + _AXIS
        parts = [*self._draw_axis(), *self._draw_arms()]
        return (
            f'<svg class="intervals" role="img" aria-label="{escape(title)}" '
            f'viewBox="0 0 {_WIDTH:.0f} {height:.0f}" width="{_WIDTH:.0f}" '
            f'height="{height:.0f}" font-family="system-ui, sans-serif" '
            f'style="color: {write_colour_variable("ink")}">{"".join(parts)}</svg>'
        )

    def _find_x(self, number: float) -> float:
        """Find where a number stands, in pixels."""
        low, high = self.shown.scale
        return self.left + (number - low) / (high - low) * (self.right - self.left)

    def _draw_axis(self) -> Iterator[str]:
        """Draw a grid line and a number for each tick."""
        rule, muted = map(write_colour_variable, ("rule", "muted"))
        for number, words in list_ticks(*self.shown.scale):
            x = self._find_x(number)
            yield (
                f'<path d="M{x:.1f} 2V{self.bottom:.1f}" fill="none" style="stroke: {rule}"/>'
                f'<text x="{x:.1f}" y="{self.bottom + 15:.1f}" text-anchor="middle" '
                f'font-size="{_NUMBER}" style="fill: {muted}">{words}</text>'
            )

    def _draw_arms(self) -> Iterator[str]:
        """Draw the name of every arm and what is known of it."""
        for i, (arm, name) in enumerate(zip(self.shown.arms, self.names, strict=True)):
            key, middle = (arm, self.context), (i + 0.5) * self.step + 2
            yield _write_text(self.left - _GAP + 4, middle, name, "ink", _NAME, "end")
            word, colour = ("out", "muted") if arm in self.out else ("", "")
            if self.shown.has_any_miss(key):
                word, colour = "misses", "miss"
            if word:
                yield _write_text(self.right + 6, middle, word, colour, _WORD, "start")
            yield from self._draw_numbers(key, middle - _STEP * len(self.shown.spans) / 2)

    def _draw_numbers(self, key: Key, y: float) -> Iterator[str]:
        """Draw the bounds of an arm, other intervals, estimates and the truth.

        A pair without a row has the reward's range.
        """
        shown = self.shown
        bound = shown.table.bounds.get(key)
        ends = (bound.lower, bound.upper) if bound else shown.table.outcome_range
        inner = sorted((bound.lower_estimate, bound.upper_estimate)) if bound else ends
        colour = "miss" if shown.has_bound_miss(key) else "series-1"
        kept = max(inner[0], ends[0]), min(inner[1], ends[1])
        yield self._draw_line(kept, y, colour, 8, INNER_TINT)
        yield self._draw_line(ends, y, colour, 1.6)
        marks = {mark.name: mark for mark in shown.marks}
        for k, spans in enumerate(shown.spans, start=1):
            if key in spans.values:
                span = spans.values[key]
                own = "miss" if shown.has_span_miss(spans, key) else marks[spans.name].colour
                yield self._draw_line((span.lower, span.upper), y + k * _STEP, own, 2.5)
        points = [(points.name, points.values) for points in shown.points]
        for name, values in (*points, ("truth", shown.truth or {})):
            if key in values:
                yield _draw_marker(marks[name], self._find_x(values[key]), y)

    def _draw_line(
        self, ends: tuple[float, float], y: float, colour: str, thick: float, tint: float = 1.0
    ) -> str:
        """Draw one horizontal line of an interval, with round ends."""
        start, end = map(self._find_x, ends)
        # A line without length would not be drawn.
        return (
            f'<path d="M{start:.1f} {y:.1f}H{max(end, start + 0.1):.1f}" fill="none" '
            f'stroke-width="{thick}" stroke-linecap="round" stroke-opacity="{tint}" '
            f'style="stroke: {write_colour_variable(colour)}"/>'
        )


def list_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """List round numbers between two ends, at most five, each with its words.

    >>> [words for _, words in list_ticks(-0.02, 1.02)], list_ticks(120, 480)[0]
    (['0.00', '0.25', '0.50', '0.75', '1.00'], (200.0, '200'))
    """
    rough = (high - low) / _MOST_TICKS
    size = 10.0 ** floor(log10(rough))
    step = next(
        size * by
        for by in (1, 2, 2.5, 5, 10, 20)
        if _count(low, high, size * by) <= _MOST_TICKS
    )
    first = ceil(low / step - 1e-9)
    numbers = [(first + i) * step for i in range(_count(low, high, step))]
    places = next(p for p in range(12) if abs(round(step, p) - step) <= 1e-9 * step)
    return [(number, f"{number + 0.0:,.{places}f}") for number in numbers]


def _count(low: float, high: float, step: float) -> int:
    """Count the multiples of a step between two ends."""
    return floor(high / step + 1e-9) - ceil(low / step - 1e-9) + 1


def _write_text(x: float, y: float, words: str, colour: str, size: float, anchor: str) -> str:
    """Write words of a drawing, centred at a height."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'dominant-baseline="central" style="fill: {write_colour_variable(colour)}">'
        f"{escape(words)}</text>"
    )


def _draw_marker(mark: Mark, x: float, y: float) -> str:
    """Draw the marker of an estimate or of the truth at its number."""
    fill = write_colour_variable("paper") if mark.marker == "D" else "none"
    look = f"fill: {fill}; stroke: {write_colour_variable(mark.colour)}"
    return (
        f'<path d="{mark.path}" transform="translate({x - 12:.1f} {y - 7:.1f})" '
        f'stroke-width="1.7" style="{look}"/>'
    )
