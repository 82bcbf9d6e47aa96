import pytest

from boundit.bounds.derive import derive_bounds
from boundit.simulation.environments import flipped_environment
from boundit_research.online.monitor import make_wrong_bounds, run_monitor_study


def test_the_wrong_bounds_are_wrong_for_the_best_arm_alone() -> None:
    """Its upper end lies below the second best mean, so that it is never worth a pull."""
    world = flipped_environment()
    right = derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)
    wrong = make_wrong_bounds(world, right, error=0.1)

    for (arm, context), mean in world.means().items():
        if arm == (1, 1):
            second = world.mean((0, 1), context)
            assert wrong[arm, context].upper == pytest.approx(second - 0.1)
            assert wrong[arm, context].upper < mean
        else:
            assert wrong[arm, context] == right[arm, context]


def test_the_study_has_a_curve_and_a_slope_for_each() -> None:
    study = run_monitor_study(runs=2, rounds=120, explore=0.5)

    assert len(study.regret.policies) == len(study.slopes) == 6
    mean = study.regret.bands()[1].mean  # kept in every round
    assert dict(study.slopes)["wrong bounds"] == pytest.approx((mean[119] - mean[89]) / 30)
    assert "regret for each round of the last quarter" in str(study)
    assert study.record()["explore"] == 0.5
