"""What figures are drawn on: matplotlib without its global state, one look for all.

A figure keeps the light colours. In a page they become the page's variables, so that one
drawing follows light and dark; text stays text there, and is drawn as shapes in a saved file.
The same figure gives the same bytes: ids come from its content, and no date is kept.
"""

import io
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from boundit.report.errors import UnknownSuffix
from boundit.report.palette import following, light
from boundit.report.text.fitting import wrapped
from boundit.terms.errors import MissingExtra
from boundit.terms.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")
_FACE = "system-ui, sans-serif"
_FURNITURE = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", re.DOTALL)
_REFERENCE = re.compile(r"#([mp][0-9a-f]{10})\b")
_LONG_NUMBER = re.compile(r"\d+\.\d{3,}")
_DPI = 72
_SHARP = 180
_NOTE, _NOTE_LINE, _EDGE = 10.5, 15.0, 10.0
_LOOK: dict[str, object] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 12.0,
    "axes.edgecolor": light("rule"),
    "axes.facecolor": "none",
    "axes.labelcolor": light("muted"),
    "axes.linewidth": 1.0,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 13.0,
    "axes.titleweight": "bold",
    "axes.titlecolor": light("ink"),
    "figure.facecolor": light("paper"),
    "grid.color": light("rule"),
    "grid.linewidth": 0.8,
    "text.color": light("ink"),
    "text.parse_math": False,
    "xtick.color": light("rule"),
    "xtick.labelcolor": light("muted"),
    "ytick.color": light("rule"),
    "ytick.labelcolor": light("ink"),
    "svg.hashsalt": "boundit",
    "path.simplify": True,
}


@contextmanager
def look() -> Iterator[None]:
    """Draw in our look, and say it plainly when matplotlib is missing."""
    try:
        import matplotlib as mpl  # noqa: PLC0415, an optional package
    except ImportError:
        raise MissingExtra("matplotlib", "report") from None
    with mpl.rc_context(_LOOK), warnings.catch_warnings():  # type: ignore[arg-type]
        # A face lacks some letters; browsers find another for them.
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        yield


def canvas(width: float, height: float) -> "Figure":
    """Make an empty figure, sizes in pixels of a page."""
    from matplotlib.figure import Figure  # noqa: PLC0415, an optional package

    return Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)


def noted(width: float, height: float, note: str) -> "Figure":
    """Make an empty figure with a few words below; ``height`` is what remains above them."""
    if not note:
        return canvas(width, height)
    lines = wrapped(note, width - 2 * _EDGE, _NOTE)
    whole = height + _NOTE_LINE * len(lines) + _EDGE
    figure = canvas(width, whole)
    for i, line in enumerate(lines):
        place = _EDGE / width, 1 - (height + _NOTE_LINE * i) / whole
        figure.text(*place, line, fontsize=_NOTE, color=light("muted"), va="top")
    return figure


def room(figure: "Figure", left: float, top: float, width: float, height: float) -> "Axes":
    """Put axes at a place of a figure, in pixels from its upper left corner."""
    wide, high = (size * _DPI for size in figure.get_size_inches())
    box = left / wide, 1 - (top + height) / high, width / wide, height / high
    return figure.add_axes(box)


def ruled(axes: "Axes", which: str = "x") -> None:
    """Draw fine lines behind the data and no marks at the axes."""
    axes.grid(visible=True, axis=which)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    axes.tick_params(length=0)


def save(figure: "Figure", path: str | os.PathLike[str]) -> None:
    """Save a figure, whole or not at all; the suffix says how."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise UnknownSuffix(path, SUFFIXES)
    write_whole(path, _png(figure) if suffix == ".png" else _svg(figure, "path"))


def inline(figure: "Figure", *, title: str) -> str:
    """Give a figure as SVG to stand in a page: no ids but its own, the page's colours."""
    drawn = _svg(figure, "none").decode("utf-8")
    drawn = _FURNITURE.sub("", drawn[drawn.index("<svg") :])
    own = sha256(f"{title}{drawn}".encode()).hexdigest()[:8]
    used = set(_REFERENCE.findall(drawn))
    # Only tags are changed: a label may well look like a colour or an id.
    drawn = re.sub(r"<[^>]*>", lambda tag: _settled(tag[0], own, used), drawn)
    head = f'role="img" aria-label="{escape(title)}" style="stroke-linejoin: round"'
    return re.sub(r"\n\s*", "\n", drawn.replace("<svg", f"<svg {head}", 1))


def _settled(tag: str, own: str, used: set[str]) -> str:
    """Make one tag at home in a page."""
    tag = re.sub(r' id="([^"]+)"', lambda m: f' id="{m[1]}"' if m[1] in used else "", tag)
    tag = re.sub(r'(?<=[ "#])(?=[mp][0-9a-f]{10}\b)', own, tag)
    tag = re.sub(r'="([\d.]+)pt"', r'="\1"', tag.replace("'DejaVu Sans'", _FACE))
    return following(_LONG_NUMBER.sub(lambda m: f"{float(m[0]):.2f}", tag))


def _png(figure: "Figure") -> bytes:
    with look():
        found = io.BytesIO()
        figure.savefig(found, format="png", dpi=_SHARP, metadata={"Software": None})
    return found.getvalue()


def _svg(figure: "Figure", text: str) -> bytes:
    import matplotlib as mpl  # noqa: PLC0415, an optional package

    with look(), mpl.rc_context({"svg.fonttype": text}):
        found = io.BytesIO()
        figure.savefig(found, format="svg", metadata={"Date": None, "Creator": None})
    return found.getvalue()
