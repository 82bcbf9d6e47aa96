"""The limit of a claim as the values of a page."""

from dataclasses import replace

from boundit.decisions.breakdown.page import make_breakdown_page
from boundit.decisions.breakdown.result import Breakdown, ChoiceChange, CurvePoint

FOUND = Breakdown(
    "X <-> Y",
    "b has the highest mean",
    1.9,
    1.91,
    100.0,
    0.01,
    "least lead",
    (CurvePoint(1.0, 0.2), CurvePoint(2.0, -0.1)),
    0.95,
    caveats=("a caveat",),
)


def test_the_answer_leads_and_every_limit_has_a_row() -> None:
    page = make_breakdown_page(FOUND, "Y | do(X)")
    (table,) = page.tables

    assert page.title == "How far it holds: P(Y | do(X))"
    claim, sure = FOUND.sentences
    assert page.answer.verdict == f"{claim}."
    assert page.answer.basis["How sure"] == f"C{sure[1:]}."
    assert page.answer.basis["Heed"] == "a caveat."
    assert table.grid.head == ("limit on X <-> Y", "least lead")
    assert table.grid.rows == (("1", "0.2"), ("2", "-0.1"))
    assert "the odds of a treatment" in str(page.notes[0].remarks[0])
    assert page.notes[1].remarks == ("a caveat",)


def test_changes_of_the_choice_are_sentences_too() -> None:
    change = ChoiceChange(("new",), ("a",), ("b",), 1.9, 1.91)
    page = make_breakdown_page(
        replace(FOUND, of="selection", changes=(change,), step=1.2), "Y | do(X)"
    )

    assert page.answer.said == ("from a to b at a limit of 1.91 in context new.",)
    assert "no kind of row was logged more" in str(page.notes[0].remarks[0])


def test_plug_in_ends_are_called_so() -> None:
    page = make_breakdown_page(replace(FOUND, confidence=None), "Y | do(X)")

    assert "plug-in ends" in str(page.answer.basis["How sure"])
    assert page.answer.said == ()
