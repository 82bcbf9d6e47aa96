"""Which chains have a block that can be reweighted, by the graph alone.

A block's law is read off the population where the actions may be seen (Rule 2). What does not
tell of the block is dropped from what it is given, which pools rows of the log.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, permutations
from typing import final

from boundit.bounds.lp.reweighting import ReweightedBlock, Reweighting
from boundit.bounds.rules.chain import ChainLink, ChainSearch
from boundit.bounds.rules.reweighted_chain import ReweightedChain
from boundit.bounds.selection_facts import SelectionFacts
from boundit.estimand.query import EffectQuery
from boundit.estimand.recovery.derivation import Step
from boundit.estimand.recovery.question import (
    Question,
    may_observe_treatments,
    state_rule_2,
)
from boundit.graph.boundary import find_boundary
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.formula import Sentence, Term, name_variables
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes, sort_names

MOST_CHAINS = 6
"""How many chains are kept: those with the fewest unknown variables, then the shortest."""


@final
class ReweightedChainSearch:
    """Finds the chains with reweighted blocks of one question on one graph."""

    def __init__(
        self,
        graph: CausalGraph,
        query: EffectQuery,
        facts: SelectionFacts,
        tables: Iterable[Nodes] = (),
        *,
        search: ChainSearch | None = None,
    ) -> None:
        self.graph, self.query, self.facts = graph, query, facts
        (self.y,) = query.outcomes
        self.x, self.c = frozenset(query.treatments), frozenset(query.context)
        self.tables = tuple(sorted({t for t in tables if t}, key=sort_names))
        # The laws that a search without reweighting found, or did not, need no second look.
        self._chain_search = search or ChainSearch(graph, query, self.tables)
        self._blocks: dict[tuple[Nodes, Nodes], ReweightedBlock | None] = {}

    def find_chains(
        self, *, longest: int, budget: TimeBudget = FOR_EVER
    ) -> list[ReweightedChain]:
        """List the best chains with reweighted blocks, of at most ``longest`` variables.

        A chain bounds the reward by going over variables one after another; a block is one or
        several of them whose law is that of the log, reweighted to undo selection.
        """
        if self.graph.selection is None or self._chain_search.recover_law(self.y, frozenset()):
            return []  # nothing to reweight, or nothing left to learn by it
        found: dict[tuple[object, ...], ReweightedChain] = {}
        pool = self._chain_search.choose_variables(longest)
        for size in range(min(longest, len(pool)) + 1):
            for order in permutations(pool, size):
                if budget.is_over():
                    return self._choose_best(found.values())
                for chain in self._find_over(order):
                    found.setdefault(_make_chain_key(chain), chain)
        return self._choose_best(found.values())

    def _find_over(self, order: tuple[str, ...]) -> Iterator[ReweightedChain]:
        """Yield the reweighted chains over variables in one order, for each choice of a block.

        A block is a run of them whose joint law is that of the reweighted log, or the reward
        alone where it has no formula; the others come one by one, each by the best law there
        is.
        """
        reward = self._chain_search.recover_law(self.y, frozenset(order))
        if reward is None:
            if block := self.find_block((self.y,), frozenset(order)):
                yield ReweightedChain(self.query, (*self._draw_links(order, ()), block), None)
            return
        for start, end in combinations(range(len(order) + 1), 2):
            before, inside, after = order[:start], order[start:end], order[end:]
            if all(
                self._chain_search.recover_law(v, frozenset(order[: start + i]))
                for i, v in enumerate(inside)
            ):
                continue  # recovered, so it needs no reweighting
            if block := self.find_block(inside, frozenset(before)):
                rest = self._draw_links(after, before + inside)
                links = (*self._draw_links(before, ()), block, *rest)
                yield ReweightedChain(self.query, links, reward)

    def _draw_links(
        self, order: tuple[str, ...], earlier: tuple[str, ...]
    ) -> tuple[ChainLink | ReweightedBlock, ...]:
        """Make a link of each variable: of known, else of reweighted, else of unknown law.

        The laws are given the variables ``earlier`` in the chain, and those before in
        ``order``.
        """
        return tuple(
            self._draw_link(node, frozenset(earlier + order[:i]))
            for i, node in enumerate(order)
        )

    def _draw_link(self, node: str, before: Nodes) -> ChainLink | ReweightedBlock:
        """Make the link of one variable: with the formula of its law given those ``before`` it.

        Without a formula it is a block of one, read off the reweighted log; where that cannot
        be, a link of unknown law.
        """
        known = self._chain_search.recover_law(node, before)
        block = self.find_block((node,), before) if known is None else None
        return block or ChainLink(node, known)

    def find_block(self, members: tuple[str, ...], before: Nodes) -> ReweightedBlock | None:
        """Return the block that reads ``P(members | do(x), c, before)`` off the reweighted log.

        None where that law cannot be read so. Each block is made once.
        """
        key = (frozenset(members), before)
        if key not in self._blocks:
            self._blocks[key] = self._make_block(*key)
        return self._blocks[key]

    def _make_block(self, members: Nodes, before: Nodes) -> ReweightedBlock | None:
        """Make the block that reads ``P(members | do(x), c, before)`` off the reweighted log.

        None unless the actions ``do(x)`` drop out or may be read as conditions (Rule 2 of the
        do-calculus).
        """
        asked = Question(members, self.x, self.c | before)
        light, moves = self._chain_search.solver.lighten(asked)
        if not may_observe_treatments(self.graph, light):
            return None
        given = find_boundary(self.graph, members, given=light.treatments | light.context)
        law_of = (name_variables(members, bare=True), name_variables(given, bare=True))
        seen = Sentence.of(asked.formula, " is ", Term("P", *law_of), " of the population")
        moves += (Step(None, seen, "Rule 2", state_rule_2(self.graph, light)),)
        steps = tuple(move.record for move in moves)
        steering = find_boundary(
            self.graph, str(self.graph.selection), given=self.graph.observed
        )
        law = Reweighting.from_graph(
            self.graph, members | given | steering, self.facts, self.tables
        )
        return ReweightedBlock(tuple(sort_names(members)), given, law, steps)

    def _choose_best(self, found: Iterable[ReweightedChain]) -> list[ReweightedChain]:
        """Keep the chains with the fewest unknown laws and variables, each in its variants.

        A variant reweights by fewer variables.
        """
        kept = list[ReweightedChain]()
        for chain in sorted(found, key=_rank_chain):
            if any(_is_leaner(one, chain) for one in kept):
                continue
            if len(kept) == MOST_CHAINS:
                self._chain_search.is_cut = True
                break
            kept.append(chain)
        return [variant for chain in kept for variant in self._list_variants(chain)]

    def _list_variants(self, chain: ReweightedChain) -> Iterator[ReweightedChain]:
        """Yield a chain, and again with each block reweighted by fewer variables if there are.

        A block is variables whose law is that of the reweighted log. The first is sharper, and
        reads more cells; the second serves where some were not seen.
        """
        yield chain
        local = tuple(
            self._localize_block(link) if isinstance(link, ReweightedBlock) else link
            for link in chain.links
        )
        if local != chain.links:
            yield replace(chain, links=local)

    def _localize_block(self, block: ReweightedBlock) -> ReweightedBlock:
        """Make the block again, reweighted by fewer variables if that is possible.

        Those that shield its own variables from selection are enough; the block itself comes
        back where they are more.
        """
        own = frozenset(block.variables) | block.given
        law = Reweighting.from_graph(self.graph, own, self.facts)
        fewer = len(law.steering) <= len(block.reweighting.steering)
        return replace(block, reweighting=law) if fewer else block


def _make_chain_key(chain: ReweightedChain) -> tuple[object, ...]:
    """Make a key that is equal for chains which reweight the log for selection in the same way.

    It holds the variables, those of them with a recovered law, the reweighted blocks, and
    whether the reward is one of these.
    """
    known = (
        link.variable for link in chain.links if isinstance(link, ChainLink) and link.weights
    )
    blocks = frozenset((frozenset(b.variables), b.given) for b in chain.blocks)
    return frozenset(chain.variables), frozenset(known), blocks, chain.reward is None


def _rank_chain(chain: ReweightedChain) -> tuple[int, int, int, bool]:
    """Rank a chain by unknown laws, variables and blocks, fewest first, then by a known reward."""
    sizes = len(chain.unknown), len(chain.variables), len(chain.blocks)
    return *sizes, chain.reward is None


def _is_leaner(one: ReweightedChain, other: ReweightedChain) -> bool:
    """Tell whether chain ``one`` has fewer variables than ``other`` and no more unknown laws."""
    fewer = frozenset(one.variables) < frozenset(other.variables)
    return fewer and len(one.unknown) <= len(other.unknown)
