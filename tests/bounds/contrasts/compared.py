"""Chains of a model whose arms are compared, for the tests of contrasts."""

from dataclasses import replace

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.confidence import ConfidentNumbers, collect_terms
from boundit.bounds.contrasts.chain_differences import SharedChain
from boundit.bounds.contrasts.table import collect_contrasts
from boundit.bounds.derive import derive_bounds
from boundit.bounds.rules.chain import ChainSearch
from boundit.bounds.rules.find_reweighted import ReweightedChainSearch
from boundit.bounds.selection_facts import SelectionFacts
from boundit.estimand.language.expression import Expression
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.model import Model
from boundit.simulation.world import World
from boundit.terms.bound_table import BoundTable
from tests.bounds.exact import as_log
from tests.bounds.reweighted import plug_in

NOTHING, RATE = SelectionFacts(), SelectionFacts((0.47625, 0.47625))


def share_chains(
    graph: CausalGraph, query: EffectQuery, facts: SelectionFacts, *, plain: int = 1
) -> list[SharedChain]:
    blocks = ReweightedChainSearch(graph, query, facts).find_chains(longest=2)
    found = [SharedChain.from_graph(graph, query, chain) for chain in blocks]
    rest = ChainSearch(graph, query).find_chains(longest=plain)
    return [*found, *(SharedChain.from_graph(graph, query, chain) for chain in rest)]


def make_confident(
    world: World, formulas: tuple[Expression, ...], rows: int
) -> ConfidentNumbers:
    """Simultaneous intervals for all that some formulas read."""
    (outcome,) = world.query.outcomes
    names = sorted(world.graph.observed - {outcome})
    rewards = BinaryReward(world.log(rows, 3).count(names, reward=outcome), outcome, 0, 1)
    terms = dict.fromkeys(collect_terms(formulas), frozenset[str]())
    return ConfidentNumbers(rewards, [], terms, confidence=0.95)


def derive_with_contrasts(
    model: Model, query: EffectQuery, facts: SelectionFacts
) -> BoundTable:
    table = derive_bounds(model.graph, query, as_log(model.log()), confidence=None)
    found = collect_contrasts(
        share_chains(model.graph, query, facts),
        plug_in(model),
        query,
        table.levels,
        table.bounds,
        table.outcome_range,
    )
    return replace(table, contrasts=found)
