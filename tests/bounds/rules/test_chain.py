from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from boundit.bounds.numbers import PlugInNumbers
from boundit.bounds.rules.chain import (
    MOST_SETS,
    Chain,
    ChainLink,
    ChainSearch,
    KnownFormula,
    find_least_mean,
)
from boundit.counts.formulas.evaluate import Evaluator, evaluate
from boundit.counts.named_array import NamedArray
from boundit.estimand.language.expression import P
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.terms.long_work import TimeBudget
from tests.bounds.exact import questions
from tests.nodes import make_nodes
from tests.paper import FIGURE_2

QUERY = parse_query("Y | do(X1, X2), U1, U2")


def test_figure_2_is_bracketed_by_its_mediator_and_nothing_shorter() -> None:
    """Theory 3.2 on the paper's example: I1 separates the reward from selection."""
    chains = list(ChainSearch(FIGURE_2, QUERY).find_chains(longest=3))

    assert [chain.name for chain in chains] == ["conditioning on I1"]
    assert chains[0].links[0].weights is None


def test_an_unbiased_table_over_the_mediator_and_its_causes_makes_it_a_point() -> None:
    table = make_nodes("I1", "X1", "U1")
    names = [
        chain.name for chain in ChainSearch(FIGURE_2, QUERY, [table]).find_chains(longest=3)
    ]

    assert "exact recovery" in names or "recovery through I1" in names


def test_chains_come_shortest_first_and_their_names_tell_what_is_known() -> None:
    graph = parse("A -> X -> M -> Y; A -> Y; M -> [S]; A <-> M")
    chains = list(ChainSearch(graph, parse_query("Y | do(X)")).find_chains(longest=2))

    sizes = [len(chain.links) for chain in chains]
    assert sizes == sorted(sizes)
    assert len({chain.name for chain in chains}) == len(chains)


def test_orders_that_know_the_same_weights_are_tried_once() -> None:
    for asked in questions(25, 8):
        chains = list(ChainSearch(asked.model.graph, asked.query).find_chains(longest=3))
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

    assert ChainSearch(graph, parse_query("Y | do(X)")).choose_variables(3) == []


def test_a_wide_graph_is_searched_by_relevance_not_by_every_subset() -> None:
    edges = "; ".join(f"W{i} -> X; W{i} -> Y; W{i} -> [S]" for i in range(60))
    graph = parse(f"X -> Y; {edges}; M -> Y; X -> M -> [S]")
    pool = ChainSearch(graph, parse_query("Y | do(X)")).choose_variables(3)

    assert sum(comb(len(pool), size) for size in range(4)) <= MOST_SETS


def test_a_deadline_in_the_past_leaves_nothing() -> None:
    assert (
        list(ChainSearch(FIGURE_2, QUERY).find_chains(longest=3, budget=TimeBudget(0.0))) == []
    )


@pytest.mark.parametrize("seed", range(2))
def test_every_known_factor_is_what_the_model_says(seed: int) -> None:
    """Each weight and each reward of a chain is the effect it stands for, on exact laws."""
    for asked in questions(20, seed):
        model, query = asked.model, asked.query
        tables = [] if model.graph.selection else [model.law()]
        for chain in ChainSearch(model.graph, query).find_chains(longest=2):
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
                    assert value.measure_gap(truth) < 1e-9
                given = (*given, node)


def test_the_rule_says_the_claim_from_the_outside_in_and_why() -> None:
    (chain,) = ChainSearch(FIGURE_2, QUERY).find_chains(longest=1)
    found = chain.write_record()

    assert found.name == "conditioning on I1"
    assert str(found.claim) == (
        "P(Y | do(X1, X2), U1, U2) lies between min/max over I1 of P(Y | I1, U1, X1, X2, S=1)"
    )
    assert found.steps == chain.reward.steps
    assert chain.formulas == (chain.reward.expression,)


W, X, Y, Z = (frozenset(name) for name in "WXYZ")
# P(x, w, y): the cell x=1, w=1 was never logged.
LAW = NamedArray(
    ("X", "W", "Y"),
    np.array([[[0.1, 0.1], [0.1, 0.3]], [[0.3, 0.1], [0.0, 0.0]]]),
)
ASKED = parse_query("Y | do(X)")
REWARD = KnownFormula(P(Y, X | W), ())
WEIGHTS = KnownFormula(P(W, X), ())


