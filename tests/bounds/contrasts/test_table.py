from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

from boundit.bandit.theory import count_ruled_out
from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.confidence import ConfidentNumbers, collect_terms
from boundit.bounds.contrasts.table import ChainDifferences, SharedChain, collect_contrasts
from boundit.bounds.derive import derive_bounds
from boundit.bounds.rules.chain import ChainSearch
from boundit.bounds.rules.find_reweighted import ReweightedChainSearch
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.bounds.time_budget import TimeBudget
from boundit.estimand.language.expression import Expression
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.simulation.random_models import random_model
from boundit.simulation.world import World
from boundit.simulation.worlds import paper_world
from boundit.terms.bound_table import BoundTable
from boundit.terms.names import make_nodes
from tests.bounds.exact import as_log, questions
from tests.bounds.reweighted import plug_in, true_facts
from tests.bounds.rules.test_reweighted_chain import truth

NOTHING, RATE = SelectionFacts(), SelectionFacts((0.47625, 0.47625))


def joints(
    graph: CausalGraph, query: EffectQuery, facts: SelectionFacts, *, plain: int = 1
) -> list[SharedChain]:
    blocks = ReweightedChainSearch(graph, query, facts).chains(longest=2)
    found = [SharedChain.from_graph(graph, query, chain) for chain in blocks]
    rest = ChainSearch(graph, query).chains(longest=plain)
    return [*found, *(SharedChain.from_graph(graph, query, chain) for chain in rest)]


def confident(world: World, formulas: tuple[Expression, ...], rows: int) -> ConfidentNumbers:
    """Simultaneous intervals for all that some formulas read."""
    (outcome,) = world.query.outcomes
    names = sorted(world.graph.observed - {outcome})
    coin = BinaryReward(world.log(rows, 3).count(names, reward=outcome), outcome, 0, 1)
    terms = dict.fromkeys(collect_terms(formulas), frozenset[str]())
    return ConfidentNumbers(coin, [], terms, confidence=0.95)


def with_contrasts(model: Model, query: EffectQuery, facts: SelectionFacts) -> BoundTable:
    table = derive_bounds(model.graph, query, as_log(model.log()), confidence=None)
    found = collect_contrasts(
        joints(model.graph, query, facts),
        plug_in(model),
        query,
        table.levels,
        table.bounds,
        table.reward_range,
    )
    return replace(table, contrasts=found)


def test_the_papers_contrast_under_a_free_reweighting() -> None:
    """Section 3.8: x1=1 less x1=0 in [-0.014, 0.042], apart only in [-0.223, 0.200]."""
    world = paper_world()
    table = with_contrasts(world.model, world.query, NOTHING)

    for x2 in (0, 1):
        assert table.contrast((1, x2), (0, x2), (0, 0)) == pytest.approx(0.0421, abs=2e-4)
        assert table.contrast((0, x2), (1, x2), (0, 0)) == pytest.approx(0.0139, abs=2e-4)
        apart = table[(0, x2), (0, 0)].upper - table[(1, x2), (0, 0)].lower
        assert apart == pytest.approx(0.2232, abs=1e-4)
        truly = world.mean((1, x2), (0, 0)) - world.mean((0, x2), (0, 0))
        assert -0.0140 <= truly <= 0.0423


def test_with_the_selection_rate_the_papers_better_arm_is_certain() -> None:
    """Section 3.8: [0.0001, 0.042], so x1=0 is dominated: all but the best arm, everywhere.

    The paper's count needs the best mean to compare with; dominance needs no mean at all.
    """
    world = paper_world()
    free = with_contrasts(world.model, world.query, NOTHING)
    told = with_contrasts(world.model, world.query, RATE)
    pruned = {
        name: sum(len(table.dominated(context)) for context in table.contexts)
        for name, table in {"free": free, "told": told}.items()
    }

    assert told.contrast((0, 0), (1, 0), (0, 0)) == pytest.approx(-0.0000923, abs=1e-6)
    assert all((1, 1) not in told.dominated(context) for context in told.contexts)
    assert all((0, x2) in told.dominated(c) for c in told.contexts for x2 in (0, 1))
    assert pruned == {"free": 8, "told": 12}
    assert count_ruled_out(free, world.means()) == 8
    assert not any(replace(free, contrasts={}).dominated(c) for c in free.contexts)


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
        for chain in ChainSearch(model.graph, query).chains(longest=1)
        if chain.variables == ("W",)
    )
    joint = SharedChain.from_graph(model.graph, query, chain)
    proved = ChainDifferences(joint, plug_in(model), query)

    assert (joint.link_treatments, joint.reward_treatments) == (
        (make_nodes(),),
        make_nodes("X"),
    )
    assert float(proved.find_greatest((0,), [(1,)])[0]) == pytest.approx(-0.1)
    assert float(proved.find_greatest((1,), [(0,)])[0]) == pytest.approx(0.1)
    assert with_contrasts(model, query, NOTHING).dominated() == {(0,): (1,)}


