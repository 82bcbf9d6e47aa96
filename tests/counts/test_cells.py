"""What engines are asked for."""

import re

from boundit.counts.cells import (
    AGGREGATES,
    NUMBER,
    ColumnKind,
    GroupBy,
    Oddity,
    choose_aggregates,
)


def test_a_plan_asks_for_no_more_than_it_needs() -> None:
    assert list(choose_aggregates(GroupBy(("X",)))) == ["lines"]
    assert "rewarded_weight" not in choose_aggregates(GroupBy((), reward="Y"))
    assert list(choose_aggregates(GroupBy((), flags=("S", "T")))) == [
        "lines",
        "flag_0",
        "flag_1",
    ]
    assert choose_aggregates(GroupBy((), reward="Y", weight="n")) == AGGREGATES


def test_text_times_and_lists_do_not_add_up() -> None:
    assert [kind for kind in ColumnKind if not kind.may_be_summed] == [
        ColumnKind.TEXT,
        ColumnKind.TIMES,
        ColumnKind.NESTED,
    ]


def test_a_number_is_known_by_its_look() -> None:
    numbers, others = ["1", " -1.5 ", "+.5", "2e-3"], ["", "NA", "1,5", "1 2", "."]

    assert all(re.match(NUMBER, text) for text in numbers)
    assert not any(re.match(NUMBER, text) for text in others)


def test_an_oddity_says_where_it_is_if_that_is_known() -> None:
    assert (str(Oddity("NA", 1200)), str(Oddity("NA"))) == ("'NA' in row 1,200", "'NA'")
