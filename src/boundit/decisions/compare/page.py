"""Whether one policy is surely better, as a page: the verdict, every context, and why."""

from boundit.decisions.compare.comparison import Comparison, write_share
from boundit.decisions.compare.policies import write_values
from boundit.report.pages.answer_page import AnswerNotes, AnswerPage, make_answer_table
from boundit.report.pages.page_answer import PageAnswer, write_first

_HEAD = (
    "context",
    "higher by at least",
    "by at most",
    "share of visitors",
    "compared",
    "mark",
)
_BASIS = "What this rests on"
_CAPTION = (
    "The contexts that decide come first; below zero is less. Under one unknown, arms that "
    "both policies choose cancel."
)


def make_comparison_page(found: Comparison) -> AnswerPage:
    """Make the page of a comparison, the contexts that decide it first."""
    rows = [
        (
            write_values(found.context, one.context) or "everyone",
            f"{one.difference.lower:.4g}",
            f"{one.difference.upper:.4g}",
            write_share(one.share),
            "under one unknown" if one.shared else "by subtracting",
            one.mark or "",
        )
        for one in found.sort_differences()
    ]
    sure = (
        "Sampling error is not allowed for: these are plug-in ends."
        if found.confidence is None
        else f"Confidence {found.confidence:g}, for everything said here at once."
    )
    basis = {"How sure": sure}
    if found.reasons:
        basis["Rests on"] = write_first(found.reasons, _BASIS)
    return AnswerPage(
        f"Is the mean of {found.new} higher than that of {found.old}?",
        PageAnswer(found.answer(), basis=basis),
        (make_answer_table("By context", _HEAD, rows, caption=_CAPTION),),
        (AnswerNotes(_BASIS, found.reasons),),
    )
