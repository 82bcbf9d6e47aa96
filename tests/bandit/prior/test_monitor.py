import logging
from dataclasses import replace

import pytest

from boundit.bandit.prior.monitor import BoundMonitor
from boundit.bandit.prior.watch import Watch
from boundit.terms.bound_table import BoundTable

ARMS = (("A",), ("B",))


def bounds(upper: float) -> BoundTable:
    rows = [{"Ad": ad, "lower": 0.0, "upper": upper} for ad in "AB"]
    return BoundTable.from_rows(rows, outcome="Y", treatments=["Ad"], outcome_range=(0, 1))


def earning(monitor: BoundMonitor, n: int, reward: float = 1.0) -> BoundMonitor:
    for _ in range(n):
        monitor.watch_reward((), ("A",), reward)
    return monitor


def test_a_contradiction_drops_the_table_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        monitor = earning(BoundMonitor(bounds(0.5), Watch()), 50)

    assert monitor.refutation is not None
    assert monitor.prior.dropped
    assert len(caplog.messages) == 1
    assert monitor.refutation.n < 20


def test_evidence_is_kept_on_the_scale_from_0_to_1() -> None:
    rows = [{"Ad": ad, "lower": 0.0, "upper": 5.0} for ad in "AB"]
    table = BoundTable.from_rows(rows, outcome="Y", treatments=["Ad"], outcome_range=(-1, 9))
    monitor = BoundMonitor(table, Watch())

    for reward in (-1.0, 4.0, 9.0):
        monitor.watch_reward((), ("A",), reward)

    assert monitor.evidence[(), ("A",)] == (3, 1.5)


def test_unwatched_nothing_is_kept() -> None:
    monitor = earning(BoundMonitor(bounds(0.5), None), 50)

    assert monitor.refutation is None
    assert monitor.to_record()["evidence"] == []


def test_refreshed_bounds_are_believed_unless_already_contradicted() -> None:
    monitor = earning(BoundMonitor(bounds(0.5), Watch()), 50)

    monitor.refresh(bounds(0.95))
    assert monitor.refutation is None
    assert not monitor.prior.dropped
    monitor.refresh(bounds(0.4))
    assert monitor.refutation is not None


def test_what_neither_half_shows_both_together_may() -> None:
    one, two = (earning(BoundMonitor(bounds(0.5), Watch()), 6) for _ in range(2))
    assert one.refutation is two.refutation is None

    assert one.join(two, BoundMonitor(bounds(0.5), Watch())).refutation is not None


def test_a_refutation_of_one_half_is_one_of_the_whole() -> None:
    one, two = (
        earning(BoundMonitor(bounds(0.5), Watch()), 20),
        earning(BoundMonitor(bounds(0.5), Watch()), 200, reward=0.0),
    )

    assert one.join(two, BoundMonitor(bounds(0.5), Watch())).refutation == one.refutation


def test_a_record_is_read_back() -> None:
    for monitor in (
        earning(BoundMonitor(bounds(0.5), Watch(plays=2)), 50),
        BoundMonitor(None, None),
    ):
        assert BoundMonitor.from_record(monitor.to_record()).to_record() == monitor.to_record()


def test_watching_may_owe_an_arm_some_plays() -> None:
    """3.7: forced exploration is a stated budget for each pair."""
    monitor = BoundMonitor(bounds(0.5), Watch(plays=2))
    played = []
    for _ in range(5):
        first = monitor.rank(ARMS, (), held=True)
        played.append([ranked.arm for ranked in first])
        monitor.watch_reward((), first[0].arm, 0.0)

    assert played == [[("A",)], [("B",)], [("A",)], [("B",)], [("A",), ("B",)]]


def test_forced_plays_reach_beaten_arms() -> None:
    """3.7, 3.8: what is left out by bounds is only noticed if it is played."""
    table = replace(bounds(0.5), contrasts={((), ("A",), ("B",)): -0.1})
    monitor = BoundMonitor(table, Watch(plays=1))
    played = []
    for _ in range(3):
        first = monitor.rank(ARMS, (), held=True)
        played.append([ranked.arm for ranked in first])
        monitor.watch_reward((), first[0].arm, 0.0)

    assert played == [[("A",)], [("B",)], [("B",)]]
