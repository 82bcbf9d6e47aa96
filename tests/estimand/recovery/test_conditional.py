"""Conditional effects from the factors that are felt, and no others."""

from dataclasses import replace

import numpy as np

from boundit.counts.evaluate import evaluate
from boundit.estimand.recovery.conditional import recover_among_selected, recover_by_factors
from boundit.estimand.recovery.question import Question, find_selection_walk, lighten
from boundit.estimand.recovery.recover_factor import recover_factor
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from tests.estimand.truth import gap, random_cases
from tests.nodes import make_nodes

Y, X, Z = make_nodes("Y"), make_nodes("X"), make_nodes("Z")


def test_a_factor_of_the_context_alone_is_never_asked_for() -> None:
    """P(z) cannot be recovered here, and P_x(y | z) does not need it."""
    graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]")

    assert not recover_factor(Z, graph)
    assert recover_by_factors(graph, Question(Y, X, Z), recover_factor)


def test_factors_that_steer_selection_are_known_up_to_a_constant() -> None:
    """Q[Y] and Q[Z] steer S together with X; the ratio over y does not mind."""
    graph = parse("Y -> Z -> [S]; Z <-> X; X -> [S]")
    asked = Question(Y, context=make_nodes("Z", "X"), selected=True)

    assert not recover_factor(Y, graph)
    answer = recover_among_selected(graph, asked, recover_factor)
    assert "up to a constant" in str(answer.steps[-1].reason)


def test_a_dirty_component_gives_up_its_outer_part() -> None:
    """V1 and V2 are one c-component; leaving out V2, which selects no one, leaves Q[V1]."""
    graph = parse(
        "V0 -> V1 -> [S]; V1 -> V2 -> V3; V1 -> V3; V0 <-> V3; V1 <-> V2",
    )
    asked = Question(make_nodes("V3"), make_nodes("V2"), make_nodes("V1"), selected=True)

    answer = recover_among_selected(graph, asked, recover_factor)

    assert answer


def test_both_ways_are_true_on_exact_models() -> None:
    found = [0, 0]
    for i, case in enumerate(random_cases(300, seed=9)):
        asked = Question(case.outcomes, case.treatments, case.context)
        light, _ = lighten(case.graph, asked)
        ways = [recover_by_factors(case.graph, light, recover_factor)]
        if find_selection_walk(case.graph, asked) is None:
            among, _ = lighten(case.graph, replace(asked, selected=True))
            ways.append(recover_among_selected(case.graph, among, recover_factor))
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
    found = recover_among_selected(graph, asked, recover_factor)
    model = draw_model(graph, np.random.default_rng(0))
    log = model.log()
    assert found.expression is not None
    numbers = evaluate(found.expression, log)
    truth = model.effect(outcomes="V6", treatments=("V1", "V2"))

    assert numbers.measure_gap(truth) < 1e-9
