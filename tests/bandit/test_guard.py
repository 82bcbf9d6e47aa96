import logging

import pytest

from boundit.bandit.guard import Guard
from boundit.bandit.watch import Watch
from boundit.terms.bound_table import BoundTable

ARMS = (("A",), ("B",))


def bounds(upper: float) -> BoundTable:
    rows = [{"Ad": ad, "lower": 0.0, "upper": upper} for ad in "AB"]
    return BoundTable.from_rows(rows, outcome="Y", treatments=["Ad"], reward_range=(0, 1))


def earning(guard: Guard, n: int, reward: float = 1.0) -> Guard:
    for _ in range(n):
        guard.observe((), ("A",), reward)
    return guard


def test_a_contradiction_drops_the_table_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        guard = earning(Guard(bounds(0.5), Watch()), 50)

    assert guard.refutation is not None
    assert guard.prior.dropped
    assert caplog.messages == [str(guard.refutation)]
    assert guard.refutation.n < 20


def test_unwatched_nothing_is_kept() -> None:
    guard = earning(Guard(bounds(0.5), None), 50)

    assert guard.refutation is None
    assert guard.record()["evidence"] == []


def test_refreshed_bounds_are_believed_unless_already_contradicted() -> None:
    guard = earning(Guard(bounds(0.5), Watch()), 50)

    guard.refresh(bounds(0.95))
    assert guard.refutation is None
    assert not guard.prior.dropped
    guard.refresh(bounds(0.4))
    assert guard.refutation is not None


def test_what_neither_half_shows_both_together_may() -> None:
    one, two = (earning(Guard(bounds(0.5), Watch()), 6) for _ in range(2))
    assert one.refutation is two.refutation is None

    assert one.joined(two, Guard(bounds(0.5), Watch())).refutation is not None


def test_a_refutation_of_one_half_is_one_of_the_whole() -> None:
    one, two = (
        earning(Guard(bounds(0.5), Watch()), 20),
        earning(Guard(bounds(0.5), Watch()), 200, reward=0.0),
    )

    assert one.joined(two, Guard(bounds(0.5), Watch())).refutation == one.refutation


def test_a_record_is_read_back() -> None:
    for guard in (earning(Guard(bounds(0.5), Watch(plays=2)), 50), Guard(None, None)):
        assert Guard.read(guard.record()).record() == guard.record()


def test_watching_may_owe_an_arm_some_plays() -> None:
    """3.7: forced exploration is a stated budget for each pair."""
    guard = Guard(bounds(0.5), Watch(plays=2))
    played = []
    for _ in range(5):
        first = guard.entrants(ARMS, (), held=True)
        played.append([entrant.arm for entrant in first])
        guard.observe((), first[0].arm, 0.0)

    assert played == [[("A",)], [("B",)], [("A",)], [("B",)], [("A",), ("B",)]]
