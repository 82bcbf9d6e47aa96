import numpy as np
import pytest

from boundit.graph.implications import implications
from boundit.graph.separation import open_walk
from boundit_research.audits.check_power import (
    PowerPoint,
    draw_log,
    draw_trial,
    draw_trials,
    format_table,
    measure_check_power,
)


@pytest.fixture(scope="module")
def points() -> tuple[PowerPoint, ...]:
    return measure_check_power(40, sizes=(200, 2000, 20_000), seed=1)


def test_false_alarms_stay_at_the_level(points: tuple[PowerPoint, ...]) -> None:
    """Over 120 logs; margin 3 standard errors of a share of 0.05, that is 0.06."""
    alarms = np.mean([point.false_alarms for point in points])

    assert alarms <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 120)


def test_a_missing_edge_is_found_the_more_often_the_more_rows(
    points: tuple[PowerPoint, ...],
) -> None:
    """40 logs of each size, the same worlds in each; one standard error is 0.08 or less."""
    few, more, most = (point.finds for point in points)

    assert few < more < most
    assert few > 0.3
    assert most > 0.85


def test_every_wrong_graph_says_something_untrue() -> None:
    for trial, _ in draw_trials(20, seed=2):
        given = {trial.true.selection} if trial.true.selection else set()
        untrue = [
            s
            for s in implications(trial.wrong)
            if open_walk(trial.true, s.one, s.other, given=s.given | given)
        ]

        assert untrue


def test_a_log_has_as_many_rows_as_asked() -> None:
    rng = np.random.default_rng(3)
    trial = None
    while trial is None:
        trial = draw_trial(rng)

    assert draw_log(trial.law, 500, rng).count(trial.law.axes).rows == 500


def test_the_table_shows_both_curves() -> None:
    lines = format_table([PowerPoint(200, 400, 0.05, 0.5)]).splitlines()

    assert lines[0].startswith("false alarms on the true graph (level 0.05)")
    assert lines[2].split() == ["200", "400", "0.050", "+-", "0.022", "0.500", "+-", "0.050"]
