"""Why chance moves an end: values that compare, and that JSON keeps."""

from typing import get_args

import pytest

from boundit.core.codec import decode, encode
from boundit.results.sampling import (
    ROWS,
    EndSampling,
    HeavyCell,
    Inference,
    RowSampling,
    describe_promise,
    describe_sampling,
)


def test_json_gives_back_what_was_written() -> None:
    heavy = HeavyCell((("Z", 2), ("X", 0)), rows=12.0, share=0.4)
    found = EndSampling(120.5, 0.02, (heavy,), boxes="a table is read twice")

    assert decode(EndSampling, encode(found)) == found
    assert decode(EndSampling, encode(EndSampling(3.0, 0.0))) == EndSampling(3.0, 0.0)


def test_there_are_two_ways_to_allow_for_chance() -> None:
    assert get_args(Inference) == ("exact", "approximate")


def test_each_end_is_told_of_by_itself_where_they_differ() -> None:
    low = EndSampling(1, 0.25, (HeavyCell((), 1, 1.0),))
    high = EndSampling(None, 0.0, boxes="a table is read twice")
    found = RowSampling(low, high)

    assert list(describe_sampling(found, "exact")) == [
        "The lower end is as uncertain as a mean of about 1 row of equal weight.",
        "What adds most to its sampling variance: the whole log (1 row, 100 %).",
        "This arm was never logged in strata of weight 0.25; there its reward may be anything.",
        "The upper end is made of an interval for each cell, whose worst cases add up: a table "
        "is read twice.",
    ]
    assert list(describe_sampling(None, "approximate")) == []
    assert list(describe_sampling(RowSampling(), "approximate")) == []
    assert list(describe_sampling(RowSampling(upper=high), "approximate")) == [
        "The upper end is found by the exact method: a table is read twice."
    ]


@pytest.mark.parametrize(
    ("confidence", "rows", "said"),
    [
        (
            0.95,
            1,
            "at least 95 of 100 logs of independent rows, whatever their size. Where ",
        ),
        (0.95, 1, "at least 1.4 times the width that it has in normal intervals."),
        (0.999, 16, "at least 999 of 1,000 logs"),
        (0.95, 5000, "at least 1.1 times"),
    ],
)
def test_a_promise_speaks_of_its_confidence_and_of_all_rows(
    confidence: float, rows: int, said: str
) -> None:
    assert said in describe_promise("exact", confidence, rows, ROWS)


def test_a_promise_names_what_the_log_is_made_of() -> None:
    found = describe_promise("exact", 0.9, 4, "independent clusters by User")

    assert found.endswith(
        "90 of 100 logs of independent clusters by User, whatever their size."
    )


def test_levels_that_all_heavy_cells_have_are_said_once() -> None:
    cells = (
        HeavyCell((("Age", "old"), ("Z", 1)), 40, 0.6),
        HeavyCell((("Age", "old"),), 90, 0.3),
    )
    _, said = describe_sampling(RowSampling(lower=EndSampling(7, 0, cells)), "exact")

    assert said == (
        "What adds most to its sampling variance, among rows with Age='old': Z=1 (40 rows, "
        "60 %); all of these (90 rows, 30 %)."
    )
