from boundit.report.notebook.answer import show_answer
from boundit.report.pages.answer_page import AnswerNotes, AnswerPage, make_answer_table
from boundit.report.pages.page_answer import PageAnswer


def test_sentences_tables_and_notes_are_shown_in_order() -> None:
    rows = [(f"X{i} -> Y", f"{i / 10:.1f}") for i in range(40)]
    page = AnswerPage(
        "What <would> it take",
        PageAnswer("It survives.", ("In all contexts.",), basis={"How sure": "Very."}),
        (make_answer_table("Edges", ["edge", "width"], rows, caption="The widest first."),),
        (AnswerNotes("Not varied", ("the query",)), AnswerNotes("Empty", ())),
    )
    shown = show_answer(page)

    order = (
        "What &lt;would&gt; it take",
        "It survives.",
        "<caption>Edges",
        "The widest first.",
    )
    places = [
        shown.index(words)
        for words in (*order, "Shown are 30 of 40", "How sure: Very.", "Not varied (1)")
    ]
    assert places == sorted(places)
    assert '<th scope="col" class="right">width</th>' in shown
    assert "Empty" not in shown
