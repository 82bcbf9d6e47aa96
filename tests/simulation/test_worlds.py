"""The paper's model: Figure 2 and the appendix's conditional probability table."""

import pytest

from boundit.counts.evaluate import evaluate
from boundit.estimand.expression import P
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.worlds import paper_model
from boundit.terms.names import nodes

# Rows of the offline table at u2 = 0, which changes nothing: (x1, x2, u1), then the effect, the
# logged mean given arm and context, and its least and largest value given I1 too.
EXACT = [
    ((0, 0, 0), 0.254167, 0.344235, 0.165217, 0.374510),
    ((0, 0, 1), 0.420833, 0.510901, 0.331884, 0.541176),
    ((0, 1, 0), 0.420833, 0.510901, 0.331884, 0.541176),
    ((0, 1, 1), 0.587500, 0.677568, 0.498551, 0.707843),
    ((1, 0, 0), 0.295833, 0.353275, 0.151282, 0.365432),
    ((1, 0, 1), 0.462500, 0.519942, 0.317949, 0.532099),
    ((1, 1, 0), 0.462500, 0.519942, 0.317949, 0.532099),
    ((1, 1, 1), 0.629167, 0.686608, 0.484615, 0.698765),
]
ARM_AND_CONTEXT = nodes("X1", "X2", "U1", "U2")
SIX_DECIMALS = 5.1e-7


def test_the_graph_is_figure_2() -> None:
    assert paper_model().graph == CausalGraph.of(
        directed=[
            ("U1", "X1"),
            ("U1", "Y"),
            ("U2", "X2"),
            ("X1", "I1"),
            ("X2", "Y"),
            ("I1", "Y"),
            ("I1", "S"),
        ],
        bidirected=[("I1", "Y")],
        selection="S",
    )


def test_selection_moves_u1_and_leaves_u2() -> None:
    """P(U1 = 1) is 0.4 and 0.444 among the logged; about 14,300 of 30,000 rows are kept."""
    model = paper_model()

    assert model.selection_rate() == pytest.approx(0.47625)
    assert model.law("U1").values[1] == pytest.approx(0.4)
    assert model.log().marginal("U1").values[1] == pytest.approx(0.21150 / 0.47625)
    assert model.log().marginal("U2").values[1] == pytest.approx(0.6)


@pytest.mark.parametrize(("at", "truth", "logged", "least", "largest"), EXACT)
@pytest.mark.parametrize("u2", [0, 1])
def test_the_effects_are_those_the_table_implies(
    at: tuple[int, int, int], truth: float, logged: float, least: float, largest: float, u2: int
) -> None:
    """The appendix's offline table, recomputed from the probabilities (deviation D-4)."""
    model = paper_model()
    point = {"Y": 1, "U2": u2} | dict(zip(("X1", "X2", "U1"), at, strict=True))

    effect = model.effect(outcomes="Y", treatments={"X1", "X2"}, context={"U1", "U2"})
    seen = evaluate(P(nodes("Y"), ARM_AND_CONTEXT), model.log())
    seen_with_i1 = evaluate(P(nodes("Y"), ARM_AND_CONTEXT | {"I1"}), model.log()).at(point)

    assert float(effect.at(point)) == pytest.approx(truth, abs=SIX_DECIMALS)
    assert float(seen.at(point)) == pytest.approx(logged, abs=SIX_DECIMALS)
    assert seen_with_i1.values.min() == pytest.approx(least, abs=SIX_DECIMALS)
    assert seen_with_i1.values.max() == pytest.approx(largest, abs=SIX_DECIMALS)


@pytest.mark.parametrize(
    ("arm", "mean"),
    [((0, 0), 0.374538), ((0, 1), 0.541204), ((1, 0), 0.464386), ((1, 1), 0.631053)],
)
def test_the_logged_mean_of_an_arm(arm: tuple[int, int], mean: float) -> None:
    """P(y | x1, x2, S = 1), which the printed Biased column is close to."""
    seen = evaluate(P(nodes("Y"), nodes("X1", "X2")), paper_model().log())

    point = {"Y": 1, "X1": arm[0], "X2": arm[1]}
    assert float(seen.at(point)) == pytest.approx(mean, abs=SIX_DECIMALS)
