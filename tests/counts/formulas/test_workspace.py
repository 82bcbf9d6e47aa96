import pytest

from boundit.counts.errors import TooLarge
from boundit.counts.formulas.workspace import COPIES, KeptArrays, Workspace
from boundit.terms.errors import OutOfTime
from boundit.terms.long_work import TimeBudget


def test_arrays_may_be_as_large_as_all_their_copies_fit() -> None:
    room = Workspace(8 * COPIES * 1000)

    room.require_cells(1000, "AB")
    with pytest.raises(TooLarge, match="over A, B has 1,001 cells, memory_limit allows 1,000"):
        room.require_cells(1001, "AB")


def test_time_that_is_over_is_refused_by_name() -> None:
    Workspace(1).require_time()
    with pytest.raises(OutOfTime, match="time_limit is over") as caught:
        Workspace(1, TimeBudget(0)).require_time()
    assert caught.value.option == "time_limit"


def test_what_is_kept_never_outgrows_the_room() -> None:
    kept = KeptArrays[str, list[int]](Workspace(8 * COPIES * 10))
    made = []

    def make(name: str, cells: int) -> list[int]:
        return kept.get(name, lambda: made.append(name) or [0] * cells, len)  # type: ignore[func-returns-value]

    for name in "aabba":
        make(name, 4)
    assert made == ["a", "b"]
    make("c", 5)
    make("a", 4)
    assert made == ["a", "b", "c", "a"]


def test_without_limits_there_is_some_room() -> None:
    assert Workspace.make_default().most_cells > 2**15
