r"""Chains within chains on a reweighted log, where one unknown population has both laws.

Behind a front door ``P(y | do(x))`` is a mean over the mediator of a mean over the natural
values ``x'`` of the arm,

.. math:: \sum_m P(m \mid x) \sum_{x'} P(x') \, P(y \mid x', m)

in the *population*. The log is the population as selection left it, so both laws are those of
the log reweighted by one unknown ``r`` (see ``reweighting``): what makes ``P(m | x)`` extreme
says what ``P(x')`` is. Taken together they are searched box by box (``mean_of_means``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import final

import numpy as np

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.lp.mean_of_means import MOST_BOXES, MeanOfMeans
from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.reweighting import ReweightedBlock, Reweighting
from boundit.bounds.numbers import UNFINISHED, Ends, Numbers
from boundit.bounds.proof import Place, WorstPopulation
from boundit.bounds.rules.chain import ChainSearch, KnownFormula
from boundit.bounds.rules.claims import sum_over, write_population_law, write_reweighting
from boundit.bounds.rules.find_response_programs import SearchBudget
from boundit.bounds.rules.find_reweighted import ReweightedChainSearch
from boundit.bounds.rules.rule import BoundRule
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.language.expression import Expression
from boundit.estimand.language.notation import make_sentence
from boundit.estimand.query import EffectQuery
from boundit.estimand.recovery.question import Question
from boundit.graph.separation import open_walk
from boundit.terms.bound import RuleRecord, StepRecord
from boundit.terms.formula import Sentence
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes, join_names, sort_names

MOST_NESTED = 2
"""How many of these rules are tried, those with the fewest variables first."""
BOXES_OF_ALL = 2_000
"""How many boxes all ends of a table are searched in; with many ends, few are left for each."""
FEWEST_BOXES = 3
"""Where fewer are left for an end than this, both means are taken one by one."""
_CHAINS = 6  # what looking for inner laws costs, counted in programs


@dataclass(frozen=True)
class ReweightedNestedChain(BoundRule):
    """Two blocks under one reweighting, a reward given both, and the question in between.

    Of the ``inner`` block the natural values count; the ``outer`` one is given those that are
    set. ``asked`` is what is left of the question once the outer block is given.
    """

    query: EffectQuery
    outer: ReweightedBlock
    asked: Question
    inner: ReweightedBlock
    reward: KnownFormula

    @property
    def reweighting(self) -> Reweighting:
        """By what the log is reweighted, and the facts that limit it: the same for both blocks."""
        return self.outer.reweighting

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The formulas read off counts: the reward's, and the terms of the reweighting."""
        return tuple(dict.fromkeys((self.reward.expression, *self.reweighting.formulas)))

    @property
    def range_variables(self) -> Nodes:
        """The variables of the reweighting besides the query's: all their levels must be known."""
        return self.reweighting.variables - {self.outcome, *self.axes}

    @property
    def n_unknown(self) -> int:
        """How many variables have a law that is reweighted without facts or tables."""
        law = self.reweighting
        drawn = self.outer.variables + self.inner.variables
        return 0 if law.facts or law.tables else len(drawn)

    @property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """By what the log is reweighted to undo selection, as one entry."""
        return (self.reweighting,)

    @property
    def array_variables(self) -> Nodes:
        """The variables at each level of which the rule keeps a number, besides the query's."""
        return frozenset(self.outer.variables + self.inner.variables)

    def write_record(self) -> RuleRecord:
        """Write the rule's name, its claim as a nested formula, and the steps that prove it.

        A bound table keeps the record and explains its ends by it.
        """
        shown, law = make_sentence(self.reward.expression), self.reweighting
        blocks = (self.inner, self.outer)
        for block in blocks:
            of_block = Sentence.of(write_population_law(block.variables, block.given))
            shown = sum_over(block.variables, of_block, shown)
        weights = write_reweighting([law.steering], law.statement)
        claim = Sentence.of(self.query.formula, " is ", shown, weights)
        inside, outside = (join_names(block.variables) for block in blocks)
        both = [write_population_law(b.variables, b.given) for b in (self.outer, self.inner)]
        question = Sentence.of("by the do-calculus the question is ", self.asked.formula)
        swept = Sentence.of(
            "one r is shared by ",
            both[0],
            " and ",
            both[1],
            ": ranges of the second are swept, and a linear program bounds each; its "
            "multipliers prove the end",
        )
        steps = (
            *self.outer.steps,
            StepRecord(question),
            *self.reward.steps,
            *self.inner.steps,
            *law.steps,
            StepRecord(swept),
        )
        return RuleRecord(f"reweighting of {outside}, then {inside}", claim, steps)

    def find_ends(self, numbers: Numbers, budget: TimeBudget = FOR_EVER) -> Ends:
        """Bound every arm and context by the least and greatest mean of means of a population."""
        populations = Populations(self.reweighting, numbers)
        means = MeanOfMeans(populations, self.outer, self.inner, budget)
        read = self._read_rewards(numbers)
        own = [axis for axis in self.axes if axis in self._list_read()]
        shape = tuple(numbers.levels[axis] for axis in own)
        ends = np.zeros(shape), np.ones(shape)
        proofs = dict[tuple[Place, bool], WorstPopulation | None]()
        most = BOXES_OF_ALL // max(2 * ends[0].size, 1)
        most = min(most, MOST_BOXES) if most >= FEWEST_BOXES else 0
        for place in np.ndindex(*shape):
            at = dict(zip(own, place, strict=True))
            for upper, sign in ((False, -1.0), (True, 1.0)):
                values = sign * self._select_rewards(read[upper], at)
                found = means.find_greatest(values, at, most=most)
                ends[upper][place] = sign * found.end
                proofs[place, upper] = found.population
        full = [numbers.levels[axis] for axis in self.axes]
        low, high = (
            np.broadcast_to(NamedArray(tuple(own), end).align(self.axes), full).clip(0, 1)
            for end in ends
        )

        def why(place: Place, upper: bool) -> WorstPopulation | None:  # noqa: FBT001
            at = dict(zip(self.axes, place, strict=True))
            return proofs.get((tuple(at[axis] for axis in own), upper))

        return Ends(low, high, proof=why, notes=(UNFINISHED,) if means.late else ())

    def _list_read(self) -> Nodes:
        """List the axes of the query that the value hangs on, by laws or by the reward."""
        return self.outer.given | self.inner.given | frozenset(self._list_fixed())

    def _list_fixed(self) -> list[str]:
        """List the variables of the lighter question that have one value in each row."""
        named = self.asked.treatments | self.asked.context
        return sort_names(named.difference(self.outer.variables))

    def _read_rewards(self, numbers: Numbers) -> tuple[Floats, Floats]:
        """Read both ends of the mean reward: axes of one value, outer block, inner block."""
        order = (*self._list_fixed(), *self.outer.variables, *self.inner.variables)
        shape = [numbers.levels[name] for name in order]
        low, high = numbers.read_ends(self.reward.expression, (*order, self.outcome))
        return (
            np.broadcast_to(low[..., SUCCESS].clip(0, 1), shape),
            np.broadcast_to(high[..., SUCCESS].clip(0, 1), shape),
        )

    def _select_rewards(self, read: Floats, at: dict[str, int]) -> Floats:
        """Select the mean rewards of one row, axes of the outer and then of the inner block."""
        return np.asarray(read[tuple(at[name] for name in self._list_fixed())])


