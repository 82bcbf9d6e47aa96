from dataclasses import fields

import pytest

from boundit.core.codec import decode, encode
from boundit.core.formula import Sentence, StepRecord, make_factor
from boundit.core.interval import EmptyInterval, Interval
from boundit.results.bound import MEASURES, Bound


def test_every_column_of_a_row_is_a_field_of_its_bound() -> None:
    assert {field.name for field in fields(Bound)} >= set(MEASURES)


def test_both_ends_travel_as_an_interval() -> None:
    bound = Bound(0.1, 0.4, 0.2, 0.3, 12, "whole range", "identified")

    assert bound.interval == Interval(0.1, 0.4)
    assert bound.marks == bound.lower_cells == bound.upper_cells == ()


def test_ends_that_cross_are_no_bound() -> None:
    with pytest.raises(EmptyInterval):
        Bound(0.4, 0.1, 0.2, 0.3, 12, "whole range", "whole range")


def test_a_step_says_its_line_and_keeps_its_separation_behind_other_words() -> None:
    step = StepRecord("Rule 3: do(X) may be dropped", (("Y",), ("X",)), ("Z",), into=("X",))
    about = step.prefix("for Y: ")
    drawn = step.prefix(make_factor("Y"), ": ")

    assert str(about) == about.line == "for Y: Rule 3: do(X) may be dropped"
    assert isinstance(drawn.line, Sentence)
    assert str(drawn) == "Q[Y]: Rule 3: do(X) may be dropped"
    assert (about.between, about.given, about.into) == (step.between, ("Z",), ("X",))


@pytest.mark.parametrize(
    "step",
    [
        StepRecord("it is given"),
        StepRecord("Rule 1", (("Y",), ("S", "W")), ("Z",), into=("X",), out_of=("Z",)),
    ],
)
def test_a_step_is_read_as_it_was_written(step: StepRecord) -> None:
    assert decode(StepRecord, encode(step)) == step


def test_a_step_has_two_sides_or_none() -> None:
    with pytest.raises(ValueError, match=r"at between: .*list of 2"):
        decode(StepRecord, {"line": "Rule 1", "between": [["Y"]]})
