import re
from html.parser import HTMLParser

from boundit.report.pages.origin import describe_origin
from boundit.report.pages.page import render_page
from boundit.report.pages.page_answer import PageAnswer, UseGroup
from boundit.report.pages.sections import make_bounds_section, make_notes, make_prose
from tests.report.examples import large_table, small_table

VOID = {"meta", "link", "input", "br", "wbr", "path", "rect", "use"}


class Checker(HTMLParser):
    """Every tag closed in order, no id twice, nothing fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids += [found["id"] or ""] if "id" in found else []
        for name in ("src", "href", "xlink:href", "action"):
            self.links += [found[name] or ""] if name in found else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def checked(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    assert all(link.startswith(("#", "data:,")) for link in checker.links), checker.links
    return checker


def test_a_page_is_well_formed_and_fetches_nothing() -> None:
    html = render_page(
        "A title & more",
        [
            make_prose("One", "P(Y)"),
            make_bounds_section(small_table()),
            make_notes("Three", ["heed <this>"]),
        ],
        answer=PageAnswer("in short"),
        facts={"rows": "8"},
        origin=describe_origin("boundit bound 'a' <b>", {"seed": 0}),
    )
    checker = checked(html)

    assert html.startswith("<!doctype html>")
    assert "<title>A title &amp; more</title>" in html
    assert "boundit bound &#39;a&#39; &lt;b&gt;" in html
    assert "heed &lt;this&gt;" in html
    assert {f"#part-{i}" for i in (1, 2, 3)} <= set(checker.links)
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert "https://" not in html


def test_markup_in_names_is_never_markup_in_the_page() -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    html = render_page(
        evil,
        [make_prose(evil, evil), make_notes(evil, [evil])],
        answer=PageAnswer(
            evil,
            (evil,),
            (UseGroup("open", evil, evil, evil, (evil,)),),
            (UseGroup("known", evil, evil, evil, 5 * (evil,)),),
            {evil: evil},
        ),
        facts={evil: evil},
    )

    assert "<script" not in html
    assert "<img" not in html
    checked(html)


def test_a_script_comes_only_with_many_rows_and_no_other_may_run() -> None:
    assert "<script" not in render_page("t", [make_bounds_section(small_table())])
    html = render_page("t", [make_bounds_section(large_table(arms=2, contexts=12))])

    assert html.count("<script>") == 1
    assert re.search(r"script-src 'sha256-[\w+/]{43}='", html)
    checked(html)


def test_the_same_input_gives_the_same_page() -> None:
    def made() -> str:
        return render_page(
            "t", [make_bounds_section(small_table())], origin=describe_origin("x")
        )

    assert made() == made()
