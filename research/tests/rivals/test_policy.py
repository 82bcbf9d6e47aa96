"""Rivals decide as their definitions say, in compiled runs and one by one."""

import json
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
import pytest
from research.tests.rivals.plain import DECIDE, PlainRival, kearns_saul
from research.tests.rivals.problems import make_problem

from boundit.bandit.errors import BadOption, CannotMerge
from boundit.bandit.policy import Policy
from boundit.bandit.ts import TS
from boundit.results.bound_table import BoundTable
from boundit.simulation.block import RunBlock
from boundit_research.rivals.catalogue import RIVALS, TUNED, RunStart, is_rival, make_rival
from boundit_research.rivals.r_oful import restrict_linear
from boundit_research.rivals.tables import KINDS, Rival, compute_noise

NAMES = ("B-kl-UCB", "R-OFUL", *KINDS)
ROUNDS = 250


def make(name: str, where: str, scale: float = 1.0) -> Policy:
    _, bounds, logged = make_problem(where)
    return make_rival(f"{name}@{scale}", RunStart(bounds, logged))


@pytest.mark.parametrize("scale", [1.0, 0.4])
@pytest.mark.parametrize("where", ["paper", "flipped", "random"])
@pytest.mark.parametrize("kind", DECIDE)
def test_a_rival_plays_as_its_plain_form(kind: str, where: str, scale: float) -> None:
    world, bounds, logged = make_problem(where)
    block = RunBlock(world, 5, range(2), ROUNDS)
    policy = make(kind, where, scale)
    pulls = block.play("rival", policy, Event())
    finite, seeds = world.finite, block._derive_seeds("rival")

    if kind == "R-OFUL":  # what bounds leave of linear means has a test of its own
        bounds = narrow(bounds)
    for run in range(2):
        plain = PlainRival(kind, bounds, logged, finite.arms, int(seeds[run]), scale)
        for t in range(ROUNDS):
            c = int(block.contexts[run, t])
            row = plain.decide(finite.contexts[c], t)
            assert row == pulls[run, t], (run, t)
            reward = float(block.uniforms[run, t] < finite.means[c, row])
            plain.learn(finite.contexts[c], row, reward)


def narrow(bounds: BoundTable) -> BoundTable:
    """What bounds leave of means that are linear in the values of the context."""
    found = dict(bounds.bounds)
    for arm in bounds.arms:
        keys = [(arm, context) for context in bounds.contexts]
        x = tuple((1.0, *map(float, c), *map(float, arm)) for _, c in keys)  # type: ignore[arg-type]
        ends = tuple((found[key].lower, found[key].upper) for key in keys)
        for key, (low, high) in zip(keys, restrict_linear(x, ends).tolist(), strict=True):
            found[key] = replace(found[key], lower=low, upper=high)
    return replace(bounds, bounds=found)


def test_untuned_b_ts_is_thompson_sampling_with_a_prior() -> None:
    """Zhang and Bareinboim 2017; tuned it is not."""
    world, bounds, _ = make_problem("paper")
    block = RunBlock(world, 2, range(2), 300)
    ours = block.play("x", TS(bounds), Event())

    assert np.array_equal(block.play("x", make("B-TS", "paper"), Event()), ours)
    assert not np.array_equal(block.play("x", make("B-TS", "paper", 0.3), Event()), ours)


