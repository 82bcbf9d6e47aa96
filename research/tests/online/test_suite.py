import numpy as np
import pytest

from boundit.simulation.environments import flipped_environment, make_suite
from boundit.simulation.summary import compute_half_width
from boundit_research.online.suite import SuiteRow, run_suite_study


def test_every_world_of_the_suite_has_a_row() -> None:
    heard = list[tuple[int, int]]()
    study = run_suite_study(runs=3, rounds=30, progress=lambda *at: heard.append(at))

    assert [row.world for row in study.rows] == [world.name for world in make_suite()]
    assert heard[-1] == (12, 12)
    assert len(str(study).splitlines()) == 14
    for row in study.rows:
        assert row.less == pytest.approx(row.without - row.bounded)
        assert 0 <= row.ruled_out < row.pairs


def test_intervals_allow_for_the_number_of_worlds() -> None:
    worlds = (flipped_environment(1), flipped_environment(0.5))
    both, one = (run_suite_study(runs=8, rounds=60, worlds=worlds[:n]) for n in (2, 1))
    wide, plain = (study.rows[0].less_upper - study.rows[0].less for study in (both, one))
    ratio = compute_half_width(np.arange(8.0), 0.975) / compute_half_width(np.arange(8.0), 0.95)

    assert wide / plain == pytest.approx(float(ratio))
    assert both.rows[0].p >= one.rows[0].p


def test_a_single_run_has_a_dash_for_an_interval() -> None:
    study = run_suite_study(runs=1, rounds=20, worlds=(flipped_environment(1),))

    assert "–  no difference" in str(study)
    assert "nan" not in str(study)


def test_a_world_where_bounds_cost_regret_is_reported() -> None:
    row = SuiteRow("w", 4, 1, 10.0, 9.0, 30.0, 12.0, 11.0, 40.0, -2.0, -3.0, -1.0, 0.001)

    assert row.worse
    assert not row.better
    assert str(row).endswith("worse")
