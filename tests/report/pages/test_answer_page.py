"""A page of one answer: words, then rows, then remarks; as a reader meets it."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from boundit.report.pages.answer_page import (
    MOST_ROWS,
    AnswerNotes,
    AnswerPage,
    make_answer_table,
    write_answer_page,
)
from boundit.report.pages.page_answer import PageAnswer
from tests.report.browser import DESKTOP, PHONE, Scheme, opened
from tests.report.probes import FAINT, NAMELESS

EDGES = make_answer_table(
    "Single edges",
    ("edge", "what it would mean", "regret", "on the log"),
    [
        (f"{'Unbreakable' * 6}{i} <-> <b>", "something unseen moves both " * 4, 0.25, "")
        for i in range(3)
    ],
    caption="The worst first.",
)
PAGE = AnswerPage(
    "What would overturn it: P(Y | do(X))",
    PageAnswer(
        "The choice survives 1 of 3.", ("Under 2 it falls.",), basis={"How sure": "Very."}
    ),
    (EDGES, make_answer_table("Pairs", ("edge",), [])),
    (AnswerNotes("Not varied", ("a & b", "x" * 200)), AnswerNotes("What to heed", ())),
)


def test_words_come_first_then_rows_then_remarks_and_what_is_empty_is_left_out() -> None:
    page = write_answer_page(PAGE, command="boundit stress g q l")
    places = [
        page.index(words)
        for words in (
            "The choice survives",
            "Under 2",
            "<dt>How sure</dt><dd>Very.",
            "<h2>Single edges",
            "The worst first.",
            "<h2>Not varied",
            "a &amp; b",
            "boundit stress g q l",
        )
    ]

    assert places == sorted(places)
    assert "on the log" not in page
    assert "Pairs" not in page
    assert "What to heed" not in page
    assert '&lt;<span class="arrow">-&gt;</span> &lt;b&gt;' in page


def test_many_rows_are_cut_and_that_is_said() -> None:
    rows = [(f"row {i}", i) for i in range(MOST_ROWS + 1)]
    long = AnswerPage("t", PageAnswer("v"), (make_answer_table("Rows", ("name", "n"), rows),))
    page = write_answer_page(long)

    assert f"row {MOST_ROWS - 1}" in page
    assert f"row {MOST_ROWS}" not in page
    assert f"first {MOST_ROWS} of {MOST_ROWS + 1} rows; --json has all" in page


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")])
def test_it_fits_phone_and_desktop(
    browser: Browser, tmp_path: Path, width: int, scheme: Scheme
) -> None:
    file = tmp_path / "answer.html"
    file.write_text(write_answer_page(PAGE, command="boundit " + "x" * 200), encoding="utf-8")

    with opened(browser, file, width=width, scheme=scheme) as found:
        assert found.overflow() <= 0
        assert found.said == []
        assert found.page.evaluate(FAINT) == []
        assert found.page.evaluate(NAMELESS) == []
        over = (
            "[...document.querySelectorAll('.box')].map((e) => e.scrollWidth - e.clientWidth)"
        )
        assert width == DESKTOP or found.page.evaluate(over) == [0]
