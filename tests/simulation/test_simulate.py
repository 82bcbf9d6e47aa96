"""Simulations: reproducible, paired, interruptible."""

import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from boundit.bandit.prior.watch import Watch
from numpy.random import SeedSequence, default_rng

from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.policy import Policy
from boundit.bandit.ts import TS
from boundit.bandit.ucb import UCB
from boundit.bounds.derive import derive_bounds
from boundit.simulation import simulate as engine
from boundit.simulation.environments import paper_environment, random_environment
from boundit.simulation.errors import InvalidSimulation
from boundit.simulation.feedback import Feedback
from boundit.simulation.regret import Regret
from boundit.simulation.simulate import simulate
from boundit.terms.bound_table import BoundTable
from tests.patience import PATIENCE
from tests.simulation.seeds import derive_policy_seed

WORLD = paper_environment()


def exact_bounds() -> BoundTable:
    return derive_bounds(WORLD.graph, WORLD.query, WORLD.exact_log(), confidence=None)


def plainly(name: str, policy: Policy, *, rounds: int, run: int, seed: int) -> list[float]:
    """One run in the plainest words: the regret after each round."""
    rng = default_rng(SeedSequence(seed, spawn_key=(run, 0)))
    who, uniforms = rng.random(rounds), rng.random(rounds)
    law = WORLD.model.distribution(("U1", "U2")).align(("U1", "U2")).ravel().cumsum()
    arms = [(x1, x2) for x1 in (0, 1) for x2 in (0, 1)]
    fresh = policy.clone(
        arms=arms,
        context=("U1", "U2"),
        horizon=rounds,
        seed=derive_policy_seed(name, run=run, seed=seed),
    )
    total, found = 0.0, []
    for t in range(rounds):
        u1, u2 = divmod(sum(who[t] >= end for end in law[:-1]), 2)
        decision = fresh.decide((u1, u2), id=str(t))
        mean = WORLD.mean(decision.arm, (u1, u2))
        fresh.learn(decision, float(uniforms[t] < mean))
        total += max(WORLD.mean(arm, (u1, u2)) for arm in arms) - mean
        found.append(total)
    return found


@pytest.mark.parametrize(
    "policy",
    [
        LinUCB(),
        LinUCB(prior=exact_bounds(), shared=True),
        UCB(prior=exact_bounds()),
        TS(),
        LinUCB(prior=exact_bounds(), watch=Watch(plays=3)),
    ],
    ids=["LinUCB", "shared with bounds", "UCB with bounds", "TS", "watched"],
)
def test_the_engine_is_a_plain_loop_bit_for_bit(policy: Policy) -> None:
    found = simulate(WORLD, {"it": policy}, rounds=120, runs=3, seed=5)

    for run in range(3):
        alone = plainly("it", policy, rounds=120, run=run, seed=5)
        assert found.curves[0, run].tolist() == [alone[t - 1] for t in found.at]


def test_neither_workers_nor_chunks_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    policies: dict[str, Policy] = {"LinUCB": LinUCB(), "TS": TS()}
    one = simulate(WORLD, policies, rounds=50, runs=7, workers=1)
    many = simulate(WORLD, policies, rounds=50, runs=7, workers=5)
    monkeypatch.setattr(engine, "CHUNK_ROUNDS", 1)
    small = simulate(WORLD, policies, rounds=50, runs=7, workers=2)

    assert np.array_equal(one.curves, many.curves)
    assert np.array_equal(one.curves, small.curves)


def test_all_policies_meet_the_same_contexts_and_chance() -> None:
    """Two equal policies earn alike, and others beside them change nothing."""
    twins = simulate(WORLD, {"a": LinUCB(), "b": LinUCB()}, rounds=80, runs=2, seed=1)
    more = simulate(WORLD, {"c": UCB(), "a": LinUCB()}, rounds=80, runs=2, seed=1)

    assert np.array_equal(twins.curves[0], twins.curves[1])
    assert np.array_equal(twins.curves[0], more.curves[1])


def test_a_policy_that_draws_has_luck_of_its_own_wherever_it_stands() -> None:
    """STYLE 5.6: adding a policy, before or after, leaves every other curve as it was."""
    ts = TS()
    alone = simulate(WORLD, {"TS": ts}, rounds=60, runs=2)
    second = simulate(WORLD, {"UCB": UCB(), "TS": ts, "other": ts}, rounds=60, runs=2)

    assert np.array_equal(alone.curves[0], second.curves[1])
    assert not np.array_equal(second.curves[1], second.curves[2])


def test_the_seed_repeats_and_more_runs_leave_the_first_as_they_were() -> None:
    short = simulate(WORLD, {"TS": TS()}, rounds=40, runs=2, seed=3)
    long = simulate(WORLD, {"TS": TS()}, rounds=40, runs=9, seed=3)
    other = simulate(WORLD, {"TS": TS()}, rounds=40, runs=2, seed=4)

    assert np.array_equal(short.curves, long.curves[:, :2])
    assert not np.array_equal(short.curves, other.curves)