def numbers() -> PlugInNumbers:
    return PlugInNumbers(Evaluator(LAW, [LAW]))


def test_unknown_weights_leave_the_least_and_the_greatest() -> None:
    """A cell never logged counts as anything from 0 to 1."""
    found = Chain(ASKED, (ChainLink("W", None),), REWARD).find_ends(numbers())

    assert found.lower == pytest.approx([0.5, 0.0])
    assert found.upper == pytest.approx([0.75, 1.0])


def test_known_weights_give_the_expectation_and_a_cell_of_no_weight_costs_nothing() -> None:
    found = Chain(ASKED, (ChainLink("W", WEIGHTS),), REWARD).find_ends(numbers())

    assert found.lower == pytest.approx([4 / 6, 0.25])
    assert found.upper == pytest.approx([4 / 6, 0.25])


def test_weights_that_are_undefined_fall_back_to_the_worst() -> None:
    law = NamedArray(("X", "Y"), np.array([[0.4, 0.6], [0.0, 0.0]]))
    never = PlugInNumbers(Evaluator(law, [law]))
    found = Chain(ASKED, (), KnownFormula(P(Y, X), ())).find_ends(never)

    assert found.lower.tolist() == [0.6, 0.0]
    assert found.upper.tolist() == [0.6, 1.0]


@given(st.data())
def test_the_least_expectation_is_that_of_the_linear_program(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 4))
    share = st.floats(0, 1)
    rows = st.lists(share, min_size=n, max_size=n)
    one, other, values = (np.array(data.draw(rows)) for _ in range(3))
    low, high = np.minimum(one, other), np.maximum(one, other)
    if low.sum() > 1 or high.sum() < 1:
        return
    peer = linprog(
        values, A_eq=np.ones((1, n)), b_eq=[1], bounds=list(zip(low, high, strict=True))
    )

    assert float(find_least_mean(low, high, values)) == pytest.approx(peer.fun, abs=1e-7)


def test_bounds_without_a_law_between_them_still_give_an_average() -> None:
    """Plug-in weights that do not sum to one, as inconsistent tables can give."""
    values = np.array([0.2, 0.8])

    assert 0.2 <= find_least_mean(np.array([0.7, 0.7]), np.array([0.7, 0.7]), values) <= 0.8
    assert 0.2 <= find_least_mean(np.array([0.1, 0.1]), np.array([0.1, 0.1]), values) <= 0.8


def test_the_cells_behind_a_row_are_listed_with_their_levels() -> None:
    chain = Chain(ASKED, (ChainLink("W", None),), REWARD)
    cells = list(chain.list_cells(Evaluator(LAW), (1,)))

    assert [levels for levels, _ in cells] == [{"W": 0}, {"W": 1}]
    assert cells[0][1] == pytest.approx(0.25)
    assert np.isnan(cells[1][1])


def test_conditioning_reads_what_it_conditions_on_and_takes_extremes_over_it() -> None:
    (chain,) = ChainSearch(FIGURE_2, QUERY).find_chains(longest=1)

    assert chain.needs == {"I1", "U1", "X1", "X2", "Y"}
    assert chain.extremes == {"I1"}
    assert chain.n_unknown == 1
    assert chain.reweightings == ()


def test_a_wide_graph_leaves_enough_work_to_read_rewards_off_the_log() -> None:
    """Of 176 sets 15 are solved for; the pair that parts Y from selection is the 56th."""
    near = "; ".join(f"A{i} -> Y" for i in range(8))
    idle = "; ".join(f"N{i}" for i in range(180))
    graph = parse(f"X -> Y; {near}; Z8 -> Y; Z9 -> Y; Z8 -> [S]; Z9 -> [S]; {idle}")
    search = ChainSearch(graph, parse_query("Y | do(X)"))

    found = [chain.name for chain in search.find_chains(longest=3)]

    assert search.solver.is_spent
    assert found == ["conditioning on Z8, Z9"]
