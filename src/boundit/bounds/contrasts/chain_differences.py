r"""Arms compared along one chain: they share every law that their treatments do not change.

Two intervals apart let each arm have its own worst case. But the population is one: the law of
a link that two arms do not change (Rule 3) is the same for both, known or not, and so is the
reweighting of the log. Going backwards along a chain with the difference of the two arms,

- over a link whose law both share, the greatest mean of the difference is taken once;
- over a reweighted block that they do not share, the greatest difference of two means under
  one population (``RatioDifference``);
- over anything else, the arms part: the upper end of one less the lower end of the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from boundit.bounds.contrasts.ratio_difference import BlockMean, RatioDifference
from boundit.bounds.contrasts.shared_unknown import ArmPlace, SharedUnknown, find_differing
from boundit.bounds.lp.fractional import look_up, look_up_each
from boundit.bounds.lp.reweighting import ReweightedBlock
from boundit.bounds.numbers import Numbers
from boundit.bounds.rules.chain import Chain, ChainLink, find_least_mean
from boundit.bounds.rules.reweighted_chain import ChainEvaluation, ReweightedChain, list_drawn
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import find_free_variables
from boundit.estimand.query import EffectQuery
from boundit.estimand.recovery.question import Question, lighten
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes


@dataclass(frozen=True, slots=True)
class SharedChain(SharedUnknown):
    """A chain, and which treatments the law of each link and the reward depend on."""

    chain: Chain | ReweightedChain
    link_treatments: tuple[Nodes, ...]
    reward_treatments: Nodes

    @classmethod
    def from_graph(
        cls, graph: CausalGraph, query: EffectQuery, chain: Chain | ReweightedChain
    ) -> "SharedChain":
        """Find the treatments on which the laws of a chain's links and reward depend.

        A chain bounds the reward by going over variables (links) one after another. Arms that
        agree on these treatments share the law.
        """
        treatments, known = frozenset(query.treatments), frozenset(query.context)
        of_links = list[Nodes]()
        for link in chain.links:
            of_links.append(_find_treatments(graph, link, treatments, known))
            known |= frozenset(list_drawn(link))
        reward = chain.reward
        of_reward = find_free_variables(reward.expression) & treatments if reward else Nodes()
        return cls(chain, tuple(of_links), of_reward)

    def may_share(self, treatments: Nodes) -> bool:
        """Tell whether any two arms may share an unknown law along this chain.

        If not, a difference of two arms says no more than their bounds.
        """
        return self.has_block or any(
            treatments - part for part in (*self.link_treatments, self.reward_treatments)
        )

    @property
    def has_block(self) -> bool:
        """Whether the chain has a block: variables whose law is read off a reweighted log."""
        return isinstance(self.chain, ReweightedChain)

    @property
    def is_programmed(self) -> bool:
        """Whether comparing arms along this chain needs linear programs, which cost time.

        So it does where the chain has a reweighted block.
        """
        return self.has_block

    def make_differences(
        self, numbers: Numbers, query: EffectQuery, budget: TimeBudget
    ) -> "ChainDifferences":
        """Make what compares arms along this chain: its laws, read off the numbers."""
        return ChainDifferences(self, numbers, query, budget=budget)


def _find_treatments(
    graph: CausalGraph, link: ChainLink | ReweightedBlock, treatments: Nodes, known: Nodes
) -> Nodes:
    """Find the treatments that the law of one link (variables of a chain) depends on.

    The law is given the ``known`` variables before it.
    """
    if isinstance(link, ReweightedBlock):
        return link.given & treatments
    if link.weights is not None:
        return find_free_variables(link.weights.expression) & treatments
    light, _ = lighten(graph, Question(frozenset((link.variable,)), treatments, known))
    return light.variables & treatments


@final
class ChainDifferences:
    """The greatest differences of all pairs of arms that one chain proves."""

    def __init__(
        self,
        shared: SharedChain,
        numbers: Numbers,
        query: EffectQuery,
        *,
        budget: TimeBudget = FOR_EVER,
    ) -> None:
        (outcome,) = query.outcomes
        self._shared, self._treatments = shared, query.treatments
        axes = query.treatments + query.context
        self._walk = walk = ChainEvaluation.from_chain(
            shared.chain, numbers, outcome=outcome, axes=axes, budget=budget
        )
        self._shape = [numbers.levels[axis] for axis in axes]
        self._weights: dict[int, tuple[Floats, Floats]] = {}
        # The ends once every link is drawn, then once all but the last are, and so on.
        self._ends = [walk.find_reward_ends()]
        for place in reversed(range(len(walk.links))):
            self._ends.append(walk.average_over(place, *self._ends[-1]))

    def find_greatest(self, one: ArmPlace, others: Sequence[ArmPlace]) -> Floats:
        """Bound from above one arm's mean reward less that of each other arm, in every context."""
        differ = find_differing(self._treatments, one, others[0])
        found = self._subtract_ends(0, one, others)
        if not differ & self._shared.reward_treatments:
            found = np.zeros_like(found)
        for step, place in enumerate(reversed(range(len(self._walk.links)))):
            apart = self._subtract_ends(step + 1, one, others)
            if not differ & self._shared.link_treatments[place]:
                found = np.minimum(self._find_greatest_mean(place, found, one), apart)
            elif isinstance(self._walk.links[place], ReweightedBlock):
                leads = [
                    self._find_greatest_difference(step, place, one, other) for other in others
                ]
                found = np.minimum(np.stack(leads), apart)
            else:
                found = apart
        return np.broadcast_to(found, [len(others), *self._shape[len(one) :]])

    def _subtract_ends(self, step: int, one: ArmPlace, others: Sequence[ArmPlace]) -> Floats:
        """Take the upper end of one arm's mean reward less the lower ends of others' means.

        ``step`` says how many links (variables of the chain) from its end are averaged over
        already.
        """
        low, high = self._ends[step]
        return look_up(high, one) - look_up_each(low, others)

    def _find_greatest_mean(self, place: int, values: Floats, arm: ArmPlace) -> Floats:
        """Find the greatest mean of arms' differences ``values`` over one link of the chain.

        The link, number ``place``, has the law it has under ``arm``.
        """
        link, outer = self._walk.links[place], self._walk.list_axes_before(place)
        if isinstance(link, ReweightedBlock):
            return np.stack(
                [self._find_greatest_block_mean(place, each, arm) for each in values]
            )
        if link.weights is None:
            return np.asarray(values.max(axis=-1))
        if place not in self._weights:
            order = (*outer, link.variable)
            self._weights[place] = self._walk.numbers.read_ends(link.weights.expression, order)
        low, high = self._weights[place]
        return -find_least_mean(look_up(low, arm), look_up(high, arm), -values)

    def _find_greatest_block_mean(self, place: int, values: Floats, arm: ArmPlace) -> Floats:
        """Find the greatest mean of one arm's lead over a reweighted block, by linear programs.

        The lead is its mean reward less another arm's; a block is variables whose law is that
        of the reweighted log.
        """
        expectation, outer = self._walk.expectations[place], self._walk.list_axes_before(place)
        rest = outer[len(arm) :]
        if expectation.populations.has_too_many_cells:
            return np.asarray(values.max(axis=tuple(range(len(rest), values.ndim))))
        found = np.empty(expectation.find_outer_shape(values.shape, rest))
        for where in np.ndindex(*found.shape):
            given = expectation.select_given((*arm, *where), outer)
            found[where] = expectation.find_greatest(look_up(values, where), given)
        return found

    def _find_greatest_difference(
        self, step: int, place: int, one: ArmPlace, other: ArmPlace
    ) -> Floats:
        """Find the greatest difference of two arms' means over a block with two laws.

        A block is variables with the law of the reweighted log, here another for each arm; the
        population it is reweighted to is the same.
        """
        expectation, outer = self._walk.expectations[place], self._walk.list_axes_before(place)
        rest = outer[len(one) :]
        low, high = self._ends[step]
        upper, lower = np.broadcast_arrays(look_up(high, one), look_up(low, other))
        if expectation.populations.has_too_many_cells:
            return np.full([1] * len(rest), np.inf)
        found = np.empty(expectation.find_outer_shape(upper.shape, rest))
        for where in np.ndindex(*found.shape):
            first = BlockMean(
                look_up(upper, where), expectation.select_given((*one, *where), outer)
            )
            second = BlockMean(
                look_up(lower, where), expectation.select_given((*other, *where), outer)
            )
            found[where] = RatioDifference(expectation, first, second).find_greatest()
        return found
