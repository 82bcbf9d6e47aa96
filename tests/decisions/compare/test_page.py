"""A comparison as the values of a page."""

from dataclasses import replace

from boundit.decisions.compare.page import make_comparison_page
from tests.decisions.compare.test_comparison import make_comparison


def test_the_verdict_leads_and_contexts_that_decide_come_first() -> None:
    found = make_comparison(0.1, 0.3, 4)
    page = make_comparison_page(found)
    (table,) = page.tables

    assert page.title == "Is the mean of always X=b higher than that of always X=a?"
    assert page.answer.verdict == found.answer()
    assert page.answer.basis == {
        "How sure": "Confidence 0.95, for everything said here at once.",
        "Rests on": "Because.",
    }
    assert [row[0] for row in table.grid.rows] == ["C=3", "C=0", "C=1", "C=2"]
    assert table.grid.rows[0][1:] == ("0.1", "0.3", "0.25", "by subtracting")
    assert page.notes[0].remarks == ("Because.",)


def test_a_plug_in_answer_says_so() -> None:
    page = make_comparison_page(replace(make_comparison(0.1, 0.3), confidence=None))
    assert "plug-in ends" in str(page.answer.basis["How sure"])
