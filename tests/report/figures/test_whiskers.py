import pytest

from boundit.report.errors import NothingToDraw
from boundit.report.figures.whiskers import MOST_LINES, Whiskers
from boundit.results.bound_table import BoundTable
from tests.report.examples import large_table, naive, printed, small_table, truth_of


def test_a_small_table_is_shown_whole() -> None:
    table = small_table()
    shown = Whiskers(table)

    assert shown.arms == table.arms
    assert shown.contexts == table.contexts
    assert shown.omission == ""
    assert [mark.name for mark in shown.marks] == [
        "what the rules leave open",
        "with sampling error",
    ]


def test_of_a_large_table_the_weightiest_contexts_are_shown_and_the_rest_is_owned() -> None:
    table = large_table()
    shown = Whiskers(table)

    def rows(context: object) -> float:
        return sum(b.n for (_, c), b in table.bounds.items() if c == context)

    assert len(shown.contexts) * len(shown.arms) <= MOST_LINES
    others = [c for c in table.contexts if c not in shown.contexts]
    assert min(map(rows, shown.contexts)) >= max(map(rows, others))
    assert list(shown.contexts) == [c for c in table.contexts if c in shown.contexts]
    assert shown.omission == (
        "Shown are the 4 of 40 contexts with the most logged rows; the table has all."
    )


def test_misses_are_told_and_explained_in_the_legend() -> None:
    table = small_table()
    right = Whiskers(table, truth_of(table), [naive(table)], [printed(table)])
    wrong = Whiskers(table, truth_of(table, off=0.5), spans=[printed(table)])
    key = next(iter(table.bounds))

    assert [mark.name for mark in right.marks] == [
        "what the rules leave open", "with sampling error", "truth", "CP", "printed",
    ]  # fmt: skip
    assert not right.has_any_miss(key)
    assert wrong.has_bound_miss(key)
    assert wrong.has_span_miss(wrong.spans[0], key)
    assert wrong.marks[-1].name == "leaves the truth out"


def test_a_miss_of_printed_intervals_alone_is_no_miss_of_ours() -> None:
    table = small_table()
    shown = Whiskers(table, truth_of(table), spans=[printed(table, off=0.2)])
    key = next(iter(table.bounds))

    assert shown.has_any_miss(key)
    assert not shown.has_bound_miss(key)


def test_the_axis_holds_everything_that_is_drawn() -> None:
    table = small_table()
    low, high = Whiskers(table, truth_of(table, off=1.5), [naive(table)]).scale

    assert low < 0.1
    assert high > 0.5 * (0.6 + 0.9) + 1.5


def test_narrow_bounds_in_a_wide_range_are_magnified() -> None:
    rows = [{"X": x, "lower": 40, "upper": 42 + x} for x in (0, 1)]
    table = BoundTable.from_rows(rows, outcome="Y", treatments=["X"], outcome_range=(0, 1000))
    low, high = Whiskers(table).scale

    assert 39 < low < 40
    assert 43 < high < 44


def test_an_empty_table_has_no_figure() -> None:
    with pytest.raises(NothingToDraw, match="no rows"):
        Whiskers(BoundTable("Y", ("X",), (), {}, (0, 1), {}))
