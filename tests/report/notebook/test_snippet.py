import re

from boundit.report.notebook.snippet import (
    Drawn,
    describe_cut,
    write_notes,
    write_snippet,
    write_table,
    write_words,
)


def test_a_snippet_needs_nothing_from_outside() -> None:
    shown = write_snippet("a <b>", "<p>x</p>")

    assert shown.startswith('<div class="boundit tex2jax_ignore mathjax_ignore"><style>')
    assert "a &lt;b&gt;" in shown
    assert not re.search(r"https?:|url\(|@import|<script|<link", shown)
    assert len(shown) < 4500


def test_a_table_has_heads_and_escapes_its_words() -> None:
    shown = write_table(["a<", "b"], [["<i>", Drawn("<svg/>")]], caption="c&d", right=(1,))

    assert '<th scope="col">a&lt;</th><th scope="col" class="right">b</th>' in shown
    assert "<td>&lt;i&gt;</td>" in shown
    assert '<td class="right"><svg/></td>' in shown
    assert "<caption>c&amp;d</caption>" in shown
    assert '<table class="drawn">' in shown


def test_a_table_of_sentences_carries_its_heads() -> None:
    shown = write_table(
        ['say "x"', "n"], [["a sentence that goes on for long", "1"]], caption=""
    )

    assert '<table class="stacked">' in shown
    assert 'data-head="say &quot;x&quot;"' in shown


def test_notes_fold_and_are_counted() -> None:
    shown = write_notes("Steps", ["a < b", "c"], ordered=True)

    assert shown.startswith("<details><summary>Steps (2)</summary><ol><li>a &lt; b</li>")
    assert write_notes("Steps", []) == ""
    assert write_words("", "x") == "<p>x</p>"
    assert describe_cut(3, 3, "rows()") == ""
