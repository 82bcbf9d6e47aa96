"""Which contexts come, by which chance: the law of the draws, and what they hang on."""

from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from boundit.bandit.fused.policy import Fused
from boundit.bandit.policies.kl_ucb import KLUCB
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bandit.policies.ts import TS
from boundit.bandit.policies.ucb import UCB
from boundit.bounds.derive import derive_bounds
from boundit.estimand.query import parse_query
from boundit.simulation.chunk import Chunk, Stopped
from boundit.simulation.feedback.arrivals import schedule_rewards
from boundit.simulation.feedback.feedback import Feedback
from boundit.simulation.model import Model
from boundit.simulation.world import World
from boundit.simulation.worlds import paper_world
from tests.simulation.seeds import derive_policy_seed

if TYPE_CHECKING:
    from boundit.bandit.policy import Policy


def test_visitors_are_those_of_the_population_and_luck_is_even() -> None:
    """D-40. P(U1 = 1) is 0.4 among all, and 0.444 among the logged."""
    world = paper_world()
    chunk = Chunk.draw(world, 0, range(20), 4_000)
    counts = np.bincount(chunk.contexts.ravel(), minlength=4) / chunk.contexts.size

    assert counts == pytest.approx(world.shares, abs=0.006)
    assert world.shares == pytest.approx([0.24, 0.36, 0.16, 0.24])
    assert chunk.uniforms.mean() == pytest.approx(0.5, abs=0.005)
    joint = np.corrcoef(chunk.contexts.ravel(), chunk.uniforms.ravel())[0, 1]
    assert abs(joint) < 0.015


def test_a_run_hangs_on_its_number_and_the_seed_alone() -> None:
    world = paper_world()
    many, one = (Chunk.draw(world, 4, runs, 50) for runs in (range(6), range(3, 4)))

    assert np.array_equal(many.contexts[3], one.contexts[0])
    assert np.array_equal(many.uniforms[3], one.uniforms[0])
    assert len(np.unique(many.uniforms[:, 0])) == 6
    assert not np.array_equal(one.uniforms, Chunk.draw(world, 5, range(3, 4), 50).uniforms)


def test_a_context_nobody_brings_is_never_met() -> None:
    tables = {
        "U": ([], [0.5, 0.0, 0.5]),
        "X": (["U"], [0.5, 0.5, 0.5]),
        "Y": (["X", "U"], [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]),
    }
    world = World(Model.of(tables), parse_query("Y | do(X), U"))  # type: ignore[arg-type]
    chunk = Chunk.draw(world, 0, range(2), 500)

    assert world.environment.contexts == ((0,), (2,))
    assert world.environment.means.tolist() == [[0.1, 0.4], [pytest.approx(0.3), 0.6]]
    assert set(chunk.contexts.ravel().tolist()) == {0, 1}
    assert chunk.play("UCB", UCB(), Event()).shape == (2, 500)


class Compiled:
    """A policy that plays whole runs, and tells what it was given."""

    def fresh(self, **given: object) -> "Compiled":
        self.given = given
        return self

    def play(self, *given: object) -> np.ndarray:
        self.environment, self.contexts, self.uniforms, self.seeds = given
        assert isinstance(self.contexts, np.ndarray)
        return np.zeros(self.contexts.shape, dtype=np.int64)


def test_a_policy_that_can_plays_whole_runs() -> None:
    world, policy = paper_world(), Compiled()
    chunk = Chunk.draw(world, 7, range(2, 5), 30)
    pulls = chunk.play("it", cast("Policy", policy), Event())

    assert not pulls.any()
    assert policy.environment is world.environment
    assert policy.contexts is chunk.contexts
    assert policy.uniforms is chunk.uniforms
    assert policy.seeds.tolist() == [derive_policy_seed("it", run=r, seed=7) for r in (2, 3, 4)]  # type: ignore[attr-defined]
    assert policy.given["horizon"] == 30


