"""Which rules on a reweighted log have claims, and why others have none."""

import pytest

from boundit.bounds.claims.level_form import Unmet
from boundit.bounds.claims.selection.selection_form import (
    NO_LIMIT,
    SelectionForm,
    find_selection_form,
    is_stated,
)
from boundit.bounds.rules.natural import NaturalBounds
from boundit.bounds.selection_facts import SelectionFacts
from tests.bounds.claims.selection.worlds import BOW, LIMIT, MEDIATOR, RATE, list_forms, plan

BOTH = "X -> Y; X -> [S]; Y -> [S]"


def test_mean_of_the_reward_given_the_arm() -> None:
    (form,) = [f for f in list_forms(MEDIATOR, LIMIT) if isinstance(f, SelectionForm)]
    assert form.reads == {"X"}
    assert form.cell_axes == ("M", "X", "Y")
    assert form.limits == (0.5, 2.0)
    assert not form.chosen


def test_natural_bounds_take_the_arm_as_it_came() -> None:
    (rule,) = [each.rule for each in plan(BOW, RATE).rules]
    assert isinstance(rule, NaturalBounds)
    form = find_selection_form(rule)
    assert isinstance(form, SelectionForm)
    assert form.chosen == {"X"}
    assert form.reads == {"X"}
    assert [is_stated(law) for law in rule.reweightings] == [True]


@pytest.mark.parametrize(
    ("graph", "facts", "reason"),
    [
        ("X -> Y; Y -> [S]", RATE, NO_LIMIT),
        ("X -> Y; Y -> [S]", SelectionFacts(limit=float("inf")), NO_LIMIT),
        (MEDIATOR, LIMIT, "it averages the estimated law of Y over the reweighted M"),
        ("Z -> X; Z -> Y; X -> Y; Z -> [S]; Y -> [S]", LIMIT, "multiplies 2 reweighted laws"),
        ("Z -> X -> Y; X <-> Y; Y -> [S]", LIMIT, "are weighed by chances of Z"),
    ],
)
def test_reason_is_one_sentence(graph: str, facts: SelectionFacts, reason: str) -> None:
    found = [form.reason for form in list_forms(graph, facts) if isinstance(form, Unmet)]
    assert any(reason in each for each in found)


def test_without_a_limit_every_cell_must_be_a_kind_or_one_surely_the_least() -> None:
    assert any(isinstance(form, SelectionForm) for form in list_forms(BOTH, RATE))
    table = (frozenset({"X"}),)
    with_table = list_forms(BOW, RATE, table)
    assert [isinstance(form, SelectionForm) for form in with_table] == [True, False]
    assert all(isinstance(form, SelectionForm) for form in list_forms(BOTH, RATE, table))


def test_few_cells_under_a_limit_are_left_to_boxes() -> None:
    (form,) = [f for f in list_forms(MEDIATOR, LIMIT) if isinstance(f, SelectionForm)]
    assert form.has_many_cells({"X": 2, "M": 2, "Y": 2})
    (alone,) = [f for f in list_forms(BOTH, LIMIT) if isinstance(f, SelectionForm)]
    assert not alone.has_many_cells({"X": 9, "Y": 2})
    (rated,) = [f for f in list_forms(BOTH, RATE) if isinstance(f, SelectionForm)]
    assert rated.has_many_cells({"X": 2, "Y": 2})
