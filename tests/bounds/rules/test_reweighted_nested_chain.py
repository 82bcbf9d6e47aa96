"""One reweighting behind a front door: the rule, its words, its ends on models."""

import numpy as np
import pytest
from numpy.random import default_rng

from boundit.bounds.derive import derive_bounds
from boundit.bounds.plan import plan_bounds
from boundit.bounds.proof import WorstPopulation
from boundit.bounds.rules import reweighted_nested_chain
from boundit.bounds.rules.chain import ChainSearch
from boundit.bounds.rules.reweighted_nested_chain import (
    ReweightedNestedChain,
    find_reweighted_nested_chains,
)
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.named_array import Floats
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_model
from boundit.terms.long_work import TimeBudget
from tests.bounds.exact import as_log
from tests.bounds.reweighted import plug_in, true_facts
from tests.nodes import make_nodes

FRONT_DOOR = "X -> M -> Y; X <-> Y; M -> [S]"
IN_CONTEXT = "W -> X -> M -> Y; W -> Y; X <-> Y; M -> [S]"
TWO_ARMS = "X1 -> M -> Y; X2 -> Y; X2 -> M; X1 <-> Y; M -> [S]"
ASKED = [
    (FRONT_DOOR, "Y | do(X)"),
    (IN_CONTEXT, "Y | do(X), W"),
    (TWO_ARMS, "Y | do(X1, X2)"),
    ("X -> M -> Y; X <-> Y; X -> [S]; M -> [S]", "Y | do(X)"),
]
NOTHING = SelectionFacts()


def find(
    graph: str, query: str, facts: SelectionFacts = NOTHING
) -> list[ReweightedNestedChain]:
    search = ChainSearch(parse(graph), parse_query(query))
    return find_reweighted_nested_chains(search, facts, longest=3)


def compute_effects(model: Model, rule: ReweightedNestedChain) -> Floats:
    query = rule.query
    effect = model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    )
    return np.asarray(effect.align((*rule.axes, rule.outcome))[..., 1])


def test_a_front_door_has_two_laws_of_one_population() -> None:
    (rule,) = find(FRONT_DOOR, "Y | do(X)", SelectionFacts((0.5, 0.5)))
    written = rule.write_record()

    assert written.name == "reweighting of M, then X"
    assert str(written.claim) == (
        "P(Y | do(X)) is sum over M of P*(M | X) x (sum over X of P*(X) x (P(Y | M, X, S=1))), "
        "where P*(v) = P(v | S=1) r(M) is the population's law and r any that fits: "
        "r >= 0.5 (selection rate)"
    )
    assert str(written.steps[-1]) == (
        "one r is shared by P*(M | X) and P*(X): ranges of the second are swept, and a linear "
        "program bounds each; its multipliers prove the end"
    )
    assert rule.range_variables == make_nodes("M")
    assert (rule.n_unknown, find(FRONT_DOOR, "Y | do(X)")[0].n_unknown) == (0, 2)
    assert rule.array_variables == make_nodes("M", "X")
    assert rule.reweightings == (rule.inner.reweighting,)


def test_both_laws_are_given_the_context() -> None:
    """M hangs on X alone, but both laws are then of one part of the population."""
    (rule,) = find(IN_CONTEXT, "Y | do(X), W")

    assert (rule.outer.given, rule.inner.given) == (make_nodes("W", "X"), make_nodes("W"))


@pytest.mark.parametrize(
    ("graph", "query"),
    [
        ("X -> M -> Y; X <-> Y", "Y | do(X)"),  # nothing is selected
        ("X -> M -> Y; X <-> Y; Y -> [S]", "Y | do(X)"),  # the reward is not known given both
        ("X -> Y; X <-> Y; Y -> [S]", "Y | do(X)"),  # no mediator
        ("X -> M -> Y; M <-> Y; M -> [S]", "Y | do(X)"),  # the arm stays relevant
    ],
)
def test_where_there_is_no_such_rule(graph: str, query: str) -> None:
    assert find(graph, query) == []


def test_the_search_ends_with_its_budget() -> None:
    search = ChainSearch(parse(FRONT_DOOR), parse_query("Y | do(X)"))
    spent = TimeBudget(0.0)

    assert find_reweighted_nested_chains(search, NOTHING, longest=3, budget=spent) == []


