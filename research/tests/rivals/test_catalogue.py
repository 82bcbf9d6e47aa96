"""Rivals by name: as the papers have them, tuned, and with any constant."""

import pytest
from research.tests.rivals.problems import make_problem

from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bounds.paper import condition_only
from boundit_research.rivals.catalogue import (
    RIVALS,
    TUNED,
    RunStart,
    is_rival,
    make_rival,
)
from boundit_research.rivals.policy import RivalPolicy


def test_every_rival_is_made_with_its_own_and_with_a_tuned_constant() -> None:
    world, bounds, _ = make_problem("flipped")
    start = RunStart(bounds, condition_only(world.graph, world.query, world.log(500, seed=1)))

    assert len(RIVALS) == 9 + len(TUNED)
    for name in (*RIVALS, "LinUCB@0.5"):
        assert is_rival(name)
        policy, base = make_rival(name, start), name.removesuffix("*")
        if isinstance(policy, RivalPolicy):
            tuned = TUNED[base] if name != base else 1.0
            assert policy.options() == {"kind": base, "scale": tuned}
            assert policy.statistics.facts.pairs
        else:
            assert isinstance(policy, LinUCB)
    made = make_rival("GLUE@0.25", RunStart(None, start.logged))
    assert isinstance(made, RivalPolicy)
    assert made.options()["scale"] == 0.25
    assert all(fact[:2] == (0, 1) for fact in made.statistics.facts.pairs.values())


@pytest.mark.parametrize(
    "name", ["GLUE@", "GLUE@-1", "GLUE@x", "GLUES", "UCB*", "VirUCB*", "LinUCB"]
)
def test_other_names_are_no_rivals(name: str) -> None:
    assert not is_rival(name)
