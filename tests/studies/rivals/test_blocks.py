"""What a rival keeps of a context, before it has learned anything."""

import numpy as np
import pytest

from boundit.bandit.errors import CannotMerge
from boundit.studies.rivals.columns import FEATURES, LOG_ROWS, LOWER, UPPER
from boundit.studies.rivals.policy import RivalPolicy
from tests.studies.rivals.problems import make_problem


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


def test_a_rival_keeps_its_arms() -> None:
    policy = RivalPolicy("GLUE", arms=["A", "B"], seed=1)
    other = RivalPolicy("GLUE", arms=["A", "B", "C"], seed=1)

    assert policy.statistics.widen(policy.spec) is policy.statistics
    with pytest.raises(CannotMerge, match="arms it started with"):
        policy.statistics.widen(other.spec)
    assert np.array_equal(policy.adopt((), ("A",), id="1").features, ())
