r"""Chains with blocks whose law is that of a reweighted log.

A chain writes ``P(y | do(x), c)`` as sums over variables. The law of a block ``B`` of them may
be neither recoverable nor unknown: where actions may be read as conditions,

.. math:: P(b \mid do(x), c, z) = P(b \mid a), \qquad a \subseteq x, c, z

in the *population*, which is the log reweighted by an unknown ``r`` (see ``population``). What
comes after a block is expected under it, which is a ratio of two sums linear in ``r``. The
last block can be the reward itself: then selection may depend on the reward.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.lp.fractional import Expectation
from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.reweighting import ReweightedBlock, Reweighting
from boundit.bounds.numbers import UNFINISHED, Ends, Numbers
from boundit.bounds.proof import Place, WorstPopulation
from boundit.bounds.rules.chain import Chain, ChainLink, KnownFormula, find_least_mean
from boundit.bounds.rules.claims import (
    sum_over,
    take_extremes,
    write_population_law,
    write_reweighting,
)
from boundit.bounds.rules.rule import BoundRule
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import Expression
from boundit.estimand.language.notation import make_sentence
from boundit.estimand.query import EffectQuery
from boundit.terms.bound import RuleRecord, StepRecord
from boundit.terms.formula import Sentence
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes, join_names, sort_names


@dataclass(frozen=True)
class ReweightedChain(BoundRule):
    """Links and blocks, and a known reward, or None when the last block is the reward."""

    query: EffectQuery
    links: tuple[ChainLink | ReweightedBlock, ...]
    reward: KnownFormula | None

    @property
    def blocks(self) -> tuple[ReweightedBlock, ...]:
        """The blocks of the chain: variables whose joint law is read off the reweighted log."""
        return tuple(link for link in self.links if isinstance(link, ReweightedBlock))

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that the chain goes over, in its order; the reward too, if in a block."""
        return tuple(name for link in self.links for name in list_drawn(link))

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The formulas read off counts: reward, known laws, and the terms of each reweighting."""
        found = [self.reward.expression] if self.reward else []
        for link in self.links:
            if isinstance(link, ReweightedBlock):
                found += link.reweighting.formulas
            elif link.weights:
                found.append(link.weights.expression)
        return tuple(dict.fromkeys(found))

    @property
    def unknown(self) -> tuple[str, ...]:
        """The variables of links whose law is neither known nor reweighted."""
        links = (link for link in self.links if isinstance(link, ChainLink))
        return tuple(link.variable for link in links if link.weights is None)

    @property
    def n_unknown(self) -> int:
        """How many variables have an unknown law, or one reweighted without facts or tables."""
        free = (b for b in self.blocks if not b.reweighting.facts and not b.reweighting.tables)
        return len(self.unknown) + sum(len(block.variables) for block in free)

    @property
    def name(self) -> str:
        """The rule's name in tables, such as "reweighting of M, unknown W"."""
        rest = f", unknown {', '.join(self.unknown)}" if self.unknown else ""
        blocks = "; ".join(join_names(block.variables) for block in self.blocks)
        return f"reweighting of {blocks}{rest}"

    @property
    def range_variables(self) -> Nodes:
        """The variables of links and reweightings, besides the query's.

        All their levels must be known.
        """
        steering = (block.reweighting.variables for block in self.blocks)
        return frozenset(self.variables).union(*steering) - {self.outcome, *self.axes}

    @property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """For each block, by what the log is reweighted and the facts that limit it."""
        return tuple(block.reweighting for block in self.blocks)

    @property
    def array_variables(self) -> Nodes:
        """The variables at each level of which the rule keeps a number, besides the query's."""
        return frozenset(self.variables) - {self.outcome}

    def write_record(self) -> RuleRecord:
        """Write the rule's name, its claim as a nested formula, and the steps that prove it.

        A bound table keeps the record and explains its ends by it.
        """
        shown, steps = self._write_links()
        verb = " lies between " if self.unknown else " is "
        laws = dict.fromkeys(self.reweightings)
        for each in laws:
            steps += each.steps
        stated = "; ".join(dict.fromkeys(each.statement for each in laws))
        weights = write_reweighting([each.steering for each in laws], stated)
        claim = Sentence.of(self.query.formula, verb, shown, weights)
        return RuleRecord(self.name, claim, tuple(steps))

    def _write_links(self) -> tuple[Sentence, list[StepRecord]]:
        """Write the chain's claim, a sum or min/max for each link, and the proof's steps."""
        shown = make_sentence(self.reward.expression) if self.reward else None
        steps = list(self.reward.steps) if self.reward else []
        for link in reversed(self.links):
            if isinstance(link, ReweightedBlock):
                drawn = sort_names(link.variables)
                law = Sentence.of(write_population_law(drawn, link.given))
                shown = sum_over(drawn, law, shown) if shown else law
                steps += link.steps
            elif link.weights is None:
                shown = take_extremes([link.variable], shown or Sentence(()))
            else:
                law = make_sentence(link.weights.expression)
                shown = sum_over([link.variable], law, shown or Sentence(()))
                steps += link.weights.prefix_steps(link.variable)
        return shown or Sentence(()), steps

    def find_ends(self, numbers: Numbers, budget: TimeBudget = FOR_EVER) -> Ends:
        """Bound every arm and context, from the reward back over the links, the last one first.

        Known laws give means, unknown ones the worst level, reweighted blocks linear programs
        over the populations that the log leaves possible.
        """
        walk = ChainEvaluation.from_chain(
            self, numbers, outcome=self.outcome, axes=self.axes, budget=budget
        )
        lower, upper = walk.find_reward_ends()
        for place in reversed(range(len(walk.links))):
            lower, upper = walk.average_over(place, lower, upper)
        shape = [numbers.levels[axis] for axis in self.axes]
        late = any(expectation.late for expectation in walk.expectations.values())
        notes = (UNFINISHED,) if late else ()
        ends = np.broadcast_to(lower, shape), np.broadcast_to(upper, shape)
        alone = len(walk.links) == 1
        proof = partial(_look_up_worst, walk.expectations[0], lower.shape) if alone else None
        return Ends(*ends, proof=proof, notes=notes)


