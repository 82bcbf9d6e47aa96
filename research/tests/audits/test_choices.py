"""The audit of choices: no promise is exceeded on exact laws, and a false one would be seen."""

from dataclasses import replace

import pytest

from boundit.decisions.choose.choose import choose
from boundit.terms.choices.choice import Choice
from boundit_research.audits import choices
from boundit_research.audits.choices import (
    AT_ONCE,
    WAYS,
    ChoiceReport,
    DrawnChoices,
    audit_choices,
)


def test_no_regret_exceeds_what_was_promised() -> None:
    report = audit_choices(10, seed=3)

    assert report
    assert report.models == 10
    assert report.choices == len(WAYS) * report.contexts
    assert 0 < report.regret < report.promised <= report.single
    assert sum(count.tables for count in report.drawn.values()) == 10


def test_promises_that_are_too_small_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def boast(*arguments: object, **options: object) -> Choice:
        made = choose(*arguments, **options)  # type: ignore[arg-type]
        return replace(
            made, choices={at: replace(one, regret=-1.0) for at, one in made.choices.items()}
        )

    monkeypatch.setattr(choices, "choose", boast)

    report = audit_choices(5, seed=3)

    assert not report
    assert len(report.misses) == report.choices
    assert report.drawn[AT_ONCE].missed == report.drawn[AT_ONCE].tables


def test_logs_may_exceed_promises_as_often_as_their_confidence_says() -> None:
    assert DrawnChoices().chance == 1
    assert DrawnChoices(1_000, 200, 200.0).chance > 0.1
    few = ChoiceReport(0, drawn={AT_ONCE: DrawnChoices(1_000, 270, 200.0)})
    assert not few


def test_an_interrupted_audit_keeps_what_is_done() -> None:
    def stop(done: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    assert audit_choices(5, seed=1, progress=stop).models == 1
