"""Knowing that an edge is not there."""

import pytest

import boundit as bd
from boundit.core.long_work import say_nothing
from boundit.decisions.suggest.evaluation import measure_width
from boundit.decisions.suggest.graph_changes import suggest_edges
from boundit.simulation.environments import flipped_environment
from tests.decisions.suggest.problems import evaluate


def test_edges_are_ruled_out_one_by_one() -> None:
    world = flipped_environment()
    evaluation = evaluate(world)
    found, there = suggest_edges(evaluation, say_nothing)
    by = {each.what: each for each in found}

    smaller = bd.parse_graph(str(world.graph).replace("Z -> [S]; ", "[S]; "))
    expected = bd.derive_bounds(smaller, world.query, world.log(6_000, seed=1))
    free = by["knowing that Z -> [S] is not there"]
    assert free.width == pytest.approx(measure_width(expected))
    assert free.exact
    # The log shows that Z moves Y, and what an arm does to the reward is what is asked.
    assert "Z -> Y" in there
    assert not any("X1 -> Y" in what or "X2 -> Y" in what for what in by)
