"""What a search found, as words and as a record."""

import json

from boundit.decisions.breakdown.result import Breakdown, ChoiceChange, CurvePoint


def test_a_change_of_choice_is_told_by_context() -> None:
    change = ChoiceChange(("new",), ("a",), ("b",), 1.9, 1.91)
    found = Breakdown(
        "X <-> Y", "stays", 1.9, 1.91, 100.0, 0.01, "regret", changes=(change,), step=1.2
    )

    assert str(found) == (
        "the choice changes with the limit on X <-> Y:\n"
        "  from a to b at a limit of 1.91 in context new"
    )


def test_everything_is_kept_as_json() -> None:
    found = Breakdown(
        "selection",
        "B has the highest mean",
        float("inf"),
        None,
        100.0,
        0.01,
        "least lead",
        (CurvePoint(1.0, 0.2),),
        0.95,
        (1.0, 1.1),
        caveats=("a caveat",),
    )
    record = json.loads(json.dumps(found.record()))

    assert record["holds_to"] == "inf"
    assert record["curve"] == [{"limit": 1.0, "number": 0.2}]
    assert record["says"].splitlines() == [
        "B has the highest mean: proved whatever is hidden by selection",
        "the log contradicts the limits 1, 1.1",
        "confidence 0.95, if the limit is true",
        "caveat: a caveat",
    ]
    assert found.survives
