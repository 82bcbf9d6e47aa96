"""A report of what would narrow bounds as a page."""

from boundit.decisions.suggest.page import make_suggest_page
from boundit.report.sections import Notes, Table
from tests.decisions.suggest.test_report import REPORT, ROWS, TABLE


def test_the_summary_leads_and_every_suggestion_has_a_row() -> None:
    page = make_suggest_page(REPORT, "Y | do(X)")
    table, *notes = page.sections

    assert page.title == "What would narrow it: P(Y | do(X))"
    assert page.said[0] == REPORT.verdict
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == [TABLE.what, ROWS.what]
    found = [part.remarks for part in notes if isinstance(part, Notes)]
    assert found == [REPORT.useless, REPORT.notes]