@pytest.mark.parametrize("name", NAMES)
def test_whole_runs_pull_what_decide_and_learn_would(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also beside other runs, and where a share of rounds explores."""
    world, policy = make_problem("flipped")[0], make(name, "flipped")
    policy.explore = 0.1
    block = RunBlock(world, 1, range(3), 120)
    compiled = block.play("x", policy, Event())
    last = RunBlock(world, 1, range(2, 3), 120).play("x", policy, Event())
    monkeypatch.setattr(type(policy), "play", lambda *_: None)

    assert np.array_equal(block.play("x", policy, Event()), compiled)
    assert np.array_equal(compiled[2], last[0])


@pytest.mark.parametrize("name", NAMES)
def test_what_a_rival_learned_and_what_it_was_told_come_back(name: str) -> None:
    world, bounds, logged = make_problem("flipped")
    policy = make_rival(name, RunStart(bounds, logged)).clone(seed=3)

    def play(who: Policy, rounds: range) -> list[Any]:
        found = []
        for t in rounds:
            decision = who.decide((t % 2,), id=str(t))
            who.learn(decision, float(t % 3 == 0))
            found.append((decision.arm, decision.propensities))
        return found

    play(policy, range(40))
    again = type(policy).from_state(json.loads(json.dumps(policy.state())))
    assert play(policy, range(40, 60)) == play(again, range(40, 60))
    assert len(world.finite.arms) == len(again.decide((0,)).propensities)


def test_a_rival_refuses_what_it_cannot_do() -> None:
    policy = Rival(kind="GLUE", arms=["A", "B"], seed=1)

    with pytest.raises(BadOption, match="one of GLUE"):
        Rival(kind="UCB")
    with pytest.raises(BadOption, match="a number above 0"):
        Rival(kind="GLUE", scale=0)
    with pytest.raises(CannotMerge, match="order of its rounds"):
        policy.merge(policy.clone())


def test_a_graph_that_the_log_refutes_leaves_the_log_s_rows() -> None:
    world, _, logged = make_problem("paper")
    for name in RIVALS:
        policy = make_rival(name, RunStart(None, logged))
        pulls = RunBlock(world, 1, range(1), 50).play("x", policy, Event())
        assert pulls.shape == (1, 50)


def test_every_rival_is_made_with_its_own_and_with_a_tuned_constant() -> None:
    _, bounds, logged = make_problem("flipped")

    assert len(RIVALS) == len(NAMES) + 1 + len(TUNED)
    for name in (*RIVALS, "LinUCB@0.5"):
        assert is_rival(name)
        options, base = make_rival(name, RunStart(bounds, logged)).options, name.rstrip("*")
        if "scale" in options:
            assert options["scale"] == (TUNED[base] if name != base else 1.0)


@pytest.mark.parametrize(
    "name", ["GLUE@", "GLUE@-1", "GLUE@x", "GLUES", "UCB*", "VirUCB*", "LinUCB"]
)
def test_other_names_are_no_rivals(name: str) -> None:
    assert not is_rival(name)


def test_the_bias_bound_of_min_ucb_covers_the_true_bias() -> None:
    """V from our table: |the log's mean - the truth| is below it, as far as bounds hold."""
    for where in ("paper", "flipped", "random"):
        world, bounds, logged = make_problem(where)
        policy = Rival(bounds, kind="MIN-UCB", logged=logged)
        for (arm, context), mean in world.means().items():
            at = policy._rows[context], policy._columns[arm]
            rows, total, bias, _ = policy.arrays.log[at]
            if rows:
                assert abs(total / rows - mean) <= bias


def test_the_noise_factor_is_the_largest_within_the_bound() -> None:
    for lower, upper in ((0.05, 0.2), (0.1, 0.8), (0.7, 0.99), (0.0, 0.0), (0.5, 0.5)):
        expected = max(map(kearns_saul, np.linspace(lower, upper, 21).tolist()))
        alone = compute_noise(np.array([[[lower, upper]]]))[0, 0]
        if lower > 0.5:
            expected = kearns_saul(lower)
        assert alone == pytest.approx(expected, abs=2e-3)
    both = compute_noise(np.array([[[0.1, 0.95], [0.8, 0.9]]]))
    assert both[0] == pytest.approx(kearns_saul(0.8), abs=2e-3)


def test_linear_means_keep_what_was_true_and_lose_what_cannot_be() -> None:
    rng, narrower = np.random.default_rng(0), 0
    x = ((1.0, 0.0, 0.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0), (1.0, 1.0, 1.0))
    for _ in range(30):
        means = np.array(x) @ np.array([0.3, *rng.uniform(0, 0.3, 2)])
        ends = np.column_stack([means - rng.uniform(0, 0.3, 4), means + rng.uniform(0, 0.3, 4)])
        found = restrict_linear(x, tuple(map(tuple, ends.tolist())))
        assert (found[:, 0] <= means + 1e-9).all()
        assert (found[:, 1] >= means - 1e-9).all()
        assert (found[:, 0] >= ends[:, 0]).all()
        assert (found[:, 1] <= ends[:, 1]).all()
        narrower += bool((found != ends).any())
    assert narrower > 3
    none = ((0.0, 0.0), (1.0, 1.0), (1.0, 1.0), (0.9, 1.0))
    assert restrict_linear(x, none).tolist() == [list(row) for row in none]
