"""Measuring a hidden cause, and knowing that an edge is not there."""

import numpy as np
import pytest

import boundit as bd
from boundit.decisions.suggest.evaluation import measure_width
from boundit.decisions.suggest.graph_changes import (
    show_hidden,
    suggest_edges,
    suggest_hidden_causes,
)
from boundit.simulation.random_models import draw_model
from boundit.simulation.world import World
from boundit.simulation.worlds import flipped_world
from boundit.terms.long_work import say_nothing
from tests.decisions.suggest.problems import evaluate, fit

BOW = bd.parse_graph("X -> Y; X <-> Y")
CONFOUNDED = World(
    draw_model(BOW, np.random.default_rng(3), levels=(2,)), bd.parse_query("Y | do(X)")
)


def test_a_measured_cause_is_adjusted_for() -> None:
    evaluation = evaluate(CONFOUNDED, exact=True)
    (found,) = suggest_hidden_causes(evaluation, fit(evaluation).worlds, say_nothing)

    assert found.exact
    assert found.formula == str(bd.recover(show_hidden(BOW, "X", "Y", "X<->Y"), "Y | do(X)"))
    assert found.width == pytest.approx(0, abs=1e-6)
    assert evaluation.width > 0.3


def test_sampling_error_remains_where_the_cause_is_measured() -> None:
    evaluation = evaluate(CONFOUNDED)
    (found,) = suggest_hidden_causes(evaluation, fit(evaluation).worlds, say_nothing)

    assert 0.02 < found.width < evaluation.width


def test_without_worlds_no_cause_is_tried() -> None:
    assert suggest_hidden_causes(evaluate(CONFOUNDED), (), say_nothing) == []


def test_edges_are_ruled_out_one_by_one() -> None:
    world = flipped_world()
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