def find_reweighted_nested_chains(
    search: ChainSearch,
    facts: SelectionFacts,
    *,
    longest: int,
    budget: TimeBudget = FOR_EVER,
) -> list[ReweightedNestedChain]:
    """List chains of two reweighted blocks, the second over natural values of treatments.

    They serve queries whose reward has no formula until a treatment has become irrelevant, as
    behind a front door.

    >>> from boundit.estimand.query import parse_query
    >>> from boundit.graph.text import parse
    >>> front_door = parse("X -> M -> Y; X <-> Y; M -> [S]")
    >>> search = ChainSearch(front_door, parse_query("Y | do(X)"))
    >>> for found in find_reweighted_nested_chains(search, SelectionFacts(), longest=2):
    ...     print(found.write_record().name)
    reweighting of M, then X
    """
    if search.graph.selection is None:
        return []
    within = _TwoBlockSearch(search, facts, longest, budget)
    found = list[ReweightedNestedChain]()
    for chain in within.find_chains():
        found.append(chain)
        if len(found) == MOST_NESTED:
            break
    return found


@final
class _TwoBlockSearch:
    """Looks for an outer block, and for an inner block of the question that is left."""

    def __init__(
        self, search: ChainSearch, facts: SelectionFacts, longest: int, budget: TimeBudget
    ) -> None:
        self.search, self.facts, self.longest = search, facts, longest
        self._budget, self._effort = budget, SearchBudget(search.graph)
        self._outer = self._make_search(search.query, search)

    def _make_search(
        self, query: EffectQuery, search: ChainSearch | None = None
    ) -> ReweightedChainSearch:
        """Make what finds reweighted blocks for a query."""
        graph, tables = self.search.graph, self.search.tables
        return ReweightedChainSearch(graph, query, self.facts, tables, search=search)

    def find_chains(self) -> Iterator[ReweightedNestedChain]:
        """Yield the chains of two blocks, those with the fewest outer variables first."""
        search = self.search
        pool = search.choose_variables(self.longest)
        for size in range(1, min(self.longest - 1, len(pool)) + 1):
            for chosen in combinations(pool, size):
                if self._budget.is_over() or self._effort.is_spent:
                    return
                given = frozenset(chosen)
                light, _ = search.solver.lighten(Question(search.y, search.x, search.c | given))
                if search.x <= light.treatments or not given <= light.variables:
                    continue
                if search.recover_law(min(search.y), given) is not None:
                    continue
                if outer := self._outer.find_block(chosen, frozenset()):
                    yield from self._join_blocks(outer, light)

    def _join_blocks(
        self, outer: ReweightedBlock, light: Question
    ) -> Iterator[ReweightedNestedChain]:
        """Yield the chains with an outer block, whose inner law is not given its values.

        Both blocks get one reweighting.
        """
        if not self._effort.spend(_CHAINS):
            return
        for inner, reward in self._find_inner(light, self.longest - len(outer.variables)):
            if not inner.given.isdisjoint(outer.variables):
                continue
            names = outer.reweighting.variables | inner.reweighting.variables
            law = Reweighting.from_graph(
                self.search.graph, names, self.facts, self.search.tables
            )
            yield ReweightedNestedChain(
                self.search.query,
                replace(outer, given=self._widen(outer, inner.given), reweighting=law),
                light,
                replace(inner, reweighting=law),
                reward,
            )

    def _find_inner(
        self, light: Question, longest: int
    ) -> Iterator[tuple[ReweightedBlock, KnownFormula]]:
        """Yield blocks with a treatment that no longer matters, each with the reward's formula.

        It is given them and what the question names. Only the smallest sets of variables that
        serve are kept.
        """
        lost = self.search.x - light.variables
        parts = (light.outcomes, light.treatments, light.context)
        asked = EffectQuery(*(tuple(sort_names(part)) for part in parts))
        chains = ChainSearch(self.search.graph, asked, self.search.tables)
        blocks = self._make_search(asked, chains)
        pool: Sequence[str] = chains.choose_variables(longest)
        for size in range(1, min(longest, len(pool)) + 1):
            found = False
            for chosen in combinations(pool, size):
                if self._budget.is_over():
                    return
                if lost.isdisjoint(chosen):
                    continue
                reward = chains.recover_law(min(self.search.y), frozenset(chosen))
                block = blocks.find_block(chosen, frozenset()) if reward else None
                if block and reward:
                    found = True
                    yield block, reward
            if found:
                return

    def _widen(self, outer: ReweightedBlock, given: Nodes) -> Nodes:
        """Give the outer law what the inner one is given too, if it tells nothing of it.

        Both laws are then of the same part of the population.
        """
        more = given - outer.given
        everyone = self.search.graph.induced(self.search.graph.observed)
        told = more and open_walk(everyone, outer.variables, more, given=outer.given)
        return outer.given if told else outer.given | more
