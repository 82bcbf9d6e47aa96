"""Theorem 2, Algorithm 2 and Identify: every line, and their truth on exact models."""

from dataclasses import replace

import numpy as np

from boundit.core.formula import Sentence, make_factor
from boundit.core.names import Nodes
from boundit.counts.formula import evaluate
from boundit.estimand.derivation import (
    Identification,
    Question,
    Step,
    find_selection_walk,
    lighten,
)
from boundit.estimand.factors import (
    Distribution,
    factorize,
    identify_factor,
    observe_distribution,
    recover_by_factors,
    recover_factor,
)
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from tests.estimand.truth import gap, random_cases
from tests.nodes import make_nodes
from tests.paper import ARM, CONTEXT, FIGURE_2, OUTCOME
from tests.simulation.c_factors import c_factor


def recover(graph: CausalGraph, asked: Question) -> Identification:
    return recover_by_factors(graph, asked, lambda factor: recover_factor(factor, graph))


CHAIN = parse("X -> M -> Y; Z -> Y")


def observe(graph: CausalGraph, *late: Nodes) -> Distribution:
    bits = graph.bits
    return observe_distribution(bits, bits.everything, [bits.mask(part) for part in late])


def test_the_order_is_causal_and_takes_the_late_ones_late() -> None:
    fork = parse("A -> B; A -> C")

    assert observe(CHAIN, make_nodes("M", "X")).order == ("Z", "X", "M", "Y")
    assert observe(CHAIN, make_nodes("Z")).order == ("X", "M", "Z", "Y")
    assert observe(fork, make_nodes("B")).order == ("A", "C", "B")
    assert observe(fork, make_nodes("C"), make_nodes("B")).order == ("A", "B", "C")


def test_the_conditionals_multiply_to_the_log_and_to_its_margins() -> None:
    for i, case in enumerate(random_cases(60, seed=3)):
        log = draw_model(case.graph, np.random.default_rng(i)).log()
        law = observe(case.graph, case.treatments)
        kept = case.graph.ancestors(case.outcomes | case.context)

        for part, names in ((law, case.graph.observed), (law.marginalize(kept), kept)):
            value, truth = evaluate(part.write_formula(), log), log.marginalize(names)
            np.testing.assert_allclose(value.align(truth.axes), truth.values, atol=1e-12)


def test_summing_out_the_last_variables_costs_nothing() -> None:
    law = observe(parse("A -> B -> C; A -> D"))

    assert law.marginalize(make_nodes("A", "B")).order == ("A", "B")
    assert law.marginalize(make_nodes("A")).conditional("A") == law.conditional("A")


def test_figure_2_needs_three_factors() -> None:
    """Worked example, eq. 11: I1 is an ancestor of Y too, so it is summed."""
    whole = factorize(FIGURE_2, outcomes=OUTCOME | CONTEXT, treatments=ARM)

    assert whole.summed == make_nodes("I1")
    assert set(whole.parts) == {make_nodes("I1", "Y"), make_nodes("U1"), make_nodes("U2")}
    assert whole.relevant == make_nodes("I1", "Y", "U1", "U2")
    assert str(whole) == "Σ_{I1} Q[I1, Y] Q[U1] Q[U2]"


def test_the_sum_of_products_is_the_effect() -> None:
    for i, case in enumerate(random_cases(60, seed=1)):
        formula = factorize(case.graph, outcomes=case.outcomes, treatments=case.treatments)
        model = draw_model(case.graph, np.random.default_rng(i))
        order = tuple(v for v in case.graph.order if v in case.graph.observed)
        whole = np.ones([1] * len(order))
        for part in formula.parts:
            whole = whole * c_factor(model, part).align(order)
        axes = tuple(i for i, v in enumerate(order) if v in formula.summed)
        value = whole.sum(axis=axes, keepdims=True)

        truth = model.effect(outcomes=case.outcomes, treatments=case.treatments)
        np.testing.assert_allclose(value - truth.align(order), 0, atol=1e-12)


NAPKIN = parse("W -> R -> X -> Y; W <-> X; W <-> Y")
BOW = parse("X -> Y; X <-> Y")


def identify_in(graph: CausalGraph, target: Nodes, within: Nodes) -> Identification:
    bits, known = graph.bits, observe(graph).divide_by(graph.nodes - within)
    return identify_factor(bits.mask(target), bits.mask(within), known, bits)


def lines(target: Nodes, within: Nodes, graph: CausalGraph) -> list[int | None]:
    return [step.line for step in identify_in(graph, target, within).steps]


def test_line_1_sums_out_what_does_not_act_on_the_target() -> None:
    assert lines(make_nodes("X"), make_nodes("X", "Y"), BOW) == [1]
    assert lines(make_nodes("X", "Y"), make_nodes("X", "Y"), BOW) == []


def test_line_2_stops_when_everything_acts_on_the_target() -> None:
    assert lines(make_nodes("Y"), make_nodes("X", "Y"), BOW) == [2]


def test_line_3_goes_on_within_the_part_that_holds_the_target() -> None:
    assert lines(make_nodes("Y"), make_nodes("W", "X", "Y"), NAPKIN) == [3]


def test_what_is_identified_is_the_c_factor() -> None:
    found = 0
    for i, case in enumerate(random_cases(150, seed=4, selection=False)):
        model = draw_model(case.graph, np.random.default_rng(i))
        for home in case.graph.components():
            for target in case.graph.induced(home - case.treatments).components():
                formula = identify_in(case.graph, target, home).expression
                if formula is None:
                    continue
                found += target < home
                value = evaluate(formula, model.distribution(), external=[model.distribution()])
                truth = c_factor(model, target)
                axes = tuple(dict.fromkeys([*value.axes, *truth.axes]))
                gap = value.align(axes) - truth.align(axes)
                np.testing.assert_allclose(gap, 0, atol=1e-9)
    assert found > 20


