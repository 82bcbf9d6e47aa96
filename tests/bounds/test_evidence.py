import numpy as np
import pytest

from boundit.bounds.evidence import BoundEvidence
from boundit.bounds.plan import plan_bounds
from boundit.bounds.plan_counts import count_for
from boundit.bounds.reward import NeedsRange
from boundit.counts.read import read_log
from boundit.estimand.language.expression import P
from boundit.estimand.query import parse_query
from boundit.graph.text import parse

X, Y, Z = frozenset("X"), frozenset("Y"), frozenset("Z")
QUERY = parse_query("Y | do(X)")
ROWS = {"X": [0, 0, 1, 1], "Y": [0.0, 4.0, 1.0, 3.0]}


@pytest.mark.parametrize(("graph", "n_population"), [("X -> Y", 1), ("X -> Y; X -> [S]", 0)])
def test_without_selection_the_log_is_the_population(graph: str, n_population: int) -> None:
    plan = plan_bounds(parse(graph), QUERY)
    evidence = BoundEvidence.from_counts(plan, count_for(plan, read_log(ROWS)), (0, 4))

    assert len(evidence.population) == n_population
    assert evidence.evaluator.levels == {"X": 2, "Y": 2}
    assert evidence.outcome_range == (0.0, 4.0)


def test_a_reward_that_is_not_binary_needs_its_range() -> None:
    plan = plan_bounds(parse("X -> Y"), QUERY)
    with pytest.raises(NeedsRange):
        BoundEvidence.from_counts(plan, count_for(plan, read_log(ROWS)), None)


def test_intervals_of_rules_are_those_of_the_terms_they_read() -> None:
    plan = plan_bounds(parse("X -> Y"), QUERY)
    evidence = BoundEvidence.from_counts(plan, count_for(plan, read_log(ROWS)), (0, 4))
    rules = [planned.rule for planned in plan.rules]
    numbers = evidence.make_confident(rules, 0.9)
    (formula,) = rules[0].formulas
    low, high = numbers.read_ends(formula, ("X", "Y"))

    assert ((low >= 0) & (low < high) & (high <= 1)).all()


def test_a_reward_of_two_values_is_as_good_as_0_1() -> None:
    plan = plan_bounds(parse("Z -> X -> Y; Z -> Y"), QUERY)
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(2, size=300) for name in ("Z", "X", "Y")}
    ends = []
    for low, high in ((0, 1), (0, 5), (-3, 0.1)):
        log = read_log(rows | {"Y": np.where(rows["Y"], high, low)})
        evidence = BoundEvidence.from_counts(plan, count_for(plan, log), (low, high))
        assert evidence.rewards.binary
        numbers = evidence.make_confident([p.rule for p in plan.rules], 0.9)
        ends.append(numbers.read_ends(P(Y, X | Z, logged=False), ("X", "Z", "Y")))
    assert np.allclose(ends[0], ends[1])
    assert np.allclose(ends[0], ends[2])


def test_external_rewards_may_be_numeric_where_the_log_has_two_values() -> None:
    plan = plan_bounds(parse("Z -> X -> Y; Z -> Y; Z -> [S]"), QUERY, tables=[X | Y | Z])
    few = read_log({"X": [0, 1], "Z": [0, 1], "Y": [0.0, 4.0]})
    every = read_log({**ROWS, "Z": [0, 1, 0, 1]})
    evidence = BoundEvidence.from_counts(plan, count_for(plan, few, [every]), (0, 4))
    assert evidence.rewards.binary
    assert evidence.is_numeric
