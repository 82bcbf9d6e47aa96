"""The do-calculus makes a question lighter and leaves its answer alone."""

import numpy as np
import pytest

from boundit.estimand.derivation import (
    Question,
    find_selection_walk,
    lighten,
    may_ignore_selection,
    may_observe_treatments,
)
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from boundit.simulation.scm import SCM
from tests.estimand.truth import random_cases
from tests.nodes import make_nodes

Y, X, Z = make_nodes("Y"), make_nodes("X"), make_nodes("Z")


def effect(model: SCM, asked: Question, axes: tuple[str, ...]) -> np.ndarray:
    """What the question asks, in an exact model; of the selected when it is about them."""
    known = asked.list_known(model.graph)
    value = model.effect(outcomes=asked.outcomes, treatments=asked.treatments, context=known)
    if asked.selected:
        value = value.at({str(model.graph.selection): 1})
    return np.asarray(value.align(axes))


def test_a_question_is_written_as_on_paper() -> None:
    assert str(Question(Y, X, make_nodes("a b"), selected=True)) == 'P(Y | do(X), "a b", S=1)'
    assert str(Question(Y)) == "P(Y)"


@pytest.mark.parametrize(
    ("graph", "asked", "light", "rule"),
    [
        ("X -> Y; Z", Question(Y, X, Z), Question(Y, X), "Rule 1"),
        ("Z -> X -> Y; Z <-> Y", Question(Y, X, Z), Question(Y, X, Z), None),
        ("X -> Y; Z -> Y; X <-> Y", Question(Y, X, Z), Question(Y, X | Z), "Rule 2"),
        ("Y -> X", Question(Y, X), Question(Y), "Rule 3"),
    ],
)
def test_each_rule_drops_or_moves_what_it_may(
    graph: str, asked: Question, light: Question, rule: str | None
) -> None:
    got, steps = lighten(parse(graph), asked)

    assert got == light
    assert [step.algorithm for step in steps] == ([rule] if rule else [])


@pytest.mark.parametrize("selected", [False, True])
def test_a_lighter_question_has_the_same_answer(selected: bool) -> None:
    lighter = 0
    for i, case in enumerate(random_cases(150, seed=6)):
        asked = Question(case.outcomes, case.treatments, case.context, selected)
        light, steps = lighten(case.graph, asked)
        lighter += bool(steps)
        model = draw_model(case.graph, np.random.default_rng(i))
        axes = case.graph.order[:-1]

        gap = effect(model, asked, axes) - effect(model, light, axes)
        np.testing.assert_allclose(gap, 0, atol=1e-10)
    assert lighter > 50


def test_selection_may_be_ignored_exactly_where_no_walk_is_open() -> None:
    ignored = 0
    for case in random_cases(800, seed=8, sizes=(3, 4, 5, 6)):
        asked = Question(case.outcomes, case.treatments, case.context)
        walk = find_selection_walk(case.graph, asked)

        assert may_ignore_selection(case.graph, asked) == (walk is None)
        ignored += walk is None
    assert 50 < ignored < 750


def test_where_selection_is_not_felt_the_logged_have_the_same_answer() -> None:
    same = 0
    for i, case in enumerate(random_cases(150, seed=7)):
        asked = Question(case.outcomes, case.treatments, case.context)
        if find_selection_walk(case.graph, asked) is not None:
            continue
        same += 1
        model = draw_model(case.graph, np.random.default_rng(i))
        among = Question(case.outcomes, case.treatments, case.context, selected=True)
        axes = case.graph.order[:-1]

        gap = effect(model, asked, axes) - effect(model, among, axes)
        np.testing.assert_allclose(gap, 0, atol=1e-10)
    assert same > 15


def test_where_doing_is_seeing_the_conditional_is_the_effect() -> None:
    same = 0
    for i, case in enumerate(random_cases(150, seed=8, selection=False)):
        asked = Question(case.outcomes, case.treatments, case.context)
        if not case.treatments or not may_observe_treatments(case.graph, asked):
            continue
        same += 1
        model = draw_model(case.graph, np.random.default_rng(i))
        seen = Question(case.outcomes, context=case.treatments | case.context)
        axes = case.graph.order

        gap = effect(model, asked, axes) - effect(model, seen, axes)
        np.testing.assert_allclose(gap, 0, atol=1e-10)
    assert same > 20


def test_without_a_selection_node_nothing_is_felt() -> None:
    graph = CausalGraph.of(directed=[("X", "Y")])

    assert find_selection_walk(graph, Question(Y, X)) is None
