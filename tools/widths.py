"""``python -m tools.widths``: the picture and the numbers of "why this interval".

Both are made by the Python of the page itself, its graph and its log, drawn in three sizes.
``--check`` writes nothing and only says what is stale.
"""

import sys
from doctest import DocTestParser
from pathlib import Path
from typing import NamedTuple

import click

from boundit.bounds.derive import derive_bounds
from boundit.report.palette import SHADES, Shade
from boundit.terms.bound import Bound
from tools import ROOT

PAGE = ROOT / "docs" / "explanation" / "why-this-interval.md"
PICTURE = PAGE.with_suffix(".svg")
START, END = "<!-- widths -->\n", "<!-- /widths -->"
SIZES = (4_000, 16_000, 64_000)
QUERY, KEY = "Click | do(Ad)", ((1,), ())
_LEFT, _RIGHT, _WIDTH = 116, 460, 480
_LOW, _HIGH = 0.3, 0.7


class SizedBounds(NamedTuple):
    """The bounds of one arm on a log of so many rows, by each method."""

    rows: int
    exact: Bound
    approximate: Bound


def bound_example(text: str) -> list[SizedBounds]:
    """Bound the example of a page on growing logs, by the graph and the log of its Python."""
    known: dict[str, object] = {}
    for example in DocTestParser().get_examples(text):
        exec(example.source, known)  # the page is ours, and its code runs in tests
        if "draw" in known:
            break
    found = []
    for rows in SIZES:
        log = known["draw"](rows)  # type: ignore[operator]
        exact, near = (
            derive_bounds(known["graph"], QUERY, log, inference=inference)
            for inference in ("exact", "approximate")
        )
        found.append(SizedBounds(rows, exact.bounds[KEY], near.bounds[KEY]))
    return found


def write_table(found: list[SizedBounds]) -> str:
    """Write what each log gives as a table for the page."""
    lines = [
        "| Rows | The graph leaves open | Chance adds, approximate | Chance adds, exact |",
        "|---|---|---|---|",
    ]
    for each in found:
        exact, near = each.exact, each.approximate
        lasting = exact.upper_estimate - exact.lower_estimate
        added = [f"{b.upper - b.lower - lasting:.3f}" for b in (near, exact)]
        lines.append(f"| {each.rows:,} | {lasting:.3f} | {added[0]} | {added[1]} |")
    return "\n" + "\n".join(lines) + "\n\n"


def draw_widths(found: list[SizedBounds]) -> str:
    """Draw the intervals of each log below each other; what the graph leaves open is thick."""
    top, bottom = 66, 66 + 68 * len(found)
    body = [_draw_legend()]
    for tick in (0.3, 0.4, 0.5, 0.6, 0.7):
        x = round(_place(tick), 1)
        body.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{top - 8}" y2="{bottom - 12}"/>')
        body.append(f'<text class="tick" x="{x}" y="{bottom + 6}">{tick:g}</text>')
    for i, each in enumerate(found):
        y, (low, high) = top + 68 * i, (each.exact.lower_estimate, each.exact.upper_estimate)
        body += [
            f'<text class="rows" x="{_LEFT - 14}" y="{y + 23}">{each.rows:,} rows</text>',
            _draw_line("exact", each.exact.lower, each.exact.upper, y + 4),
            _draw_line("near", each.approximate.lower, each.approximate.upper, y + 18),
            _draw_line("open", low, high, y + 34),
        ]
    said = "clicks per visitor, if everyone saw the ad"
    body.append(f'<text class="tick" x="{_place(0.5):.1f}" y="{bottom + 28}">{said}</text>')
    return _SVG.format(
        width=_WIDTH,
        height=bottom + 40,
        light=_write_colours(0),
        dark=_write_colours(1),
        body="\n".join(body),
    )


def _place(share: float) -> float:
    """Place a share on the axis of the picture."""
    return _LEFT + (_RIGHT - _LEFT) * (share - _LOW) / (_HIGH - _LOW)


def _draw_line(name: str, low: float, high: float, y: float) -> str:
    """Draw one interval as a line; called by ``draw_widths``."""
    return (
        f'<line class="{name}" x1="{_place(low):.1f}" x2="{_place(high):.1f}" y1="{y}" '
        f'y2="{y}"/>'
    )


def _draw_legend() -> str:
    """Draw which line is which, above the intervals; called by ``draw_widths``."""
    parts = []
    for name, words, x, y in (
        ("exact", "exact interval", 20, 18),
        ("near", "approximate interval", 230, 18),
        ("open", "what the graph leaves open", 20, 40),
    ):
        parts.append(f'<line class="{name}" x1="{x}" x2="{x + 28}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="{x + 36}" y="{y + 5}">{words}</text>')
    return "\n".join(parts)


def _write_colours(shade: int) -> str:
    """Write the colours of the picture for light paper (0) or dark (1)."""
    names = {"svg": "ink", ".exact": "series-1", ".near": "series-2", ".open": "muted"}
    found: dict[str, Shade] = {kind: SHADES[name] for kind, name in names.items()}
    lines = [f"{kind} {{ color: {colours[shade]} }}" for kind, colours in found.items()]
    paper, rule = SHADES["paper"][shade], SHADES["rule"][shade]
    return "\n".join([*lines, f"svg {{ background: {paper} }}", f".grid {{ stroke: {rule} }}"])


_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>What the graph leaves open, and what chance adds to it</title>
<style>
svg {{ font: 14px system-ui, sans-serif }}
text {{ fill: currentColor }}
.tick {{ text-anchor: middle }}
.rows {{ text-anchor: end }}
line {{ stroke: currentColor }}
.grid {{ stroke-width: 1 }}
.exact {{ stroke-width: 3 }}
.near {{ stroke-width: 3; stroke-dasharray: 7 3 }}
.open {{ stroke-width: 10 }}
{light}
@media (prefers-color-scheme: dark) {{
{dark}
}}
</style>
{body}
</svg>
"""


def make_files() -> list[tuple[Path, str]]:
    """Make the page and its picture as they should be."""
    text = PAGE.read_text(encoding="utf-8")
    found = bound_example(text)
    before, _, rest = text.partition(START)
    after = rest.partition(END)[2]
    page = f"{before}{START}{write_table(found)}{END}{after}"
    return [(PAGE, page), (PICTURE, draw_widths(found))]


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when something is stale.")
def widths(*, check: bool) -> None:
    """Draw the picture and write the numbers of docs/explanation/why-this-interval.md."""
    stale = [
        (path, text)
        for path, text in make_files()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale:
        if check:
            click.echo(f"stale: {path}; run python -m tools.widths", err=True)
        else:
            path.write_text(text, encoding="utf-8")
            click.echo(f"wrote {path}")
    if check and stale:
        sys.exit(1)


if __name__ == "__main__":
    widths()
