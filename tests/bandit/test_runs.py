"""Whole runs play what single requests would, with rewards at once or late."""

from typing import Any

import numpy as np
import pytest

from boundit.bandit import OAM, TS, UCB
from boundit.bandit.compiled import step
from boundit.bandit.options import CommonOptions
from boundit.bandit.policy import Policy
from tests.bandit.policies import ARMS, CONTEXTS, NAMES, PRIORS, make, make_environment, table

RUNS, ROUNDS = 2, 60


def draw(seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    contexts = rng.integers(len(CONTEXTS), size=(RUNS, ROUNDS))
    return contexts, rng.random((RUNS, ROUNDS)), np.arange(RUNS, dtype=np.uint64)


def play_singly(
    policy: Policy, run: int, contexts: Any, uniforms: Any, *, values: Any, come: Any = None
) -> list[int]:
    """Play one run by decide and learn; rewards of round s come after round ``come[s]``."""
    one, environment, pulls = policy.clone(seed=run), make_environment(values), []
    waiting = dict[int, Any]()
    for t in range(ROUNDS):
        c = int(contexts[run, t])
        waiting[t] = one.decide(CONTEXTS[c], id=str(t))
        pulls.append(one._columns[waiting[t].arm_values])
        for s in [s for s in waiting if (s if come is None else come[s]) == t]:
            decision = waiting.pop(s)
            place = ARMS.index(decision.arm_values)
            level = environment.draw_reward(int(contexts[run, s]), place, uniforms[run, s])
            one.learn(decision, values[level])
    return pulls


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("explore", [0.0, 0.2])
def test_they_are_those_of_single_requests(name: str, prior: str, explore: float) -> None:
    policy = make(name, PRIORS[prior], explore=explore)
    contexts, uniforms, seeds = draw()
    pulls = policy.play(make_environment(), contexts, uniforms, seeds)
    for run in range(RUNS):
        single = play_singly(policy, run, contexts, uniforms, values=(1.0, 0.0))
        assert pulls[run].tolist() == single


# Without a prior single requests number contexts as they come, and OAM solves its program in that
# order: its roundings, and so its arms, may differ from those of whole runs.
@pytest.mark.parametrize("name", [name for name in NAMES if name != "OAM"])
def test_rewards_of_another_range_and_the_least(name: str) -> None:
    policy = make(name, goal="min", reward_range=(-1.0, 3.0))
    contexts, uniforms, seeds = draw(1)
    values = (3.0, -0.5)
    pulls = policy.play(make_environment(values), contexts, uniforms, seeds)
    for run in range(RUNS):
        assert pulls[run].tolist() == play_singly(
            policy, run, contexts, uniforms, values=values
        )


@pytest.mark.parametrize("name", NAMES)
def test_late_rewards(name: str) -> None:
    policy = make(name, table())
    contexts, uniforms, seeds = draw(2)
    delays = np.random.default_rng(3).integers(0, 15, size=ROUNDS)
    come = np.arange(ROUNDS) + delays
    order = np.argsort(come, kind="stable")
    due = np.array([int((come <= t).sum()) for t in range(ROUNDS)])
    arrivals = (
        np.tile(order, (RUNS, 1)),
        np.tile(due, (RUNS, 1)),
        np.full((RUNS, ROUNDS), np.nan),
    )
    pulls = policy.play(make_environment(), contexts, uniforms, seeds, None, arrivals)
    for run in range(RUNS):
        assert pulls[run].tolist() == play_singly(
            policy, run, contexts, uniforms, values=(1.0, 0.0), come=come
        )


def test_what_only_single_requests_can_play() -> None:
    environment, drawn = make_environment(), draw()
    assert make("UCB", table(), monitor=0.05).play(environment, *drawn) is None
    assert make("UCB", arms=[(7, 7)], context=["U1", "U2"]).play(environment, *drawn) is None
    assert make("UCB", context=["U1"], arms=ARMS).play(environment, *drawn) is None
    assert make("UCB").play(make_environment((2.0, 0.0)), *drawn) is None
    assert (
        OAM(horizon=10, arms=ARMS, context=["U1", "U2"]).play(environment, *drawn) is not None
    )


class Greedy(UCB):
    """A policy of a user, whose arrays have no compiled loop."""

    def make_arrays(self) -> Any:
        return _Plain(*super().make_arrays())


class _Plain(UCB.__init__.__globals__["UCBArrays"]):  # type: ignore[misc, name-defined]
    pass


def test_a_policy_of_a_user_plays_through_requests_and_keeps_its_state() -> None:
    policy = Greedy(table(), seed=1)
    assert policy.play(make_environment(), *draw()) is None
    policy.learn(policy.decide((0, 0)), 1.0)
    assert isinstance(Policy.from_state(policy.state()), Greedy)


def test_a_step_that_makes_an_array_is_refused() -> None:
    # Steps are compiled without counting who holds an array; an array would never be freed.
    @step
    def leak(n: int) -> Any:
        return np.empty(n)

    with pytest.raises(Exception, match="nopython"):
        leak(3)


def test_options_are_typed() -> None:
    assert set(CommonOptions.__annotations__) >= {"monitor", "goal", "id_window"}
    assert TS.draws
