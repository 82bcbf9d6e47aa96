"""Rivals decide as their definitions say, in compiled runs and one by one, bit for bit."""

import json
from threading import Event
from typing import Any

import numpy as np
import pytest
from research.tests.rivals.plain import DECIDE, PlainRival
from research.tests.rivals.problems import make_problem

from boundit.bandit.errors import BadArm, BadOption, CannotMerge
from boundit.bandit.policies.kl_ucb import KLUCB
from boundit.bandit.policies.ts import TS
from boundit.simulation.chunk import Chunk
from boundit.simulation.simulate import simulate
from boundit_research.rivals.play import KINDS
from boundit_research.rivals.policy import RivalPolicy

ROUNDS = 250


@pytest.mark.parametrize("scale", [1.0, 0.4])
@pytest.mark.parametrize("where", ["paper", "flipped", "random"])
@pytest.mark.parametrize("kind", DECIDE)
def test_a_rival_plays_as_its_plain_form(kind: str, where: str, scale: float) -> None:
    world, _, facts = make_problem(where)
    chunk = Chunk.draw(world, 5, range(2), ROUNDS)
    policy = RivalPolicy(kind, facts=facts, scale=scale)
    pulls = chunk.play("rival", policy, Event())
    environment, seeds = world.environment, chunk._derive_seeds("rival")

    if kind == "R-OFUL":  # what bounds leave of linear means has a test of its own
        tables = policy.fresh(arms=environment.arms, context=world.query.context).statistics
        facts = type(facts)(
            {
                (arm, context): facts.get(arm, context)._replace(
                    lower=float(tables.make_block(context)[i, 2]),
                    upper=float(tables.make_block(context)[i, 3]),
                )
                for context in environment.contexts
                for i, arm in enumerate(environment.arms)
            }
        )
    for run in range(2):
        plain = PlainRival(kind, facts, environment.arms, int(seeds[run]), scale)
        for t in range(ROUNDS):
            c = int(chunk.contexts[run, t])
            row = plain.decide(environment.contexts[c], t)
            assert row == pulls[run, t], (run, t)
            reward = float(chunk.uniforms[run, t] < environment.means[c, row])
            plain.learn(environment.contexts[c], row, reward)


@pytest.mark.parametrize("where", ["paper", "flipped"])
@pytest.mark.parametrize("kind", ["B-kl-UCB", "B-TS"])
def test_bounded_indices_are_those_of_our_policies_with_a_prior(kind: str, where: str) -> None:
    """Zhang and Bareinboim 2017; the same streams are drawn from."""
    world, bounds, facts = make_problem(where)
    chunk = Chunk.draw(world, 2, range(3), 1_500)
    table = bounds.intervals_only()
    ours = KLUCB(prior=table) if kind == "B-kl-UCB" else TS(prior=table, propensities=False)

    assert np.array_equal(
        chunk.play("x", RivalPolicy(kind, facts=facts), Event()),
        chunk.play("x", ours, Event()),
    )
    tuned = chunk.play("x", RivalPolicy(kind, facts=facts, scale=0.3), Event())
    assert not np.array_equal(tuned, chunk.play("x", ours, Event()))


@pytest.mark.parametrize("kind", KINDS)
def test_whole_runs_pull_what_decide_and_learn_would(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, _, facts = make_problem("flipped")
    chunk = Chunk.draw(world, 1, range(2), 150)
    policy = RivalPolicy(kind, facts=facts)
    compiled = chunk.play("x", policy, Event())
    monkeypatch.setattr(RivalPolicy, "play_batch", lambda *_: None)

    assert np.array_equal(chunk.play("x", policy, Event()), compiled)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_rival_goes_on_the_same(kind: str) -> None:
    world, _, facts = make_problem("flipped")
    policy = RivalPolicy(
        kind, facts=facts, seed=3, arms=world.environment.arms, context=world.query.context
    )

    def play(who: RivalPolicy, rounds: range) -> list[Any]:
        found = []
        for t in rounds:
            decision = who.decide((t % 2,), id=str(t))
            who.learn(decision, float(t % 3 == 0))
            found.append((decision.arm, decision.index))
        return found

    play(policy, range(40))
    again = RivalPolicy.from_state(json.loads(json.dumps(policy.state())))
    assert play(policy, range(40, 60)) == play(again, range(40, 60))
    many = again.decide_many([(0,), (0,)], ["a", "b"])
    assert [one.arm for one in many] == [again.decide((0,), id=i).arm for i in "ab"]


def test_a_rival_refuses_what_it_cannot_do() -> None:
    policy = RivalPolicy("GLUE", arms=["A", "B"], seed=1)

    with pytest.raises(BadOption, match="one of B-kl-UCB"):
        RivalPolicy("UCB")
    with pytest.raises(BadOption, match="a number above 0"):
        RivalPolicy("GLUE", scale=0)
    with pytest.raises(BadArm, match="plays all arms that it holds"):
        policy.decide(arms=["A"])
    with pytest.raises(CannotMerge, match="order of its rounds"):
        policy.merged(policy.fresh())


def test_a_rival_that_explores_besides_plays_round_by_round() -> None:
    world, _, facts = make_problem("flipped")
    policies = {"GLUE": RivalPolicy("GLUE", facts=facts, explore=0.5)}

    assert simulate(world, policies, rounds=30, runs=1).final("GLUE") > 0
