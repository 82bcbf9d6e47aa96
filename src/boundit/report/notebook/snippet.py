"""What pieces of HTML in a notebook are made of: a frame, tables, and notes to be unfolded.

A piece needs nothing else: no script, no network, no page around it. Whether a notebook is
light or dark cannot be asked in every program that shows one. So words have the colour of the
words around them, and marks have colours that stand out on both grounds.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple, TypeAlias

from boundit.core.formula import Line
from boundit.report.palette import SHADES, blend_shades
from boundit.report.text.mathml import draw_line

MOST_ROWS = 30
"""How many rows of a table a notebook shows; frames have all."""
_GREY = frozenset(["paper", "raised", "rule", "ink"])
"""Names of the palette that are the colour of words here, or are not in use."""
_SHAPES = """
.boundit{color:inherit;font-size:.95em;line-height:1.45;max-width:64em;--ink:currentColor;
container-type:inline-size}
.boundit p{margin:.35em 0}
.boundit .title{font-weight:600}
.boundit .scroll{overflow-x:auto;max-width:100%}
.boundit svg.graph{max-width:100%;height:auto}
.boundit.boundit table{border-collapse:collapse;border:none;margin:.4em 0;font-size:inherit;
font-variant-numeric:tabular-nums;width:auto;color:inherit}
.boundit.boundit table caption{text-align:left;padding:.2em 0;color:inherit;caption-side:top}
.boundit.boundit table :is(th,td){padding:.22em .9em .22em 0;text-align:left;border:none;
vertical-align:top;background:none;white-space:normal;color:inherit;font-weight:400;
max-width:30em}
.boundit.boundit table.drawn td{vertical-align:middle}
.boundit.boundit table thead th{font-weight:600;vertical-align:bottom}
.boundit.boundit table thead{border-bottom:1px solid
color-mix(in srgb,currentColor 40%,transparent)}
.boundit.boundit table tr.first:not(:first-child){border-top:1px solid
color-mix(in srgb,currentColor 22%,transparent)}
.boundit.boundit table tbody tr:nth-child(n){background:none}
.boundit.boundit table :is(th,td).right{text-align:right}
.boundit.boundit table td:is(.right,.short){white-space:nowrap}
.boundit svg.bar{display:block;width:clamp(6.5em,20cqw,13em);height:.95em;overflow:visible}
.boundit svg.band{display:block;width:clamp(5.5em,18cqw,10em);height:2.4em}
.boundit svg.key{min-width:34px}
.boundit .ends{display:flex;justify-content:space-between;gap:.8em}
.boundit .formula{display:inline-block;padding:.2em 0}
.boundit .large{font-size:1.2em;overflow-x:auto;padding:.3em 0}
.boundit details{margin:.35em 0}
.boundit summary{cursor:pointer}
.boundit :is(ul,ol){margin:.2em 0 .2em 1.4em;padding:0}
@container (max-width:34em){
.boundit.boundit table.stacked :is(tbody,tr,td,caption){display:block}
.boundit.boundit table.stacked{display:block}
.boundit.boundit table.stacked thead{display:none}
.boundit.boundit table.stacked tr{padding:.4em 0;text-align:left;border-top:1px solid
color-mix(in srgb,currentColor 22%,transparent)}
.boundit.boundit table.stacked td{text-align:left;padding:.08em 0;white-space:normal}
.boundit.boundit table.stacked td:first-child{font-weight:600}
.boundit.boundit table.stacked td.right{display:inline-block;padding-right:1em}
.boundit.boundit table.stacked td:empty{display:none}
.boundit.boundit table.stacked td[data-head]::before{content:attr(data-head) ": ";opacity:.8}
}
""".replace("\n", " ")
"""The style of a piece. Words in a table that is stacked on a narrow page carry their heads."""
_SHORT, _LONG = 14, 24
"""Words of so few letters never break; a table with words of more than so many is stacked."""


class Drawn(NamedTuple):
    """A cell of a table that is HTML already."""

    html: str


Cell: TypeAlias = str | Drawn
"""A cell of a table: words, which are escaped, or HTML."""


def write_snippet(title: Line, *parts: str) -> str:
    """Write a piece of HTML for a notebook: a title, then parts that are HTML already.

    >>> write_snippet("a < b").endswith('<p class="title">a &lt; b</p></div>')
    True
    """
    colours = ";".join(f"--{name}:{blend_shades(name)}" for name in SHADES if name not in _GREY)
    style = f"<style>.boundit{{{colours}}}{_SHAPES}</style>"
    # MathJax of a notebook would take two dollar signs in names for a formula.
    opening = '<div class="boundit tex2jax_ignore mathjax_ignore">'
    head = f'<p class="title">{draw_line(title)}</p>' if title else ""
    return f"{opening}{style}{head}{''.join(parts)}</div>"


def write_words(*lines: Line) -> str:
    """Write paragraphs for a notebook; formulas in them are drawn, empty ones left out.

    >>> write_words("x < 1", "")
    '<p>x &lt; 1</p>'
    """
    return "".join(f"<p>{draw_line(line)}</p>" for line in lines if line)


def write_table(
    head: Sequence[Cell],
    rows: Iterable[Sequence[Cell]],
    *,
    caption: str,
    right: Collection[int] = (),
    first: Collection[int] = (0,),
) -> str:
    """Write a table for a notebook, with heads for screen readers.

    Columns in ``right`` stand right, as numbers do; rows in ``first`` have a line above. One
    with sentences stacks its cells where there is little room.
    """
    listed = [list(row) for row in rows]
    kind = _find_kind(listed)
    heads = [
        _write_tag("th", cell, {"scope": "col", "class": "right" if i in right else ""})
        for i, cell in enumerate(head)
    ]
    named = [str(cell) if kind == "stacked" else "" for cell in head]
    lines = []
    for i, row in enumerate(listed):
        tags = [
            _write_tag(
                "td",
                cell,
                {"class": "right" if k in right else _mark_short(cell), "data-head": named[k]},
            )
            for k, cell in enumerate(row)
        ]
        opening = '<tr class="first">' if i in first else "<tr>"
        lines.append(f"{opening}{''.join(tags)}</tr>")
    said = escape(caption)
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{said or "table"}">'
        f'<table class="{kind}">{f"<caption>{said}</caption>" if said else ""}'
        f"<thead><tr>{''.join(heads)}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _find_kind(rows: Sequence[Sequence[Cell]]) -> str:
    """Tell tables with drawings and tables with sentences from others."""
    cells = [cell for row in rows for cell in row]
    if any(isinstance(cell, Drawn) for cell in cells):
        return "drawn"
    return "stacked" if any(len(cell) > _LONG for cell in cells) else ""


def _mark_short(cell: Cell) -> str:
    """Give the class of a cell with a few words that should not break."""
    return "short" if isinstance(cell, str) and " " in cell and len(cell) <= _SHORT else ""


def _write_tag(tag: str, cell: Cell, attributes: Mapping[str, str]) -> str:
    """Write one cell of a table; attributes without a value are left out."""
    inside = cell.html if isinstance(cell, Drawn) else escape(cell)
    given = "".join(f' {name}="{escape(said)}"' for name, said in attributes.items() if said)
    return f"<{tag}{given}>{inside}</{tag}>"


def write_notes(title: str, notes: Sequence[Line], *, ordered: bool = False) -> str:
    """Write remarks that are unfolded by a click; nothing where there are none.

    >>> write_notes("Caveats", [])
    ''
    """
    if not notes:
        return ""
    kind = "ol" if ordered else "ul"
    listed = "".join(f"<li>{draw_line(note)}</li>" for note in notes)
    said = f"{escape(title)} ({len(notes)})"
    return f"<details><summary>{said}</summary><{kind}>{listed}</{kind}></details>"


def describe_cut(shown: int, size: int, where: str) -> str:
    """Say how many rows of a table are shown, and where all are; nothing where all are shown.

    >>> describe_cut(30, 300_000, "bounds.frame()")
    'Shown are 30 of 300,000 rows; bounds.frame() has all.'
    """
    return f"Shown are {shown:,} of {size:,} rows; {where} has all." if shown < size else ""
