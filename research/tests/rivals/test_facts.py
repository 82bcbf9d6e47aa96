"""What bounds and a log tell rivals."""

import json

import numpy as np
import pytest
from research.tests.rivals.plain import kearns_saul
from research.tests.rivals.problems import make_problem

from boundit.bounds.paper import condition_only
from boundit_research.rivals.facts import (
    PairFact,
    PairFacts,
    compute_noise,
    restrict_linear,
)


def test_facts_are_the_bounds_and_the_log_s_rows() -> None:
    world, bounds, facts = make_problem("paper")
    names = (*world.query.treatments, *world.query.context, "Y")
    counted = world.log(1_500, seed=4).count(names).marginalize(names).align(names)

    for (arm, context), fact in facts.pairs.items():
        assert (fact.lower, fact.upper) == (
            bounds.bounds[arm, context].lower,
            bounds.bounds[arm, context].upper,
        )
        rows = counted[(*arm, *context)]  # type: ignore[arg-type]
        assert (fact.rows, fact.total) == (rows.sum(), rows[1])
    assert PairFacts.of(None, None).get((0, 0), (0, 0)) == PairFact()
    assert PairFacts.of(bounds, None).get((0, 0), (0, 0)).rows == 0
    logged = condition_only(world.graph, world.query, world.log(500, seed=1))
    assert all(fact[:2] == (0, 1) for fact in PairFacts.of(None, logged).pairs.values())
    record = json.loads(json.dumps(facts.to_record()))
    assert PairFacts.from_record(record) == facts


def test_the_bias_bound_of_min_ucb_covers_the_true_bias() -> None:
    """V from our table: |the log's mean - the truth| is below it, as far as bounds hold."""
    for where in ("paper", "flipped", "random"):
        world, _, facts = make_problem(where)
        truth = world.means()
        for pair, fact in facts.pairs.items():
            if fact.rows:
                assert abs(fact.total / fact.rows - truth[pair]) <= fact.bias
    assert PairFact(0.2, 0.4).bias == 0


def test_the_noise_factor_is_the_largest_within_the_bound() -> None:
    for lower, upper in ((0.05, 0.2), (0.1, 0.8), (0.7, 0.99), (0.0, 0.0), (0.5, 0.5)):
        means = np.linspace(lower, upper, 21)
        assert compute_noise(lower, upper, 0.0) == pytest.approx(
            max(map(kearns_saul, means.tolist())), abs=2e-3
        )
    assert compute_noise(0.1, 0.95, 0.8) == pytest.approx(kearns_saul(0.8), abs=2e-3)


def test_linear_means_keep_what_was_true_and_lose_what_cannot_be() -> None:
    rng = np.random.default_rng(0)
    x = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]])
    narrower = 0
    for _ in range(30):
        means = x @ np.array([0.3, *rng.uniform(0, 0.3, 2)])
        ends = np.column_stack([means - rng.uniform(0, 0.3, 4), means + rng.uniform(0, 0.3, 4)])
        found = restrict_linear(x, ends)
        assert (found[:, 0] <= means + 1e-9).all()
        assert (found[:, 1] >= means - 1e-9).all()
        assert (found[:, 0] >= ends[:, 0]).all()
        assert (found[:, 1] <= ends[:, 1]).all()
        narrower += bool((found != ends).any())
    assert narrower > 3
    none = np.array([[0, 0], [1, 1], [1, 1], [0.9, 1]])
    assert restrict_linear(x, none) is none


def test_a_damaged_record_is_refused() -> None:
    with pytest.raises(TypeError, match="a pair is no pair"):
        PairFacts.from_record([["A", 3, 0.0, 1.0, 0.0, 0.0]])
