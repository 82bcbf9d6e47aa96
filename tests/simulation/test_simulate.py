import numpy as np
import pytest

from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.ts import TS
from boundit.bandit.ucb import UCB
from boundit.bounds.derive import derive_bounds
from boundit.simulation.errors import NothingToSimulate
from boundit.simulation.simulate import simulate
from boundit.simulation.worlds import paper_world
from boundit.terms.bound_table import BoundTable

WORLD = paper_world()


def exact_bounds() -> BoundTable:
    return derive_bounds(WORLD.graph, WORLD.query, WORLD.exact_log(), confidence=None)


def test_all_policies_meet_the_same_visitors_and_luck() -> None:
    """Two equal policies earn alike, and a third beside them changes nothing."""
    twins = simulate(WORLD, {"a": LinUCB(), "b": LinUCB()}, rounds=80, runs=2, seed=1)
    more = simulate(WORLD, {"a": LinUCB(), "c": UCB()}, rounds=80, runs=2, seed=1)

    assert np.array_equal(twins.curves[0], twins.curves[1])
    assert np.array_equal(twins.curves[0], more.curves[0])


def test_the_seed_repeats_and_more_runs_leave_the_first_as_they_were() -> None:
    short = simulate(WORLD, {"TS": TS()}, rounds=40, runs=2, seed=3)
    long = simulate(WORLD, {"TS": TS()}, rounds=40, runs=3, seed=3)

    assert np.array_equal(short.curves, long.curves[:, :2])


def test_what_was_given_is_never_changed() -> None:
    policy = LinUCB(prior=exact_bounds())
    before = policy.state()
    simulate(WORLD, {"it": policy}, rounds=30, runs=1)

    assert policy.state() == before


def test_bounds_keep_arms_they_rule_out_from_being_pulled() -> None:
    """On the paper's world the exact bounds lower the regret of the same runs (2.6)."""
    found = simulate(
        WORLD, {"LinUCB": LinUCB(), "PCB": LinUCB(prior=exact_bounds())}, rounds=1_500, runs=6
    )
    first, second = found.summary()

    assert second.regret < first.regret
    assert first.less_than_first == 0
    assert second.less_than_first == pytest.approx(first.regret - second.regret)


def test_regret_is_kept_at_few_rounds_and_never_falls() -> None:
    found = simulate(WORLD, {"UCB": UCB()}, rounds=1_000, runs=1)

    assert len(found.at) == 200
    assert found.at[-1] == 1_000
    assert (np.diff(found.curves, axis=2) >= 0).all()
    assert "1 runs of 1,000 rounds" in str(found)


def test_an_interrupt_keeps_the_runs_that_are_done() -> None:
    def stop(run: int) -> None:
        if run == 2:
            raise KeyboardInterrupt

    assert simulate(WORLD, {"UCB": UCB()}, rounds=20, runs=5, told=stop).runs == 2


def test_a_simulation_of_nothing_is_refused() -> None:
    with pytest.raises(NothingToSimulate, match="found rounds=0, runs=1 and 1 policies"):
        simulate(WORLD, {"UCB": UCB()}, rounds=0, runs=1)
