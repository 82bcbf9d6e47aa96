"""Colors of pages and charts, light and dark, named for what they say; and the stylesheet.

Neighboring hues differ for readers with any of the common color deficiencies, each has three
times the contrast of its ground, and no meaning depends on color alone.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Shade(NamedTuple):
    """One color on light paper and on dark."""

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


def use_color(name: str) -> str:
    """Write a color as a CSS variable of the page, which follows light and dark mode.

    >>> use_color("ink")
    'var(--ink, #1c2127)'
    """
    return f"var(--{name}, {SHADES[name].light})"


def blend_shades(name: str) -> str:
    """Blend the light and the dark color of a name, for places whose ground is not known.

    Each has three times the contrast of white and of the dark grounds of notebooks.

    >>> blend_shades("treatment")
    '#368ed3'
    """
    shade = SHADES[name]
    pairs = (
        (int(shade.light[i : i + 2], 16), int(shade.dark[i : i + 2], 16)) for i in (1, 3, 5)
    )
    return "#" + "".join(f"{(one + other) // 2:02x}" for one, other in pairs)


@cache
def write_stylesheet() -> str:
    """Write the CSS of a page: the palette, light and dark, then the parts of pages."""
    parts = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    return f"{write_palette()}\n{parts}"


def write_palette() -> str:
    """Write the palette as CSS variables, each with the name it has here.

    Paper is always light.

    >>> print(write_palette().splitlines()[0][:42])
    :root { color-scheme: light dark; --paper:
    """
    light = " ".join(f"--{name}: {shade.light};" for name, shade in SHADES.items())
    dark = " ".join(f"--{name}: {shade.dark};" for name, shade in SHADES.items())
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    )
