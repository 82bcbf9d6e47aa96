"""What to use where, first on the page of a table."""

from boundit.report.pages.bound_page import write_bound_page
from boundit.report.pages.choice_view import make_choice_section
from boundit.results.bound_table import BoundTable
from boundit.results.choice import MOST_SENTENCES
from tests.report.pages.test_bound_page import headings
from tests.report.pages.test_page import checked


def make_table(contexts: int) -> BoundTable:
    """Make a table whose intervals grow with the context."""
    return BoundTable.from_rows(
        [
            {"Ad": ad, "Age": age, "lower": low, "upper": low + 0.02 * age}
            for age in range(contexts)
            for ad, low in (("<A>", 0.1), ("B", 0.3))
        ],
        outcome="Click",
        treatments=["Ad"],
        context=["Age"],
        outcome_range=(0, 1),
    )


def test_every_context_has_its_answer_in_words() -> None:
    section = make_choice_section(make_table(3).choose())

    assert [answer.where for answer in section.answers] == ["Age=0", "Age=1", "Age=2"]
    assert section.answers[0].words == ("B is best. &lt;A&gt; is ruled out: B is better.")
    assert section.summary == ""
    assert section.sure.startswith("Plug-in estimates, without sampling error. ")


def test_of_many_contexts_those_with_the_largest_regret_are_listed() -> None:
    section = make_choice_section(make_table(MOST_SENTENCES + 5).choose())

    assert len(section.answers) == MOST_SENTENCES
    assert section.answers[0].where == "Age=24"
    assert section.summary.startswith(
        "In 11 of 25 contexts one arm has the highest mean, whatever is true."
    )
    assert "Listed are the 20 contexts with the largest." in section.summary


def test_the_answer_comes_first_then_pictures_then_what_to_use_in_full() -> None:
    table = make_table(4)
    html = write_bound_page(table, choice=table.choose())

    checked(html)
    assert headings(html)[:2] == ["Intervals per context", "Highest mean"]
    assert html.index('class="verdict"') < html.index("<h2>")
    assert "<strong>Age=3</strong>" in html
