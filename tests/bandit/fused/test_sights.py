"""What environments show, as leaves of a plan."""

import numpy as np

import boundit as bd
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.fused.observation import LeafReader
from boundit.bandit.fused.policy import Fused
from boundit.bandit.fused.sights import lay_out_sights
from boundit.bandit.prior.bounds import PriorBounds
from boundit.terms.fused_plan import Factor, FusedPlan
from tests.bandit.fused.world_plans import PAPER, count_plan


def test_cells_of_the_environment_are_leaves_and_unknown_ones_are_refused() -> None:
    world = bd.paper_world()
    policy = Fused(prior=count_plan(world, *PAPER, n=100, seed=0))
    environment = world.make_environment(["I1"])
    layout = BatchLayout.of(policy.spec, PriorBounds(), environment)
    assert layout is not None
    runs = BatchRuns.of(
        np.zeros((1, 2), int), np.zeros((1, 2)), np.zeros(1, np.uint64), np.full((1, 2), 0.5)
    )
    found = lay_out_sights(policy.statistics.reader, layout, runs)
    assert found is not None
    assert found.leaves.tolist() == [0, 1]
    assert found.ends.shape == (16, 2, 2)
    blind = lay_out_sights(
        policy.statistics.reader, layout, runs._replace(observation_uniforms=None)
    )
    assert blind is not None
    assert blind.luck.shape == (1, 0)
    other = Factor(("I1",), (("a",), ("b",)), ((0,),), ((0, 0),))
    plan = FusedPlan((((0, 0), (0, 0)),), (other,), ((0, 1),), (1, 1), (0.0, 0.0))
    assert lay_out_sights(LeafReader(plan), layout, runs) is None
