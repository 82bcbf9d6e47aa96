"""One loop for all rivals: runs are independent of each other."""

from threading import Event

import numpy as np
import pytest
from research.tests.rivals.problems import make_problem

from boundit.simulation.chunk import Chunk
from boundit_research.rivals.play import KINDS
from boundit_research.rivals.policy import RivalPolicy


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_the_same_whatever_runs_stand_beside_it(kind: str) -> None:
    world, _, facts = make_problem("paper")
    policy = RivalPolicy(kind, facts=facts)
    three = Chunk.draw(world, 1, range(3), 200).play("x", policy, Event())
    last = Chunk.draw(world, 1, range(2, 3), 200).play("x", policy, Event())

    assert np.array_equal(three[2], last[0])
