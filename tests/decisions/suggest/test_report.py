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

    assert "mean width today 0.400 (confidence 0.95); with endless rows 0.250" in text
    assert "0.200 (0.100 to 0.300)  a table of Z of everyone" in text
    assert "0.300  4 times the rows" in text
    assert "the effect is then recoverable: Σ_{Z}" in text
    assert "tried, and of no use: a table of U" in text
    assert text.endswith("note: a note")


def test_without_suggestions_it_says_so() -> None:
    assert "nothing that was tried would narrow it" in str(SuggestReport(0.4, 0.4, ()))


def test_rows_and_record_are_plain() -> None:
    first = REPORT.rows()[0]

    assert (first["kind"], first["variables"], first["exact"]) == ("external table", "Z", True)
    assert abs(float(str(first["gain"])) - 0.2) < 1e-12
    assert json.loads(json.dumps(REPORT.record()))["suggestions"][0]["width"] == 0.2
