"""What engines are asked for."""

from boundit.counts.cells import AGGREGATES, Kind, Plan, wanted


def test_a_plan_asks_for_no_more_than_it_needs() -> None:
    assert list(wanted(Plan(("X",)))) == ["lines"]
    assert "rewarded_weight" not in wanted(Plan((), reward="Y"))
    assert list(wanted(Plan((), selection="S"))) == ["lines", "selected"]
    assert wanted(Plan((), reward="Y", weight="n", selection="S")) == AGGREGATES


def test_text_times_and_lists_do_not_add_up() -> None:
    assert [kind for kind in Kind if not kind.adds_up] == [Kind.TEXT, Kind.TIMES, Kind.NESTED]
