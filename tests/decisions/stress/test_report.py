"""A report of missing edges, in words."""

from dataclasses import replace

from boundit.decisions.stress.edges import ApartEdge, MissingEdge
from boundit.decisions.stress.report import StressReport, TriedEdges, rank_by_harm
from boundit.decisions.stress.standing import find_standing
from boundit.results.bound_table import BoundTable

TABLE = BoundTable.from_rows(
    [{"X": 0, "lower": 0.1, "upper": 0.3}, {"X": 1, "lower": 0.4, "upper": 0.5}],
    outcome="Y",
    treatments=["X"],
    outcome_range=(0, 1),
)
ARC = MissingEdge("X", "<->", "Y", "something unseen moves X and Y")
ARROW = MissingEdge("Z", "->", "Y", "Z acts on Y")
FALLEN = TriedEdges((ARC,), 0.9, 1.0, fallen=(((), ((0,),)),), lost=((),), regret=0.4)
KEPT = TriedEdges((ARROW,), 0.2, 0.2, regret=0.0)
REFUSED = TriedEdges((MissingEdge("Z", "->", "X", "Z acts on X"),), refusal="no column for 'Z'")
STANDING = find_standing(TABLE, "minimax-regret", None)
REPORT = StressReport(
    "X -> Y", "Y | do(X)", "minimax-regret", "as sure as that", TABLE, STANDING,
    (FALLEN, KEPT, REFUSED),
    not_varied=("arrows: none was turned round",),
)  # fmt: skip


def test_the_most_harmful_comes_first_and_what_is_not_judged_last() -> None:
    assert rank_by_harm([REFUSED, KEPT, FALLEN]) == (FALLEN, KEPT, REFUSED)


def test_the_summary_counts_what_was_judged() -> None:
    assert REPORT.summary == (
        "The choice survives 1 of 2 single edges; it falls if something unseen moves X and Y. "
        "Under 1 it is no longer sure which mean is highest, in places where it was."
    )
    kept = replace(REPORT, tried=(KEPT,))
    assert kept.summary == "The choice survives every one of 1 single edge that could be tried."
    assert replace(REPORT, tried=()).summary == "No single edge could be tried."
    late = replace(kept, unreached=(ARC,))
    assert late.summary.endswith("No time was left for 1 single edge.")


def test_without_a_choice_the_widest_is_named() -> None:
    flat = replace(TABLE, bounds=dict.fromkeys(TABLE.bounds, TABLE.bounds[(0,), ()]))
    none = replace(
        REPORT, standing=find_standing(flat, "minimax-regret", None), tried=(KEPT, FALLEN)
    )
    assert none.summary.startswith("There is no choice to overturn")
    assert "most if something unseen moves X and Y" in none.summary


def test_the_text_has_what_was_not_tried() -> None:
    apart = ApartEdge(MissingEdge("S", "->", "X", ""), "selection has no effects")
    text = str(replace(REPORT, apart=(apart,), unreached=(ARROW,)))

    assert "S -> X: selection has no effects" in text
    assert "Not reached in time (1): Z -> Y" in text
    assert "X=1, surely the highest mean" in text
    assert "falls in 1 context" in text
    assert "as sure as that" in text
    assert "arrows: none was turned round" in text


def test_the_record_has_every_edge() -> None:
    record = REPORT.record()

    assert [each["edges"] for each in record["tried"]] == [["X <-> Y"], ["Z -> Y"], ["Z -> X"]]  # type: ignore[attr-defined]
    assert record["rule"] == "minimax-regret"
