"""Pictures of the service's pages: shares of arms, and intervals. Plain SVG, no script."""

from collections.abc import Mapping, Sequence
from html import escape

from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable

_LEFT, _WIDTH, _ROW = 170, 640, 26
_MOST_CONTEXTS, _MOST_ARMS = 12, 30


def draw_shares(totals: Mapping[str, Sequence[float]], title: str) -> str:
    """Draw how often each arm was decided, as bars; called for the page of a policy."""
    most = max(sums[0] for sums in totals.values()) or 1.0
    shown = list(totals.items())[:_MOST_ARMS]
    parts = list[str]()
    for i, (arm, sums) in enumerate(shown):
        y, wide = i * _ROW, (_WIDTH - _LEFT - 80) * sums[0] / most
        parts += [
            _write_label(arm, y),
            f'<rect x="{_LEFT}" y="{y + 5}" width="{wide:.1f}" height="{_ROW - 10}"/>',
            f'<text class="quiet" x="{_LEFT + wide + 8:.1f}" y="{y + 18}">'
            f"{sums[0]:,.0f}</text>",
        ]
    return _write_svg(title, parts, len(shown) * _ROW)


def draw_intervals(table: BoundTable) -> str:
    """Draw the interval of every arm, context by context; called for the page of a policy.

    Of very many contexts and arms the first are shown, and it says so.
    """
    low, high = table.outcome_range
    contexts, arms = table.contexts[:_MOST_CONTEXTS], table.arms[:_MOST_ARMS]
    drawn = [
        f"<figure><figcaption>{escape(_name_context(table, context))}</figcaption>"
        f"{_draw_context(table, context, arms, (low, high))}</figure>"
        for context in contexts
    ]
    left = len(table.contexts) * len(table.arms) - len(contexts) * len(arms)
    if left:
        drawn.append(f"<p class=quiet>{left:,} more intervals are in the table of bounds.</p>")
    return "".join(drawn)


def _draw_context(
    table: BoundTable, context: Context, arms: Sequence[Arm], span: tuple[float, float]
) -> str:
    """Draw the intervals of one context; called by ``draw_intervals``."""
    low, high = span
    wide = _WIDTH - _LEFT - 30
    parts = list[str]()
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, value = _LEFT + wide * share, low + (high - low) * share
        bottom = len(arms) * _ROW
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}"/>')
        parts.append(
            f'<text class="quiet" text-anchor="middle" x="{x:.1f}" y="{bottom + 16}">'
            f"{value:g}</text>"
        )
    for i, arm in enumerate(arms):
        bound = table.bounds.get((arm, context))
        a, b = (low, high) if bound is None else (bound.lower, bound.upper)
        x = _LEFT + wide * (a - low) / (high - low)
        long = max(wide * (b - a) / (high - low), 2.0)
        said = f"{_name_arm(arm)}: {a:.3g} to {b:.3g}"
        parts += [
            _write_label(_name_arm(arm), i * _ROW),
            f'<rect x="{x:.1f}" y="{i * _ROW + 9}" width="{long:.1f}" height="8" '
            f'rx="4"><title>{escape(said)}</title></rect>',
        ]
    return _write_svg(
        f"Intervals, {_name_context(table, context)}", parts, len(arms) * _ROW + 24
    )


def _name_context(table: BoundTable, context: Context) -> str:
    """Name a context in words; called by ``draw_intervals``."""
    pairs = zip(table.context, context, strict=True)
    return ", ".join(f"{name}={value}" for name, value in pairs) or "everyone"


def _name_arm(arm: Arm) -> str:
    """Name an arm in words; called by ``_draw_context``."""
    return ", ".join(map(str, arm))


def _write_label(name: str, y: float) -> str:
    """Write the name of an arm left of its bar; called for every bar."""
    short = name if len(name) <= 22 else f"{name[:21]}…"
    return (
        f'<text text-anchor="end" x="{_LEFT - 10}" y="{y + 18}">{escape(short)}'
        f"<title>{escape(name)}</title></text>"
    )


def _write_svg(title: str, parts: Sequence[str], height: float) -> str:
    """Write a picture with a title for readers who do not see it."""
    return (
        f'<svg class="picture" role="img" viewBox="0 0 {_WIDTH} {height:.0f}" width="{_WIDTH}" '
        f'height="{height:.0f}"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )
