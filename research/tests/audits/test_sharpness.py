"""Gaps between our ends and the furthest models, and that a model beyond one is noticed."""

import pytest

from boundit_research.audits import sharpness as study
from boundit_research.audits.sharpness import (
    NOTHING,
    RATE,
    SUITE,
    EndGap,
    SharpnessReport,
    measure_sharpness,
)

BOW, *_ = SUITE
CHOSEN = tuple(
    case
    for case in SUITE
    if case.name in {"bow", "instrument", "covariate steers", "arm steers, bow"}
)


def test_no_model_lies_beyond_an_end_and_these_ends_are_sharp() -> None:
    """A share of ``boundit audit --of sharpness``; where all we say is [0, 1], all is true."""
    report = measure_sharpness(1, suite=CHOSEN, seed=5)

    assert report
    assert [(row.case, row.known, row.ends, row.sharp) for row in report.summarize()] == [
        ("bow", NOTHING, 4, 4),
        ("instrument", NOTHING, 4, 4),
        ("covariate steers", NOTHING, 4, 4),
        ("covariate steers", RATE, 4, 4),
        ("arm steers, bow", NOTHING, 4, 4),
        ("arm steers, bow", RATE, 4, 4),
    ]
    assert max(abs(end.gap) for end in report.ends) < 1e-4


def test_where_the_search_finds_nothing_the_true_model_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a larger table two rows are tried, the same ones whatever is known."""
    monkeypatch.setattr(study, "find_furthest", lambda *_: None)
    (case,) = (case for case in SUITE if case.name == "paper, one arm")
    report = measure_sharpness(1, suite=(case,), seed=1)

    assert report
    assert len(report.ends) == 8
    assert [e.row for e in report.ends[:4]] == [e.row for e in report.ends[4:]]
    assert len({e.row for e in report.ends}) == 2
    assert all(e.gap >= -1e-9 and not e.agreed for e in report.ends)
    for lower, upper in zip(report.ends[::2], report.ends[1::2], strict=True):
        assert lower.found == upper.found


def make_end(gap: float, agreed: int, known: str = NOTHING, side: str = "upper") -> EndGap:
    found = 0.7 - gap if side == "upper" else 0.7 + gap
    return EndGap("bow", known, 0, "X=1", side, "range", 0.7, found, agreed)


def test_gaps_are_summed_up_by_case_and_knowledge() -> None:
    ends = [
        make_end(0.2, 4),
        make_end(0.1, 3),
        make_end(0.0, 8),
        make_end(0.05, 1, RATE),
        make_end(0.15, 8, RATE),
    ]
    nothing, rate = SharpnessReport(0, ends=ends).summarize()

    assert (nothing.ends, nothing.sharp, nothing.settled) == (3, 1, 1)
    assert (nothing.median_gap, nothing.worst_gap) == pytest.approx((0.1, 0.2))
    assert (rate.ends, rate.sharp, rate.settled) == (2, 0, 1)
    assert (rate.median_gap, rate.worst_gap) == pytest.approx((0.1, 0.15))
