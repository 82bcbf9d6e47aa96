"""Living bounds on the paper's world: valid at all times, and worth having (THEORY 3.9)."""

from dataclasses import replace

import pytest

from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bounds.derive import derive_bounds
from boundit.simulation.worlds import paper_world
from boundit.studies.online.living import (
    count_runs_that_miss,
    make_living_policies,
    run_living_study,
)
from boundit.terms.bound_table import BoundTable
from boundit.terms.interval import Interval


@pytest.fixture(scope="module")
def exact() -> BoundTable:
    world = paper_world()
    return derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)


def test_ends_ever_miss_in_no_more_runs_than_allowed(exact: BoundTable) -> None:
    """Under the policy's own choices; a large error, so that misses would show."""
    policy = LinUCB(prior=exact, floor=True, living=0.3)

    missed = count_runs_that_miss(paper_world(), exact, policy, range(60), 600, 1, 0.3)

    assert missed <= 0.3 * 60


def test_cells_that_are_wrong_are_found_to_miss(exact: BoundTable) -> None:
    """The count counts: with cells a little too low, ends end below the truth."""
    (plan,) = exact.living
    low = {
        key: tuple(Interval(0.9 * e.lower, 0.9 * e.upper) for e in ends)
        for key, ends in plan.ends.items()
    }
    wrong = replace(exact, living=(replace(plan, ends=low),))

    assert (
        count_runs_that_miss(
            paper_world(), wrong, LinUCB(prior=exact), range(2), 3_000, 0, 0.05
        )
        == 2
    )


def test_living_bounds_regret_less_on_the_same_luck() -> None:
    study = run_living_study(runs=8, rounds=3_000)

    assert list(study.regret.policies) == list(make_living_policies(*[make_open_table()] * 2))
    ends = dict(
        zip(study.regret.policies, study.regret.curves[:, :, -1].mean(axis=1), strict=True)
    )
    assert ends["living, floor"] < 0.5 * ends["LinUCB-PCB"]
    assert ends["living"] < ends["LinUCB"]
    assert study.followed == 8
    assert "runs; allowed are 5%" in str(study)
    assert study.record()["living"] == {"missed": study.missed, "followed": 8, "error": 0.05}


def make_open_table() -> BoundTable:
    rows = [{"X": x, "lower": 0.0, "upper": 1.0} for x in (0, 1)]
    return BoundTable.from_rows(rows, outcome="Y", treatments=["X"], reward_range=(0, 1))