def test_an_arm_that_changes_nothing_is_as_good_as_another() -> None:
    """Also with counts, where the interval of each arm is as wide as chance makes it."""
    model = Model.of(
        {"X": ([], 0.5), "W": ([], 0.5), "Y": (["W"], [0.2, 0.9]), "S": (["W"], [0.2, 0.9])},
        selection="S",
    )
    query = parse_query("Y | do(X)")
    found = with_contrasts(model, query, NOTHING)
    chain = next(c for c in ChainSearch(model.graph, query).chains(longest=1) if c.links)
    joint = SharedChain.from_graph(model.graph, query, chain)
    numbers = confident(World(model, query), chain.formulas, 500)

    assert found.contrast(0, 1) == pytest.approx(0.0, abs=1e-9)
    assert found[0, ()].width > 0.5
    assert float(ChainDifferences(joint, numbers, query).find_greatest((0,), [(1,)])[0]) == 0


@pytest.mark.parametrize(("seed", "zeros"), [(5, 0.0), (6, 0.35)])
def test_no_difference_passes_its_end(seed: int, zeros: float) -> None:
    """On random models, with and without structural zeros, whatever is truly known."""
    better = 0
    for asked in questions(25, seed, zeros=zeros, selection=True):
        model, query = asked.model, asked.query
        mean, numbers = truth(model, query), plug_in(model)
        facts = true_facts(model)[seed % 3]
        for joint in joints(model.graph, query, facts)[:4]:
            proved = ChainDifferences(joint, numbers, query)
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
    for chain in ReweightedChainSearch(world.graph, world.query, RATE).chains(longest=2):
        numbers = confident(world, chain.formulas, 20_000)
        joint = SharedChain.from_graph(world.graph, world.query, chain)
        proved = ChainDifferences(joint, numbers, world.query)
        for one, other in (((0, 0), (1, 0)), ((1, 1), (0, 0))):
            found = proved.find_greatest(one, [other])[0]
            assert (found >= mean[one] - mean[other]).all()
            assert (found < 0.6).all()


def test_numbers_are_scaled_to_the_rewards_range_and_kept_where_they_say_more() -> None:
    world = paper_world()
    table = derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)
    scaled = {
        key: replace(bound, lower=10 * bound.lower, upper=10 * bound.upper)
        for key, bound in table.bounds.items()
    }
    chains = joints(world.graph, world.query, NOTHING)
    numbers = plug_in(world.model)
    found = collect_contrasts(chains, numbers, world.query, table.levels, scaled, (0.0, 10.0))
    narrow = {key: replace(b, lower=5.0, upper=5.1) for key, b in scaled.items()}
    fewer = collect_contrasts(chains, numbers, world.query, table.levels, narrow, (0.0, 10.0))

    assert found[(0, 0), (1, 0), (0, 0)] == pytest.approx(0.421, abs=2e-3)
    assert fewer == {pair: most for pair, most in found.items() if most < 0.1}


def test_with_very_many_pairs_only_cheap_chains_are_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = paper_world()
    table = derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)
    monkeypatch.setattr("boundit.bounds.contrasts.table.MOST_PAIRS", 10)
    found = collect_contrasts(
        joints(world.graph, world.query, NOTHING),
        plug_in(world.model),
        world.query,
        table.levels,
        table.bounds,
        (0.0, 1.0),
    )

    assert ((0, 0), (0, 0), (0, 1)) in found
    assert ((0, 0), (0, 0), (1, 0)) not in found


def test_out_of_time_no_chain_is_begun() -> None:
    world = paper_world()
    table = derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)

    assert not collect_contrasts(
        joints(world.graph, world.query, NOTHING),
        plug_in(world.model),
        world.query,
        table.levels,
        table.bounds,
        (0.0, 1.0),
        budget=TimeBudget(0.0),
    )


def test_all_others_at_once_are_what_each_is_alone() -> None:
    """One call answers for every arm that differs in the same treatments."""
    rng = np.random.default_rng(8)
    graph = parse("X -> W -> Y; X -> Y; W -> [S]; A -> Y; C -> W")
    drawn = (random_model(graph, rng, levels=(2, 3)) for _ in range(200))
    wanted = {"X": 3, "A": 3, "Y": 2}
    fit = [model for model in drawn if wanted.items() <= model.n_levels.items()]
    for model in fit[:4]:
        query, known = parse_query("Y | do(X, A), C"), plug_in(model)
        for joint in joints(model.graph, query, NOTHING_KNOWN):
            proved = ChainDifferences(joint, known, query)
            for others in ([(1, 2), (2, 2)], [(0, 0), (0, 1)], [(1, 0), (2, 1)]):
                alone = [proved.find_greatest((0, 2), [other])[0] for other in others]
                assert np.array_equal(proved.find_greatest((0, 2), others), np.stack(alone))
    assert len(fit) > 3


def test_of_very_many_only_those_that_rule_an_arm_out_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = paper_world()
    asked = {"confidence": None, "selection_rate": world.model.selection_rate()}
    every = derive_bounds(world.graph, world.query, world.exact_log(), **asked)  # type: ignore[arg-type]
    monkeypatch.setattr("boundit.bounds.contrasts.table.MOST_KEPT", -1)
    few = derive_bounds(world.graph, world.query, world.exact_log(), **asked)  # type: ignore[arg-type]

    assert few.contrasts == {pair: most for pair, most in every.contrasts.items() if most < 0}
    assert 0 < len(few.contrasts) < len(every.contrasts)
    assert all(few.dominated(c) == every.dominated(c) for c in product((0, 1), repeat=2))
