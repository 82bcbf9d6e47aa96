"""Limits hold: what is not reached is said, what was tested stays as it was."""

import numpy as np
import pytest

from boundit.checks import counting
from boundit.checks.check import check
from boundit.checks.report import CheckReport
from boundit.core import long_work
from boundit.core.errors import OptionError
from boundit.graph.read import parse_graph

CHAIN = parse_graph("A -> B -> C -> D -> E -> F; A -> [S]")


class SteppedClock:
    """A clock that goes on by a second whenever somebody looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now


def draw_log(n: int = 400, levels: int = 2) -> dict[str, list[int]]:
    rng = np.random.default_rng(0)
    return {name: rng.integers(0, levels, n).tolist() for name in "ABCDEF"}


def collect(report: CheckReport) -> dict[str, object]:
    """Which answer each tested statement has, before correction."""
    return {
        str(f.statement): (f.p, f.outcome) for f in report.findings if f.outcome is not None
    }


@pytest.mark.parametrize("option", [{"time_limit": -1}, {"memory_limit": 5}])
def test_limits_that_make_no_sense_are_refused(option: dict[str, object]) -> None:
    with pytest.raises(OptionError, match="must be"):
        check(CHAIN, draw_log(), **option)  # type: ignore[arg-type]


def test_without_time_nothing_is_tested_and_nothing_is_claimed() -> None:
    report = check(CHAIN, draw_log(), time_limit=0)

    assert report.findings == ()
    assert not report.complete
    assert report.verdict() == (
        "the time limit left no time to test any of the graph's implications"
    )
    assert report.caveats[0].startswith("time_limit=0 ended the search for implications")


@pytest.mark.parametrize("seconds", [30, 33])
def test_statements_beyond_the_time_are_untestable_and_count_in_the_correction(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = check(CHAIN, draw_log())
    monkeypatch.setattr(long_work, "time", SteppedClock())
    report = check(CHAIN, draw_log(), time_limit=seconds)
    late = [f for f in report.findings if "time_limit" in str(f.reason)]

    assert 0 < len(late) < len(whole.findings) == len(report.findings) == 10
    assert all(f.status == "untestable" for f in late)
    assert str(late[0].reason) == (
        f"time_limit={seconds} was over before this was tested; a higher limit, or fewer rows, "
        "reach it."
    )
    found = collect(report)
    assert found == {k: v for k, v in collect(whole).items() if k in found}
    least = min((f for f in report.findings if f.p is not None), key=lambda f: f.p or 0.0)
    assert least.corrected == min(1.0, 10 * (least.p or 0.0))


def test_less_memory_takes_more_passes_with_the_same_answers() -> None:
    log = draw_log(20_000)
    whole, parts = check(CHAIN, log), check(CHAIN, log, memory_limit=2**20)

    assert whole.rows() == parts.rows()


def test_counts_that_do_not_fit_are_untestable_with_their_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counting, "estimate_memory", lambda cells, of: cells * of * 10**6)
    report = check(parse_graph("A -> B -> C; D"), draw_log(), memory_limit="9 MB")
    big = [f for f in report.findings if f.status == "untestable"]

    assert 0 < len(big) < len(report.findings)
    assert str(big[0].reason) == (
        "Its counts would take about 24MB, more than memory_limit='9MB' allows; a higher "
        "limit, or fewer levels of its variables, would do."
    )