def test_selection_on_the_mediator_loses_the_reward_factor() -> None:
    """Figure 2: once U2 and X2 are divided away, every c-component steers S."""
    answer = recover_factor(make_nodes("I1", "Y"), FIGURE_2)

    assert answer.expression is None
    assert answer.steps == (
        Step(15, Sentence.of("divide by ", make_factor({"U2", "X2"}))),
        Step(9, "every c-component has an ancestor of selection"),
    )


def test_what_selects_no_one_is_recovered() -> None:
    """Figure 2: P(u2) is that of the log."""
    answer = recover_factor(make_nodes("U2"), FIGURE_2)

    assert str(answer) == "P(U2 | S=1)"
    assert answer.steps == (
        Step(5, "sum out X2, Y"),
        Step(13, "Identify in the c-component U2"),
    )


def test_it_stops_where_identify_fails() -> None:
    """The listing would go on to line 15 on a graph that lost its target."""
    answer = recover_factor(make_nodes("Y"), parse("X -> Y; X <-> Y; Z -> [S]"))

    assert not answer
    assert [step.line for step in answer.steps] == [13, 2]


def test_dividing_opens_the_way_to_a_sum() -> None:
    """Lines 15, 5 and 13: Z is divided away, then W no longer leads to the target."""
    graph = parse("W -> Z -> Y; W <-> T; T -> [S]; Z -> R; R <-> Y")
    steps = [s.line for s in recover_factor(make_nodes("Y", "R"), graph).steps]

    assert steps == [13]
    assert recover_factor(make_nodes("Y"), graph).expression is not None


def test_what_is_recovered_is_true() -> None:
    """Algorithm 2 is sound: a recovered formula is Q[C] at every point of every model."""
    found = 0
    for i, case in enumerate(random_cases(250, seed=5)):
        model = draw_model(case.graph, np.random.default_rng(i))
        kept = case.graph.observed - case.treatments
        for component in case.graph.induced(kept).components():
            formula = recover_factor(component, case.graph).expression
            if formula is None:
                continue
            found += 1
            value, truth = evaluate(formula, model.log()), c_factor(model, component)
            axes = tuple(dict.fromkeys([*value.axes, *truth.axes]))
            gap = value.align(axes) - truth.align(axes)
            np.testing.assert_allclose(gap, 0, atol=1e-9)
    assert found > 100


Y, X, Z = make_nodes("Y"), make_nodes("X"), make_nodes("Z")


def test_a_factor_of_the_context_alone_is_never_asked_for() -> None:
    """P(z) cannot be recovered here, and P_x(y | z) does not need it."""
    graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]")

    assert not recover_factor(Z, graph)
    assert recover(graph, Question(Y, X, Z))


def test_factors_that_steer_selection_are_known_up_to_a_constant() -> None:
    """Q[Y] and Q[Z] steer S together with X; the ratio over y does not mind."""
    graph = parse("Y -> Z -> [S]; Z <-> X; X -> [S]")
    asked = Question(Y, context=make_nodes("Z", "X"), selected=True)

    assert not recover_factor(Y, graph)
    answer = recover(graph, asked)
    assert "up to a constant" in str(answer.steps[-1].reason)


def test_a_dirty_component_gives_up_its_outer_part() -> None:
    """V1 and V2 are one c-component; leaving out V2, which selects no one, leaves Q[V1]."""
    graph = parse(
        "V0 -> V1 -> [S]; V1 -> V2 -> V3; V1 -> V3; V0 <-> V3; V1 <-> V2",
    )
    asked = Question(make_nodes("V3"), make_nodes("V2"), make_nodes("V1"), selected=True)

    answer = recover(graph, asked)

    assert answer


def test_both_ways_are_true_on_exact_models() -> None:
    found = [0, 0]
    for i, case in enumerate(random_cases(300, seed=9)):
        asked = Question(case.outcomes, case.treatments, case.context)
        light, _ = lighten(case.graph, asked)
        ways = [recover(case.graph, light)]
        if find_selection_walk(case.graph, asked) is None:
            among, _ = lighten(case.graph, replace(asked, selected=True))
            ways.append(recover(case.graph, among))
        for way, answer in enumerate(ways):
            if answer.expression is not None:
                found[way] += 1
                assert gap(case, answer.expression, i) < 1e-9
    assert min(found) > 30


def test_what_is_known_up_to_a_constant_is_normed() -> None:
    """The constant may vary with what the outcomes do not feel; here it was P(V1, V5 | S=1)."""
    graph = parse(
        "V1 -> [S]; V1 -> V4; V1 -> V6; V2 -> V6; V4 -> V2; V5 -> V1; V5 -> V2; V5 -> V4; "
        "[S] <-> V2; [S] <-> V5; V1 <-> V4; V2 <-> V5; V4 <-> V6"
    )
    asked = Question(frozenset({"V6"}), frozenset({"V1", "V2"}), selected=True)
    found = recover(graph, asked)
    model = draw_model(graph, np.random.default_rng(0))
    log = model.log()
    assert found.expression is not None
    numbers = evaluate(found.expression, log)
    truth = model.effect(outcomes="V6", treatments=("V1", "V2"))

    assert numbers.measure_gap(truth) < 1e-9
