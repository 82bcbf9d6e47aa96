"""Exact answers of a model against enumeration of every hidden state."""

import numpy as np
import pytest

from boundit.core.errors import DataError, OverlappingRoles, SelectionHasChildren, UnknownNode
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.errors import (
    InvalidModel,
    ModelTooLarge,
)
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.simulation.scm import SCM
from boundit.simulation.tables import TableSpec
from tests.simulation.c_factors import c_factor
from tests.simulation.enumeration import compute_probability, list_points

BOW = CausalGraph.of(directed=[("X", "Y")], bidirected=[("X", "Y")])
BOW_TABLES: dict[str, TableSpec] = {
    "C": ([], 0.5),
    "X": (["C"], [0.2, 0.8]),
    "Y": (["X", "C"], [[0.1, 0.6], [0.3, 0.8]]),
}
CLOSE = 1e-12


def small_models(*, selection: bool, n: int = 12) -> list[SCM]:
    rng = np.random.default_rng(20240 + selection)
    graphs = [
        draw_graph(3, rng, directed=0.6, bidirected=0.4, selection=selection) for _ in range(n)
    ]
    return [draw_model(graph, rng) for graph in graphs]


SELECTED = small_models(selection=True)
UNSELECTED = small_models(selection=False)


@pytest.mark.parametrize("model", SELECTED + UNSELECTED)
def test_the_law_is_that_of_every_state_counted(model: SCM) -> None:
    for at, value in list_points(model.distribution()):
        assert value == pytest.approx(compute_probability(model, at), abs=CLOSE)


@pytest.mark.parametrize("model", SELECTED)
def test_the_log_is_the_law_given_selection(model: SCM) -> None:
    rate = compute_probability(model, {"S": 1})

    assert model.selection_rate() == pytest.approx(rate, abs=CLOSE)
    for at, value in list_points(model.log()):
        assert value == pytest.approx(
            compute_probability(model, at | {"S": 1}) / rate, abs=CLOSE
        )


@pytest.mark.parametrize("model", SELECTED + UNSELECTED)
def test_an_intervention_drops_the_tables_of_what_is_set(model: SCM) -> None:
    """The truncated factorisation."""
    for at, value in list_points(model.intervene({"V1", "V3"}, names={"V2"})):
        do = {"V1": at["V1"], "V3": at["V3"]}
        assert value == pytest.approx(
            compute_probability(model, {"V2": at["V2"]}, do), abs=CLOSE
        )


@pytest.mark.parametrize("model", SELECTED + UNSELECTED)
def test_an_effect_conditions_after_it_intervenes(model: SCM) -> None:
    effect = model.effect(outcomes="V1", treatments="V2", context="V3")

    assert effect.names == {"V1", "V2", "V3"}
    for at, value in list_points(effect):
        do, context = {"V2": at["V2"]}, {"V3": at["V3"]}
        truth = compute_probability(
            model, context | {"V1": at["V1"]}, do
        ) / compute_probability(model, context, do)
        assert value == pytest.approx(truth, abs=CLOSE)


@pytest.mark.parametrize("model", SELECTED)
@pytest.mark.parametrize("inside", [{"V1"}, {"V1", "V2"}, {"V2", "S"}, {"V1", "V2", "V3"}])
def test_a_c_factor_is_the_law_when_all_else_is_set(model: SCM, inside: set[str]) -> None:
    """Q[C](v) = P(c | do(v without c)), whatever the nodes it does not read are set to."""
    factor = c_factor(model, inside)

    for at, value in list_points(factor):
        event = {node: level for node, level in at.items() if node in inside}
        do = {node: at.get(node, 0) for node in model.graph.nodes if node not in inside}
        assert value == pytest.approx(compute_probability(model, event, do), abs=CLOSE)


def test_a_hidden_chain_is_summed_out() -> None:
    """X -> H -> Y with H hidden is the edge X -> Y, and its effect is the chain's."""
    model = SCM.of(
        {"X": ([], 0.3), "H": (["X"], [0.2, 0.6]), "Y": (["H"], [0.1, 0.9])}, hidden="H"
    )

    assert str(model.graph) == "X -> Y"
    effect = model.effect(outcomes="Y", treatments="X").at({"Y": 1})
    assert effect.values.tolist() == pytest.approx([0.26, 0.58])


