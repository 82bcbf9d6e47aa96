"""The paper's model, and what the other environments are for."""

import numpy as np
import pytest

from boundit.bounds.derive import derive_bounds
from boundit.bounds.paper import adjust_for_confounding_only, condition_only
from boundit.counts.formula import evaluate
from boundit.estimand.expression import P
from boundit.graph.read import parse_graph
from boundit.results.bound_table import BoundTable
from boundit.simulation.environment import Environment
from boundit.simulation.environments import (
    flipped_environment,
    make_paper_model,
    random_environment,
)
from boundit.simulation.errors import InvalidSimulation
from boundit_research.online.suite import make_suite
from tests.nodes import make_nodes

# The offline table at u2 = 0, which changes nothing: (x1, x2, u1), then the effect, the logged mean
# given arm and context, and its least and largest value given I1 too.
EXACT = [
    ((0, 0, 0), 0.254167, 0.344235, 0.165217, 0.374510),
    ((0, 0, 1), 0.420833, 0.510901, 0.331884, 0.541176),
    ((1, 0, 0), 0.295833, 0.353275, 0.151282, 0.365432),
    ((1, 1, 1), 0.629167, 0.686608, 0.484615, 0.698765),
]
ARM_AND_CONTEXT = make_nodes("X1", "X2", "U1", "U2")
SIX_DECIMALS = 5.1e-7


def test_the_graph_is_figure_2() -> None:
    edges = "U1 -> X1; U1 -> Y; U2 -> X2; X1 -> I1; X2 -> Y; I1 -> Y; I1 -> [S]; I1 <-> Y"
    assert make_paper_model().graph == parse_graph(edges)


def test_selection_moves_u1_and_leaves_u2() -> None:
    """P(U1 = 1) is 0.4 and 0.444 among the logged; about 14,300 of 30,000 rows are kept."""
    model = make_paper_model()

    assert model.selection_rate() == pytest.approx(0.47625)
    assert model.distribution("U1").values[1] == pytest.approx(0.4)
    assert model.log().marginalize("U1").values[1] == pytest.approx(0.21150 / 0.47625)
    assert model.log().marginalize("U2").values[1] == pytest.approx(0.6)


@pytest.mark.parametrize(("at", "truth", "logged", "least", "largest"), EXACT)
@pytest.mark.parametrize("u2", [0, 1])
def test_the_effects_are_those_the_table_implies(
    at: tuple[int, int, int], truth: float, logged: float, least: float, largest: float, u2: int
) -> None:
    """The appendix's offline table, recomputed from the probabilities (deviation D-4)."""
    model = make_paper_model()
    point = {"Y": 1, "U2": u2} | dict(zip(("X1", "X2", "U1"), at, strict=True))

    effect = model.effect(outcomes="Y", treatments={"X1", "X2"}, context={"U1", "U2"})
    seen = evaluate(P(make_nodes("Y"), ARM_AND_CONTEXT), model.log())
    seen_with_i1 = evaluate(P(make_nodes("Y"), ARM_AND_CONTEXT | {"I1"}), model.log()).at(point)

    assert float(effect.at(point)) == pytest.approx(truth, abs=SIX_DECIMALS)
    assert float(seen.at(point)) == pytest.approx(logged, abs=SIX_DECIMALS)
    assert seen_with_i1.values.min() == pytest.approx(least, abs=SIX_DECIMALS)
    assert seen_with_i1.values.max() == pytest.approx(largest, abs=SIX_DECIMALS)


def prefer(environment: Environment, table: BoundTable) -> list[tuple[object, ...]]:
    """The arm with the highest estimate in each context."""
    arms, contexts = environment.finite.arms, environment.finite.contexts
    return [max(arms, key=lambda arm, c=c: table[arm, c].lower) for c in contexts]  # type: ignore[misc]


def exact_bounds(environment: Environment) -> BoundTable:
    return derive_bounds(
        environment.graph, environment.query, environment.exact_log(), confidence=None
    )


@pytest.mark.parametrize("strength", [0.8, 0.9, 1.0])
def test_bias_flips_the_best_and_the_worst_arm(strength: float) -> None:
    """Both biased estimates prefer, in every context, the arm that earns least."""
    environment = flipped_environment(strength)
    asked = environment.graph, environment.query, environment.exact_log()

    assert environment.finite.means.argmax(axis=1).tolist() == [3, 3]
    assert environment.finite.means.argmin(axis=1).tolist() == [0, 0]
    for estimate in (condition_only, adjust_for_confounding_only):
        assert prefer(environment, estimate(*asked)) == [(0, 0), (0, 0)]


@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
def test_the_bounds_of_a_flipped_environment_hold_and_are_narrow(strength: float) -> None:
    environment = flipped_environment(strength)
    bounds = exact_bounds(environment)

    for key, mean in environment.means().items():
        assert bounds[key].lower - 1e-9 <= mean <= bounds[key].upper + 1e-9
        assert bounds[key].upper - bounds[key].lower < 0.5


def test_without_bias_the_log_tells_the_truth() -> None:
    environment = flipped_environment(0)
    cp = condition_only(environment.graph, environment.query, environment.exact_log())

    for key, mean in environment.means().items():
        assert cp[key].lower == pytest.approx(mean)
    with pytest.raises(InvalidSimulation, match="Use a number from 0 to 1"):
        flipped_environment(1.5)


def test_the_suite_has_valid_bounds_and_linear_means() -> None:
    """Means are linear in the context, as disjoint LinUCB assumes, so that regret can be small."""
    names = set()
    for environment in make_suite():
        bounds, finite = exact_bounds(environment), environment.finite
        for key, mean in environment.means().items():
            assert bounds[key].lower - 1e-9 <= mean <= bounds[key].upper + 1e-9
        x = np.array([[1, *context] for context in finite.contexts], np.float64)
        fitted = x @ np.linalg.lstsq(x, finite.means, rcond=None)[0]
        assert np.abs(fitted - finite.means).max() < 1e-9
        names.add(environment.name)
    assert len(names) == 12


def test_random_environments_are_confounded_and_selected_as_asked() -> None:
    whole, open_log = (
        random_environment(2),
        random_environment(2, hidden=False, selection=False),
    )

    assert str(whole.graph).endswith("I <-> Y")
    assert whole.graph.selection == "S"
    assert not open_log.graph.bidirected
    assert open_log.graph.selection is None
    assert random_environment(np.int64(2)).means() == whole.means()  # type: ignore[arg-type]
    assert random_environment(3).means() != whole.means()
    for wrong in ({"seed": 0, "arms": 1}, {"seed": 0, "contexts": -1}, {"seed": -1}):
        with pytest.raises(InvalidSimulation, match=r"is not valid\. Use a whole number from"):
            random_environment(**wrong)  # type: ignore[arg-type]
