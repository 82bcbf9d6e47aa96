"""Where the paper's offline half does not hold as printed: graphs and exact numbers.

One or more tests for an entry of ``research/docs/deviations.md``, which names them. What concerns
the paper's table and its regret is in ``test_paper_claims``.
"""

from typing import TypedDict

import numpy as np
import pytest

from boundit.core.names import Nodes
from boundit.counts.formula import evaluate
from boundit.counts.named_array import NamedArray
from boundit.estimand.adjustment import (
    adjusts,
    find_adjustment,
    find_context_adjustment,
    write_adjustment,
)
from boundit.estimand.factors import factorize, recover_factor
from boundit.estimand.substitutes import find_substitutes
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from boundit.simulation.environments import make_paper_model
from boundit.simulation.random_models import draw_model
from boundit.simulation.scm import SCM
from boundit.simulation.tables import sum_product
from tests.estimand.truth import recover_sets
from tests.nodes import make_nodes
from tests.paper import (
    ARM,
    CONTEXT,
    EXAMPLE_FACTORS,
    EXAMPLE_RELEVANT,
    EXAMPLE_SUBSTITUTE,
    FIGURE_2,
    OUTCOME,
)
from tests.simulation.c_factors import c_factor


class Effect(TypedDict):
    outcomes: Nodes
    treatments: Nodes


class InContext(Effect):
    context: Nodes


X_TO_Y = Effect(outcomes=make_nodes("Y"), treatments=make_nodes("X"))
EXAMPLE = InContext(outcomes=OUTCOME, treatments=ARM, context=CONTEXT)
CHAIN = SCM.of({"X": ([], 0.5), "M": (["X"], [0.2, 0.8]), "Y": (["M"], [0.1, 0.9])})


def draw_binary_model(graph: CausalGraph) -> SCM:
    return draw_model(graph, np.random.default_rng(7), levels=(2,))


def list_factors(graph: CausalGraph, outcomes: Nodes, treatments: Nodes) -> list[Nodes]:
    return list(factorize(graph, outcomes=outcomes, treatments=treatments).parts)


def test_the_example_sums_over_the_mediator() -> None:
    """D-1. Eq. (11): D holds I1 too, and Q[Y] Q[U1] Q[U2] is not the effect for either i1."""
    model, asked = make_paper_model(), OUTCOME | CONTEXT
    effect = model.intervene(ARM, asked)
    factors = list_factors(FIGURE_2, asked, ARM)

    assert factorize(FIGURE_2, outcomes=asked, treatments=ARM).summed == make_nodes("I1")
    assert asked == EXAMPLE_RELEVANT
    assert set(factors) == {make_nodes("I1", "Y"), make_nodes("U1"), make_nodes("U2")}
    whole = sum_product([c_factor(model, part) for part in factors], effect.axes)
    assert whole.measure_gap(effect) < 1e-12
    axes = ("I1", "U1", "U2", "X2", "Y")
    printed = sum_product([c_factor(model, part) for part in EXAMPLE_FACTORS], axes)
    for i1 in (0, 1):
        assert printed.at({"I1": i1}).measure_gap(effect) > 0.02


def test_a_failed_identify_ends_the_recovery() -> None:
    """D-2. Algorithm 2, line 15: dividing X and Y away leaves no Y to recover."""
    graph = parse("X -> Y; X <-> Y; Z -> [S]")

    answer = recover_factor(make_nodes("Y"), graph)

    assert answer.expression is None
    assert [(step.algorithm, step.line) for step in answer.steps] == [
        ("Algorithm 2", 13),
        ("Identify", 2),
    ]
    assert "Y" not in graph.induced(graph.nodes - {"X", "Y"}).nodes


def test_the_log_knows_the_law_of_one_context_and_not_of_the_other() -> None:
    """D-7. P(u2) is recoverable, P(u1) is not: 0.4 of everyone, 0.444 of the logged."""
    model = make_paper_model()

    assert str(recover_sets(FIGURE_2, outcomes=make_nodes("U2"))) == "P(U2 | S=1)"
    assert not recover_sets(FIGURE_2, outcomes=make_nodes("U1"))
    assert not recover_sets(FIGURE_2, outcomes=CONTEXT)
    assert float(model.distribution("U1").at({"U1": 1})) == pytest.approx(0.4)
    assert float(model.log().marginalize("U1").at({"U1": 1})) == pytest.approx(0.4441, abs=1e-4)


def test_a_product_over_the_outcomes_alone_is_not_the_effect() -> None:
    """D-8. Eq. (1) on X -> M -> Y is P(y | m), 0.1 or 0.9; the effect of x = 1 is 0.74."""
    effect = CHAIN.effect(**X_TO_Y)
    printed = CHAIN.distribution({"M", "Y"}).condition_on("M").at({"Y": 1})

    whole = sum_product([CHAIN.tables["M"], CHAIN.tables["Y"]], effect.axes)

    assert printed.values == pytest.approx([0.1, 0.9])
    assert effect.at({"Y": 1}).values == pytest.approx([0.26, 0.74])
    assert whole.measure_gap(effect) < 1e-12


