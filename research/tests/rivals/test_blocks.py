"""What a rival keeps of a context, before it has learned anything."""

import numpy as np
import pytest
from research.tests.rivals.problems import make_problem

from boundit.bandit.errors import CannotMerge
from boundit_research.rivals.columns import FEATURES, LOG_ROWS, LOWER, NOISE, UPPER
from boundit_research.rivals.facts import PairFact, PairFacts, compute_noise
from boundit_research.rivals.policy import RivalPolicy


def test_a_block_has_what_is_known_and_features_for_r_oful_alone() -> None:
    world, _, facts = make_problem("paper")
    arms, context = world.environment.arms, world.query.context
    glue = RivalPolicy("GLUE", facts=facts, arms=arms, context=context).statistics
    oful = RivalPolicy("R-OFUL", facts=facts, arms=arms, context=context).statistics
    block, linear = glue.make_block((0, 1)), oful.make_block((0, 1))

    for row, arm in enumerate(arms):
        fact = facts.get(arm, (0, 1))
        assert block[row, [LOWER, UPPER, LOG_ROWS]].tolist() == [*fact[:2], fact.rows]
        assert linear[row, FEATURES:].tolist() == [1, 0, 1, *arm]
        assert linear[row, LOWER] >= fact.lower
        assert linear[row, UPPER] <= fact.upper
    assert block.shape[1] == FEATURES
    assert oful.shared.shape == (4, 1 + 5 + 25)
    assert glue.make_block(("other",))[:, UPPER].tolist() == [1.0] * 4


def test_noise_is_that_of_the_context_and_of_r_oful_the_largest_of_all() -> None:
    """An arm's ellipsoid holds rewards of every context, so the noisiest counts."""
    facts = PairFacts({(("A",), (0,)): PairFact(0.0, 0.02), (("A",), (1,)): PairFact(0.1, 0.2)})
    blocks = {
        kind: RivalPolicy(kind, facts=facts, arms=["A"], context=["C"]).statistics
        for kind in ("GLUE", "R-OFUL")
    }
    noises = {
        kind: [float(found.make_block((c,))[0, NOISE]) for c in (0, 1)]
        for kind, found in blocks.items()
    }

    assert noises["GLUE"] == [compute_noise(0.0, 0.02, 0.0), compute_noise(0.1, 0.2, 0.1)]
    assert noises["GLUE"][0] < noises["GLUE"][1]
    assert noises["R-OFUL"] == [noises["GLUE"][1]] * 2


def test_a_rival_keeps_its_arms() -> None:
    policy = RivalPolicy("GLUE", arms=["A", "B"], seed=1)
    other = RivalPolicy("GLUE", arms=["A", "B", "C"], seed=1)

    assert policy.statistics.widen(policy.spec) is policy.statistics
    with pytest.raises(CannotMerge, match="arms it started with"):
        policy.statistics.widen(other.spec)
    assert np.array_equal(policy.adopt((), ("A",), id="1").features, ())
