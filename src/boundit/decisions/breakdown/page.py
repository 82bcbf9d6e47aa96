"""From which limit a claim falls, as a page: the answer, every limit tried, and caveats."""

from boundit.decisions.breakdown.result import Breakdown
from boundit.estimand.query import parse_query
from boundit.report.pages.answer_page import AnswerNotes, AnswerPage, make_answer_table

_MEANING = (
    "A limit on selection is G: no kind of row was logged more than G times as often as the "
    "average, or as seldom."
)


def make_breakdown_page(found: Breakdown, query: str) -> AnswerPage:
    """Make the page of the limit at which a claim falls.

    Called by ``breakdown`` of the command line for --report.
    """
    meaning = (
        _MEANING
        if found.of == "selection"
        else f"A limit on {found.of} is the factor by which the unseen cause moves the odds of "
        "a treatment, at most."
    )
    rows = [(f"{point.limit:.4g}", f"{point.number:.4g}") for point in found.curve]
    head = (f"limit on {found.of}", found.measured)
    tried = f"Limits up to {found.most:.4g} were looked at."
    return AnswerPage(
        f"How far it holds: {parse_query(query)}",
        tuple(line.strip() for line in found.sentences),
        (make_answer_table("Every limit that was looked at", head, rows),),
        (
            AnswerNotes("What is varied", (meaning, tried)),
            AnswerNotes("What to heed", found.caveats),
        ),
    )