def test_a_causal_path_through_another_treatment_may_stay_open() -> None:
    """D-9. Before Definition 2: X1 -> X2 -> Y is not proper, nothing blocks it, none need."""
    graph = parse("X1 -> X2 -> Y")
    sets = {
        "treatments": make_nodes("X1", "X2"),
        "outcomes": make_nodes("Y"),
        "covariates": make_nodes(),
    }
    model = draw_binary_model(graph)

    assert open_walk(graph, "X1", "Y", given=()) == ("X1", "->", "X2", "->", "Y")
    assert adjusts(graph, **sets)
    formula = write_adjustment(graph, **sets)
    effect = model.effect(outcomes="Y", treatments=sets["treatments"])
    assert evaluate(formula, model.log()).measure_gap(effect) < 1e-12


def test_the_criterion_with_measured_covariates_has_another_formula() -> None:
    """D-10. Theorem 1 cites the criterion of 2018, whose formula is not eq. (3)."""
    graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]")
    model = draw_binary_model(graph)

    def gap(external: Nodes) -> float:
        formula = write_adjustment(graph, covariates="Z", **X_TO_Y, external=external)
        numbers = evaluate(formula, model.log(), external=[model.distribution("Z")])
        return numbers.measure_gap(model.effect(**X_TO_Y))

    assert adjusts(graph, covariates="Z", **X_TO_Y, external="Z")
    assert gap(make_nodes("Z")) < 1e-12
    assert not adjusts(graph, covariates="Z", **X_TO_Y)
    assert gap(make_nodes()) > 0.02


def test_an_effect_may_be_recoverable_though_nothing_adjusts() -> None:
    """D-11. Theorem 1 is necessary for recovery by adjustment, not for recovery."""
    graph = parse("X -> M -> Y; X <-> Y; A -> [S]")
    model = draw_binary_model(graph)

    formula = recover_sets(graph, **X_TO_Y).expression

    assert find_adjustment(graph, **X_TO_Y, external=["A", "M"]) is None
    assert formula is not None
    assert evaluate(formula, model.log()).measure_gap(model.effect(**X_TO_Y)) < 1e-12


def test_c_components_are_maximal() -> None:
    """D-12. I1 alone and Y alone are joined sets too, and their factors do not multiply."""
    model = make_paper_model()
    together = c_factor(model, make_nodes("I1", "Y"))
    apart = sum_product([c_factor(model, "I1"), c_factor(model, "Y")], together.axes)

    assert make_nodes("I1", "Y") in FIGURE_2.components()
    assert apart.measure_gap(together) > 0.01


def test_a_conditional_effect_can_be_known_when_the_joint_is_not() -> None:
    """D-13. The "if and only if" below eq. (6): given z selection tells nothing of y."""
    graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]")
    model, x, y, z = draw_binary_model(graph), make_nodes("X"), make_nodes("Y"), make_nodes("Z")

    conditional = recover_sets(graph, outcomes=y, treatments=x, context=z)
    joint = recover_sets(graph, outcomes=y | z, treatments=x)

    assert conditional.expression is not None
    numbers = evaluate(conditional.expression, model.log())
    assert numbers.measure_gap(model.effect(outcomes=y, treatments=x, context=z)) < 1e-12
    assert not joint
    assert joint.proof is not None


def test_on_its_own_example_the_upper_sum_passes_one() -> None:
    """D-14. Theorem 3 on Figure 2: the lower end is 0, the upper 2 / P(u1), 5 for u1 = 1."""
    model, asked = make_paper_model(), OUTCOME | CONTEXT
    least, largest = list[NamedArray](), list[NamedArray]()
    for part in list_factors(FIGURE_2, asked, ARM):
        formula = recover_factor(part, FIGURE_2).expression
        axes, shape = tuple(sorted(part)), [2] * len(part)
        unknown = NamedArray(axes, np.zeros(shape)), NamedArray(axes, np.ones(shape))
        known = unknown if formula is None else [evaluate(formula, model.log())] * 2
        least.append(known[0])
        largest.append(known[1])

    lower = sum_product(least, ("Y", "U1", "U2")).values
    upper = sum_product(largest, ("Y", "U1", "U2")).values / model.distribution(CONTEXT).values

    assert not lower.any()
    assert upper[1, :, 0] == pytest.approx(2 / model.distribution("U1").values)
    assert upper.max() == pytest.approx(5)


