from itertools import permutations

import numpy as np
import pytest

from boundit.bounds.contrasts.chain_differences import ChainDifferences, SharedChain
from boundit.bounds.rules.chain import ChainSearch
from boundit.bounds.rules.find_reweighted import ReweightedChainSearch
from boundit.bounds.selection_facts import NOTHING_KNOWN
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_model
from boundit.simulation.world import World
from boundit.simulation.worlds import paper_world
from tests.bounds.contrasts.compared import (
    NOTHING,
    RATE,
    derive_with_contrasts,
    make_confident,
    share_chains,
)
from tests.bounds.exact import questions
from tests.bounds.reweighted import plug_in, true_facts
from tests.bounds.rules.test_reweighted_chain import truth
from tests.nodes import make_nodes


def test_arms_that_share_an_unknown_law_differ_less_than_their_intervals() -> None:
    """Rule 3: X does not act on W, whose law is unknown to both arms alike."""
    model = Model.of(
        {
            "W": ([], 0.5),
            "V": ([], 0.3),
            "X": ([], 0.5),
            "Y": (["X", "W"], [[0.1, 0.6], [0.2, 0.7]]),
            "S": (["W", "V"], [[0.2, 0.5], [0.7, 0.9]]),
        },
        selection="S",
    )
    query = parse_query("Y | do(X)")
    (chain,) = (
        chain
        for chain in ChainSearch(model.graph, query).find_chains(longest=1)
        if chain.variables == ("W",)
    )
    shared = SharedChain.from_graph(model.graph, query, chain)
    proved = ChainDifferences(shared, plug_in(model), query)

    assert (shared.link_treatments, shared.reward_treatments) == (
        (make_nodes(),),
        make_nodes("X"),
    )
    assert float(proved.find_greatest((0,), [(1,)])[0]) == pytest.approx(-0.1)
    assert float(proved.find_greatest((1,), [(0,)])[0]) == pytest.approx(0.1)
    assert derive_with_contrasts(model, query, NOTHING).ruled_out() == {(0,): (1,)}


def test_an_arm_that_changes_nothing_is_as_good_as_another() -> None:
    """Also with counts, where the interval of each arm is as wide as chance makes it."""
    model = Model.of(
        {"X": ([], 0.5), "W": ([], 0.5), "Y": (["W"], [0.2, 0.9]), "S": (["W"], [0.2, 0.9])},
        selection="S",
    )
    query = parse_query("Y | do(X)")
    found = derive_with_contrasts(model, query, NOTHING)
    chain = next(c for c in ChainSearch(model.graph, query).find_chains(longest=1) if c.links)
    shared = SharedChain.from_graph(model.graph, query, chain)
    numbers = make_confident(World(model, query), chain.formulas, 500)

    assert found.contrast(0, 1) == pytest.approx(0.0, abs=1e-9)
    assert found[0, ()].width > 0.5
    assert float(ChainDifferences(shared, numbers, query).find_greatest((0,), [(1,)])[0]) == 0


@pytest.mark.parametrize(("seed", "zeros"), [(5, 0.0), (6, 0.35)])
def test_no_difference_passes_its_end(seed: int, zeros: float) -> None:
    """On random models, with and without structural zeros, whatever is truly known."""
    better = 0
    for asked in questions(25, seed, zeros=zeros, selection=True):
        model, query = asked.model, asked.query
        mean, numbers = truth(model, query), plug_in(model)
        facts = true_facts(model)[seed % 3]
        for shared in share_chains(model.graph, query, facts)[:4]:
            proved = ChainDifferences(shared, numbers, query)
            arms = np.ndindex(*(model.n_levels[name] for name in query.treatments))
            for one, other in list(permutations(arms, 2))[:4]:
                found, truly = proved.find_greatest(one, [other])[0], mean[one] - mean[other]
                assert not (found < truly - 1e-8).any()
                better += int((found < 0.5).any())
    assert better > 20


def test_with_counts_contrasts_hold_too() -> None:
    """Section 3.6: the masses of cells lie between their shares, for both arms the same."""
    world = paper_world()
    mean = truth(world.model, world.query)
    for chain in ReweightedChainSearch(world.graph, world.query, RATE).find_chains(longest=2):
        numbers = make_confident(world, chain.formulas, 20_000)
        shared = SharedChain.from_graph(world.graph, world.query, chain)
        proved = ChainDifferences(shared, numbers, world.query)
        for one, other in (((0, 0), (1, 0)), ((1, 1), (0, 0))):
            found = proved.find_greatest(one, [other])[0]
            assert (found >= mean[one] - mean[other]).all()
            assert (found < 0.6).all()


def test_all_others_at_once_are_what_each_is_alone() -> None:
    """One call answers for every arm that differs in the same treatments."""
    rng = np.random.default_rng(8)
    graph = parse("X -> W -> Y; X -> Y; W -> [S]; A -> Y; C -> W")
    drawn = (draw_model(graph, rng, levels=(2, 3)) for _ in range(200))
    wanted = {"X": 3, "A": 3, "Y": 2}
    fit = [model for model in drawn if wanted.items() <= model.n_levels.items()]
    for model in fit[:4]:
        query, known = parse_query("Y | do(X, A), C"), plug_in(model)
        for shared in share_chains(model.graph, query, NOTHING_KNOWN):
            proved = ChainDifferences(shared, known, query)
            for others in ([(1, 2), (2, 2)], [(0, 0), (0, 1)], [(1, 0), (2, 1)]):
                alone = [proved.find_greatest((0, 2), [other])[0] for other in others]
                assert np.array_equal(proved.find_greatest((0, 2), others), np.stack(alone))
    assert len(fit) > 3
