"""What a report of suggestions says of itself."""

import json

from boundit.decisions.suggest.report import Suggestion, SuggestReport

TABLE = Suggestion(
    "external table",
    "a table of Z of everyone",
    0.2,
    0.1,
    0.3,
    "Z, in a sample",
    "mean over 3 worlds",
    exact=True,
    formula="Σ_{Z} P(Y | X, Z, S=1) P(Z)",
    variables=("Z",),
)
ROWS = Suggestion("rows", "4 times the rows", 0.3, 0.3, 0.3, "longer", "counts taken 4 times")
REPORT = SuggestReport(0.4, 0.25, (TABLE, ROWS), ("a table of U",), ("a note",), 0.95)


def test_text_has_widths_formulas_costs_and_what_is_of_no_use() -> None:
    text = str(REPORT)

    assert text.splitlines()[0] == REPORT.summary
    assert REPORT.summary == (
        "The bounds are 0.400 wide on average (confidence 0.95); 0.250 would stay with endless "
        "rows. The bounds would narrow most, to 0.200, by a table of Z of everyone."
    )
    assert "0.200 (0.100 to 0.300)  a table of Z of everyone" in text
    assert "0.300  4 times the rows" in text
    assert "the effect is then recoverable: Σ_{Z}" in text
    assert "tried, and of no use: a table of U" in text
    assert text.endswith("note: a note")


def test_without_suggestions_it_says_so() -> None:
    assert str(SuggestReport(0.4, 0.4, ())).endswith(
        "Nothing that was tried would narrow the bounds."
    )


def test_beside_an_edge_that_is_ruled_out_the_summary_names_what_can_be_measured() -> None:
    edge = Suggestion("edge", "knowing that Z -> Y is not there", 0.1, 0.1, 0.1, "", "")

    assert SuggestReport(0.4, 0.25, (edge, ROWS)).summary.endswith(
        "to 0.100, by knowing that Z -> Y is not there; of what can be measured, to 0.300, by "
        "4 times the rows."
    )
    assert SuggestReport(0.4, 0.25, (edge,)).summary.endswith("Z -> Y is not there.")


def test_rows_and_record_are_plain() -> None:
    first = REPORT.rows()[0]

    assert (first["kind"], first["variables"], first["exact"]) == ("external table", "Z", True)
    assert abs(float(str(first["gain"])) - 0.2) < 1e-12
    assert json.loads(json.dumps(REPORT.record()))["suggestions"][0]["width"] == 0.2
