"""Pages: what to know first, then sections; one HTML file that needs nothing else, or a notebook's.

A piece of a notebook needs no script, no network and no page around it. Whether a notebook is
light or dark cannot be asked in every program that shows one: its words have the color of the
words around them, and its marks have colors that stand out on both grounds.
"""

import platform
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from boundit.core.formula import Line
from boundit.report.formulas import draw_line
from boundit.report.palette import SHADES, blend_shades, write_stylesheet
from boundit.report.sections import (
    NOTEBOOK,
    PAGE,
    Drawing,
    Reasons,
    Section,
    load_templates,
    write_section,
)

_PACKAGES = ("boundit", "duckdb", "highspy", "narwhals", "numba", "numpy", "scipy")
_GROUND = frozenset(["paper", "raised", "rule", "ink", "muted"])
"""Names of the palette that are the color of words in a notebook, or fainter."""


@dataclass(frozen=True, slots=True)
class Page:
    """A title, what a reader must know, the first sentence in large letters, and sections."""

    title: str
    said: tuple[Line, ...] = ()
    sections: tuple[Section, ...] = ()
    critical: tuple[Line, ...] = ()

    def write(self, *, command: str = "", settings: Mapping[str, object] | None = None) -> str:
        """Write the page as one HTML file, with the command and the versions that repeat it.

        It has no date, so that the same run gives the same page.
        """
        templates = load_templates()
        script = "".join(
            templates.get_template(name).render() for name in self._list_scripts(command)
        )
        return templates.get_template("page.html").render(
            page=self,
            sections=[(section, write_section(section, PAGE)) for section in self.sections],
            command=command,
            settings={**(settings or {}), **_list_versions()},
            style=write_stylesheet(),
            script=script,
            script_sum=b64encode(sha256(script.encode()).digest()).decode(),
        )

    def write_snippet(self) -> str:
        """Write the page as a piece of HTML for a notebook."""
        words = "".join(f"<p>{draw_line(line)}</p>" for line in (*self.critical, *self.said))
        parts = "".join(write_section(section, NOTEBOOK) for section in self.sections)
        title = f'<p class="title">{escape(self.title)}</p>' if self.title else ""
        # MathJax of a notebook would take two dollar signs in names for a formula.
        opening = '<div class="boundit tex2jax_ignore mathjax_ignore">'
        return f"{opening}<style>{_write_notebook_style()}</style>{title}{words}{parts}</div>"

    def _list_scripts(self, command: str) -> Iterator[str]:
        if command:
            yield "copy.js"
        drawn = any(isinstance(part, Drawing) and part.is_drawn for part in self.sections)
        lit = any(isinstance(part, Reasons) and part.has_highlights for part in self.sections)
        if drawn and lit:
            yield "paths.js"


@cache
def _write_notebook_style() -> str:
    colors = ";".join(
        f"--{name}:{blend_shades(name)}" for name in SHADES if name not in _GROUND
    )
    parts = Path(__file__).with_name("notebook.css").read_text(encoding="utf-8")
    return f".boundit{{{colors}}}{' '.join(parts.split())}"


@cache
def _list_versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # runs from its folder
            continue
    return found
