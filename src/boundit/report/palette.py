"""The colours of pages and figures, light and dark, each named for what it says.

Neighbouring hues differ for readers with any of the common colour deficiencies, each has three
times the contrast of its ground, and no meaning hangs on colour alone: series differ in their
dashes and markers too, roles in their shapes.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Shade(NamedTuple):
    """One colour on light paper and on dark."""

    light: str
    dark: str


SHADES: Mapping[str, Shade] = {
    "paper": Shade("#fdfdfc", "#15181c"),
    "raised": Shade("#f3f5f6", "#1e2329"),
    "rule": Shade("#d8dde2", "#363d46"),
    "muted": Shade("#59636e", "#9ba6b2"),
    "ink": Shade("#1c2127", "#e8ebee"),
    "accent": Shade("#0b5fa5", "#6cb8f0"),
    "treatment": Shade("#0a6cb8", "#62b1ee"),
    "context": Shade("#00785c", "#3fc79f"),
    "outcome": Shade("#b84a00", "#f0955a"),
    "selection": Shade("#9a3d85", "#dd93cb"),
    "miss": Shade("#c2241a", "#ff8276"),
    "good": Shade("#1d7a4d", "#58c98f"),
    "warn": Shade("#8a5a00", "#e3b14c"),
    "series-1": Shade("#0067b1", "#5fb3f2"),
    "series-2": Shade("#c24c00", "#f59a5e"),
    "series-3": Shade("#007a5e", "#45c9a2"),
    "series-4": Shade("#a03c8c", "#e096d0"),
    "series-5": Shade("#7d6200", "#d9bb4a"),
    "series-6": Shade("#3f4f9e", "#98a7f0"),
    "series-7": Shade("#a3293f", "#f28a9b"),
    "series-8": Shade("#4d5a66", "#b4c0cc"),
}
SERIES = tuple(name for name in SHADES if name.startswith("series-"))
DASHES = ("solid", (0, (5, 2)), (0, (1, 1.6)), (0, (6, 2, 1, 2)))
"""A line's dashes turn with each round through the colours and within it."""


def get_light_colour(name: str) -> str:
    """Give the light-mode colour of a name such as "muted", for figures saved to files.

    Called wherever a figure is drawn, ``_draw_curve`` for one.
    """
    return SHADES[name].light


def write_colour_variable(name: str) -> str:
    """Write a colour as a CSS variable of the page, which follows light and dark mode.

    >>> write_colour_variable("ink")
    'var(--ink, #1c2127)'
    """
    return f"var(--{name}, {SHADES[name].light})"


def use_colour_variables(svg: str) -> str:
    """Replace the colours in a tag of an SVG by the page's CSS variables."""
    for name, shade in SHADES.items():
        svg = svg.replace(shade.light, write_colour_variable(name))
    return svg


def blend_shades(name: str) -> str:
    """Blend the light and the dark colour of a name, for places whose ground is not known.

    Each has three times the contrast of white and of the dark grounds of notebooks.

    >>> blend_shades("treatment")
    '#368ed3'
    """
    shade = SHADES[name]
    pairs = (
        (int(shade.light[i : i + 2], 16), int(shade.dark[i : i + 2], 16)) for i in (1, 3, 5)
    )
    return "#" + "".join(f"{(one + other) // 2:02x}" for one, other in pairs)


def name_series_colour(i: int) -> str:
    """Give the palette's name for the colour of the ``i``-th curve or series, from 0.

    >>> name_series_colour(0), name_series_colour(8)
    ('series-1', 'series-1')
    """
    return SERIES[i % len(SERIES)]
