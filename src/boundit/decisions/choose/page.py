"""Which arm to use where, as a page: the answer in words, every context, and what to heed."""

from collections.abc import Sequence

from boundit.report.pages.answer_page import AnswerNotes, AnswerPage, make_answer_table
from boundit.report.pages.page_answer import PageAnswer, write_first, write_sentence
from boundit.results.choice import Choice, write_promise
from boundit.results.text import write_arm, write_levels

_HEAD = (
    "context",
    "arm",
    "regret at most",
    "mean at least",
    "single arm",
    "its regret",
    "mark",
)
_CAPTION = (
    "The regret is how far below the highest mean an arm is, at worst; that of a lottery is "
    "its mean over the draw."
)
_MOST_SENTENCES = 2
"""Of how many contexts, besides the first, the answer stands before the table in words."""
_HEED = "What to heed"


def make_choice_page(choice: Choice, caveats: Sequence[str] = ()) -> AnswerPage:
    """Make the page of a choice, with the contexts that may regret most first."""
    found = sorted(choice.values(), key=lambda one: -one.regret)
    rows = [
        (
            write_levels(choice.context, one.context) or "everyone",
            choice.write_lottery(one.lottery),
            write_promise(one.regret),
            f"{one.floor:.4g}",
            write_arm(choice.treatments, one.single),
            write_promise(one.single_regret),
            " ".join(one.marks),
        )
        for one in found
    ]
    verdict, *others = (choice.write_answer(one) for one in found)
    said = others[:_MOST_SENTENCES]
    basis = {"How sure": write_sentence(choice.sure)}
    if caveats:
        basis["Heed"] = write_first(caveats, _HEED)
    return AnswerPage(
        f"Highest mean of {choice.outcome}",
        PageAnswer(verdict, tuple(said), basis=basis),
        (make_answer_table("By context", _HEAD, rows, caption=_CAPTION),),
        (
            AnswerNotes("The other contexts in words", tuple(others[_MOST_SENTENCES:])),
            AnswerNotes(_HEED, tuple(caveats)),
        ),
    )
