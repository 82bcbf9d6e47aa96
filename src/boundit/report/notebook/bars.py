"""An interval as a small bar in a cell of a table: thin the whole, thick without chance."""

from boundit.report.notebook.snippet import Drawn
from boundit.report.palette import write_colour_variable
from boundit.results.bound import Bound

_WIDE, _HIGH = 200.0, 14.0


def draw_interval_bar(bound: Bound, scale: tuple[float, float]) -> Drawn:
    """Draw a bound as a bar on a scale that all rows of a table share.

    The numbers stand beside it, so that a screen reader passes it over.
    """
    inner = sorted((bound.lower_estimate, bound.upper_estimate))
    inner = [max(inner[0], bound.lower), min(inner[1], bound.upper)]
    ends = [_place(end, scale) for end in (bound.lower, bound.upper, *inner)]
    colour = write_colour_variable("series-1")
    return Drawn(
        f'<svg class="bar" viewBox="0 0 {_WIDE:.0f} {_HIGH:.0f}" preserveAspectRatio="none" '
        f'aria-hidden="true" focusable="false">{_draw_rail()}'
        f"{_draw_part(ends[2], ends[3], 9, colour, 0.45)}"
        f"{_draw_part(ends[0], ends[1], 2.6, colour, 1)}</svg>"
    )


def choose_scale(ends: list[float], outcome_range: tuple[float, float]) -> tuple[float, float]:
    """Choose the ends of the axis of bars: the reward's range, or less where little is in use.

    >>> choose_scale([0.1, 0.9], (0, 1)), choose_scale([0.1, 0.2], (0, 1))
    ((0, 1), (0.1, 0.2))
    """
    low, high = outcome_range
    least, most = min(ends), max(ends)
    if most - least >= 0.5 * (high - low) or most <= least:
        return outcome_range
    return least, most


def _place(number: float, scale: tuple[float, float]) -> float:
    """Find where a number stands on the bar."""
    low, high = scale
    share = (number - low) / ((high - low) or 1.0)
    return _WIDE * min(max(share, 0.0), 1.0)


def _draw_rail() -> str:
    """Draw the faint line behind a bar."""
    return (
        f'<rect x="0" y="{_HIGH / 2 - 0.5}" width="{_WIDE:.0f}" height="1" '
        'fill="currentColor" fill-opacity=".25"/>'
    )


def _draw_part(low: float, high: float, thick: float, colour: str, tint: float) -> str:
    """Draw one line of a bar; a point has some width too."""
    wide = max(high - low, 2.0)
    x = min(low, _WIDE - wide)
    return (
        f'<rect x="{x:.1f}" y="{(_HIGH - thick) / 2:.1f}" width="{wide:.1f}" '
        f'height="{thick}" fill-opacity="{tint}" style="fill:{colour}"/>'
    )
