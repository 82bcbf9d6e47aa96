"""A report of missing edges as a page."""

from dataclasses import replace

from boundit.decisions.stress.page import make_stress_page
from boundit.report.sections import Notes, Table
from tests.decisions.stress.test_report import ARC, REPORT


def test_the_summary_leads_and_every_edge_has_a_row_with_what_it_means() -> None:
    page = make_stress_page(replace(REPORT, unreached=(ARC,), notes=("n",)))
    tables = [part for part in page.sections if isinstance(part, Table)]
    notes = {part.title: part.remarks for part in page.sections if isinstance(part, Notes)}

    assert page.title == "What would overturn it: Y | do(X)"
    assert page.said[-1] == "As sure as that."
    assert [row[0] for row in tables[1].rows] == ["X <-> Y", "Z -> Y", "Z -> X"]
    assert notes["Not varied"] == REPORT.not_varied
    assert notes["Not reached in time"] == ("X <-> Y",)
    assert notes["Caveats"] == ("n",)
    assert notes["The graph"] == ("X -> Y",)
