"""A share of ``boundit audit --of limits``: models built to a limit lie within the bounds."""

from functools import cache
from typing import Any

import pytest

from boundit.bounds.confounding import limited_rule
from boundit.bounds.confounding.tilted_mean import find_least_tilted_mean
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit_research.audits.limits import (
    LimitMiss,
    LimitReport,
    audit_limits,
    draw_limit_problems,
    measure_limit,
)


@cache
def audit_small() -> LimitReport:
    return audit_limits(40, seed=3)


def test_models_that_keep_to_a_limit_lie_within_its_bounds() -> None:
    report = audit_small()

    assert report
    assert report.models == 40
    assert not report.misses
    assert report.used > 5
    assert report.rows >= report.used
    assert report.width < report.plain_width
    assert report.held == report.logs == report.used


def test_bounds_that_are_too_narrow_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    tilt = find_least_tilted_mean
    monkeypatch.setattr(
        limited_rule,
        "find_least_tilted_mean",
        lambda e, low, high, values, limit: tilt(e, low, high, values, 1 + (limit - 1) / 3),
    )
    report = audit_limits(15, seed=3)

    assert not report
    assert report.misses[0].log == "exact"


def test_tables_of_logs_that_miss_too_often_are_blamed() -> None:
    report = LimitReport(0, models=100, logs=100, held=85)

    assert report.is_short
    assert not report
    assert not LimitReport(0, misses=[LimitMiss("exact", "", "", "", "")])
    assert LimitReport(0, logs=100, held=95, misses=[LimitMiss("drawn", "", "", "", "")])


def test_problems_are_repeated_by_their_seed() -> None:
    one, other = (
        [str(problem.query) + str(problem.limits) for problem, _ in draw_limit_problems(1, 4)]
        for _ in range(2)
    )

    assert one == other


def test_the_limit_of_a_model_is_given_all_that_came_before() -> None:
    """Of two strata the one where the cause moves more; without a cause it is 1."""
    graph = parse("Z -> X -> Y; X <-> Y; Z -> Y")
    y: Any = (["X", "X<->Y", "Z"], [[[0.2] * 2, [0.6] * 2]] * 2)
    moved: dict[str, Any] = {"X<->Y": ([], 0.5), "Z": ([], 0.5), "Y": y}
    same: Any = (["Z", "X<->Y"], [[0.2, 0.2], [0.7, 0.7]])
    other: Any = (["Z", "X<->Y"], [[0.2, 0.2], [0.5, 0.9]])
    still, tables = Model(graph, moved | {"X": same}), moved | {"X": other}

    assert measure_limit(still, "X", "Y") == pytest.approx(1)
    odds = (0.9 / 0.1) / (0.7 / 0.3), (0.7 / 0.3) / (0.5 / 0.5)
    assert measure_limit(Model(graph, tables), "X", "Y") == pytest.approx(max(odds))
