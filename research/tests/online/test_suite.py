from dataclasses import replace

import numpy as np
import pytest

from boundit.simulation.environments import flipped_environment
from boundit.simulation.summary import compute_half_width
from boundit_research.online.suite import make_suite, run_suite_study


def test_every_world_of_the_suite_has_a_row() -> None:
    heard = list[tuple[int, int]]()
    study = run_suite_study(runs=3, rounds=30, progress=lambda *at: heard.append(at))

    assert [row.world for row in study.rows] == [world.name for world in make_suite()]
    assert heard[-1] == (12, 12)
    assert len(str(study).splitlines()) == 14
    for row in study.rows:
        assert row.bounded.less == pytest.approx(row.without.mean - row.bounded.mean)
        assert 0 <= row.ruled_out < row.pairs


def test_intervals_allow_for_the_number_of_worlds() -> None:
    worlds = (flipped_environment(1), flipped_environment(0.5))
    both, one = (run_suite_study(runs=8, rounds=60, worlds=worlds[:n]) for n in (2, 1))
    wide, plain = (study.rows[0].half for study in (both, one))
    ratio = compute_half_width(np.arange(8.0), 0.975) / compute_half_width(np.arange(8.0), 0.95)

    assert wide / plain == pytest.approx(float(ratio))


def test_a_single_run_has_a_dash_for_an_interval() -> None:
    study = run_suite_study(runs=1, rounds=20, worlds=(flipped_environment(1),))

    assert "–  no difference" in str(study)
    assert "nan" not in str(study)


def test_a_world_where_bounds_cost_regret_is_reported() -> None:
    row = run_suite_study(runs=3, rounds=20, worlds=(flipped_environment(1),)).rows[0]
    worse = replace(row, bounded=replace(row.bounded, less=-2.0), half=1.0)

    assert worse.worse
    assert not worse.better
    assert str(worse).endswith("worse")