def test_what_was_given_is_never_changed() -> None:
    policy = LinUCB(prior=exact_bounds())
    before = policy.state()
    simulate(WORLD, {"it": policy}, rounds=30, runs=1)

    assert policy.state() == before


def test_regret_is_kept_at_few_rounds_and_never_falls() -> None:
    found = simulate(WORLD, {"UCB": UCB()}, rounds=1_000, runs=1)

    assert len(found.at) == 200
    assert found.at[0] == 1
    assert found.at[-1] == found.rounds == 1_000
    assert (np.diff(found.curves, axis=2) >= 0).all()


def test_progress_is_told_in_runs() -> None:
    heard = list[int]()
    simulate(
        WORLD,
        {"UCB": UCB()},
        rounds=10,
        runs=25,
        progress=lambda _, done, __: heard.append(done),
        workers=2,
    )

    assert heard == sorted(set(heard))
    assert heard[-1] == 25
    assert len(heard) > 4


def test_an_interrupt_keeps_the_runs_that_all_policies_have_done() -> None:
    """What is kept is the simulation of so many runs."""

    def stop(_: str, done: int, __: int) -> None:
        if done >= 3:
            raise KeyboardInterrupt

    policies: dict[str, Policy] = {"UCB": UCB(), "LinUCB": LinUCB()}
    cut = simulate(WORLD, policies, rounds=20, runs=40, progress=stop, workers=1)
    whole = simulate(WORLD, policies, rounds=20, runs=cut.runs, workers=1)

    assert 3 <= cut.runs < 40
    assert np.array_equal(cut.curves, whole.curves)
    assert not [t for t in threading.enumerate() if t.name.startswith("ThreadPool")]


def test_an_interrupt_loses_little_where_rounds_are_played_one_by_one() -> None:
    """A watched policy is played round by round: its chunks are short, whoever else plays."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    watched = UCB(prior=exact_bounds(), watch=Watch(plays=3))
    policies: dict[str, Policy] = {"TS": TS(), "watched": watched}
    cut = simulate(WORLD, policies, rounds=800, runs=400, seed=2, progress=stop, workers=2)
    whole = simulate(WORLD, policies, rounds=800, runs=cut.runs, seed=2, workers=1)

    assert cut.runs == engine.SLOW_CHUNK_ROUNDS // 800 == 5
    assert np.array_equal(cut.curves, whole.curves)


def test_short_chunks_are_for_policies_that_are_played_round_by_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard = list[int]()
    monkeypatch.setattr(engine, "SLOW_CHUNK_ROUNDS", 40)
    watched = UCB(prior=exact_bounds(), watch=True)
    simulate(
        WORLD,
        {"a": UCB()},
        rounds=10,
        runs=40,
        progress=lambda _, done, __: heard.append(done),
        workers=1,
    )
    assert heard == [10, 20, 30, 40]

    one = simulate(
        WORLD,
        {"a": watched},
        rounds=10,
        runs=40,
        progress=lambda _, done, __: heard.append(done),
        workers=1,
    )
    assert heard[4:] == list(range(4, 41, 4))

    two = simulate(
        WORLD,
        {"a": watched, "b": watched},
        rounds=10,
        runs=40,
        progress=lambda _, done, __: heard.append(done),
        workers=1,
    )
    assert heard[14:] == list(range(2, 41, 2))
    assert np.array_equal(one.curves[0], two.curves[0])


def test_nobody_but_workers_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Ctrl-C reaches the main thread alone, and Numba does not survive one."""
    seen = set[str]()
    play = UCB.play

    def noted(self: UCB, *given: object) -> object:
        seen.add(threading.current_thread().name)
        return play(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(UCB, "play", noted)
    simulate(WORLD, {"UCB": UCB()}, rounds=5, runs=4, workers=2)

    assert seen
    assert threading.current_thread().name not in seen


def test_a_signal_ends_a_long_simulation_at_once() -> None:
    """Ctrl-C while the workers play through decide and learn: nobody waits for the rest."""
    play = (
        "import boundit as bd; w = bd.paper_environment(); "
        "b = bd.derive_bounds(w.graph, w.query, w.exact_log(), confidence=None); "
        "p = bd.LinUCB(prior=b.intervals_only(), watch=True); print('go', flush=True); "
        "bd.simulate(w, {'watched': p}, rounds=10**6, runs=2)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", play],
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


def test_what_a_policy_raises_is_raised() -> None:
    elsewhere = UCB(arms=[(7, 7)])

    with pytest.raises(
        InvalidSimulation, match=r"policy 'it' pulled \(7, 7\), which is no arm"
    ):
        simulate(WORLD, {"it": elsewhere}, rounds=5, runs=3)


def test_many_arms_and_contexts_are_played() -> None:
    environment = random_environment(0, arms=40, contexts=6)
    found = simulate(environment, {"UCB": UCB(), "LinUCB": LinUCB()}, rounds=300, runs=2)

    assert environment.finite.means.shape == (64, 40)
    assert (found.curves[:, :, -1] > 0).all()


def test_a_simulation_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidSimulation, match="found rounds=0, runs=1 and 1 policies"):
        simulate(WORLD, {"UCB": UCB()}, rounds=0, runs=1)
    with pytest.raises(InvalidSimulation, match="workers"):
        simulate(WORLD, {"UCB": UCB()}, rounds=1, runs=1, workers=0)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"seed": -1}, "seed must be a whole number, 0 or more, found -1"),
        ({"seed": None}, "seed must be a whole number, 0 or more, found None"),
        ({"rounds": 1.5}, "rounds must be a whole number, found 1.5"),
        ({"runs": "3"}, "runs must be a whole number, found '3'"),
        ({"workers": 1.5}, "workers must be a whole number, 1 or more, found 1.5"),
        ({"observed": "no"}, "observed must be True, False, or a share"),
        ({"policies": [UCB()]}, "policies must be a dict of policies by name"),
        ({"policies": {"a": UCB}}, "must be a policy"),
        ({"environment": 3}, "environment must be a Environment"),
    ],
    ids=repr,
)
def test_what_cannot_be_asked_is_refused(wrong: dict[str, object], says: str) -> None:
    asked = {"environment": WORLD, "policies": {"a": UCB()}, "rounds": 2, "runs": 1, **wrong}
    with pytest.raises(InvalidSimulation, match=says):
        simulate(**asked)  # type: ignore[arg-type]


