"""A report of missing edges as the values of a page."""

from dataclasses import replace

from boundit.decisions.stress.page import make_stress_page
from tests.decisions.stress.test_report import ARC, REFUSED, REPORT


def test_the_summary_leads_and_every_edge_has_a_row_with_what_it_means() -> None:
    page = make_stress_page(replace(REPORT, unreached=(ARC,), notes=("n",)))
    standing, single = page.tables
    notes = {part.title: part.remarks for part in page.notes}

    assert page.title == "What would overturn it: Y | do(X)"
    summary = replace(REPORT, unreached=(ARC,)).summary
    assert " ".join(map(str, (page.answer.verdict, *page.answer.said))) == summary
    assert page.answer.basis["How sure"] == "As sure as that."
    assert page.answer.basis["Heed"] == "n."
    assert standing.grid.rows == (
        ("everyone", "X=1, surely the highest mean (regret at most 0)"),
    )
    assert [row[0] for row in single.grid.rows] == ["X <-> Y", "Z -> Y", "Z -> X"]
    assert single.grid.rows[0][1:3] == ("something unseen moves X and Y", "falls in 1 context")
    assert single.grid.rows[2][2] == REFUSED.refusal
    assert notes["Not varied"] == REPORT.not_varied
    assert notes["Not reached in time"] == ("X <-> Y",)
    assert notes["What to heed"] == ("n",)
    assert notes["The graph"] == ("X -> Y",)
