"""Response types on the masses of a population: one arm's ends, and two arms' difference."""

from numpy.random import default_rng

from boundit.bounds.rules.response_program import ProgramLayout
from boundit.bounds.rules.reweighted_type_program import ReweightedProgram
from boundit.bounds.rules.reweighted_types import find_reweighted_types
from boundit.bounds.selection_facts import SelectionFacts
from boundit.estimand.query import parse_query
from boundit.simulation.model import Model
from boundit.terms.long_work import FOR_EVER, TimeBudget
from tests.bounds.programs import models
from tests.bounds.reweighted import plug_in

GRAPH = "Z -> X -> Y; X <-> Y; X -> [S]"


def make_program(
    model: Model, arms: list[dict[str, int]], budget: TimeBudget = FOR_EVER
) -> ReweightedProgram:
    rate = model.selection_rate()
    facts, numbers = SelectionFacts((rate, rate)), plug_in(model)
    found = find_reweighted_types(model.graph, parse_query("Y | do(X)"), facts, ())
    rule = next(each for each in found if each.program.varied)
    layout = ProgramLayout(rule.program, numbers.levels)
    types = layout.list_types(arms, list(range(len(layout.outer))), 2_000)
    assert types is not None
    return ReweightedProgram(rule.populate(numbers), layout, types, {}, budget)


def test_ends_hold_and_their_difference_bounds_that_of_two_arms() -> None:
    for model in models(GRAPH, 4, default_rng(1)):
        truth = model.effect(outcomes="Y", treatments="X").at({"Y": 1}).values
        ends = [make_program(model, [{"X": x}]).find_ends() for x in (0, 1)]
        for x in (0, 1):
            (lower, _), (upper, _) = ends[x]
            assert lower - 1e-8 <= truth[x] <= upper + 1e-8
        lead = make_program(model, [{"X": 1}, {"X": 0}]).find_lead()
        assert truth[1] - truth[0] <= lead + 1e-8
        assert lead <= ends[1][1][0] - ends[0][0][0] + 1e-5


def test_chances_of_the_instrument_lie_in_a_box_that_sums_to_one() -> None:
    (model,) = models(GRAPH, 1, default_rng(2))
    box = make_program(model, [{"X": 0}]).box

    assert (box.low <= box.high).all()
    assert box.low.sum() <= 1 + 1e-9
    assert box.high.sum() >= 1 - 1e-9


def test_a_spent_budget_is_remembered_and_what_is_found_holds() -> None:
    (model,) = models(GRAPH, 1, default_rng(3))
    hurried = make_program(model, [{"X": 0}], TimeBudget(0.0))
    (lower, _), (upper, _) = hurried.find_ends()

    assert hurried.late
    truth = float(model.effect(outcomes="Y", treatments="X").at({"Y": 1, "X": 0}))
    assert lower - 1e-9 <= truth <= upper + 1e-9
