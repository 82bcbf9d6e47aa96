"""Whole runs against a plain loop over ``decide`` and ``learn``, and what they share."""

from collections.abc import Callable
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from boundit.bandit.fused.policy import Fused
from boundit.bandit.lin_ts import LinTS
from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.policy import Policy
from boundit.bandit.ts import TS
from boundit.bandit.ucb import UCB
from boundit.bounds.derive import derive_bounds
from boundit.simulation.block import RunBlock, Stopped
from boundit.simulation.environment import Environment
from boundit.simulation.environments import paper_environment
from boundit.simulation.feedback import Feedback, schedule_rewards
from tests.simulation.seeds import derive_policy_seed
from tests.simulation.test_environment import make_numeric

if TYPE_CHECKING:
    from boundit.bandit.options import CommonOptions

PAPER = paper_environment()
BOUNDS = derive_bounds(PAPER.graph, PAPER.query, PAPER.log(5_000, seed=0))
NUMERIC = make_numeric()
SEED = 3


def play_plainly(
    block: RunBlock, policy: Policy, run: int, *, observed: tuple[str, ...] = ()
) -> list[int]:
    """Play one run in the plainest words: a drawer of letters that are opened when they come."""
    environment, n = block.environment, block.rounds
    draw = [default_rng(SeedSequence(SEED, spawn_key=(run, stream))) for stream in range(6)]
    who, uniforms = draw[0].random(n), draw[0].random(n)
    ends = environment.shares.cumsum()
    shown, seen, delays, losses = (draw[stream].random(n) for stream in (2, 3, 4, 5))
    finite = environment.show(observed)
    player = policy.clone(
        arms=finite.arms,
        context=environment.query.context,
        horizon=n,
        reward_range=environment.outcome_range,
        seed=derive_policy_seed("it", run=run, seed=SEED),
    )
    arrivals = schedule_rewards(block.feedback or Feedback(), delays[None], losses[None])
    order, due, defaults = arrivals.order[0], arrivals.ends[0], arrivals.defaults[0]
    letters, pulls = [], list[int]()
    for t in range(n):
        context = sum(who[t] >= end for end in ends[:-1])
        decision = player.decide(finite.contexts[context], id=str(t))
        arm = finite.arms.index(decision.arm_values)
        level = next(
            (i for i, end in enumerate(finite.ends[context, arm]) if uniforms[t] < end), -1
        )
        told = None
        if observed and seen[t] < block.observed and finite.side_observation:
            told = finite.side_observation.observe(context, arm, level, shown[t])
        pulls.append(arm)
        letters.append((decision, finite.values[level], told))
        for s in order[due[t - 1] if t else 0 : due[t]]:
            if np.isnan(defaults[s]):
                player.learn(letters[s][0], letters[s][1], observed=letters[s][2])
            else:
                player.learn(letters[s][0], defaults[s])
    return pulls


FEEDBACKS = (
    None,
    Feedback(20),
    Feedback(
        15, distribution="geometric", window=40, missing=0.2, default_reward=0.25, batch=8
    ),
    Feedback(batch=30, missing=0.5),
)
POLICIES: dict[str, Callable[..., Policy]] = {
    "UCB": UCB,
    "LinUCB": LinUCB,
    "TS": TS,
    "LinTS": LinTS,
    "Fused": Fused,
    "exploring": lambda **given: LinUCB(explore=0.2, **given),
    "monitored": lambda **given: UCB(monitor=0.05, **given),
    "minimizing": lambda **given: LinUCB(goal="min", **given),
}


@pytest.mark.parametrize("feedback", FEEDBACKS, ids=repr)
@pytest.mark.parametrize("kind", POLICIES)
def test_whole_runs_are_decide_and_learn_one_by_one(
    kind: str, feedback: Feedback | None
) -> None:
    """Bit for bit, with late rewards and auxiliary variables in a share of the rounds."""
    block = RunBlock(PAPER, SEED, range(2), 200, 0.5, feedback)
    policy = POLICIES[kind](**({} if kind == "minimizing" else {"prior": BOUNDS}))
    pulls = block.play("it", policy, Event())

    assert pulls.shape == (2, 200)
    assert block.is_compiled("it", policy) == (kind != "monitored")
    assert pulls[1].tolist() == play_plainly(block, policy, 1, observed=("I1",))


@pytest.mark.parametrize("goal", ["max", "min"])
@pytest.mark.parametrize(
    "feedback", [None, Feedback(9, window=9, missing=0.3, default_reward=-2)]
)
@pytest.mark.parametrize("kind", [UCB, TS, LinUCB])
def test_numeric_rewards_are_played_alike(
    kind: Callable[..., Policy], feedback: Feedback | None, goal: str
) -> None:
    block = RunBlock(NUMERIC, SEED, range(2), 200, 0.0, feedback)
    policy = kind(goal=goal)

    assert block.is_compiled("it", policy)
    assert block.play("it", policy, Event())[1].tolist() == play_plainly(block, policy, 1)


def test_arms_of_a_policy_may_be_in_another_order() -> None:
    arms = PAPER.finite.arms
    block = RunBlock(PAPER, SEED, range(2), 200)
    policy = LinUCB(arms=arms[::-1])

    assert block.is_compiled("it", policy)
    assert block.play("it", policy, Event())[1].tolist() == play_plainly(block, policy, 1)


