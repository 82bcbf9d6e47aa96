"""A check of a graph in a notebook: the verdict, then every statement with its numbers."""

from boundit.checks.report import CheckReport, write_statement
from boundit.report.notebook.snippet import (
    MOST_ROWS,
    describe_cut,
    write_notes,
    write_snippet,
    write_table,
    write_words,
)

_HEAD = ("statement", "on the log", "V", "p, corrected", "what it means")


def show_check(report: CheckReport) -> str:
    """Write a check as HTML for a notebook, contradictions first."""
    said = report.verdict()
    shown = report.findings[:MOST_ROWS]
    rows = [
        (
            write_statement(each.statement),
            each.status,
            _write_number(each.strength),
            _write_number(each.corrected),
            each.explain(),
        )
        for each in shown
    ]
    table = write_table(_HEAD, rows, caption="", right=(2, 3)) if rows else ""
    return write_snippet(
        f"{said[:1].upper()}{said[1:]}",
        table,
        write_words(describe_cut(len(shown), len(report.findings), "report.frame()")),
        write_notes("Caveats", report.caveats),
    )


def _write_number(number: float | None) -> str:
    """Write a number of a test with two digits; nothing where there is none."""
    return "" if number is None else f"{number:.2g}"
