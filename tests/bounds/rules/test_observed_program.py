"""Arms as instruments of mediators: which effects, and that truth stays within."""

import numpy as np
import pytest
from numpy.random import default_rng

from boundit.bounds.choose_rules import choose_rules
from boundit.bounds.plan import plan_bounds
from boundit.bounds.rules.observed_program import find_observed_program
from boundit.bounds.rules.reweighted_types import ReweightedTypes, find_reweighted_types
from boundit.bounds.selection_facts import SelectionFacts
from boundit.estimand.query import parse_query
from boundit.estimand.recovery.question import Question
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from tests.bounds.reweighted import plug_in, true_facts
from tests.nodes import make_nodes

MEDIATOR = "X -> M -> Y; M <-> Y; M -> [S]"
PAPER = "U -> X -> M -> Y; U -> Y; M <-> Y; M -> [S]"
NOTHING = SelectionFacts()


def find_rule(graph: str, query: str, facts: SelectionFacts = NOTHING) -> ReweightedTypes:
    (rule,) = find_reweighted_types(parse(graph), parse_query(query), facts, ())
    return rule


def test_every_value_of_the_arm_is_a_scenario() -> None:
    asked = Question(make_nodes("Y"), make_nodes("X", "Z"))
    found = find_observed_program(parse("X -> M -> Y; Z -> Y; M <-> Y"), asked)

    assert found is not None
    assert (found.inside, found.arguments) == (("M", "Y"), (("X",), ("M", "Z")))
    assert found.varied == found.set_by_hand == ("X", "Z")
    assert str(found.steps[0]) == (
        "Rule 2: P(Y | do(X, Z)) is seen as it is; response types of M, Y must reproduce their "
        "law at every X, Z"
    )


@pytest.mark.parametrize(
    "graph",
    [
        "X -> M -> Y; X <-> Y; M <-> Y",  # the effect is not seen
        "X -> M -> Y",  # nothing unseen moves both
        "X -> M -> Y; X -> Y; M <-> Y",  # the arm is no instrument
        "X -> Y",  # nothing in between
        "X -> M -> N -> O -> Y; M -> O; M -> Y; N -> Y; M <-> Y",  # too many types
    ],
)
def test_where_there_is_no_such_program(graph: str) -> None:
    asked = Question(make_nodes("Y"), make_nodes("X"))

    assert find_observed_program(parse(graph), asked) is None


@pytest.mark.parametrize(("graph", "query"), [(MEDIATOR, "Y | do(X)"), (PAPER, "Y | do(X), U")])
def test_every_true_effect_lies_within(graph: str, query: str) -> None:
    asked = parse_query(query)
    for seed in range(2 if graph == MEDIATOR else 1):
        model = draw_model(parse(graph), default_rng(seed), levels=(2,))
        effect = model.effect(
            outcomes=asked.outcomes, treatments=asked.treatments, context=asked.context
        )
        truth = effect.align((*asked.treatments, *asked.context, "Y"))[..., 1]
        for facts in true_facts(model)[2 if graph == PAPER else 0 :: 2]:
            found = find_rule(graph, query, facts).find_ends(plug_in(model))
            assert (found.lower <= truth + 1e-9).all()
            assert (found.upper >= truth - 1e-9).all()


def test_the_instrument_limits_a_free_reweighting() -> None:
    """Pearl (1995): for all ``m``, the sum over y of the greatest P(y, m | x) is at most 1.

    With M of two levels the reweighting is one number: all are tried, and those with a law that
    breaks the inequality are left out.
    """
    model = draw_model(parse(MEDIATOR), default_rng(3), levels=(2,))
    law = model.log().align(("X", "M", "Y"))
    shares = law / law.sum(axis=(0, 2), keepdims=True)
    q = np.linspace(1e-6, 1 - 1e-6, 20_001)
    masses = np.stack([1 - q, q], axis=-1)[:, None, :, None] * shares
    given = masses / masses.sum(axis=(2, 3), keepdims=True)
    fits = (given.max(axis=1).sum(axis=-1) <= 1 + 1e-9).all(axis=-1)
    effects = given[fits].sum(axis=2)[..., 1]
    found = find_rule(MEDIATOR, "Y | do(X)").find_ends(plug_in(model))

    assert not fits.all()
    assert found.lower == pytest.approx(effects.min(axis=0), abs=1e-3)
    assert found.upper == pytest.approx(effects.max(axis=0), abs=1e-3)


def test_it_takes_no_error_from_other_rules() -> None:
    """With a confidence it is left out; exact laws and estimates have it."""
    plan = plan_bounds(
        parse(MEDIATOR), parse_query("Y | do(X)"), facts=SelectionFacts((0.5, 0.5))
    )
    levels = dict.fromkeys("XMY", 2)
    kinds = [type(planned.rule) for planned in plan.rules]
    kept = [type(planned.rule) for planned in choose_rules(plan, levels).rules]

    assert kinds.count(ReweightedTypes) == 1
    assert ReweightedTypes not in kept
    assert find_rule(MEDIATOR, "Y | do(X)").limits_reweighting