@pytest.mark.parametrize(("graph", "query"), ASKED)
def test_every_true_effect_lies_within(graph: str, query: str) -> None:
    """More facts never widen, and what is true of a model holds its effects."""
    own = ["Y", "X1", "X2", "M"] if graph == TWO_ARMS else ["Y"]
    for seed in range(2):
        model = draw_model(parse(graph), default_rng(seed), levels=(2, 3), binary=own)
        widest = np.inf
        for facts in true_facts(model):
            (rule, *_) = find(graph, query, facts)
            found, truth = rule.find_ends(plug_in(model)), compute_effects(model, rule)
            assert (found.lower <= truth + 1e-9).all()
            assert (found.upper >= truth - 1e-9).all()
            width = float((found.upper - found.lower).sum())
            assert width <= widest + 1e-3 * truth.size
            widest = width


def test_all_ends_of_a_front_door_are_attained() -> None:
    """With M of two levels a population is one number: no end is far from all of them."""
    model = draw_model(parse(FRONT_DOOR), default_rng(2), levels=(2,))
    (rule,) = find(FRONT_DOOR, "Y | do(X)")
    found = rule.find_ends(plug_in(model))
    law = model.log().align(("M", "X", "Y"))
    shares = law / law.sum(axis=(1, 2), keepdims=True)
    q = np.linspace(0, 1, 4_001)
    masses = np.stack([1 - q, q], axis=-1)[..., None] * shares.sum(axis=2)
    values = law[..., 1] / law.sum(axis=2)
    outer = masses / masses.sum(axis=1, keepdims=True)
    effects = np.einsum("gmx,gk,mk->gx", outer, masses.sum(axis=1), values)

    assert found.upper == pytest.approx(effects.max(axis=0), abs=1e-3)
    assert found.lower == pytest.approx(effects.min(axis=0), abs=1e-3)


def test_a_table_is_nowhere_wider_than_without_the_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = draw_model(parse(FRONT_DOOR), default_rng(4), levels=(2, 3), binary=["Y"])
    log, rate = as_log(model.log()), model.selection_rate()

    def list_ends() -> Floats:
        table = derive_bounds(
            model.graph, "Y | do(X)", log, confidence=None, selection_rate=rate
        )
        return np.array([(row.lower, row.upper) for row in table.bounds.values()])

    narrow = list_ends()
    monkeypatch.setattr(
        "boundit.bounds.plan.find_reweighted_nested_chains", lambda *_, **__: []
    )
    wide = list_ends()

    assert (narrow[:, 0] >= wide[:, 0] - 1e-9).all()
    assert (narrow[:, 1] <= wide[:, 1] + 1e-9).all()
    assert (narrow[:, 1] - narrow[:, 0]).sum() < 0.9 * (wide[:, 1] - wide[:, 0]).sum()


def test_many_rows_are_taken_one_mean_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = draw_model(parse(FRONT_DOOR), default_rng(2), levels=(2,))
    (rule,) = find(FRONT_DOOR, "Y | do(X)")
    sharp = rule.find_ends(plug_in(model))
    monkeypatch.setattr(reweighted_nested_chain, "BOXES_OF_ALL", 11)
    apart = rule.find_ends(plug_in(model))

    assert (apart.lower <= sharp.lower).all()
    assert (apart.upper >= sharp.upper).all()


def test_intervals_of_cells_widen_the_ends() -> None:
    """With a confidence every share has two ends, and the exact ends lie within."""
    model = draw_model(parse(FRONT_DOOR), default_rng(1), levels=(2,), floor=0.1)
    facts = SelectionFacts((model.selection_rate(),) * 2)
    (rule,) = find(FRONT_DOOR, "Y | do(X)", facts)
    exact = rule.find_ends(plug_in(model))
    rows = model.sample_log(20_000, default_rng(3))
    table = derive_bounds(
        model.graph, "Y | do(X)", rows, selection_rate=facts.least_ratio, confidence=0.999
    )
    for place, row in enumerate(table.bounds.values()):
        assert row.lower_rule == row.upper_rule == "reweighting of M, then X"
        assert row.lower <= exact.lower[place] <= exact.upper[place] <= row.upper


def test_an_explanation_shows_who_there_would_be_more_of() -> None:
    model = draw_model(parse(FRONT_DOOR), default_rng(1), levels=(2,), floor=0.1)
    (rule,) = find(FRONT_DOOR, "Y | do(X)", SelectionFacts((0.5, 0.5)))
    found = rule.find_ends(plug_in(model))

    assert found.proof is not None
    worst = found.proof((0,), True)
    assert isinstance(worst, WorstPopulation)
    assert [set(kind.levels) for kind in worst.kinds] == [{"M"}, {"M"}]


def test_the_plan_tries_it_beside_the_chain_within_a_chain() -> None:
    names = [
        planned.record.name
        for planned in plan_bounds(parse(FRONT_DOOR), parse_query("Y | do(X)")).rules
    ]

    assert names == ["conditioning on M, then conditioning on X", "reweighting of M, then X"]
