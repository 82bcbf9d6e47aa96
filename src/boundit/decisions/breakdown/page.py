"""From which limit a claim falls, as a page: the answer, every limit tried, and caveats."""

from boundit.decisions.breakdown.result import Breakdown
from boundit.estimand.query import parse_query
from boundit.report.pages.answer_page import AnswerNotes, AnswerPage, make_answer_table
from boundit.report.pages.page_answer import (
    PageAnswer,
    end_sentence,
    write_first,
    write_sentence,
)

_MEANING = (
    "A limit on selection is G: no kind of row was logged more than G times as often as the "
    "average, or as seldom."
)


def make_breakdown_page(found: Breakdown, query: str = "") -> AnswerPage:
    """Make the page of the limit at which a claim falls."""
    meaning = (
        _MEANING
        if found.of == "selection"
        else f"A limit on {found.of} is the factor by which the unseen cause moves the odds of "
        "a treatment, at most."
    )
    rows = [(f"{point.limit:.4g}", f"{point.number:.4g}") for point in found.curve]
    head = (f"limit on {found.of}", found.measured)
    tried = f"Limits up to {found.most:.4g} were looked at."
    verdict, *said = (end_sentence(line.strip()) for line in found.sentences)
    basis = {
        "How sure": write_sentence(said.pop())
        if found.confidence is not None
        else "Sampling error is not allowed for: these are plug-in ends.",
        "Rests on": f"The graph, and {found.of} that goes no further than the limit.",
    }
    if found.caveats:
        basis["Heed"] = write_first(found.caveats, "What to heed")
    return AnswerPage(
        f"How far it holds: {parse_query(query)}" if query else "How far it holds",
        PageAnswer(verdict, tuple(said), basis=basis),
        (make_answer_table("Every limit that was looked at", head, rows),),
        (
            AnswerNotes("What is varied", (meaning, tried)),
            AnswerNotes("What to heed", found.caveats),
        ),
    )