def test_numbers_of_numpy_make_a_result_that_is_saved(tmp_path: Path) -> None:
    three, two = np.int64(3), np.int32(2)
    found = simulate(WORLD, {"a": TS()}, rounds=three, runs=two, seed=three)  # type: ignore[arg-type]
    found.save(tmp_path / "a.npz")
    again = Regret.load(tmp_path / "a.npz")

    assert (again.rounds, again.runs, again.seed) == (3, 2, 3)
    same = simulate(WORLD, {"a": TS()}, rounds=3, runs=2, seed=again.seed)
    assert np.array_equal(again.curves, same.curves)


def test_the_result_says_what_made_it() -> None:
    found = simulate(WORLD, {"PCB": LinUCB(prior=exact_bounds())}, rounds=5, runs=1, seed=9)
    settings = found.settings

    assert (found.seed, found.world) == (9, "the paper's environment")
    assert settings["environment"]["graph"] == str(WORLD.graph)  # type: ignore[index]
    assert settings["policies"]["PCB"]["prior"]["profile"] == "sound"  # type: ignore[index]


def test_feedback_is_kept_with_the_result(tmp_path: Path) -> None:
    late = Feedback(delay={0: 0.5, 20: 0.5}, batch=4)
    asked = {"rounds": 50, "runs": 2, "seed": 1}
    found = simulate(WORLD, {"a": UCB()}, feedback=late, observed=0.5, **asked)  # type: ignore[arg-type]
    found.save(tmp_path / "late.npz")
    kept = Regret.load(tmp_path / "late.npz")

    assert kept.settings["feedback"] == late.to_record()
    assert kept.settings["observed"] == 0.5
    plain = simulate(WORLD, {"a": UCB()}, **asked)  # type: ignore[arg-type]
    assert "feedback" not in plain.settings
    at_once = simulate(WORLD, {"a": UCB()}, feedback=Feedback(), **asked)  # type: ignore[arg-type]
    assert np.array_equal(at_once.curves, plain.curves)
    assert not np.array_equal(kept.curves, plain.curves)


def test_policies_made_for_each_run_are_paired_with_the_others() -> None:
    """Whatever the workers: a run is known by its number, not by who plays it."""
    made = list[int]()

    def make(run: int) -> UCB:
        made.append(run)
        return UCB()

    policies = {"a": UCB(), "b": make}
    asked = {"rounds": 50, "runs": 5, "seed": 1}
    one, two = (simulate(WORLD, policies, workers=n, **asked) for n in (1, 3))  # type: ignore[arg-type]

    assert np.array_equal(one.curves, two.curves)
    assert np.array_equal(one.final("a"), one.final("b"))
    assert set(made) == set(range(5))
    assert one.settings["policies"]["b"]["run"] == 0  # type: ignore[index]


def test_policies_that_take_long_are_told(caplog: pytest.LogCaptureFixture) -> None:
    policies = {"watched": UCB(prior=exact_bounds(), watch=Watch()), "plain": UCB()}
    with caplog.at_level("INFO", logger="boundit"):
        simulate(WORLD, policies, rounds=5, runs=1)

    assert "played round by round, which takes long: watched" in caplog.text
