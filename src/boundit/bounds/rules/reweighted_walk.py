"""Going backwards along a chain that may have reweighted blocks: the numeric half.

As ``sequential.bracket`` does for plain chains: what is known is expected, of what is unknown
the worst is taken, and of a block the worst over all populations that are possible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from boundit.bounds.binary_reward import HEADS
from boundit.bounds.lp.fractional import Expectation
from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.reweighting import ReweightedBlock
from boundit.bounds.numbers import UNFINISHED, Ends, Numbers
from boundit.bounds.proof import Place, WorstPopulation
from boundit.bounds.rules.chain import Chain, ChainLink
from boundit.bounds.rules.chain_ends import least
from boundit.bounds.rules.reweighted_chain import ReweightedChain, drawn_by
from boundit.counts.named_array import Floats


@dataclass(frozen=True, eq=False)
class ReweightedWalk:
    """A chain with its numbers, and the axes that its arrays begin with."""

    chain: Chain | ReweightedChain
    numbers: Numbers
    outcome: str
    axes: tuple[str, ...]
    expectations: Mapping[int, Expectation]

    @classmethod
    def along(
        cls,
        chain: Chain | ReweightedChain,
        numbers: Numbers,
        *,
        outcome: str,
        axes: Sequence[str],
        deadline: float | None = None,
    ) -> "ReweightedWalk":
        """Prepare the programs of a chain's blocks."""
        expectations = {
            place: Expectation(Populations(link.reweighting, numbers), link, deadline=deadline)
            for place, link in enumerate(chain.links)
            if isinstance(link, ReweightedBlock)
        }
        return cls(chain, numbers, outcome, tuple(axes), expectations)

    @property
    def links(self) -> tuple[ChainLink | ReweightedBlock, ...]:
        """The parts of the chain in their order."""
        return self.chain.links

    def before(self, place: int) -> tuple[str, ...]:
        """The axes of what is known when the link at a place is drawn."""
        earlier = (name for link in self.links[:place] for name in drawn_by(link))
        return *self.axes, *earlier

    def rewards(self) -> tuple[Floats, Floats]:
        """Both ends of the mean reward once every link is drawn."""
        order = self.before(len(self.links))
        if self.chain.reward is None:
            tossed = np.arange(2.0).reshape([1] * (len(order) - 1) + [2])
            return tossed, tossed
        formula = self.chain.reward.expression
        low, high = self.numbers.between(formula, (*order, self.outcome))
        return low[..., HEADS].clip(0, 1), high[..., HEADS].clip(0, 1)

    def back(self, place: int, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Take the least mean of ``low`` and the greatest of ``high`` over one link."""
        link, outer = self.links[place], self.before(place)
        if isinstance(link, ReweightedBlock):
            return self.expectations[place].ends(low, high, outer)
        if link.weights is None:
            return low.min(axis=-1), high.max(axis=-1)
        weights = self.numbers.between(link.weights.expression, (*outer, link.variable))
        return least(*weights, low), -least(*weights, -high)


def reweighted(
    chain: ReweightedChain,
    numbers: Numbers,
    *,
    outcome: str,
    axes: Sequence[str],
    deadline: float | None = None,
) -> Ends:
    """Bound every arm and context by a chain with reweighted blocks."""
    walk = ReweightedWalk.along(chain, numbers, outcome=outcome, axes=axes, deadline=deadline)
    lower, upper = walk.rewards()
    for place in reversed(range(len(walk.links))):
        lower, upper = walk.back(place, lower, upper)
    shape = [numbers.levels[axis] for axis in axes]
    late = any(expectation.late for expectation in walk.expectations.values())
    notes = (UNFINISHED,) if late else ()
    ends = np.broadcast_to(lower, shape), np.broadcast_to(upper, shape)
    alone = len(walk.links) == 1
    proof = partial(_worst, walk.expectations[0], lower.shape) if alone else None
    return Ends(*ends, proof=proof, notes=notes)


def _worst(
    expectation: Expectation,
    shape: Place,
    place: Place,
    upper: bool,  # noqa: FBT001
) -> WorstPopulation | None:
    """Look up the population of a row; an axis of length 1 holds for every row."""
    known = tuple(min(i, size - 1) for i, size in zip(place, shape, strict=True))
    return expectation.worsts.get((known, upper))
