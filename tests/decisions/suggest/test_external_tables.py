"""Which tables of everyone would tell most."""

from itertools import combinations

import numpy as np
import pytest

import boundit as bd
from boundit.core.long_work import say_nothing
from boundit.decisions.suggest.external_tables import (
    find_recovering_sets,
    open_external,
    suggest_external_tables,
)
from boundit.simulation.environment import Environment
from boundit.simulation.environments import flipped_environment
from boundit.simulation.random_models import draw_graph, draw_model
from tests.decisions.suggest.problems import SMALL, evaluate, fit

WORLD = flipped_environment()


@pytest.mark.parametrize("seed", range(4))
def test_sets_that_recover_are_the_smallest_that_recover_says(seed: int) -> None:
    """Every set is verified by ``identify``, none of its parts suffices, and none is missed."""
    rng = np.random.default_rng(seed)
    graph = draw_graph(4, rng, selection=True)
    order = [name for name in graph.order if name != "S"]
    query = bd.parse_query(f"{order[-1]} | do({order[0]})")
    model = draw_model(graph, rng, levels=(2,))
    evaluation = evaluate(Environment(model, query), rows=500)
    found = find_recovering_sets(evaluation)

    names = sorted(evaluation.request.graph.observed - {order[-1]})
    if bd.identify(graph, query):
        assert found == {}
        return
    every = [frozenset(c) for n in (1, 2, 3) for c in combinations(names, n)]
    enough = {s for s in every if bd.identify(graph, query, external=[s])}
    smallest = {s for s in enough if not any(t < s for t in enough)}
    if smallest:
        assert set(found) == smallest
    for each in found:
        assert bd.identify(graph, query, external=[each])


def test_the_table_of_a_world_is_of_everyone_and_has_the_levels_of_the_log() -> None:
    evaluation = evaluate(WORLD)
    world = fit(evaluation, 1)[0]
    table = open_external(evaluation, world, frozenset({"Z"}))

    counted = table.count(["Z"])
    assert table.columns == ("Z",)
    assert counted.rows == evaluation.rows
    assert counted.n / counted.rows == pytest.approx(
        world.model.distribution("Z").values, abs=1e-3
    )


def test_a_table_of_what_selects_makes_the_effect_recoverable_and_narrower() -> None:
    evaluation = evaluate(SMALL)
    heard: list[tuple[str, int, int]] = []
    found = suggest_external_tables(
        evaluation, fit(evaluation).environments, lambda *step: heard.append(step)
    )
    by = {each.variables: each for each in found}

    assert by["Z",].exact
    assert by["Z",].width < evaluation.width
    assert not by["X",].exact
    assert heard[0][0] == "try external tables"


def test_without_selection_a_table_of_everyone_is_the_log_itself() -> None:
    graph = bd.parse_graph("X -> Y; X <-> Y")
    model = draw_model(graph, np.random.default_rng(0), levels=(2,))
    evaluation = evaluate(Environment(model, bd.parse_query("Y | do(X)")))

    assert suggest_external_tables(evaluation, fit(evaluation).environments, say_nothing) == []
