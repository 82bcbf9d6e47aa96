"""One HTML file that needs nothing else: no network, no fonts, light and dark, paper too."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from boundit.report.pages.sections import BoundsSection, GraphSection, RulesSection, Section
from boundit.report.palette import SHADES
from boundit.report.records import Origin
from boundit.report.text.mathml import draw_line
from boundit.terms.errors import MissingExtra
from boundit.terms.formula import Line

if TYPE_CHECKING:
    from jinja2 import Environment


def render_page(
    title: str,
    sections: Sequence[Section],
    *,
    lead: Sequence[Line] = (),
    facts: Mapping[str, str] | None = None,
    origin: Origin | None = None,
) -> str:
    """Write an HTML page: a title, a short summary, the sections, and what made it.

    ``facts`` are a few numbers for the top, words to number. Formulas in ``lead`` are drawn.
    Called by ``write_bound_page`` and ``make_reproduction_page``.
    """
    templates = _load_templates()
    script = "".join(templates.get_template(name).render() for name in _list_scripts(sections))
    return templates.get_template("page.html").render(
        title=title,
        lead=[draw_line(words) for words in lead],
        facts=facts or {},
        sections=sections,
        origin=origin,
        shades=SHADES,
        data=_write_data(sections, templates),
        script=script,
        script_sum=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _list_scripts(sections: Sequence[Section]) -> Iterator[str]:
    """List the JavaScript that a page needs: to search and show rows, to light up paths.

    Most pages need none. Called by ``render_page``.
    """
    scripts = (s.script for s in sections if isinstance(s, BoundsSection))
    yield from filter(None, dict.fromkeys(scripts))
    explained = (s for s in sections if isinstance(s, BoundsSection | RulesSection))
    drawn = any(isinstance(s, GraphSection) for s in sections)
    if drawn and any(True for section in explained for _ in section.highlights):
        yield "paths.js"


def _write_data(sections: Sequence[Section], templates: "Environment") -> dict[int, str]:
    """Write the rows that a page shows on demand as JSON, by the number of their section.

    Called by ``render_page``.
    """
    parts: Any = templates.get_template("parts.html").module
    return {
        i: section.kept.write_json(
            parts.row, parts.block, parts.heading if section.has_headings else None
        )
        for i, section in enumerate(sections, start=1)
        if isinstance(section, BoundsSection) and section.kept
    }


def _load_templates() -> "Environment":
    """Load the HTML templates of pages; refuse plainly when Jinja is missing.

    Called by ``render_page``.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415, optional
    except ImportError:
        raise MissingExtra("jinja2", "report") from None
    return Environment(
        loader=PackageLoader("boundit.report.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
