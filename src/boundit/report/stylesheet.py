"""The one stylesheet of all pages: the palette as named colours, then how each part looks.

How parts look stands in ``style.css`` beside this file, which names colours of the palette as
variables: ``var(--ink)``. Whatever shows HTML takes both from here, so that all look alike.
"""

from functools import cache
from pathlib import Path

from boundit.report.palette import SHADES

_PARTS = Path(__file__).with_name("style.css")


@cache
def write_stylesheet() -> str:
    """Write the CSS of a page: the palette, light and dark, then the parts."""
    return f"{write_palette()}\n{_PARTS.read_text(encoding='utf-8')}"


def write_palette() -> str:
    """Write the palette as CSS variables, each with the name it has in the palette.

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
