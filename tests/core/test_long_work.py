"""Seconds run from when they are first asked for, and never below nothing."""

import numpy as np
import pytest

from boundit.core import long_work
from boundit.core.errors import OptionError
from boundit.core.long_work import (
    FOR_EVER,
    Progress,
    TimeBudget,
    follow_progress,
    read_time_limit,
    say_nothing,
)


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


def test_a_part_of_the_time_leaves_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SteppedClock()
    monkeypatch.setattr(long_work, "time", clock)
    whole = TimeBudget(10.0)
    part = whole.share(0.25)

    assert part.count_seconds() == 2.5
    clock.now += 3
    assert part.is_over()
    assert whole.count_seconds() == 7.0
    assert FOR_EVER.share(0.1).count_seconds() is None


def test_seconds_run_from_the_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SteppedClock()
    monkeypatch.setattr(long_work, "time", clock)
    budget = TimeBudget(2.0)

    clock.now = 100.0
    assert budget.count_seconds() == 2.0
    clock.now = 101.5
    assert budget.count_seconds() == 0.5
    clock.now = 103.0
    assert budget.count_seconds() == 0.0
    assert budget.is_over()


@pytest.mark.parametrize("limit", [None, 0, 2, 1.5, float("inf")])
def test_a_limit_is_seconds_or_none(limit: float | None) -> None:
    assert read_time_limit(limit) == limit


@pytest.mark.parametrize("limit", [-1, float("nan"), "soon"])
def test_what_is_no_limit_is_refused_by_the_name_of_its_option(limit: object) -> None:
    with pytest.raises(OptionError, match="time_limit must be seconds or None") as caught:
        read_time_limit(limit)
    assert caught.value.option == "time_limit"


def test_whoever_does_not_want_to_hear_hears_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    quiet: Progress = say_nothing
    quiet("count", 1, 2)

    assert capsys.readouterr() == ("", "")


def test_limits_of_other_makes_are_read_too() -> None:
    assert read_time_limit(np.float32(1)) == 1
    assert read_time_limit(10**400) == float("inf")
    with pytest.raises(OptionError, match="found True"):
        read_time_limit(True)


def test_a_part_remembers_the_limit_that_was_set() -> None:
    assert TimeBudget(10.0).share(0.4).limit == 10.0
    assert FOR_EVER.share(0.4).limit is None


def test_progress_is_a_bar_on_stderr_that_goes_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with follow_progress(True) as tell:
        tell("count 12 columns", 1, 2)
        tell("bound", 2, 2)

    _, first, second, gone, last = capsys.readouterr().err.split("\r")
    assert first == "[##########          ] 1/2 count 12 columns"
    assert second.rstrip() == "[####################] 2/2 bound"
    assert len(second) == len(first)
    assert not gone.strip()
    assert not last


def test_progress_is_a_function_or_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[object] = []
    with follow_progress(lambda *step: heard.append(step)) as tell:
        tell("count", 0, 1)
    for nobody in (None, False):
        with follow_progress(nobody) as tell:
            tell("count", 0, 1)

    assert heard == [("count", 0, 1)]
    assert not capsys.readouterr().err
    with (
        pytest.raises(OptionError, match="progress must be True or a function"),
        follow_progress("bar"),  # type: ignore[arg-type]
    ):
        pass
