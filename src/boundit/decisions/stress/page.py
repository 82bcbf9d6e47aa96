"""What would overturn an answer, as a page: sentences, every edge, and what was not varied."""

from boundit.decisions.stress.report import (
    TRIED_HEAD,
    StressReport,
    describe_standing,
    list_apart,
    write_tried_row,
)
from boundit.report.page import Page
from boundit.report.sections import Notes, Section, make_table
from boundit.results.text import write_levels

_READING = (
    "A choice falls where another arm is nearer to the highest mean, or several are. Its "
    "regret is "
    "that of today's choice, at worst."
)


def make_stress_page(report: StressReport) -> Page:
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
    tried = make_table(
        "Single edges, the most harmful first",
        [edge, "what it would mean", *head],
        [
            (name, each.words, *rest)
            for each in report.tried
            for name, *rest in [write_tried_row(each)]
        ],
        caption=_READING,
    )
    notes = {
        "Not varied": report.not_varied,
        "Not tried, since they would change the question": tuple(list_apart(report)),
        "Not reached in time": tuple(map(str, report.unreached)),
        "Caveats": report.caveats,
        "The graph": (report.graph,),
    }
    now = make_table("With the graph as it is", ["where", "arm"], standing)
    tables: list[Section] = [table for table in (now, tried) if table.rows]
    sections = [*tables, *(Notes(name, lines) for name, lines in notes.items() if lines)]
    sure = f"{report.sure[:1].upper()}{report.sure[1:]}."
    return Page(
        f"What would overturn it: {report.query}",
        (*report.sentences, sure.replace("..", ".")),
        tuple(sections),
    )
