from dataclasses import replace

import numpy as np
import pytest

from boundit.bounds.models.modelled_rule import NAME, ModelledAdjustment, find_with_models
from boundit.bounds.numbers import Ends
from boundit.bounds.plan import PlannedRule
from boundit.estimand.criteria.context_adjustment import ContextAdjustment
from boundit.estimand.query import parse_query
from boundit.terms.bound import StepRecord
from boundit.terms.long_work import say_nothing
from tests.bounds.models.test_scores import draw_log, saturate, score

SHAPE = (2, 2)


def make_rule(n: int = 2_000, seed: int = 0) -> ModelledAdjustment:
    log, z = draw_log(n, seed)
    return ModelledAdjustment(
        parse_query("Y | do(X), C"),
        ContextAdjustment(frozenset("Z"), frozenset()),
        score(log, saturate(log, z)),
        {"X": 2, "C": 2},
        "fitted somehow",
        (StepRecord("because"),),
        selected=True,
    )


def find(rule: ModelledAdjustment, other: Ends) -> tuple[list[Ends], tuple[object, ...]]:
    modelled = PlannedRule(rule.write_record(), rule)
    beside = PlannedRule(replace(rule.write_record(), name="another"), rule)
    return find_with_models(
        modelled,
        lambda rules, *_: ([other] * len(rules), ("a note",)),
        0.045,
        (modelled, beside),
        SHAPE,
        say_nothing,
    )


def test_the_record_names_formula_proof_and_models() -> None:
    record = make_rule().write_record()

    assert record.name == NAME
    assert "Σ_{Z} P(Y | C, X, Z, S=1) P(Z | C, S=1)" in str(record.claim)
    assert [str(step) for step in record.steps] == ["because", "fitted somehow"]


def test_ends_lie_some_standard_errors_from_the_estimates() -> None:
    rule = make_rule()
    found = rule.find_near(0.045)
    scores = rule.scores
    away = (scores.lower - found.lower) / np.sqrt(scores.variance[0])

    assert (away > 2.2).all()  # eight claims at once
    assert (away < 2.9).all()
    assert away == pytest.approx((found.upper - scores.upper) / np.sqrt(scores.variance[1]))


def test_many_rows_of_a_table_take_the_most_careful_number() -> None:
    rule = make_rule()
    many = replace(rule, scores=replace(rule.scores, covariance=None))

    assert (many.find_near(0.045).lower <= rule.find_near(0.045).lower).all()


def test_other_rules_stay_as_they_are() -> None:
    wide = Ends(np.zeros(SHAPE), np.full(SHAPE, 0.9))
    (near, other), notes = find(make_rule(), wide)

    assert other is wide
    assert notes == ("a note",)
    assert (near.lower > 0).all()


def test_models_that_contradict_other_rules_have_no_say() -> None:
    there = np.zeros(SHAPE)
    there[1, 0] = 0.95
    (near, _), notes = find(make_rule(), Ends(there, np.ones(SHAPE)))

    assert near.lower[1, 0] == 0
    assert near.upper[1, 0] == 1
    assert near.upper[0, 0] < 0.95
    assert "in 1 of 4 rows of the table the interval of adjustment by models" in str(notes[1])


def test_rules_that_contradict_each_other_are_no_measure_of_models() -> None:
    crossed = Ends(np.full(SHAPE, 0.95), np.full(SHAPE, 0.05))
    (near, _), notes = find(make_rule(), crossed)

    assert (near.lower > 0).all()
    assert notes == ("a note",)


def test_rows_with_few_rewards_are_left_to_other_rules() -> None:
    rule = make_rule(n=60)
    (near, _), notes = find(rule, Ends(np.zeros(SHAPE), np.ones(SHAPE)))

    doubted = ~rule.scores.is_trusted
    assert doubted.any()
    assert (near.upper - near.lower)[doubted] == pytest.approx(1)
    assert f"in {doubted.sum()} of 4 rows of the table too few" in str(notes[1])


def test_what_is_hardly_ever_chosen_is_told() -> None:
    rule = make_rule()
    rare, all_rows = (
        replace(rule, scores=replace(rule.scores, unlikely=np.full(SHAPE, share)))
        for share in (0.031, 1.0)
    )

    assert "up to 3.1 % of the rows" in str(rare.describe_gaps()[0])
    assert "up to 100 % of the rows" in str(all_rows.describe_gaps()[0])
    assert rule.describe_gaps() == ()
