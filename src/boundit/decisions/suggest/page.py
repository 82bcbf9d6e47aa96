"""What would narrow bounds, as a page: sentences, every suggestion, and what was not tried."""

from boundit.decisions.suggest.report import Suggestion, SuggestReport
from boundit.estimand.query import parse_query
from boundit.report.page import Page
from boundit.report.sections import Notes, Section, make_table

_HEAD = ("what", "expected mean width", "may be", "cost", "from what this is computed")
_CAPTION = "The narrowest first. The mean is over all arms and contexts."


def make_suggest_page(report: SuggestReport, query: str = "") -> Page:
    """Make the page of what would narrow the bounds of a question, the narrowest first."""
    rows = [
        (each.what, f"{each.width:.3f}", each.span, each.cost, _write_basis(each))
        for each in report.suggestions
    ]
    sure = (
        "Sampling error is not allowed for: these are plug-in ends."
        if report.confidence is None
        else f"Widths are those of confidence {report.confidence:g}. Those that could be had "
        "are expected, not promised."
    )
    sections: list[Section] = []
    if rows:
        sections.append(make_table("What could be had", _HEAD, rows, caption=_CAPTION))
    if report.useless:
        sections.append(Notes("Tried, without effect", report.useless))
    if report.notes:
        sections.append(Notes("Caveats", report.notes))
    return Page(
        f"What would narrow it: {parse_query(query)}" if query else "What would narrow it",
        (report.verdict, *report.today, sure),
        tuple(sections),
    )


def _write_basis(each: Suggestion) -> str:
    """Write what a width rests on, and the formula of an effect that is recoverable then."""
    exact = f". The effect is then recoverable: {each.formula}" if each.exact else ""
    return each.basis + exact
