import pytest

from boundit.core.formula import Sentence, Term, Variable
from boundit.graph.text import parse
from boundit.report.figures.whiskers import Whiskers
from boundit.report.pages.sections import (
    FILTERED,
    Section,
    make_bounds_section,
    make_claims_section,
    make_comparison_section,
    make_curves_section,
    make_graph_section,
    make_intervals_section,
    make_notes,
    make_prose,
    make_rules_section,
    make_sensitivity_section,
    make_sensitivity_sections,
    make_table_section,
)
from boundit.report.records import Grid, JudgedClaim, Ladder, TruthComparison
from tests.report.examples import curves, large_table, printed, small_table, truth_of


def test_words_are_escaped_and_their_formulas_drawn() -> None:
    words = Sentence.of("a < ", Term("P", (Variable("Y"),)))

    assert make_prose("t", words).paragraphs[0].startswith("a &lt; <math")
    assert make_notes("t", ["a & b"]).notes == ("a &amp; b",)


def test_the_graph_is_drawn_and_written() -> None:
    section = make_graph_section(parse("X -> Y"), treatments="X")

    assert section.text == "X -> Y"
    assert section.svg.startswith("<svg")


def test_what_a_figure_leaves_out_stands_in_its_caption() -> None:
    section = make_intervals_section(Whiskers(large_table()), caption="Look.")

    assert section.caption.startswith("Look. Shown are the 4 of 40")
    assert len(section.panels) == 4
    ladders = [Ladder(str(i), (1, 2), (0, 0), (1, 1)) for i in range(13)]
    assert make_sensitivity_section(ladders).caption == "Shown are the first 12 of 13."


def test_what_the_limit_is_stands_before_its_figures() -> None:
    section = make_sensitivity_section([Ladder("a", (1, 2), (0, 0), (1, 1))])

    assert "no kind of row was logged more than G times as often" in section.lead
    assert make_intervals_section(Whiskers(small_table())).lead == ""


def test_only_tables_of_many_rows_are_searched() -> None:
    few, many = make_bounds_section(small_table()), make_bounds_section(large_table(arms=2))

    assert (few.searched, many.searched) == (False, True)
    assert few.size <= FILTERED < many.size == 80
    assert many.common.count("=") == 34
    assert few.arm_name == "X1, X2"


def test_columns_of_numbers_stand_right() -> None:
    grid = Grid(("policy", "regret", "note"), (("UCB", "7 ± 1", "x"), ("TS", 5.0, "")))

    assert make_table_section(grid, title="t").right == (False, True, False)


def test_claims_are_counted_by_their_judgement() -> None:
    claims = [
        JudgedClaim("Theorem 3", "P(Y) is bounded", "holds", "0 misses"),
        JudgedClaim("Table 1", "a < b", "does not hold", "4 of 16"),
    ]
    section = make_claims_section(claims)

    assert list(section.tally.values()) == [1, 0, 1]
    assert section.claims[1].said == "a &lt; b"
    assert section.claims[1].said == "a &lt; b"


def test_every_kind_of_section_has_a_title_of_its_own() -> None:
    table = small_table()
    comparison = TruthComparison(
        ("X1", "X2"), ("U1",), (printed(table),), truth=truth_of(table)
    )
    sections: list[Section] = [
        make_comparison_section(comparison),
        make_rules_section(table),
        make_curves_section(curves("UCB"), title="Regret"),
    ]

    assert [s.title for s in sections] == ["Beside the truth", "Why the bounds hold", "Regret"]


@pytest.mark.parametrize("cell", ["+3", "-0.5", "±1", ".5", "12 ± 3", "[-1.5, 2.0]"])
def test_text_that_begins_like_a_number_counts_as_one(cell: str) -> None:
    assert make_table_section(Grid(("a",), ((cell,),)), title="t").right == (True,)


def test_limits_on_selection_and_on_each_edge_have_sections_of_their_own() -> None:
    ends = (1, 2), (0.3, 0.2), (0.4, 0.6)
    found = make_sensitivity_sections([Ladder("A", *ends), Ladder("A", *ends, "X <-> Y")])

    assert [section.title for section in found] == [
        "If selection went no further than a limit G",
        "If the unseen in X <-> Y goes no further than a limit",
    ]
