"""Simulations: reproducible, paired, interruptible."""

import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.policy import Policy
from boundit.bandit.ts import TS
from boundit.bandit.ucb import UCB
from boundit.simulation import simulate as engine
from boundit.simulation.block import RunBlock
from boundit.simulation.environments import (
    flipped_environment,
    paper_environment,
    random_environment,
)
from boundit.simulation.errors import InvalidSimulation
from boundit.simulation.feedback import Feedback
from boundit.simulation.regret import Regret
from boundit.simulation.simulate import simulate
from tests.patience import PATIENCE

PAPER, FLIPPED = paper_environment(), flipped_environment()
WATCHED = UCB(monitor=0.05)
"""A policy that is played through ``decide`` and ``learn``."""


def play(policies: dict[str, Any], **options: Any) -> Regret:
    return simulate(PAPER, policies, **{"rounds": 40, "runs": 2, **options})


def test_neither_workers_nor_blocks_nor_memory_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    policies = {"LinUCB": LinUCB(), "TS": TS(), "watched": WATCHED}
    one = play(policies, runs=7, workers=1)
    many = play(policies, runs=7, workers=5, memory_limit="1 MB")
    monkeypatch.setattr(engine, "BLOCK_ROUNDS", 1)
    small = play(policies, runs=7, workers=2)

    assert np.array_equal(one.curves, many.curves)
    assert np.array_equal(one.curves, small.curves)


def test_all_policies_meet_the_same_rounds_and_draw_by_their_name() -> None:
    """Adding a policy, before or after, leaves every other curve as it was."""
    alone = play({"a": LinUCB(), "b": LinUCB(), "TS": TS()})
    more = play({"c": UCB(), "TS": TS(), "a": LinUCB(), "other": TS()})

    assert np.array_equal(alone.curves[0], alone.curves[1])
    assert np.array_equal(alone.curves[0], more.curves[2])
    assert np.array_equal(alone.curves[2], more.curves[1])
    assert not np.array_equal(more.curves[1], more.curves[3])


def test_the_seed_repeats_and_more_runs_leave_the_first_as_they_were() -> None:
    short, long, other = (play({"TS": TS()}, **of) for of in ({}, {"runs": 9}, {"seed": 4}))

    assert np.array_equal(short.curves, long.curves[:, :2])
    assert not np.array_equal(short.curves, other.curves)


def test_what_was_given_is_never_changed() -> None:
    policy = LinUCB(arms=[(0, 0), (1, 1)])
    before = policy.state()
    play({"it": policy})

    assert policy.state() == before


def test_regret_is_kept_at_few_rounds_and_never_falls() -> None:
    found = play({"UCB": UCB()}, rounds=1_000, runs=1)

    assert (len(found.at), found.at[0], found.at[-1]) == (200, 1, 1_000)
    assert (np.diff(found.curves, axis=2) >= 0).all()


def test_several_environments_are_played_one_after_the_other() -> None:
    policies = {"UCB": UCB(), "TS": TS()}
    asked: dict[str, Any] = {"rounds": 40, "runs": 3, "seed": 1}
    both = simulate([PAPER, FLIPPED], policies, **asked)
    alone = [simulate(each, policies, **asked) for each in (PAPER, FLIPPED)]

    assert both.environments == {PAPER.name: 3, FLIPPED.name: 3}
    for part, one in zip(both.split(), alone, strict=True):
        assert np.array_equal(part.curves, one.curves)
        assert part.environment == one.environment
    assert both.find_worst("TS") == max(
        ((one.environment, float(one.final("TS").mean())) for one in alone),
        key=lambda of: of[1],
    )


def test_a_goal_is_shared_by_all_policies() -> None:
    """Minimizing the mean is maximizing it where rewards 0 and 1 are exchanged."""
    found = play({"it": UCB(goal="min")}, rounds=500)

    assert (np.diff(found.curves, axis=2) >= 0).all()
    assert found.final("it").mean() < 0.35 * 500 * 0.4
    with pytest.raises(InvalidSimulation, match=r"different goals \(a min, b max\)"):
        play({"a": UCB(goal="min"), "b": UCB()})


def test_progress_counts_runs() -> None:
    heard = list[int]()
    play({"UCB": UCB()}, runs=25, progress=lambda _, done, __: heard.append(done), workers=2)

    assert heard == sorted(set(heard))
    assert heard[-1] == 25
    assert len(heard) > 4


def test_an_interrupt_keeps_the_runs_that_all_policies_have_done() -> None:
    def stop(_: str, done: int, __: int) -> None:
        if done >= 3:
            raise KeyboardInterrupt

    policies = {"UCB": UCB(), "LinUCB": LinUCB()}
    cut = play(policies, runs=40, progress=stop, workers=1)
    whole = play(policies, runs=cut.runs, workers=1)

    assert 3 <= cut.runs < 40
    assert np.array_equal(cut.curves, whole.curves)
    assert not [t for t in threading.enumerate() if t.name.startswith("ThreadPool")]


@pytest.mark.parametrize("policy", [UCB(), WATCHED], ids=["compiled", "round by round"])
def test_a_time_limit_keeps_the_runs_that_are_done(policy: Policy) -> None:
    cut = play({"it": policy}, rounds=2_000, runs=100_000, time_limit=0.0, workers=2)
    whole = play({"it": policy}, rounds=2_000, runs=cut.runs)

    assert 1 <= cut.runs < 100_000
    assert np.array_equal(cut.curves, whole.curves)


def test_an_interrupt_loses_little_where_rounds_are_played_one_by_one() -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    cut = play({"a": TS(), "b": WATCHED}, rounds=800, runs=400, progress=stop, workers=2)

    assert cut.runs == engine.SLOW_BLOCK_ROUNDS // 800 == 5