def list_drawn(link: ChainLink | ReweightedBlock) -> tuple[str, ...]:
    """List the variables of one link of a chain: those of a block, or the one of a plain link."""
    return link.variables if isinstance(link, ReweightedBlock) else (link.variable,)


@dataclass(frozen=True, eq=False)
class ChainEvaluation:
    """A chain with its numbers, and the axes that its arrays begin with."""

    chain: Chain | ReweightedChain
    numbers: Numbers
    outcome: str
    axes: tuple[str, ...]
    expectations: Mapping[int, Expectation]

    @classmethod
    def from_chain(
        cls,
        chain: Chain | ReweightedChain,
        numbers: Numbers,
        *,
        outcome: str,
        axes: Sequence[str],
        budget: TimeBudget = FOR_EVER,
    ) -> "ChainEvaluation":
        """Put a chain together with its numbers and the linear programs of its blocks."""
        expectations = {
            place: Expectation(Populations(link.reweighting, numbers), link, budget)
            for place, link in enumerate(chain.links)
            if isinstance(link, ReweightedBlock)
        }
        return cls(chain, numbers, outcome, tuple(axes), expectations)

    @property
    def links(self) -> tuple[ChainLink | ReweightedBlock, ...]:
        """The links of the chain in their order: single variables, and blocks of several."""
        return self.chain.links

    def list_axes_before(self, place: int) -> tuple[str, ...]:
        """List the axes of arrays before link number ``place``: the query's, earlier links'."""
        earlier = (name for link in self.links[:place] for name in list_drawn(link))
        return *self.axes, *earlier

    def find_reward_ends(self) -> tuple[Floats, Floats]:
        """Read both ends of the mean reward at every level of the query's and links' variables."""
        order = self.list_axes_before(len(self.links))
        if self.chain.reward is None:
            rewards = np.arange(2.0).reshape([1] * (len(order) - 1) + [2])
            return rewards, rewards
        formula = self.chain.reward.expression
        low, high = self.numbers.read_ends(formula, (*order, self.outcome))
        return low[..., SUCCESS].clip(0, 1), high[..., SUCCESS].clip(0, 1)

    def average_over(self, place: int, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Take the least mean of ``low`` and the greatest of ``high`` over one link.

        It is link number ``place``; both arrays lose its axes.
        """
        link, outer = self.links[place], self.list_axes_before(place)
        if isinstance(link, ReweightedBlock):
            return self.expectations[place].find_ends(low, high, outer)
        if link.weights is None:
            return low.min(axis=-1), high.max(axis=-1)
        weights = self.numbers.read_ends(link.weights.expression, (*outer, link.variable))
        return find_least_mean(*weights, low), -find_least_mean(*weights, -high)


def _look_up_worst(
    expectation: Expectation,
    shape: Place,
    place: Place,
    upper: bool,  # noqa: FBT001
) -> WorstPopulation | None:
    """Look up the population that attains an end of a row, an arm and context, to explain it.

    None where there is none to show.
    """
    known = tuple(min(i, size - 1) for i, size in zip(place, shape, strict=True))
    return expectation.worsts.get((known, upper))