@pytest.mark.parametrize("model", SELECTED[:3])
def test_sampled_rows_come_as_often_as_the_law_says(model: SCM) -> None:
    """Within five standard errors of each cell, at 40,000 rows and a fixed seed."""
    n = 40_000
    rows = model.sample_log(n, np.random.default_rng(7))
    n_logged = len(rows["V1"])
    rate, log = model.selection_rate(), model.log()

    assert set(rows) == model.graph.observed
    assert n_logged / n == pytest.approx(rate, abs=5 * np.sqrt(rate / n))
    for at, value in list_points(log):
        share = np.all([rows[node] == level for node, level in at.items()], axis=0).mean()
        assert share == pytest.approx(value, abs=5 * np.sqrt(value / n_logged) + 1e-4)


def test_sampling_under_an_intervention_follows_the_effect() -> None:
    """Within four standard errors of 0.55; those who have X = 1 unforced are at 0.7."""
    rows = SCM(BOW, BOW_TABLES).sample(50_000, np.random.default_rng(4), do={"X": 1})

    assert (rows["X"] == 1).all()
    assert rows["Y"].mean() == pytest.approx(0.55, abs=4 * np.sqrt(0.25 / 50_000))


def test_the_same_luck_gives_the_same_people_under_every_intervention() -> None:
    model = SCM.of(
        {"U": ([], 0.5), "X": (["U"], [0.2, 0.8]), "Y": (["X", "U"], [[0.1, 0.4]] * 2)}
    )

    free = model.sample(200, np.random.default_rng(1))
    forced = model.sample(200, np.random.default_rng(1), do={"X": 0})

    assert (free["U"] == forced["U"]).all()
    assert (free["Y"] == forced["Y"]).all(), "Y does not depend on X here"


def test_a_graph_may_have_edges_the_tables_do_not_use() -> None:
    assert SCM(BOW, {"X": ([], 0.5), "Y": ([], 0.5)}).hidden == frozenset()


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        (CausalGraph.of(["X", "Y"], bidirected=[("X", "Y")]), "X -> Y"),
        (CausalGraph.of(["X", "Y"], directed=[("X", "Y")]), "X <-> Y"),
    ],
)
def test_tables_may_not_go_beyond_the_graph(graph: CausalGraph, says: str) -> None:
    with pytest.raises(InvalidModel, match=says):
        SCM(graph, BOW_TABLES)


def test_every_node_needs_a_table() -> None:
    with pytest.raises(InvalidModel, match="'Y'"):
        SCM(BOW, {"X": ([], 0.5)})


def test_selection_is_yes_or_no() -> None:
    with pytest.raises(InvalidModel, match="3 levels"):
        SCM.of({"X": ([], 0.5), "S": ([], [0.2, 0.3, 0.5])}, selection="S")
    with pytest.raises(SelectionHasChildren):
        SCM.of({"S": ([], 0.5), "X": (["S"], [0.2, 0.3])}, selection="S")


def test_a_log_needs_someone_to_be_selected() -> None:
    model = SCM.of({"X": ([], 0.5), "S": (["X"], [0.0, 0.0])}, selection="S")

    assert model.selection_rate() == 0
    with pytest.raises(InvalidModel, match="'S'"):
        model.log()


def test_questions_about_strangers_are_refused() -> None:
    model = draw_model(BOW, np.random.default_rng(0))

    with pytest.raises(UnknownNode, match="'Z'"):
        model.effect(outcomes="Y", treatments="Z")
    with pytest.raises(UnknownNode, match="'X<->Y'"):
        model.distribution("X<->Y")
    with pytest.raises(UnknownNode, match="'Z'"):
        model.sample(3, np.random.default_rng(0), do={"Z": 1})
    with pytest.raises(DataError, match="no level 9"):
        model.sample(3, np.random.default_rng(0), do={"X": 9})


def test_roles_do_not_overlap() -> None:
    model = draw_model(BOW, np.random.default_rng(0))

    with pytest.raises(OverlappingRoles):
        model.effect(outcomes="Y", treatments="Y")
    with pytest.raises(OverlappingRoles):
        model.effect(outcomes="Y", treatments="X", context="Y")


def test_an_answer_that_is_too_large_is_refused_and_smaller_ones_are_given() -> None:
    tables: dict[str, TableSpec] = {f"V{i}": ([f"V{i - 1}"], [0.4, 0.7]) for i in range(1, 40)}
    model = SCM.of({"V0": ([], 0.4)} | tables)

    with pytest.raises(ModelTooLarge, match="Ask about fewer variables, or sample"):
        model.distribution()
    assert model.distribution({"V0", "V39"}).values.sum() == pytest.approx(1)
