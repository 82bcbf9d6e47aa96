"""Pages: one file that needs nothing else, the same each time."""

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from boundit.core.errors import BounditError
from boundit.report.bounds import write_bounds_page
from boundit.report.page import Page
from boundit.report.palette import SHADES, write_stylesheet
from boundit.report.sections import Notes, Table, make_table
from tests.paper import FIGURE_2
from tests.report.examples import small_table


def test_a_page_allows_its_own_script_and_style_alone() -> None:
    page = write_bounds_page(small_table(), graph=FIGURE_2, command="boundit bound")
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)[0]
    summed = b64encode(sha256(script.encode()).digest()).decode()

    assert f"script-src 'sha256-{summed}'" in page
    assert "default-src 'none'" in page
    assert not re.search(r'(?:src|href)="(?!#|data:,)', page)


def test_the_same_table_gives_the_same_page_and_its_command_is_there() -> None:
    one, two = (write_bounds_page(small_table(), command="boundit <x>") for _ in range(2))

    assert one == two
    assert "boundit &lt;x&gt;" in one
    assert "profile sound" in one


def test_the_first_sentence_is_in_large_letters_and_critical_ones_stand_before() -> None:
    html = Page("T", ("First.", "Second."), (), ("critical: stop",)).write()

    assert html.index("critical: stop") < html.index('class="verdict">First.')
    assert html.index('class="verdict">First.') < html.index('class="lead">Second.')


def test_a_notebook_needs_no_script_and_closes_notes() -> None:
    shown = Page("a < b", ("Said.",), (Notes("Caveats", ("x", "y")),)).write_snippet()

    assert '<p class="title">a &lt; b</p>' in shown
    assert "<details><summary>Caveats (2)</summary>" in shown
    assert "<script" not in shown


def test_tables_are_cut_where_they_are_shown_and_numbers_stand_right() -> None:
    rows = tuple((f"row {i}", str(i / 100)) for i in range(40))
    table = Table("Rows", ("name", "number"), rows)

    assert table.right == (False, True)
    assert "and 10 more: .frame()" in Page("", (), (table,)).write_snippet()
    assert "more:" not in Page("", (), (table,)).write()


def test_sentences_in_a_table_are_stacked_and_empty_columns_left_out() -> None:
    table = make_table("T", ("a", "b", "c"), [["x", "", "a sentence that is rather long"]])

    assert table.head == ("a", "c")
    assert table.style == "stack"


def test_the_stylesheet_uses_colors_of_the_palette_alone() -> None:
    style = write_stylesheet()
    used = set(re.findall(r"var\(--([\w-]+)", style)) - {"edge"}

    assert used <= set(SHADES)
    assert not re.search(r"#[0-9a-f]{6}", style.split("* {", 1)[1])


def test_ipython_shows_the_frames_of_the_caller_alone() -> None:
    with pytest.raises(BounditError) as caught:
        small_table()["no arm", 0]
    shown = "\n".join(caught.value._render_traceback_())

    assert "test_page.py" in shown
    assert "bound_table.py" not in shown
    assert shown.splitlines()[-1].endswith(str(caught.value))
