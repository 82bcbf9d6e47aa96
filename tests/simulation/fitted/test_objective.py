"""The objective of a fit, held against models and against finite differences."""

import numpy as np
import pytest

from boundit.counts.named_array import NamedArray
from boundit.estimand.query import parse_query
from boundit.graph.read import parse_graph
from boundit.simulation.fitted.latent_design import LatentDesign
from boundit.simulation.fitted.objective import FitObjective, MeanPull

GRAPH = parse_graph("Z -> X -> Y; Z -> Y; X <-> Y; Y -> [S]; Z -> [S]")
QUERY = parse_query("Y | do(X), Z")
WEIGHTS = np.arange(6).reshape(3, 2) / 7
DESIGN = LatentDesign.of(GRAPH, {"Z": 2, "X": 3, "Y": 2})


def make_objective(*, pulled: bool) -> FitObjective:
    rng = np.random.default_rng(3)
    target = rng.dirichlet(np.ones(12)).reshape(2, 3, 2)
    means = NamedArray(("X", "Z"), rng.uniform(0.2, 0.8, (3, 2)))
    return FitObjective(DESIGN, target, MeanPull(QUERY, means, WEIGHTS) if pulled else None)


@pytest.mark.parametrize("pulled", [False, True])
def test_the_gradient_is_that_of_finite_differences(pulled: bool) -> None:
    objective = make_objective(pulled=pulled)
    at = np.random.default_rng(4).normal(size=DESIGN.size)
    _, gradient = objective.compute(at)

    step = 1e-6 * np.eye(DESIGN.size)
    slopes = [
        (objective.compute(at + e)[0] - objective.compute(at - e)[0]) / 2e-6 for e in step
    ]
    assert gradient == pytest.approx(slopes, abs=1e-6)


def test_the_value_is_the_likelihood_of_the_models_law_and_means() -> None:
    objective = make_objective(pulled=True)
    at = np.random.default_rng(5).normal(size=DESIGN.size)
    model = DESIGN.make_model(at, 0.8)
    law = model.log().align(DESIGN.axes[:3])
    means = model.effect(outcomes="Y", treatments="X", context="Z").align(("X", "Z", "Y"))
    assert objective.pull is not None
    wanted = objective.pull.means.values
    rounds = wanted * np.log(means[..., 1]) + (1 - wanted) * np.log(means[..., 0])

    expected = (objective.target * np.log(law)).sum() + (WEIGHTS * rounds).sum()
    assert objective.compute(at)[0] == pytest.approx(-expected)
    assert objective.compute_law(at) == pytest.approx(law)
