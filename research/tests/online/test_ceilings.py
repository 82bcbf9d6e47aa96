from math import sqrt

import pytest

from boundit.simulation.environments import (
    flipped_environment,
    paper_environment,
    random_environment,
)
from boundit_research.online.ceilings import (
    CeilingRow,
    _apply_theorem5,
    _make_features,
    run_ceiling_study,
)
from boundit_research.theory import bound_log_volume


def test_each_theorem_has_its_rows() -> None:
    worlds = (flipped_environment(), random_environment(4, arms=3, contexts=1))
    study = run_ceiling_study(runs=2, rounds=60, oam_runs=1, worlds=worlds)

    assert [(row.theorem, row.policy) for row in study.rows] == [
        (5, "LinUCB"),
        (8, "UCB"),
        (7, "OAM"),
        (5, "LinUCB-PCB"),
        (8, "UCB-PCB"),
        (7, "OAM-PCB"),
        *((t, p + s) for s in ("", "-PCB") for t, p in ((5, "LinUCB"), (8, "UCB"))),
    ]
    assert len(str(study).splitlines()) == 12


def test_theorem_5_is_about_every_run_and_theorem_8_about_the_mean() -> None:
    assert not CeilingRow(5, "w", "LinUCB", 1.0, 3.0, 2.0).holds
    assert CeilingRow(8, "w", "UCB", 1.0, 3.0, 2.0).holds


def test_linucb_plays_with_the_alpha_of_the_ceiling() -> None:
    """Theorem 5: 2 alpha sqrt(2 T k d log(1 + T L^2 / (d lambda))) for k models."""
    world = paper_environment()
    alpha, ridge, ceiling = _apply_theorem5(world, _make_features(world), None, 1_000)
    volume = bound_log_volume(horizon=1_000, n_features=5, norm=sqrt(5), ridge=ridge)

    assert ridge == pytest.approx(5)
    assert ceiling == pytest.approx(2 * alpha * sqrt(2 * 1_000 * 4 * volume))
