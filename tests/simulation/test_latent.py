"""Parameters of a model with hidden causes, against the model and finite differences."""

import numpy as np
import pytest

from boundit.counts.named_array import NamedArray
from boundit.estimand.query import parse_query
from boundit.graph.read import parse_graph
from boundit.simulation.errors import ModelTooLarge
from boundit.simulation.latent import FitObjective, LatentDesign, MeanPull

SELECTED = parse_graph("Z -> X -> Y; X <-> Y; Z -> [S]; Y -> [S]; Z <-> [S]")


def make_design() -> LatentDesign:
    return LatentDesign.of(SELECTED, {"Z": 3, "X": 2, "Y": 2})


def test_every_vector_is_a_model_of_the_graph() -> None:
    design = make_design()
    model = design.make_model(np.random.default_rng(1).normal(size=design.size), 0.9)

    assert model.hidden == {"X<->Y", "S<->Z"}
    assert model.tables["S"].values[..., 1].max() == pytest.approx(0.9)
    assert model.distribution().values.sum() == pytest.approx(1)


def test_the_product_of_tables_is_the_law_of_logged_rows() -> None:
    """Lowering all chances to be logged alike leaves the law of logged rows as it is."""
    design = make_design()
    numbers = np.random.default_rng(2).normal(size=design.size)
    joint = design.multiply(design.read_tables(numbers), frozenset())
    law = joint.sum(axis=(3, 4))

    for greatest in (0.3, 1.0):
        expected = design.make_model(numbers, greatest).log().align(design.observed)
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


GRAPH = parse_graph("Z -> X -> Y; Z -> Y; X <-> Y; Y -> [S]; Z -> [S]")
QUERY = parse_query("Y | do(X), Z")
WEIGHTS = np.arange(6).reshape(3, 2) / 7


def make_objective(values: tuple[float, ...], *, pulled: bool = True) -> FitObjective:
    rng, n = np.random.default_rng(3), len(values)
    design = LatentDesign.of(GRAPH, {"Z": 2, "X": 3, "Y": n})
    target = rng.dirichlet(np.ones(6 * n)).reshape(2, 3, n)
    means = NamedArray(("X", "Z"), rng.uniform(0.2, 0.8, (3, 2)))
    pull = MeanPull(QUERY, means, WEIGHTS, np.array(values))
    return FitObjective(design, target, pull if pulled else None)


@pytest.mark.parametrize("values", [(0, 1), (0, 0.2, 0.9)])
@pytest.mark.parametrize("pulled", [False, True])
def test_the_gradient_is_that_of_finite_differences(
    values: tuple[float, ...], pulled: bool
) -> None:
    objective = make_objective(values, pulled=pulled)
    at = np.random.default_rng(4).normal(size=objective.design.size)
    _, gradient = objective.compute(at)

    step = 1e-6 * np.eye(objective.design.size)
    slopes = [
        (objective.compute(at + e)[0] - objective.compute(at - e)[0]) / 2e-6 for e in step
    ]
    assert gradient == pytest.approx(slopes, abs=1e-6)


@pytest.mark.parametrize("values", [(0, 1), (0, 0.2, 0.9)])
def test_the_value_is_the_likelihood_of_the_models_rows_and_means(
    values: tuple[float, ...],
) -> None:
    objective = make_objective(values)
    design, pull = objective.design, objective.pull
    at = np.random.default_rng(5).normal(size=design.size)
    model = design.make_model(at, 0.8)
    rows = model.log().align(design.observed)
    effect = model.effect(outcomes="Y", treatments="X", context="Z").align(("X", "Z", "Y"))
    means = effect @ np.array(values)
    assert pull is not None
    wanted = pull.means.values
    rounds = wanted * np.log(means) + (1 - wanted) * np.log(1 - means)

    expected = (objective.target * np.log(rows)).sum() + (WEIGHTS * rounds).sum()
    assert objective.compute(at)[0] == pytest.approx(-expected)
    assert objective.compute_rows(at) == pytest.approx(rows)
