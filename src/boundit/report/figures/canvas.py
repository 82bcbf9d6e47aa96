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
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from boundit.core.errors import MissingExtra
from boundit.core.files import write_whole
from boundit.report.errors import UnknownSuffix
from boundit.report.palette import get_light_colour, use_colour_variables
from boundit.report.text.fitting import wrap_words

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
_SHOWN = 100
_NOTE, _NOTE_LINE, _EDGE = 10.5, 15.0, 10.0
_STYLE: dict[str, object] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 12.0,
    "axes.edgecolor": get_light_colour("rule"),
    "axes.facecolor": "none",
    "axes.labelcolor": get_light_colour("muted"),
    "axes.linewidth": 1.0,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 13.0,
    "axes.titleweight": "bold",
    "axes.titlecolor": get_light_colour("ink"),
    "figure.facecolor": get_light_colour("paper"),
    "figure.constrained_layout.h_pad": 0.08,
    "figure.constrained_layout.w_pad": 0.1,
    "figure.titlesize": 13.0,
    "figure.titleweight": "bold",
    "grid.color": get_light_colour("rule"),
    "grid.linewidth": 0.8,
    "text.color": get_light_colour("ink"),
    "text.parse_math": False,
    "xtick.color": get_light_colour("rule"),
    "xtick.labelcolor": get_light_colour("muted"),
    "ytick.color": get_light_colour("rule"),
    "ytick.labelcolor": get_light_colour("ink"),
    "svg.hashsalt": "boundit",
    "path.simplify": True,
}


def require_matplotlib() -> None:
    """Refuse what needs a figure where matplotlib is missing, without importing it."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plot")


@contextmanager
def use_style() -> Iterator[None]:
    """Set matplotlib, within a ``with``, to the one style of our figures.

    Refuses plainly when matplotlib is missing.
    """
    require_matplotlib()
    import matplotlib as mpl  # noqa: PLC0415, an optional package

    with mpl.rc_context(_STYLE), warnings.catch_warnings():  # type: ignore[arg-type]
        # A face lacks some letters; browsers find another for them.
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        yield


def make_figure(width: float, height: float, *, arrange: bool = True) -> "Figure":
    """Make an empty matplotlib figure; width and height are in pixels of a page.

    Matplotlib finds the room that names and numbers need, unless ``arrange`` is false.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415, an optional package

    size = width / _DPI, height / _DPI
    return Figure(figsize=size, dpi=_DPI, layout="constrained" if arrange else None)


def make_figure_with_note(
    width: float, height: float, note: str, *, arrange: bool = True
) -> "Figure":
    """Make an empty figure with a few words below; ``height`` is what remains above them."""
    if not note:
        return make_figure(width, height, arrange=arrange)
    lines = wrap_words(note, width - 2 * _EDGE, _NOTE)
    whole = height + _NOTE_LINE * len(lines) + _EDGE
    figure = make_figure(width, whole, arrange=arrange)
    below = {"fontsize": _NOTE, "color": get_light_colour("muted"), "ha": "left"}
    figure.supxlabel("\n".join(lines), x=_EDGE / width, **below)
    return figure


def add_axes(figure: "Figure", left: float, top: float, width: float, height: float) -> "Axes":
    """Add axes to a figure at a place in pixels from its upper left corner."""
    wide, high = (size * _DPI for size in figure.get_size_inches())
    box = left / wide, 1 - (top + height) / high, width / wide, height / high
    return figure.add_axes(box)


def draw_grid(axes: "Axes", which: str = "x") -> None:
    """Draw fine grid lines behind the data, and no ticks at the axes."""
    axes.grid(visible=True, axis=which)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    axes.tick_params(length=0)


def save_figure(figure: "Figure", path: str | os.PathLike[str]) -> None:
    """Save a figure whole or not at all, as PNG or SVG by the file's suffix."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise UnknownSuffix(path, SUFFIXES)
    write_whole(path, _write_png(figure) if suffix == ".png" else _write_svg(figure, "path"))


def give_figure(figure: "Figure", path: str | os.PathLike[str] | None) -> "tuple[Axes, ...]":
    """Save a figure, or show it where a notebook or pyplot does; give its axes."""
    if path is not None:
        save_figure(figure, path)
        return tuple(figure.axes)
    from matplotlib import pyplot as plt  # noqa: PLC0415, an optional package

    with use_style():
        # Ticks are made when first drawn, and should have our style.
        figure.draw_without_rendering()
    figure.set_dpi(_SHOWN)
    # Outside our style, which would undo what a notebook sets when its backend is loaded.
    plt.figure(FigureClass=lambda *_, **__: figure)  # type: ignore[arg-type]
    return tuple(figure.axes)


def write_inline_svg(figure: "Figure", *, title: str) -> str:
    """Write a figure as SVG to stand in an HTML page: ids of its own, the page's colours."""
    drawn = _write_svg(figure, "none").decode("utf-8")
    drawn = _FURNITURE.sub("", drawn[drawn.index("<svg") :])
    own = sha256(f"{title}{drawn}".encode()).hexdigest()[:8]
    used = set(_REFERENCE.findall(drawn))
    # Only tags are changed: a label may well look like a colour or an id.
    drawn = re.sub(r"<[^>]*>", lambda tag: _adapt_tag(tag[0], own, used), drawn)
    head = f'role="img" aria-label="{escape(title)}" style="stroke-linejoin: round"'
    return re.sub(r"\n\s*", "\n", drawn.replace("<svg", f"<svg {head}", 1))


def _adapt_tag(tag: str, own: str, used: set[str]) -> str:
    """Rewrite one tag of a figure's SVG so that it fits an HTML page.

    Ids that are ``used`` get the prefix ``own``, colours become the page's variables.
    """
    tag = re.sub(r' id="([^"]+)"', lambda m: f' id="{m[1]}"' if m[1] in used else "", tag)
    tag = re.sub(r'(?<=[ "#])(?=[mp][0-9a-f]{10}\b)', own, tag)
    tag = re.sub(r'="([\d.]+)pt"', r'="\1"', tag.replace("'DejaVu Sans'", _FACE))
    return use_colour_variables(_LONG_NUMBER.sub(lambda m: f"{float(m[0]):.2f}", tag))


def _write_png(figure: "Figure") -> bytes:
    """Write a figure as a sharp PNG."""
    with use_style():
        found = io.BytesIO()
        figure.savefig(found, format="png", dpi=_SHARP, metadata={"Software": None})
    return found.getvalue()


def _write_svg(figure: "Figure", text: str) -> bytes:
    """Write a figure as SVG; ``text`` says whether letters stay text or become shapes."""
    import matplotlib as mpl  # noqa: PLC0415, an optional package

    with use_style(), mpl.rc_context({"svg.fonttype": text}):
        found = io.BytesIO()
        figure.savefig(found, format="svg", metadata={"Date": None, "Creator": None})
    return found.getvalue()