class Cycle(Policy):
    """A user's policy: every arm in turn, without compiled loops."""

    def __init__(self, prior: Any = None, **common: Any) -> None:
        super().__init__(prior, {}, cast("CommonOptions", common))

    def make_arrays(self) -> Any:
        return None

    def score(self, *given: Any) -> Any:
        n = len(given[2])
        return self.n_learned % n, None, np.zeros((n, 2))

    def take(self, *_: object) -> None:
        pass


def test_a_users_policy_is_played_round_by_round() -> None:
    block = RunBlock(PAPER, SEED, range(2), 30)

    assert not block.is_compiled("it", Cycle())
    pulls = block.play("it", Cycle(), Event())
    assert pulls[0].tolist() == [t % 4 for t in range(30)]


def test_contexts_are_those_of_the_population_and_uniforms_are_uniform() -> None:
    """P(U1 = 1) is 0.4 in the population, and 0.444 among logged rows."""
    block = RunBlock(PAPER, 0, range(20), 4_000)
    counts = np.bincount(block.contexts.ravel(), minlength=4) / block.contexts.size

    assert PAPER.shares == pytest.approx([0.24, 0.36, 0.16, 0.24])
    assert counts == pytest.approx(PAPER.shares, abs=0.006)
    assert block.uniforms.mean() == pytest.approx(0.5, abs=0.005)
    joint = np.corrcoef(block.contexts.ravel(), block.uniforms.ravel())[0, 1]
    assert abs(joint) < 0.015


def test_a_run_depends_on_its_number_and_the_seed_alone() -> None:
    many, one = (RunBlock(PAPER, 4, runs, 50, 1.0) for runs in (range(6), range(3, 4)))

    assert np.array_equal(many.contexts[3], one.contexts[0])
    assert np.array_equal(many.uniforms[3], one.uniforms[0])
    assert np.array_equal(many._shown_uniforms[3], one._shown_uniforms[0])
    assert not np.array_equal(one._shown_uniforms, one.uniforms)
    assert len(np.unique(many.uniforms[:, 0])) == 6
    assert not np.array_equal(one.uniforms, replace(one, seed=5).uniforms)


def test_a_share_of_rounds_shows_what_all_would() -> None:
    shares = (1, 0.5, 1 / 3)
    all_, half, third = (RunBlock(PAPER, 3, range(2), 400, s)._shown_uniforms for s in shares)
    shown = ~np.isnan(half)

    assert shown.mean() == pytest.approx(0.5, abs=0.06)
    assert np.array_equal(half[shown], all_[shown])
    assert shown[~np.isnan(third)].all()


def test_late_rewards_and_auxiliary_variables_leave_contexts_and_rewards_as_they_are() -> None:
    plain = RunBlock(PAPER, 3, range(2), 300)
    late, seen = replace(plain, feedback=Feedback(50)), replace(plain, observed=1.0)

    for other in (late, seen):
        assert np.array_equal(other.contexts, plain.contexts)
        assert np.array_equal(other.uniforms, plain.uniforms)
    one, two = (block.play("it", LinUCB(), Event()) for block in (late, plain))
    assert np.array_equal(one[:, 0], two[:, 0])
    assert not np.array_equal(one, two)
    at_once = replace(plain, feedback=Feedback())
    assert np.array_equal(at_once.play("it", LinUCB(), Event()), two)
    prior = BOUNDS.intervals_only()
    told, untold = (block.play("it", LinUCB(prior), Event()) for block in (seen, plain))
    assert np.array_equal(told, untold)
    pooled = [block.play("it", Fused(BOUNDS), Event()) for block in (seen, plain)]
    assert not np.array_equal(pooled[0], pooled[1])


def test_a_policy_for_each_run_plays_its_own_run() -> None:
    block = RunBlock(PAPER, 3, range(4, 7), 200, feedback=Feedback(3))
    alphas = {run: 0.1 * run for run in block.runs}
    pulls = block.play("it", lambda run: LinUCB(alpha=alphas[run]), Event())

    for i, run in enumerate(block.runs):
        alone = block.play("it", LinUCB(alpha=alphas[run]), Event())
        assert np.array_equal(pulls[i], alone[i])


def test_nothing_starts_once_it_is_stopped() -> None:
    stop = Event()
    stop.set()
    with pytest.raises(Stopped):
        RunBlock(PAPER, 0, range(1), 5).play("UCB", UCB(), stop)


@pytest.mark.parametrize("environment", [PAPER, NUMERIC])
@pytest.mark.parametrize("goal", ["max", "min"])
def test_regret_is_against_the_best_mean(environment: Environment, goal: str) -> None:
    block = RunBlock(environment, 0, range(2), 40)
    policies = {"it": UCB(goal=goal)}  # type: ignore[arg-type]
    at = np.array([1, 7, 40])
    found = block.compute_regret(policies, goal, at, Event())
    pulls, finite = block.play("it", policies["it"], Event()), environment.finite
    total = np.zeros((2, 40))
    best = max if goal == "max" else min
    for run in range(2):
        for t in range(40):
            means = finite.means[block.contexts[run, t]].tolist()
            lost = abs(best(means) - means[pulls[run, t]])
            total[run, t] = lost + (total[run, t - 1] if t else 0)

    assert found[0] == pytest.approx(total[:, at - 1])
