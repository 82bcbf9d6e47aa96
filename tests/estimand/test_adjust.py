"""Adjustment sets as users ask for them, against the criteria and enumeration."""

from random import Random
from typing import Any

import numpy as np
import pytest

import boundit as bd
from boundit.estimand.criteria.adjustment import Adjustment
from boundit.estimand.criteria.context_adjustment import adjusts_in_context
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.errors import BounditError
from boundit.terms.names import Nodes
from tests.estimand.criteria.test_adjustment_sets import admissible, random_searches, subsets


def ask(sets: dict[str, Nodes], context: Nodes = frozenset()) -> EffectQuery:
    outcomes, treatments = (tuple(sorted(sets[name])) for name in ("outcomes", "treatments"))
    return EffectQuery(outcomes, treatments, tuple(sorted(context)))


def keep_minimal(every: set[Adjustment]) -> set[Adjustment]:
    least = {one for one in every if not any(o.covariates < one.covariates for o in every)}
    return {
        one
        for one in least
        if not any(o[0] == one[0] and o.external < one.external for o in least)
    }


@pytest.mark.parametrize("seed", [5, 6])
def test_minimal_sets_are_those_without_anything_to_spare(seed: int) -> None:
    for graph, sets in random_searches(200, seed=seed):
        every, query = admissible(graph, **sets), ask(sets)
        limits: dict[str, Any] = {"external": sets["external"], "within": sets["within"]}

        listed = list(bd.adjustment_sets(graph, query, **limits))
        assert len(listed) == len(set(listed))
        assert set(listed) == keep_minimal(every), str(graph)
        assert set(bd.adjustment_sets(graph, query, **limits, minimal=False)) == every
        for covariates in subsets(sets["within"] - sets["treatments"] - sets["outcomes"]):
            held = bd.is_adjustment_set(graph, query, covariates, external=sets["external"])
            assert bool(held) == (covariates in {pair.covariates for pair in every})


@pytest.mark.parametrize("seed", [7, 8])
def test_sets_in_a_context_are_those_of_the_criterion(seed: int) -> None:
    draw = Random(seed)
    for graph, sets in random_searches(200, seed=seed):
        free = sorted(graph.observed - sets["treatments"] - sets["outcomes"])
        if not free:
            continue
        context = frozenset(draw.sample(free, 1))
        table, query = sets["external"], ask(sets, context)
        every = {
            covariates
            for covariates in subsets(sets["within"] - {*context} - sets["treatments"])
            if not covariates & sets["outcomes"] and holds(graph, query, covariates, table)
        }

        limits: dict[str, Any] = {"external": table, "within": sets["within"]}
        wide = [
            one.covariates for one in bd.adjustment_sets(graph, query, **limits, minimal=False)
        ]
        least = {one.covariates for one in bd.adjustment_sets(graph, query, **limits)}
        assert len(wide) == len(set(wide))
        assert set(wide) == every, str(graph)
        assert least == {one for one in every if not any(other < one for other in every)}


def holds(graph: CausalGraph, query: EffectQuery, covariates: Nodes, table: Nodes) -> bool:
    roles = {"treatments": query.treatments, "outcomes": query.outcomes}
    verdict = adjusts_in_context(
        graph, covariates=covariates, **roles, context=query.context, table=table
    )
    assert verdict == bd.is_adjustment_set(graph, query, covariates, external=table)
    return bool(verdict)


def test_an_open_path_is_named() -> None:
    found = bd.is_adjustment_set("Z -> X -> Y; Z -> Y", "Y | do(X)", ())

    assert not found
    assert found.witness == ("X", "<-", "Z", "->", "Y")
    with pytest.raises(BounditError, match="no node 'Q'"):
        bd.adjustment_sets("X -> Y", "Y | do(Q)")


def test_an_identified_effect_is_evaluated_from_a_log() -> None:
    rows = {"Z": [0, 0, 0, 1], "X": [0, 1, 1, 0], "Y": [0, 0, 1, 1]}
    direct = bd.identify("X -> Y; Z -> Y", "Y | do(X)").evaluate(rows)
    logged = bd.identify("Z -> X -> Y; Z -> [S]", "Y | do(X)").evaluate(rows)

    for found in (direct, logged):
        assert found.axes == ("X", "Y")
        np.testing.assert_allclose(found.values, [[0.5, 0.5], [0.5, 0.5]])
    selected = bd.identify("Z -> X -> Y; Z -> Y; Z -> [S]", "Y | do(X)", external=["Z"])
    rows = {"Z": [0, 0, 1, 1, 1], "X": [0, 1, 0, 1, 1], "Y": [0, 1, 1, 0, 1]}
    values = selected.evaluate(rows, external=[{"Z": [0, 1, 1, 1]}]).align(("X", "Y"))
    np.testing.assert_allclose(values, [[0.25, 0.75], [0.375, 0.625]])
    with pytest.raises(BounditError, match="no formula to evaluate: not identified"):
        bd.identify("X -> Y; X <-> Y", "Y | do(X)").evaluate(rows)
