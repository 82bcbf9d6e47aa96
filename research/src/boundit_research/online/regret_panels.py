"""Final regrets of several policies as a small SVG of our own, on a logarithmic axis.

A policy is a line from the median to the 95 % quantile of its runs: a ring is the median, a
disc the mean. Policies of ours have a colour of their own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from boundit.report.figures.marks import Mark
from boundit.report.palette import write_colour_variable
from boundit.report.records import Panel
from boundit.report.text.lettering import estimate_width

_WIDTH, _GAP, _EDGE = 340.0, 12.0, 16.0
_LINE, _AXIS, _NAME, _NUMBER = 17.0, 26.0, 11.0, 10.5
_STEPS = (1, 2, 5)
_MOST_TICKS = 6
OURS, OTHERS = "series-1", "series-2"
REGRET_MARKS = (
    Mark("ours, median to 95 % quantile", OURS, thick=2.5),
    Mark("others", OTHERS, thick=2.5),
    Mark("median (a disc is the mean)", "muted", marker="o"),
)
"""The legend of a page."""


@dataclass(frozen=True, slots=True)
class RegretSpan:
    """The final regrets of one policy: mean, median, 95 % quantile; and whether it is ours."""

    name: str
    mean: float
    median: float
    q95: float
    ours: bool = False


def draw_regret_panels(panels: Sequence[tuple[str, Sequence[RegretSpan]]]) -> tuple[Panel, ...]:
    """Draw each group of regrets as an SVG of its own, all on one axis."""
    spans = [span for _, members in panels for span in members]
    low = max(min(min(span.median, span.mean) for span in spans), 0.1)
    high = max(max(span.q95, span.mean) for span in spans)
    ends = 10 ** (floor(log10(low) * 4) / 4), max(10 ** (ceil(log10(high) * 4) / 4), 2 * low)
    left = max(estimate_width(span.name, _NAME) for span in spans) + _GAP
    return tuple(
        Panel(name, _write_panel(f"Final regrets, {name}", members, ends, left))
        for name, members in panels
    )


def _write_panel(
    title: str, spans: Sequence[RegretSpan], ends: tuple[float, float], left: float
) -> str:
    """Write one panel as SVG."""
    bottom = _LINE * len(spans) + 4
    height = bottom + _AXIS
    parts = [*_draw_axis(ends, left, bottom), *_draw_spans(spans, ends, left)]
    return (
        f'<svg class="intervals" role="img" aria-label="{escape(title)}" '
        f'viewBox="0 0 {_WIDTH:.0f} {height:.0f}" width="{_WIDTH:.0f}" height="{height:.0f}" '
        f'font-family="system-ui, sans-serif" style="color: {write_colour_variable("ink")}">'
        f"{''.join(parts)}</svg>"
    )


def _find_x(number: float, ends: tuple[float, float], left: float) -> float:
    """Find where a regret stands, in pixels."""
    low, high = ends
    share = log10(min(max(number, low), high) / low) / log10(high / low)
    return left + share * (_WIDTH - _EDGE - left)


def list_log_ticks(low: float, high: float) -> list[float]:
    """List round numbers 1, 2, 5 times a power of ten between two ends, at most six.

    >>> list_log_ticks(8, 150), list_log_ticks(1, 5_000)
    ([10, 20, 50, 100], [1, 10, 100, 1000])
    """
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    for steps in (_STEPS, (1, 3), (1,)):
        found = [
            by * 10**power for power in powers for by in steps if low <= by * 10**power <= high
        ]
        if len(found) <= _MOST_TICKS:
            break
    return found


def _draw_axis(ends: tuple[float, float], left: float, bottom: float) -> Iterator[str]:
    """Draw a grid line and a number for each tick."""
    rule, muted = map(write_colour_variable, ("rule", "muted"))
    for number in list_log_ticks(*ends):
        x = _find_x(number, ends, left)
        yield (
            f'<path d="M{x:.1f} 2V{bottom:.1f}" fill="none" style="stroke: {rule}"/>'
            f'<text x="{x:.1f}" y="{bottom + 14:.1f}" text-anchor="middle" '
            f'font-size="{_NUMBER}" style="fill: {muted}">{number:,g}</text>'
        )


def _draw_spans(
    spans: Sequence[RegretSpan], ends: tuple[float, float], left: float
) -> Iterator[str]:
    """Draw the name of every policy and its regrets."""
    ink, paper = map(write_colour_variable, ("ink", "paper"))
    for i, span in enumerate(spans):
        y, colour = (i + 0.5) * _LINE + 2, write_colour_variable(OURS if span.ours else OTHERS)
        median, mean, q95 = (
            _find_x(number, ends, left) for number in (span.median, span.mean, span.q95)
        )
        yield (
            f'<text x="{left - _GAP + 4:.1f}" y="{y:.1f}" text-anchor="end" '
            f'font-size="{_NAME}" dominant-baseline="central" style="fill: {ink}">'
            f"{escape(span.name)}</text>"
            f'<path d="M{median:.1f} {y:.1f}H{max(q95, median + 0.1):.1f}" fill="none" '
            f'stroke-width="2.5" stroke-linecap="round" style="stroke: {colour}"/>'
            f'<circle cx="{median:.1f}" cy="{y:.1f}" r="3.2" stroke-width="1.6" '
            f'style="fill: {paper}; stroke: {colour}"/>'
            f'<circle cx="{mean:.1f}" cy="{y:.1f}" r="3.2" style="fill: {colour}"/>'
        )