def test_nobody_starts_once_it_is_stopped() -> None:
    stop = Event()
    stop.set()
    with pytest.raises(Stopped):
        Chunk.draw(paper_world(), 0, range(1), 5).play("UCB", UCB(), stop)


def test_what_rounds_show_is_a_luck_of_its_own() -> None:
    world = paper_world()
    many, one = (
        Chunk.draw(world, 4, runs, 50, observed=1.0) for runs in (range(6), range(3, 4))
    )

    assert np.array_equal(many.observation_uniforms[3], one.observation_uniforms[0])
    assert not np.array_equal(one.observation_uniforms, one.uniforms)
    assert many.observation_uniforms.shape == (6, 50)


@pytest.mark.parametrize("policy", ["compiled", "round by round"])
def test_observed_rounds_teach_a_plan_and_change_no_other_policy(policy: str) -> None:
    """Contexts and rewards are the same, and what is seen is what a plain loop would see."""
    world = paper_world()
    bounds = derive_bounds(world.graph, world.query, world.log(5_000, seed=0))
    chosen = Fused(prior=bounds, watch=policy == "round by round")
    seen, blind = (
        Chunk.draw(world, 3, range(2), 400, observed=observed) for observed in (True, False)
    )
    told, untold = (chunk.play("it", chosen, Event()) for chunk in (seen, blind))

    assert np.array_equal(seen.contexts, blind.contexts)
    assert np.array_equal(seen.uniforms, blind.uniforms)
    assert not np.array_equal(told, untold)
    other = LinUCB(prior=bounds.intervals_only())
    one, two = (chunk.play("it", other, Event()) for chunk in (seen, blind))
    assert np.array_equal(one, two)
    observation = world.make_environment(["I1"]).side_observation
    assert observation is not None
    plain = chosen.fresh(horizon=400, seed=derive_policy_seed("it", run=0, seed=3))
    for t in range(400):
        context = int(seen.contexts[0, t])
        decision = plain.decide(world.environment.contexts[context], id=str(t))
        arm = world.environment.arms.index(decision.arm)
        assert arm == told[0, t]
        reward = float(seen.uniforms[0, t] < world.environment.means[context, arm])
        observed = observation.observe(
            context, arm, reward, float(seen.observation_uniforms[0, t])
        )
        plain.learn(decision, reward, observed=observed)


def test_who_plays_round_by_round_is_known_beforehand() -> None:
    """Watched bounds always are."""
    world = paper_world()
    bounds = derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)
    policies: dict[str, Policy] = {
        "compiled": LinUCB(prior=bounds),
        "watched": LinUCB(prior=bounds, watch=True),
    }
    for observed in (True, False):
        chunk = Chunk.draw(world, 3, range(1), 300, observed=observed)
        assert chunk.find_uncompiled(policies) == ["watched"]


@pytest.mark.parametrize("kind", [LinUCB, UCB, Fused])
def test_a_share_of_rounds_shows_what_all_would(
    kind: type[LinUCB] | type[UCB] | type[Fused],
) -> None:
    """What is shown is the same, some rounds show nothing; in compiled code as in objects."""
    world = paper_world()
    bounds = derive_bounds(world.graph, world.query, world.log(5_000, seed=0))
    all_, half, third = (
        Chunk.draw(world, 3, range(2), 400, observed=share) for share in (1.0, 0.5, 1 / 3)
    )
    shown = ~np.isnan(half.observation_uniforms)
    assert shown.mean() == pytest.approx(0.5, abs=0.06)
    assert np.array_equal(half.observation_uniforms[shown], all_.observation_uniforms[shown])
    assert shown[~np.isnan(third.observation_uniforms)].all()
    pulls = half.play("it", kind(prior=bounds), Event())
    seed = derive_policy_seed("it", run=1, seed=3)
    plain = kind(prior=bounds).fresh(horizon=400, seed=seed)
    observation = world.make_environment(["I1"]).side_observation
    assert observation is not None
    for t in range(400):
        context = int(half.contexts[1, t])
        decision = plain.decide(world.environment.contexts[context], id=str(t))
        arm = world.environment.arms.index(decision.arm)
        assert arm == pulls[1, t]
        reward = float(half.uniforms[1, t] < world.environment.means[context, arm])
        second = float(half.observation_uniforms[1, t])
        told = observation.observe(context, arm, reward, second) if second == second else None
        plain.learn(decision, reward, observed=told)


