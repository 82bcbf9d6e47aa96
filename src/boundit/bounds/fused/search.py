"""The search for a plan's variables: sets that make cells of the log cells of rounds.

A set passes if rows of the log are draws of the reward given the arm, the context and the set.
It is then gone over in factors, one variable or several at a time, in the order in which rows
tell most of them. The graph and the levels choose, never the counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod

from boundit.bounds.fused.pooled_law import LawReader, PooledLaw
from boundit.bounds.fused.scheme import Scheme, SchemeFactor, SchemeRank, WeightSource
from boundit.estimand.criteria.relevance import shortlist
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes, sort_names

LONGEST = 3
"""How many variables a plan goes over at most, as chains of bounds do by default."""
MOST_LEAVES = 64
"""How many combinations of their levels a pair of arm and context may have."""
MOST_PLACES = 2**18
"""How many such combinations all pairs may have together."""
MOST_SETS = 200
"""How many sets of variables are tried on a small graph."""
MOST_LAWS = 400
"""How many laws are looked at on a small graph, those of rewards among them."""
SMALL = 40
"""Up to how many nodes and edges a graph is small; on a larger one less is tried."""
LEAST_SETS = 10
"""How many sets of variables are tried however large the graph is."""


@dataclass
class SchemeSearch:
    """Finds the best scheme over some variables; ``levels`` says how many values each has.

    ``n_pairs`` is how many pairs of arm and context there are.
    """

    reader: LawReader
    names: Nodes
    levels: Mapping[str, int]
    n_pairs: int
    budget: TimeBudget = FOR_EVER
    _best: Scheme | None = field(default=None, init=False)
    _rank: SchemeRank | None = field(default=None, init=False)

    def find(self) -> Scheme | None:
        """Find the best scheme, or None.

        What was found when time or laws run out is good all the same.
        """
        for chosen in self._list_sets():
            if self.budget.is_over() or self.reader.n_laws > self._scale(MOST_LAWS):
                break
            reward = self.reader.find_law(frozenset(self.reader.query.outcomes), chosen)
            if self.reader.are_draws(reward):
                self._extend(reward, (), chosen)
        return self._best

    def has_room(self) -> bool:
        """Tell whether even a plan without variables would fit."""
        return self.n_pairs <= MOST_PLACES

    def _list_sets(self) -> Iterator[Nodes]:
        """List the sets of variables to try, those with the fewest combinations first.

        Effects of neither the query's variables nor of selection's causes never help.
        """
        graph, query = self.reader.graph, self.reader.query
        named = frozenset(query.outcomes + query.treatments + query.context)
        chosen = {graph.selection} if graph.selection else set[str]()
        causes = graph.ancestors(named | chosen)
        usable = frozenset(
            name
            for name in (causes & graph.observed & self.names) - named
            if self.levels[name] <= MOST_LEAVES
        )
        pool = shortlist(
            graph,
            usable,
            outcomes=frozenset(query.outcomes),
            treatments=frozenset(query.treatments),
            context=frozenset(query.context),
            max_size=LONGEST,
            max_sets=max(LEAST_SETS, self._scale(MOST_SETS)),
        )
        found = [some for n in range(LONGEST + 1) for some in combinations(pool, n)]
        fitting = [some for some in found if self._fits(some)]
        fitting.sort(key=lambda some: (self._count_leaves(some), len(some)))
        return map(frozenset, fitting)

    def _scale(self, most: int) -> int:
        """Scale a limit of work down for a large graph, on which every test takes longer."""
        graph = self.reader.graph
        size = len(graph.nodes) + len(graph.directed) + len(graph.bidirected)
        return most if size <= SMALL else most * SMALL // size

    def _count_leaves(self, names: Sequence[str]) -> int:
        """Count the combinations of levels of some variables."""
        return prod(self.levels[name] for name in names)

    def _fits(self, names: Sequence[str]) -> bool:
        """Tell whether a plan over some variables is small enough."""
        leaves = self._count_leaves(names)
        return leaves <= MOST_LEAVES and leaves * self.n_pairs <= MOST_PLACES

    def _extend(
        self, reward: PooledLaw, factors: tuple[SchemeFactor, ...], left: Nodes
    ) -> None:
        """Go over the variables left in every way that may beat the best scheme so far."""
        scheme = Scheme(reward, factors)
        rank = scheme.rank(self.levels)
        if self._rank is not None and rank >= self._rank:
            return
        if not left:
            self._best, self._rank = scheme, rank
            return
        before = frozenset(scheme.variables)
        for size in range(1, len(left) + 1):
            for some in combinations(sort_names(left), size):
                factor = self._make_factor(some, before)
                self._extend(reward, (*factors, factor), left.difference(some))

    def _make_factor(self, variables: tuple[str, ...], before: Nodes) -> SchemeFactor:
        """Make the factor of some variables given others: find where its weights come from."""
        reader = self.reader
        law = reader.find_law(frozenset(variables), before)
        if reader.are_draws(law):
            return SchemeFactor(variables, law, WeightSource.ROWS)
        if tables := reader.find_tables(law):
            return SchemeFactor(variables, law, WeightSource.ROWS, tuple(tables))
        tilted = reader.has_tilt(law)
        return SchemeFactor(
            variables, law, WeightSource.TILT if tilted else WeightSource.ROUNDS
        )
