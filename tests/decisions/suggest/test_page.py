"""A report of what would narrow bounds as the values of a page."""

from boundit.decisions.suggest.page import make_suggest_page
from tests.decisions.suggest.test_report import REPORT, ROWS, TABLE


def test_the_summary_leads_and_every_suggestion_has_a_row() -> None:
    page = make_suggest_page(REPORT, "Y | do(X)")
    (table,) = page.tables

    assert page.title == "What would narrow it: P(Y | do(X))"
    assert page.answer.verdict == REPORT.verdict
    assert " ".join(map(str, (*page.answer.said, page.answer.verdict))) == REPORT.summary
    assert page.answer.basis["Rests on"] == f"{TABLE.basis[0].upper()}{TABLE.basis[1:]}."
    assert table.grid.rows == (
        (
            TABLE.what,
            "0.200",
            "0.100 to 0.300",
            TABLE.cost,
            f"{TABLE.basis}. The effect is then recoverable: {TABLE.formula}",
        ),
        (ROWS.what, "0.300", "", ROWS.cost, ROWS.basis),
    )
    assert [part.remarks for part in page.notes] == [REPORT.useless, REPORT.notes]
