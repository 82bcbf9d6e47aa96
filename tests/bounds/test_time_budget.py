"""Seconds run from when they are first asked for, and never below nothing."""

import pytest

from boundit.bounds import time_budget
from boundit.bounds.time_budget import FOR_EVER, TimeBudget


class SteppedClock:
    """A clock that says what it is told."""

    now = 10.0

    def monotonic(self) -> float:
        return self.now


def test_no_limit_is_never_over() -> None:
    assert FOR_EVER.count_seconds() is None
    assert not FOR_EVER.is_over()


def test_nothing_is_over_at_once() -> None:
    assert TimeBudget(0.0).is_over()


def test_seconds_run_from_the_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SteppedClock()
    monkeypatch.setattr(time_budget, "time", clock)
    budget = TimeBudget(2.0)

    clock.now = 100.0
    assert budget.count_seconds() == 2.0
    clock.now = 101.5
    assert budget.count_seconds() == 0.5
    clock.now = 103.0
    assert budget.count_seconds() == 0.0
    assert budget.is_over()
