"""The online study in small: who plays, in which worlds, on which runs."""

import numpy as np
import pytest

from boundit.simulation.environments import random_environment
from boundit.simulation.policies import PCB
from boundit_research.online.logs import write_interval
from boundit_research.online.study import (
    ALL,
    BLIND,
    LOGGED,
    play_world,
    run_online_study,
)


def test_the_study_has_every_policy_in_both_worlds() -> None:
    heard = list[tuple[int, int]]()
    study = run_online_study(
        runs=6, oam_runs=2, rounds=40, points=2_000, progress=lambda *at: heard.append(at)
    )

    for played, world in ((study.paper, "the paper's"), (study.flip, "the flipped")):
        assert played.regret.environment.startswith(world)
        assert (played.regret.runs, played.oam.runs) == (6, 2)
        assert len(played.regret.policies) == 2 * len(ALL) + 2 + 8
        assert played.oam.policies == ("LinUCB", "OAM", "OAM-PCB", f"OAM{LOGGED}")
        assert played.own_logs.runs == 6
        assert played.own_logs.policies == ("LinUCB", "LinUCB-PCB", "Fused", BLIND)
    assert heard[-1] == (40, 40)
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)


def test_oam_plays_the_first_runs_of_the_rest() -> None:
    """So that OAM may be compared with LinUCB run by run."""
    played = run_online_study(runs=4, oam_runs=2, rounds=30, points=2_000).paper

    together = played.regret.final("LinUCB")[:2]
    assert np.array_equal(played.oam.final("LinUCB"), together)
    assert (
        played.compare("OAM-PCB", than="LinUCB").less
        == (together - played.oam.final("OAM-PCB")).mean()
    )
    paired = played.regret.final("UCB") - played.regret.final("UCB-PCB")
    assert played.compare("UCB-PCB", than="UCB").less == paired.mean()


def test_runs_with_logs_of_their_own_meet_the_same_visitors() -> None:
    """So that Fused may be compared with all other policies run by run."""
    played = run_online_study(runs=4, oam_runs=2, rounds=60, points=2_000).paper

    own = played.own_logs
    assert np.array_equal(own.final("LinUCB"), played.regret.final("LinUCB"))
    assert not np.array_equal(own.final("Fused"), own.final(BLIND))
    assert "a log for each run; the paper's environment" in str(played)


def test_quick_is_a_third_and_repeats() -> None:
    quick, again = (
        run_online_study(runs=9, oam_runs=6, rounds=20, points=2_000, quick=True)
        for _ in range(2)
    )

    assert (quick.paper.regret.runs, quick.paper.oam.runs) == (3, 2)
    assert str(quick) == str(again)
    assert quick.paper.record() == again.paper.record()


def test_in_full_every_policy_has_bounds_of_both_kinds() -> None:
    """Also in a world of another shape than the paper's."""
    world = random_environment(2, arms=3, contexts=1)
    found = play_world(world, runs=2, oam_runs=1, own_log_runs=1, rounds=15, points=1_000)

    assert len(found.regret.policies) == 3 * len(ALL) + 8
    told: dict[str, dict[str, str]] = found.regret.settings["policies"]  # type: ignore[assignment]
    for kind in ALL:
        assert len({told[name]["state"] for name in (kind, kind + PCB, kind + LOGGED)}) == 3


def test_a_study_that_is_interrupted_is_none() -> None:
    """Half a study would compare policies on other runs than it says."""

    def stop(done: int, _: int) -> None:
        if done > 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_online_study(runs=40, oam_runs=2, rounds=10, points=1_000, progress=stop)


def test_a_single_run_has_no_interval() -> None:
    assert write_interval(np.nan, np.nan) == "–"
    assert write_interval(-1.26, 3000.0, 2) == "[-1.26, 3,000.00]"
