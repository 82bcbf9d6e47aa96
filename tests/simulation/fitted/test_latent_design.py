"""The shape of a model with hidden causes, held against ``Model``."""

import numpy as np
import pytest

from boundit.graph.read import parse_graph
from boundit.simulation.errors import ModelTooLarge
from boundit.simulation.fitted.latent_design import LatentDesign

GRAPH = parse_graph("Z -> X -> Y; X <-> Y; Z -> [S]; Y -> [S]; Z <-> [S]")


def make_design() -> LatentDesign:
    return LatentDesign.of(GRAPH, {"Z": 3, "X": 2, "Y": 2})


def test_every_vector_is_a_model_of_the_graph() -> None:
    design = make_design()
    model = design.make_model(np.random.default_rng(1).normal(size=design.size), 0.9)

    assert model.hidden == {"X<->Y", "S<->Z"}
    assert model.tables["S"].values[..., 1].max() == pytest.approx(0.9)
    assert model.law().values.sum() == pytest.approx(1)


def test_the_product_of_tables_is_the_law_of_logged_rows() -> None:
    """Lowering all chances to be logged alike leaves the law of logged rows as it is."""
    design = make_design()
    numbers = np.random.default_rng(2).normal(size=design.size)
    joint = design.multiply(design.read_chances(numbers), frozenset())
    law = joint.sum(axis=(3, 4))

    for greatest in (0.3, 1.0):
        expected = design.make_model(numbers, greatest).log().align(design.axes[:3])
        assert law / law.sum() == pytest.approx(expected)


def test_hidden_causes_have_fewer_levels_where_there_is_less_room() -> None:
    many = {f"V{i}": 2 for i in range(12)}
    edges = "; ".join(f"V{i} -> V{i + 1}; V{i} <-> V{i + 1}" for i in range(4))
    graph = parse_graph("; ".join([edges, *many]))

    assert {LatentDesign.of(graph, many).n_levels[f"V{i}<->V{i + 1}"] for i in range(4)} == {2}
    assert make_design().n_levels["X<->Y"] == 4


def test_a_model_of_too_many_cells_is_refused() -> None:
    names = [f"V{i}" for i in range(22)]
    with pytest.raises(ModelTooLarge):
        LatentDesign.of(parse_graph("; ".join(names)), dict.fromkeys(names, 2))


def test_limits_are_one_pair_for_each_parameter() -> None:
    design = make_design()

    assert len(design.limits) == design.size
    assert set(design.limits[design.places[-1].part]) == {(-5.0, 5.0)}