def test_only_workers_play(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt reaches the main thread alone, and numba does not survive one."""
    seen = set[str]()
    played = RunBlock._play_copies

    def noted(self: RunBlock, *given: Any) -> Any:
        seen.add(threading.current_thread().name)
        return played(self, *given)

    monkeypatch.setattr(RunBlock, "_play_copies", noted)
    play({"UCB": UCB()}, workers=2)

    assert seen
    assert threading.current_thread().name not in seen


def test_a_signal_ends_a_long_simulation_at_once() -> None:
    code = (
        "import boundit as bd; e = bd.simulation.paper_environment(); print('go', flush=True); "
        "bd.simulate(e, {'watched': bd.UCB(monitor=0.05)}, rounds=10**6, runs=2)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "go\n"
        for _ in range(PATIENCE):  # whoever is impatient presses twice
            with suppress(subprocess.TimeoutExpired):
                child.wait(1)
                break
            child.send_signal(signal.SIGINT)
        child.kill()
        _, said = child.communicate()

    assert "KeyboardInterrupt" in said


def test_many_arms_and_contexts_are_played() -> None:
    environment = random_environment(0, arms=40, contexts=6)
    found = simulate(environment, {"UCB": UCB(), "LinUCB": LinUCB()}, rounds=300, runs=2)

    assert environment.finite.means.shape == (64, 40)
    assert (found.curves[:, :, -1] > 0).all()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"seed": -1}, "seed=-1 is not valid. Use a whole number from 0"),
        ({"seed": None}, "seed=None is not valid"),
        ({"rounds": 1.5}, "rounds=1.5 is not valid"),
        ({"rounds": 0}, "rounds=0 is not valid. Use a whole number from 1"),
        ({"runs": "3"}, "runs='3' is not valid"),
        ({"workers": 0}, "workers=0 is not valid"),
        ({"observed": "no"}, "observed='no' is not valid. Use a share of the rounds"),
        ({"observed": True}, "observed=True is not valid"),
        ({"feedback": 3}, "feedback=3 is not valid. Use None, or Feedback"),
        ({"policies": [UCB()]}, "policies=<list> is not valid. Use a dict of policies by name"),
        ({"policies": {}}, "policies=<dict> is not valid"),
        ({"policies": {"a": UCB}}, "Use a dict of policies by name"),
        ({"policies": {"a": lambda _: 3}}, "functions that return a policy; 'a' does not"),
        ({"environment": 3}, "environment=3 is not valid. Use an Environment"),
        ({"environment": [PAPER, PAPER]}, "or several with different names"),
        (
            {"rounds": 10**9, "memory_limit": "1 GB"},
            "needs 192GB of memory. Raise memory_limit",
        ),
    ],
    ids=lambda given: str(list(given)) if isinstance(given, dict) else str(given),
)
def test_what_cannot_be_asked_is_refused(wrong: dict[str, Any], says: str) -> None:
    asked = {"environment": PAPER, "policies": {"a": UCB()}, "rounds": 2, "runs": 1, **wrong}
    with pytest.raises(InvalidSimulation) as caught:
        simulate(**asked)
    assert says in str(caught.value)


def test_an_arm_that_the_environment_lacks_is_refused() -> None:
    with pytest.raises(InvalidSimulation, match=r"Policy 'it' chose \(7, 7\), which is not an"):
        play({"it": UCB(arms=[(7, 7)])})


def test_numbers_of_numpy_make_a_result_that_is_saved(tmp_path: Path) -> None:
    three, two = np.int64(3), np.int32(2)
    play({"a": TS()}, rounds=three, runs=two, seed=three).save(tmp_path / "a.npz")
    again = Regret.load(tmp_path / "a.npz")

    assert (again.rounds, again.runs, again.seed) == (3, 2, 3)
    assert np.array_equal(again.curves, play({"a": TS()}, rounds=3, seed=3).curves)


def test_the_result_says_what_made_it(tmp_path: Path) -> None:
    late = Feedback({0: 0.5, 20: 0.5}, batch=4)
    found = play({"a": UCB(), "b": LinUCB()}, feedback=late, observed=0.5, seed=9)
    found.save(tmp_path / "late.npz")
    settings: Any = Regret.load(tmp_path / "late.npz").settings

    assert settings == found.settings
    assert (settings["feedback"], settings["observed"]) == (late.to_record(), 0.5)
    assert settings["environments"][0]["graph"] == str(PAPER.graph)
    assert [of["kind"] for of in settings["policies"].values()] == ["UCB", "LinUCB"]
    one, other = (play({"a": LinUCB(alpha=a)}).settings["policies"] for a in (0.5, 1.0))
    assert one != other


def test_policies_made_for_each_run_are_paired_with_the_others() -> None:
    """Whatever the workers: a run is known by its number, not by who plays it."""
    made = list[int]()

    def make(run: int) -> UCB:
        made.append(run)
        return UCB()

    policies = {"a": UCB(), "b": make}
    one, two = (play(policies, runs=5, workers=n, seed=1) for n in (1, 3))

    assert np.array_equal(one.curves, two.curves)
    assert np.array_equal(one.final("a"), one.final("b"))
    assert set(made) == set(range(5))


def test_an_error_of_a_users_function_says_for_which_run() -> None:
    def make(run: int) -> UCB:
        raise KeyError(run)

    with pytest.raises(KeyError) as caught:
        play({"it": make})
    assert caught.value.__notes__ == ["raised by policies['it'](0)"]


def test_policies_that_take_long_are_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="boundit"):
        play({"watched": WATCHED, "plain": UCB()}, rounds=5, runs=1)

    assert "played round by round, which takes long: watched" in caplog.text
