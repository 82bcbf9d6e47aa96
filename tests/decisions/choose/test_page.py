"""A choice as a page: the answer first, the contexts that may regret most before the others."""

from boundit.decisions.choose.choose import choose
from boundit.decisions.choose.page import make_choice_page
from boundit.results.bound_table import BoundTable


def make_table(contexts: int) -> BoundTable:
    rows = [
        {"C": c, "Ad": ad, "lower": 0.1 + shift, "upper": 0.4 + 0.01 * c + shift}
        for c in range(contexts)
        for ad, shift in (("A", 0.0), ("B", 0.1))
    ]
    return BoundTable.from_rows(
        rows, outcome="Click", treatments=["Ad"], context=["C"], outcome_range=(0, 1)
    )


def test_the_answer_leads_and_the_largest_regret_comes_first() -> None:
    choice = choose(make_table(5))
    page = make_choice_page(choice, ["only logged levels count"])
    (table,) = page.tables

    assert str(page.answer.verdict).startswith(
        "C=4: Nearest to the highest mean of Click: draw A with chance "
    )
    assert page.answer.basis["How sure"] == (
        "As sure as the intervals are: chance is not allowed for."
    )
    assert [row[0] for row in table.grid.rows] == [f"C={c}" for c in (4, 3, 2, 1, 0)]
    assert page.notes[-1].remarks == ("only logged levels count",)


def test_every_context_has_its_sentence() -> None:
    choice = choose(make_table(5))
    page = make_choice_page(choice)

    (rest, _) = page.notes
    said = {page.answer.verdict, *page.answer.said, *rest.remarks}
    assert said == {choice.write_answer(found) for found in choice.values()}
