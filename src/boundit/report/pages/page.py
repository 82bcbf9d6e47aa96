"""One HTML file that needs nothing else: no network, no fonts, light and dark, paper too."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

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

    ``facts`` are a few numbers below the answer, words to number.
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
        script=script,
        script_sum=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _list_scripts(sections: Sequence[Section], origin: Origin | None) -> Iterator[str]:
    """List the JavaScript that a page needs: to search rows, to light up paths.

    With a command there is something to copy.
    """
    if origin and origin.command:
        yield "copy.js"
    if any(isinstance(s, BoundsSection) and s.searched for s in sections):
        yield "search.js"
    explained = (s for s in sections if isinstance(s, BoundsSection | RulesSection))
    drawn = any(isinstance(s, GraphSection) for s in sections)
    if drawn and any(True for section in explained for _ in section.highlights):
        yield "paths.js"


def _load_templates() -> Environment:
    """Load the HTML templates of pages."""
    found = Environment(
        loader=PackageLoader("boundit.report.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["line"] = draw_line
    return found
