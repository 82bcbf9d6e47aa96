"""Bounds on larger graphs hold the truth, from drawn and from exact logs."""

import pytest
from numpy.random import Generator

from boundit.simulation import law_source
from boundit.simulation.world import World
from boundit_research.audits import large_worlds as room
from boundit_research.audits.large_worlds import LargeReport, LogTally, audit_large_worlds
from boundit_research.simulated_do import TrueMeans, compute_true_means


def test_no_bound_on_a_larger_graph_misses() -> None:
    """Exact laws never miss; whole tables of drawn logs hold at their confidence."""
    report = audit_large_worlds(6, seed=1, nodes=(10, 13), rows=5000)

    assert report
    assert report.misses == []
    usual, certain, exact = report.tallies.values()
    assert report.worlds == usual.tables == certain.tables == 6
    assert exact.tables + exact.left_out == 6
    assert usual.rows == certain.rows >= exact.rows > 0
    assert exact.mean_width < usual.mean_width < certain.mean_width
    assert exact.share_useful > 0.5


def test_the_same_seed_finds_the_same() -> None:
    one, other = (audit_large_worlds(2, seed=1, nodes=(10, 12), rows=1000) for _ in range(2))

    assert one == other


def test_a_truth_out_of_reach_is_a_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    def move(world: World, rng: Generator) -> TrueMeans:
        found = compute_true_means(world, rng)
        moved = {key: mean + 2 + 9 * i for i, (key, mean) in enumerate(found.means.items())}
        return TrueMeans(moved, found.errors, exact=True)

    monkeypatch.setattr(room, "compute_true_means", move)
    report = audit_large_worlds(3, seed=1, nodes=(10, 13), rows=1000)

    assert not report
    assert [tally.missed_tables for tally in report.tallies.values()] == [3, 3, 3]
    assert all(tally.missed_rows == tally.rows for tally in report.tallies.values())
    assert report.tallies["drawn, 95%"].missed_contrasts > 0
    assert "outside [" in report.misses[0].row
    assert any(" leads " in miss.row for miss in report.misses)


def test_an_error_of_the_truth_excuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def blur(world: World, rng: Generator) -> TrueMeans:
        found = compute_true_means(world, rng)
        means = {key: mean + 2 for key, mean in found.means.items()}
        return TrueMeans(means, dict.fromkeys(means, 1.0), exact=False)

    monkeypatch.setattr(room, "compute_true_means", blur)
    report = audit_large_worlds(1, nodes=(10, 10), rows=1000)

    assert report
    assert report.simulated == 1


def test_an_exact_law_of_too_many_cells_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(law_source, "MOST_CELLS", 1)
    report = audit_large_worlds(1, nodes=(10, 10), rows=1000)

    exact = report.tallies["exact"]
    assert (exact.tables, exact.left_out) == (0, 1)
    assert exact.mean_width == exact.share_useful == 0


def test_seldom_missed_tables_may_be_chance_and_an_exact_miss_is_none() -> None:
    """At 95 percent 50 of 1,000 tables may miss, give or take 21; at 99.9999 not one."""
    assert LogTally(0.95, tables=1000, missed_tables=70).may_be_chance
    assert not LogTally(0.95, tables=1000, missed_tables=71).may_be_chance
    assert not LogTally(0.999999, tables=1000, missed_tables=1).may_be_chance
    assert not LogTally(tables=1000, missed_contrasts=1).may_be_chance
    assert LogTally(tables=1000).may_be_chance
    assert LargeReport(0, (10, 40), 100)


def test_an_interrupt_keeps_what_is_done() -> None:
    def stop(done: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    report = audit_large_worlds(3, nodes=(10, 10), rows=500, progress=stop)

    assert report.worlds == 1