def test_the_weights_of_a_marginal_are_those_under_the_intervention() -> None:
    """D-15. Before eq. (8): M is an effect of X; with P(m) for P_x(m) each x gets 0.5."""
    effect = CHAIN.effect(**X_TO_Y)
    given_m = CHAIN.effect(**X_TO_Y, context="M")

    acted = sum_product([given_m, CHAIN.effect(outcomes="M", treatments="X")], effect.axes)
    printed = sum_product([given_m, CHAIN.distribution("M")], effect.axes)

    assert acted.measure_gap(effect) < 1e-12
    assert effect.at({"Y": 1}).values == pytest.approx([0.26, 0.74])
    assert printed.at({"Y": 1}).values == pytest.approx([0.5, 0.5])


def test_the_quotient_by_the_plain_context_needs_the_joint_exchange() -> None:
    """D-17. Theorem 4: for this W, P_{x,w}(y,c) / P_x(c) is 0.71 and the effect 0.2."""
    graph = parse("Z -> W -> C; Z -> C; C -> Y; X -> Y; [S]")
    model = SCM(
        graph,
        {
            "Z": ([], 0.5),
            "W": (["Z"], [0.1, 0.9]),
            "C": (["W", "Z"], [[0.05, 0.95], [0.95, 0.05]]),
            "X": ([], 0.5),
            "Y": (["C", "X"], [[0.5, 0.5], [0.5, 0.2]]),
            "S": ([], 0.5),
        },
    )
    roles = InContext(**X_TO_Y, context=make_nodes("C"))
    case = {"Y": 1, "X": 1, "C": 1}
    cut = graph.without_edges_into("X").without_edges_out_of("W")

    accepted = {s.variables for s in find_substitutes(graph, **roles, form="paper")}
    acted = model.effect(outcomes=["Y", "C"], treatments=["X", "W"]).at(case).values
    within = model.effect(outcomes="Y", treatments=["X", "W"], context="C").at(case).values

    assert make_nodes("W") in accepted
    assert open_walk(cut, "Y", "W", given=["X", "C"]) is None
    assert open_walk(cut, ["Y", "C"], "W", given="X") is not None
    assert acted / float(model.distribution("C").at({"C": 1})) == pytest.approx(
        [0.1 / 0.14] * 2
    )
    assert within == pytest.approx([0.2, 0.2])
    assert float(model.effect(**roles).at(case)) == pytest.approx(0.2)


def test_a_context_that_causes_an_arm_leaves_the_joint_effect_unadjusted() -> None:
    """D-18. Algorithm 3 adjusts for y and c at once; X <- C is a path that nothing blocks."""
    graph = parse("C -> X -> Y; C -> Y; Z -> Y; Z -> C")
    roles = {"treatments": "X", "outcomes": ["Y", "C"]}

    assert find_adjustment(graph, **roles) is None
    assert find_context_adjustment(graph, treatments="X", outcomes="Y", context="C")
    assert find_adjustment(FIGURE_2, treatments=ARM, outcomes=OUTCOME | CONTEXT) is None
    everything = FIGURE_2.observed - ARM - OUTCOME - CONTEXT
    joint = {"treatments": ARM, "outcomes": OUTCOME | CONTEXT, "external": everything}
    assert find_adjustment(FIGURE_2, **joint) is None


def test_on_its_own_example_the_printed_method_has_no_bound() -> None:
    """D-20. Figure 2: two factors of three are lost and FindRSI finds nothing, so [0, 1]."""
    factors = list_factors(FIGURE_2, OUTCOME | CONTEXT, ARM)

    recovered = {part for part in factors if recover_factor(part, FIGURE_2)}

    assert recovered == {make_nodes("U2")}
    assert not find_substitutes(FIGURE_2, **EXAMPLE, form="paper").found
    assert not find_substitutes(FIGURE_2, **EXAMPLE, form="guarded").found
    (observed,) = find_substitutes(FIGURE_2, **EXAMPLE, form="conditioning")
    assert observed.variables == EXAMPLE_SUBSTITUTE


def test_a_recovered_point_from_a_finite_log_misses() -> None:
    """D-21. Algorithm 1, line 17: L = U = an estimate, which is the effect in few logs."""
    graph = parse("X -> Y; A -> [S]")
    model, rng = draw_binary_model(graph), np.random.default_rng(1)
    truth = float(model.effect(**X_TO_Y).at({"X": 1, "Y": 1}))
    formula = recover_sets(graph, **X_TO_Y).expression
    assert formula is not None

    hits = 0
    for _ in range(100):
        rows = model.sample_log(500, rng)
        cells = np.histogram2d(rows["X"], rows["Y"], bins=2)[0]
        estimate = evaluate(formula, NamedArray(("X", "Y"), cells)).at({"X": 1, "Y": 1})
        hits += abs(float(estimate) - truth) < 1e-3

    assert hits < 20
