"""What would overturn an answer, as a page: sentences, every edge, and what was not varied."""

from boundit.decisions.stress.report import (
    TRIED_HEAD,
    StressReport,
    describe_standing,
    list_apart,
    write_tried_row,
)
from boundit.report.pages.answer_page import AnswerNotes, AnswerPage, make_answer_table
from boundit.report.pages.page_answer import PageAnswer, write_first, write_sentence
from boundit.results.text import write_levels

_READING = (
    "A choice falls where another arm is nearer to the highest mean, or several are. Its "
    "regret is "
    "that of today's choice, at worst."
)


def make_stress_page(report: StressReport) -> AnswerPage:
    """Make the page of what missing edges would do, the most harmful first."""
    table = report.table
    standing = [
        (
            write_levels(table.context, each.context) or "everyone",
            describe_standing(table, each),
        )
        for each in report.standing
    ]
    edge, *head = TRIED_HEAD
    tried = make_answer_table(
        "Single edges, the most harmful first",
        [edge, "what it would mean", *head],
        [
            (name, each.words, *rest)
            for each in report.tried
            for name, *rest in [write_tried_row(each)]
        ],
        caption=_READING,
    )
    verdict, *said = report.sentences
    basis = {
        "How sure": write_sentence(report.sure),
        "Rests on": "The graph, but for the edges that were tried, one at a time.",
    }
    if report.caveats:
        basis["Heed"] = write_first(report.caveats, "What to heed")
    return AnswerPage(
        f"What would overturn it: {report.query}",
        PageAnswer(verdict, tuple(said), basis=basis),
        (make_answer_table("With the graph as it is", ["where", "arm"], standing), tried),
        (
            AnswerNotes("Not varied", report.not_varied),
            AnswerNotes(
                "Not tried, since they would change the question", tuple(list_apart(report))
            ),
            AnswerNotes("Not reached in time", tuple(map(str, report.unreached))),
            AnswerNotes("What to heed", report.caveats),
            AnswerNotes("The graph", (report.graph,)),
        ),
    )
