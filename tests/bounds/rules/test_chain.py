import time
from math import comb

import pytest

from boundit.bounds.rules.chain import MOST_SETS, ChainSearch, rule
from boundit.counts.evaluate import evaluate
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.terms.names import make_nodes
from tests.bounds.exact import questions
from tests.paper import FIGURE_2

QUERY = parse_query("Y | do(X1, X2), U1, U2")


def test_figure_2_is_bracketed_by_its_mediator_and_nothing_shorter() -> None:
    """Theory 3.2 on the paper's example: I1 separates the reward from selection."""
    chains = list(ChainSearch(FIGURE_2, QUERY).chains(longest=3))

    assert [chain.name for chain in chains] == ["conditioning on I1"]
    assert chains[0].links[0].weights is None


def test_an_unbiased_table_over_the_mediator_and_its_causes_makes_it_a_point() -> None:
    table = make_nodes("I1", "X1", "U1")
    names = [chain.name for chain in ChainSearch(FIGURE_2, QUERY, [table]).chains(longest=3)]

    assert "exact recovery" in names or "recovery through I1" in names


def test_chains_come_shortest_first_and_their_names_tell_what_is_known() -> None:
    graph = parse("A -> X -> M -> Y; A -> Y; M -> [S]; A <-> M")
    chains = list(ChainSearch(graph, parse_query("Y | do(X)")).chains(longest=2))

    sizes = [len(chain.links) for chain in chains]
    assert sizes == sorted(sizes)
    assert len({chain.name for chain in chains}) == len(chains)


def test_orders_that_know_the_same_weights_are_tried_once() -> None:
    for asked in questions(25, 8):
        chains = list(ChainSearch(asked.model.graph, asked.query).chains(longest=3))
        keys = [
            (
                frozenset(chain.variables),
                tuple(
                    (link.variable, frozenset(chain.variables[:i]))
                    for i, link in enumerate(chain.links)
                    if link.weights
                ),
            )
            for chain in chains
        ]
        assert len(set(keys)) == len(keys)


def test_what_cannot_matter_is_left_out() -> None:
    graph = parse("X -> Y -> Late; Far; X -> [S]")

    assert ChainSearch(graph, parse_query("Y | do(X)")).pool(3) == []


def test_a_wide_graph_is_searched_by_relevance_not_by_every_subset() -> None:
    edges = "; ".join(f"W{i} -> X; W{i} -> Y; W{i} -> [S]" for i in range(60))
    graph = parse(f"X -> Y; {edges}; M -> Y; X -> M -> [S]")
    began = time.monotonic()
    pool = ChainSearch(graph, parse_query("Y | do(X)")).pool(3)

    assert sum(comb(len(pool), size) for size in range(4)) <= MOST_SETS
    assert time.monotonic() - began < 5


def test_a_deadline_in_the_past_leaves_nothing() -> None:
    assert (
        list(ChainSearch(FIGURE_2, QUERY).chains(longest=3, deadline=time.monotonic() - 1))
        == []
    )


@pytest.mark.parametrize("seed", range(2))
def test_every_known_factor_is_what_the_model_says(seed: int) -> None:
    """Each weight and each reward of a chain is the effect it stands for, on exact laws."""
    for asked in questions(20, seed):
        model, query = asked.model, asked.query
        tables = [] if model.graph.selection else [model.law()]
        for chain in ChainSearch(model.graph, query).chains(longest=2):
            given = query.context
            for known, node in (
                *((k.weights, k.variable) for k in chain.links),
                (chain.reward, query.outcomes[0]),
            ):
                if known is not None:
                    value = evaluate(known.expression, model.log(), external=tables)
                    truth = model.effect(
                        outcomes=node, treatments=query.treatments, context=given
                    )
                    assert value.gap_to(truth) < 1e-9
                given = (*given, node)


def test_the_rule_says_the_claim_from_the_outside_in_and_why() -> None:
    (chain,) = ChainSearch(FIGURE_2, QUERY).chains(longest=1)
    found = rule(chain, QUERY)

    assert found.name == "conditioning on I1"
    assert found.claim == (
        "P(Y | do(X1, X2), U1, U2) lies between min/max over I1 of P(Y | I1, U1, X1, X2, S=1)"
    )
    assert found.steps == chain.reward.steps
    assert chain.formulas == (chain.reward.expression,)