FEEDBACKS = (
    Feedback(delay=20),
    Feedback(delay=15, law="geometric", window=40, missing=0.2, default=0.25, batch=8),
    Feedback(batch=30),
    Feedback(missing=0.5),
)


@pytest.mark.parametrize("feedback", FEEDBACKS, ids=repr)
@pytest.mark.parametrize("kind", [LinUCB, UCB, TS, KLUCB, Fused])
def test_rewards_are_learned_when_they_come(
    kind: type[LinUCB] | type[UCB] | type[TS] | type[KLUCB] | type[Fused], feedback: Feedback
) -> None:
    """A plain loop that keeps its letters in a drawer learns the same, in the same order."""
    world = paper_world()
    bounds = derive_bounds(world.graph, world.query, world.log(5_000, seed=0))
    chunk = Chunk.draw(world, 3, range(2), 300, observed=0.5, feedback=feedback)
    pulls = chunk.play("it", kind(prior=bounds), Event())
    seed = derive_policy_seed("it", run=1, seed=3)
    plain = kind(prior=bounds).fresh(horizon=300, seed=seed)
    late, losses = (
        np.random.default_rng(np.random.SeedSequence(3, spawn_key=(1, stream))).random(300)
        for stream in (4, 5)
    )
    arrivals = schedule_rewards(feedback, late, losses)
    observation = world.make_environment(["I1"]).side_observation
    assert observation is not None
    decisions, came = [], 0
    for t in range(300):
        context = int(chunk.contexts[1, t])
        decisions.append(plain.decide(world.environment.contexts[context], id=str(t)))
        assert world.environment.arms.index(decisions[t].arm) == pulls[1, t]
        for s in arrivals.order[came : arrivals.ends[t]].tolist():
            where, arm = int(chunk.contexts[1, s]), int(pulls[1, s])
            reward = float(chunk.uniforms[1, s] < world.environment.means[where, arm])
            second = float(chunk.observation_uniforms[1, s])
            told = observation.observe(where, arm, reward, second) if second == second else None
            default = float(arrivals.defaults[s])
            if default == default:
                reward, told = default, None
            plain.learn(decisions[s], reward, observed=told)
        came = int(arrivals.ends[t])


def test_late_rewards_leave_contexts_and_luck_as_they_are() -> None:
    world = paper_world()
    late, plain = (
        Chunk.draw(world, 3, range(2), 300, feedback=feedback)
        for feedback in (Feedback(delay=50), None)
    )

    assert np.array_equal(late.contexts, plain.contexts)
    assert np.array_equal(late.uniforms, plain.uniforms)
    one, two = (chunk.play("it", LinUCB(), Event()) for chunk in (late, plain))
    assert np.array_equal(one[:, 0], two[:, 0])
    assert not np.array_equal(one, two)
    at_once = replace(late, feedback=Feedback())
    assert np.array_equal(at_once.play("it", LinUCB(), Event()), two)


def test_a_policy_for_each_run_plays_its_own_run() -> None:
    world = paper_world()
    chunk = Chunk.draw(world, 3, range(4, 7), 200)
    alphas = {run: 0.1 * run for run in chunk.runs}
    pulls = chunk.play("it", lambda run: LinUCB(alpha=alphas[run]), Event())

    for i, run in enumerate(chunk.runs):
        alone = chunk.play("it", LinUCB(alpha=alphas[run]), Event())
        assert np.array_equal(pulls[i], alone[i])
