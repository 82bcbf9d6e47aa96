"""What a comparison says, in words and as records."""

import json

from boundit.core.interval import Interval
from boundit.decisions.compare.comparison import Comparison, ContextDifference


def make_comparison(low: float, high: float, n: int = 1) -> Comparison:
    differences = tuple(
        ContextDifference((i,), Interval(1 / n, 1 / n), Interval(low, high), shared=False)
        for i in range(n)
    )
    return Comparison(
        "always X=b",
        "always X=a",
        Interval(low, high),
        ("C",),
        differences,
        ((n - 1,),) if n > 1 else (),
        ("Because.",),
        0.95,
    )


def test_answers_are_sentences_with_their_numbers() -> None:
    assert make_comparison(0.1, 0.3).answer() == (
        "Surely higher: the mean of always X=b is at least 0.1 higher than that of always X=a, "
        "and at most 0.3."
    )
    assert make_comparison(-0.3, -0.1).answer() == (
        "Surely lower: the mean of always X=b is at least 0.1 lower than that of always X=a, "
        "and at most 0.3."
    )
    assert make_comparison(-0.3, 0.1).answer() == (
        "Not told: the mean of always X=b may be from 0.3 lower to 0.1 higher than that of "
        "always X=a."
    )


def test_nothing_is_told_of_a_difference_that_touches_zero() -> None:
    assert make_comparison(0.0, 0.3).verdict == "not told"
    assert make_comparison(0.0, 0.3).by == 0


def test_text_has_reasons_contexts_and_confidence() -> None:
    shown = str(make_comparison(0.1, 0.3, 20)).splitlines()
    assert shown[1] == "Because."
    assert shown[3] == "  C=19: [0.100, 0.300], share 0.05"
    assert shown[-2] == "  and 8 more"
    assert shown[-1] == "confidence 0.95 for all of it at once"


def test_records_are_json_and_rows_are_flat() -> None:
    found = make_comparison(0.1, 0.3, 2)
    record = json.loads(json.dumps(found.record()))
    assert record["verdict"] == "surely better"
    assert record["interval"] == [0.1, 0.3]
    assert found.rows()[0] == {
        "C": 0,
        "share_lower": 0.5,
        "share_upper": 0.5,
        "lower": 0.1,
        "upper": 0.3,
        "shared": False,
    }


def test_policies_that_are_alike_up_to_rounding_are_not_told_apart() -> None:
    for ends in (Interval(1e-17, 2e-17), Interval(-2e-17, -1e-17)):
        found = Comparison("b", "a", ends, (), (), (), (), None)
        assert (found.verdict, found.by) == ("not told", 0.0)


def test_ends_are_written_outward() -> None:
    better = Comparison("b", "a", Interval(0.12349, 0.45671), (), (), (), (), None)
    open_ = Comparison("b", "a", Interval(-0.12341, 0.45671), (), (), (), (), None)

    assert "at least 0.1234 higher than that of a, and at most 0.4568" in better.answer()
    assert "from 0.1235 lower to 0.4568 higher" in open_.answer()
