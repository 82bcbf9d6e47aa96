"""Pages of decisions: sentences, tables and notes, handed to the report functions."""

from collections.abc import Mapping, Sequence

from boundit.core.message import Note
from boundit.report.notebook.answer import show_answer as show_answer
from boundit.report.pages.answer_page import AnswerNotes, AnswerPage, make_answer_table
from boundit.report.pages.page_answer import PageAnswer, write_first
from boundit.results.choice import Choice, write_promise
from boundit.results.text import write_arm, write_levels

Table = tuple[str, Sequence[str], Sequence[Sequence[str]], str]
"""A title, the head, the rows and a caption."""


def make_page(
    title: str,
    sentences: Sequence[str],
    tables: Sequence[Table],
    confidence: float | None,
    *,
    caveats: Sequence[Note] = (),
    notes: Mapping[str, Sequence[str]] | None = None,
) -> AnswerPage:
    """Make the page of an answer: sentences, the first of which is the verdict, tables, notes."""
    sure = "Plug-in estimates, without sampling error."
    basis = {"Confidence": sure if confidence is None else f"{100 * confidence:.6g}%."}
    if caveats:
        basis["Caveats"] = write_first(tuple(map(str, caveats)), "Caveats")
    parts = {"Caveats": tuple(map(str, caveats)), **(notes or {})}
    return AnswerPage(
        title,
        PageAnswer(sentences[0], tuple(sentences[1:]), basis=basis),
        tuple(make_answer_table(name, head, rows, caption=c) for name, head, rows, c in tables),
        tuple(AnswerNotes(name, tuple(lines)) for name, lines in parts.items() if lines),
    )


def make_choice_page(choice: Choice, caveats: Sequence[Note] = ()) -> AnswerPage:
    """Make the page of a choice, the contexts with the largest maximum regret first."""
    found = sorted(choice.values(), key=lambda one: -one.max_regret)
    rows = [
        (
            write_levels(choice.context, one.context) or "everyone",
            choice.write_draw(one.probabilities),
            write_promise(one.max_regret),
            f"{one.floor:.4g}",
            ", ".join(write_arm(choice.treatments, arm) for arm in one.ruled_out),
            " ".join(one.marks),
        )
        for one in found
    ]
    head = ["context", "arm", "max regret", "guaranteed mean", "ruled out", "note"]
    caption = "Maximum regret: how far the arm may be from the best one."
    said = [choice.write_answer(one) for one in found]
    return make_page(
        f"Choice of {', '.join(choice.treatments)} to {choice.goal}imize {choice.outcome}",
        said[:3],
        [("By context", head, rows, caption)],
        choice.confidence,
        caveats=caveats,
        notes={"Other contexts": said[3:]},
    )
