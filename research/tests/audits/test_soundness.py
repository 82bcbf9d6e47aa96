from functools import cache

import pytest

from boundit.simulation.model import Model
from boundit_research.audits.soundness import (
    RATE_KNOWN,
    AuditReport,
    ProfileTally,
    audit_bounds,
)


@cache
def audit_small() -> AuditReport:
    return audit_bounds(16, seed=3)


def test_no_sound_bound_misses_and_the_same_seed_finds_the_same() -> None:
    """Exact laws of random models in, both profiles judged."""
    one, other = audit_small(), audit_bounds(16, seed=3)

    assert one == other
    assert one
    assert one.models == 16
    sound, paper = one.tallies["sound"], one.tallies["paper"]
    assert sound.missed_rows == 0
    assert sound.rows == paper.rows
    assert sound.mean_width <= paper.mean_width
    assert sound.share_useful >= paper.share_useful
    known = one.tallies[RATE_KNOWN]
    assert known.missed_rows == 0
    assert known.mean_width < sound.mean_width
    assert sound.contrasts > 0
    assert sound.missed_contrasts == known.missed_contrasts == 0


def test_every_model_is_told() -> None:
    heard: list[int] = []
    audit_bounds(3, progress=heard.append)

    assert heard == [1, 2, 3]


def test_a_miss_is_counted_and_makes_the_report_false(monkeypatch: pytest.MonkeyPatch) -> None:
    """The truth moved out of reach: every interval but the trivial ones misses."""
    true_effect = Model.effect

    def wrong(self: Model, **roles: object) -> object:
        found = true_effect(self, **roles)  # type: ignore[arg-type]
        return type(found)(found.axes, found.values + 2)

    monkeypatch.setattr(Model, "effect", wrong)
    report = audit_bounds(2)

    assert not report
    assert report.tallies["sound"].missed_models == 2
    assert report.misses
    assert "outside [" in report.misses[0].row


def test_an_interrupt_keeps_what_is_done() -> None:
    def stop(done: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    assert audit_bounds(10, progress=stop).models == 2


def test_ends_are_counted_by_rule_and_rows_by_whether_the_outcome_steers_selection() -> None:
    tally = audit_small().tallies["sound"]

    assert sum(tally.by_rule.values()) == 2 * tally.rows
    assert {"exact recovery", "range"} <= tally.by_rule.keys()
    assert 0 < tally.steered < tally.rows
    assert tally.share_useful_unsteered > tally.share_useful


def test_an_empty_report_divides_by_nothing() -> None:
    assert ProfileTally().mean_width == ProfileTally().share_useful == 0.0
    assert ProfileTally().share_useful_unsteered == 0.0
    assert AuditReport(0)
