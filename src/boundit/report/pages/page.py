"""One HTML file that needs nothing else: no network, no fonts, light and dark, paper too."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from boundit.report.pages.page_answer import PageAnswer
from boundit.report.pages.sections import BoundsSection, GraphSection, RulesSection, Section
from boundit.report.records import Origin
from boundit.report.stylesheet import write_stylesheet
from boundit.report.text.mathml import draw_line


def render_page(
    title: str,
    sections: Sequence[Section],
    *,
    answer: PageAnswer | None = None,
    facts: Mapping[str, str] | None = None,
    origin: Origin | None = None,
) -> str:
    """Write an HTML page: a title, the answer, the sections, and what made it.

    ``facts`` are a few numbers below the answer, words to number. Called by
    ``write_bound_page``, ``write_answer_page`` and ``make_reproduction_page``.
    """
    templates = _load_templates()
    script = "".join(
        templates.get_template(name).render() for name in _list_scripts(sections, origin)
    )
    return templates.get_template("page.html").render(
        title=title,
        answer=answer,
        facts=facts or {},
        sections=sections,
        origin=origin,
        style=write_stylesheet(),
        data=_write_data(sections, templates),
        script=script,
        script_sum=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _list_scripts(sections: Sequence[Section], origin: Origin | None) -> Iterator[str]:
    """List the JavaScript that a page needs: to search and show rows, to light up paths.

    With a command there is something to copy. Called by ``render_page``.
    """
    if origin and origin.command:
        yield "copy.js"
    scripts = (s.script for s in sections if isinstance(s, BoundsSection))
    yield from filter(None, dict.fromkeys(scripts))
    explained = (s for s in sections if isinstance(s, BoundsSection | RulesSection))
    drawn = any(isinstance(s, GraphSection) for s in sections)
    if drawn and any(True for section in explained for _ in section.highlights):
        yield "paths.js"


def _write_data(sections: Sequence[Section], templates: Environment) -> dict[int, str]:
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


def _load_templates() -> Environment:
    """Load the HTML templates of pages. Called by ``render_page``."""
    found = Environment(
        loader=PackageLoader("boundit.report.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["line"] = draw_line
    return found
