import logging
from dataclasses import replace

import pytest

from boundit.bandit.prior.monitor import BoundMonitor
from boundit.bandit.prior.watch import Watch
from boundit.terms.bound_table import BoundTable
from tests.bandit.all_policies import ARMS as CELLS
from tests.bandit.narrowing_tables import fused_table, living_table, plan

ARMS = (("A",), ("B",))


def bounds(upper: float) -> BoundTable:
    rows = [{"Ad": ad, "lower": 0.0, "upper": upper} for ad in "AB"]
    return BoundTable.from_rows(rows, outcome="Y", treatments=["Ad"], reward_range=(0, 1))


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
    assert caplog.messages == [str(monitor.refutation)]
    assert monitor.refutation.n < 20


def test_evidence_is_kept_on_the_scale_from_0_to_1() -> None:
    rows = [{"Ad": ad, "lower": 0.0, "upper": 5.0} for ad in "AB"]
    table = BoundTable.from_rows(rows, outcome="Y", treatments=["Ad"], reward_range=(-1, 9))
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


def wrong() -> BoundTable:
    """A table whose cells say that every mean is at most 0.3, and which says at least 0.6."""
    table = living_table(plan(slack=0.0))
    low = {key: replace(bound, lower=0.6, upper=1.0) for key, bound in table.bounds.items()}
    return replace(table, bounds=low, confidence=0.9)


def shown(monitor: BoundMonitor, n: int, cell: int) -> BoundMonitor:
    for _ in range(n):
        monitor.narrow((0, 0), (0, 0), (cell,), 0.0)
    return monitor


def test_what_rounds_show_may_contradict_the_bounds(caplog: pytest.LogCaptureFixture) -> None:
    """3.9: ends that cross refute the graph or that nothing changes; all bounds are dropped."""
    monitor = BoundMonitor(wrong(), None)
    assert list(monitor.observes) == ["W"]
    with caplog.at_level(logging.WARNING):
        shown(monitor, 200, 0)

    refutation = monitor.refutation
    assert refutation is not None
    assert monitor.prior.dropped
    assert list(monitor.observes) == []
    assert caplog.messages == [str(refutation)]
    assert str(refutation) == (
        f"no law of W and of rewards given it fits what {refutation.n} rounds like that of arm "
        "(0, 0) in context (0, 0) showed, its bound being [0.6, 1]: refuted at level 0.25, "
        "no bound of the same graph and log is believed any more"
    )
    assert BoundMonitor.from_record(monitor.to_record()).refutation == refutation
    assert BoundMonitor.from_record(monitor.to_record()).to_record() == monitor.to_record()


def test_what_was_shown_stays_when_bounds_are_refreshed() -> None:
    monitor = shown(BoundMonitor(living_table(), None), 40, 0)
    before = monitor.prior.rank(CELLS, (0, 0), held=False)

    monitor.refresh(living_table())
    assert monitor.prior.rank(CELLS, (0, 0), held=False) == before
    monitor.refresh(wrong())
    assert monitor.refutation is not None
    monitor.refresh(bounds(0.5))
    assert monitor.to_record()["refutation"] is monitor.to_record()["narrowing"] is None


def test_joined_monitors_know_what_both_were_shown() -> None:
    table = living_table()
    one, two = (shown(BoundMonitor(table, None), n, cell) for n, cell in ((30, 0), (50, 2)))

    both = one.join(two, BoundMonitor(table, None))

    assert both.narrowing is not None
    assert both.narrowing.n_seen == 80
    assert both.refutation is None
    assert both.prior.narrowing is both.narrowing


def test_cells_and_rewards_are_kept_in_a_record_and_joined() -> None:
    table = fused_table()
    one, two = (shown(BoundMonitor(table, None), n, cell) for n, cell in ((30, 0), (20, 1)))
    for _ in range(10):
        one.narrow((0, 0), (1, 1), (1,), 1.0)

    assert BoundMonitor.from_record(one.to_record()).to_record() == one.to_record()
    both = one.join(two, BoundMonitor(table, None))
    assert both.narrowing is not None
    assert both.narrowing.n_seen == 60
    assert both.narrowing.found.sums.sum() == 10
    assert both.refutation is None


def test_rewards_that_rows_of_the_log_contradict_are_refuted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    monitor = BoundMonitor(fused_table(2_000), None)
    with caplog.at_level(logging.WARNING):
        for _ in range(500):
            monitor.narrow((0, 0), (0, 0), (0,), 1.0)

    assert monitor.refutation is not None
    assert monitor.refutation.level == pytest.approx(0.05 + 1.5 * 0.05)
    assert len(caplog.messages) == 1
