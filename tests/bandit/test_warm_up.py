"""What is compiled at the start of a service is all that it will call."""

import sys
from typing import Any

import pytest

import boundit as bd
from boundit.bandit.warm_up import warm_up
from boundit.terms.errors import BounditError
from tests.bandit.all_policies import (
    CONTEXTS,
    NAMES,
    POLICIES_WITH_OPTIONS,
    make,
    planned_table,
    play,
    table,
)


def _count_compiled() -> dict[str, int]:
    """How many signatures each kernel was compiled or loaded for, by its name."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("boundit.bandit"):
            for made in vars(module).values():
                if signatures := getattr(made, "signatures", None):
                    found[f"{made.__module__}.{made.__name__}"] = len(signatures)
    return found


def test_no_policy_compiles_anything_after_it() -> None:
    assert bd.warm_up is warm_up
    warm_up()
    before = _count_compiled()

    for name in NAMES:
        for prior in (None, table(0.15), planned_table()):
            policy = make(name, prior=prior)
            for decision in play(policy, 20):
                assert decision.propensity
            decisions = policy.decide_many([*CONTEXTS, CONTEXTS[0]])
            policy.learn_many(decisions, [1, 0, 1, 0, 1])
            policy.learn_many(list(decisions)[:2], [1.0, 0.0])
            for i in range(10):
                policy.learn(policy.decide(CONTEXTS[i % 4]), 1.0, observed={"W": i % 2})

    assert _count_compiled() == before


def test_progress_is_told() -> None:
    heard = list[tuple[str, int, int]]()

    warm_up(progress=lambda *step: heard.append(step))

    assert heard[0] == ("compile UCB", 0, len(heard) - 1)
    assert heard[-1] == ("compiled", len(heard) - 1, len(heard) - 1)
    assert {step.removeprefix("compile ").split(",")[0] for step, *_ in heard[:-1]} == {
        kind.__name__ for kind, _ in POLICIES_WITH_OPTIONS.values()
    }
    with pytest.raises(BounditError, match="simulations must be True or False"):
        warm_up(simulations=1)  # type: ignore[arg-type]


def test_only_the_kinds_that_are_named_are_compiled() -> None:
    heard = list[str]()

    warm_up(kinds=["UCB", "TS"], progress=lambda step, *_: heard.append(step))
    warm_up(kinds=[], progress=lambda step, *_: heard.append(step))

    assert heard == [
        "compile UCB",
        "compile UCB, exploring",
        "compile TS",
        "compiled",
        "compiled",
    ]
    for wrong in ("UCB", ["none"]):
        with pytest.raises(BounditError, match="kinds must be a list of UCB, KLUCB"):
            warm_up(kinds=wrong)


@pytest.mark.full
def test_whole_runs_are_compiled_if_asked() -> None:
    warm_up(simulations=True)
    before = _count_compiled()

    policies: dict[str, Any] = {name: make(name, prior=table()) for name in NAMES}
    bd.simulate(bd.paper_world(), policies, rounds=30, runs=2, seed=0)

    assert _count_compiled() == before
