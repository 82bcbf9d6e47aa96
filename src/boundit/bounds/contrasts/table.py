r"""Joint bounds: how much better one arm can be than another, whatever is unknown to both.

Two intervals apart let each arm have its own worst case. But the population is one: the law of
a link that two arms do not change (Rule 3) is the same for both, known or not, and so is the
reweighting of the log. Going backwards along a chain with the difference of the two arms,

- over a link whose law both share, the greatest mean of the difference is taken once;
- over a reweighted block that they do not share, the greatest difference of two means under
  one population (``difference``);
- over anything else, the arms part: the upper end of one less the lower end of the other.

Arms that share hidden causes with the reward share the law of response types
(``type_contrast``).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol, final

import numpy as np

from boundit.bounds.contrasts.ratio_difference import BlockMean, RatioDifference
from boundit.bounds.lp.fractional import look_up, look_up_each
from boundit.bounds.lp.reweighting import ReweightedBlock
from boundit.bounds.numbers import Numbers
from boundit.bounds.rules.chain import Chain, ChainLink, least
from boundit.bounds.rules.reweighted_chain import ReweightedChain, ReweightedWalk, drawn_by
from boundit.bounds.time_budget import FOR_EVER, TimeBudget
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import free_variables
from boundit.estimand.query import EffectQuery
from boundit.estimand.recovery.question import Question, lightened
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import Arm, Bound, Context, Key
from boundit.terms.contrast import Pair
from boundit.terms.names import Nodes

Place = tuple[int, ...]
MOST_PAIRS = 500
"""For how many pairs of arms, contexts counted, programs are made; each takes milliseconds."""
MOST_PROGRAMMED = 1
"""How many rules of a kind that makes programs are tried, the first ones given."""
MOST_KEPT = 100_000
"""From how many differences on a table carries only those that rule an arm out."""
_ROUNDING = 1e-9
_ENDS = ("lower", "upper")


class GreatestDifferences(Protocol):
    """What one rule proves of the differences of arms."""

    def find_greatest(self, one: Place, others: Sequence[Place]) -> Floats:
        """Bound an arm's mean less each of some others', in every context.

        The others all differ from it in the same treatments. They are the first axis.
        """


class SharedUnknown(Protocol):
    """A rule in which arms share something unknown."""

    @property
    def is_programmed(self) -> bool:
        """Whether it makes programs."""

    def may_share(self, treatments: Nodes) -> bool:
        """Tell whether any two arms may have an unknown in common."""

    def make_differences(
        self, numbers: Numbers, query: EffectQuery, budget: TimeBudget
    ) -> GreatestDifferences:
        """Make it ready for numbers."""


@dataclass(frozen=True, slots=True)
class SharedChain:
    """A chain, and which treatments the law of each link and the reward depend on."""

    chain: Chain | ReweightedChain
    link_treatments: tuple[Nodes, ...]
    reward_treatments: Nodes

    @classmethod
    def from_graph(
        cls, graph: CausalGraph, query: EffectQuery, chain: Chain | ReweightedChain
    ) -> "SharedChain":
        """Ask the graph which arms share which laws."""
        treatments, known = frozenset(query.treatments), frozenset(query.context)
        felt = list[Nodes]()
        for link in chain.links:
            felt.append(_find_treatments(graph, link, treatments, known))
            known |= frozenset(drawn_by(link))
        reward = chain.reward
        rewarded = free_variables(reward.expression) & treatments if reward else Nodes()
        return cls(chain, tuple(felt), rewarded)

    def may_share(self, treatments: Nodes) -> bool:
        """Tell whether any two arms may have an unknown in common."""
        return self.has_block or any(
            treatments - part for part in (*self.link_treatments, self.reward_treatments)
        )

    @property
    def has_block(self) -> bool:
        """Whether some of it is reweighted."""
        return isinstance(self.chain, ReweightedChain)

    @property
    def is_programmed(self) -> bool:
        """Whether it makes programs."""
        return self.has_block

    def make_differences(
        self, numbers: Numbers, query: EffectQuery, budget: TimeBudget
    ) -> "ChainDifferences":
        """Make it ready for numbers."""
        return ChainDifferences(self, numbers, query, budget=budget)


def _find_treatments(
    graph: CausalGraph, link: ChainLink | ReweightedBlock, treatments: Nodes, known: Nodes
) -> Nodes:
    if isinstance(link, ReweightedBlock):
        return link.given & treatments
    if link.weights is not None:
        return free_variables(link.weights.expression) & treatments
    light, _ = lightened(graph, Question(frozenset((link.variable,)), treatments, known))
    return light.variables & treatments


@final
class ChainDifferences:
    """The greatest differences of all pairs of arms that one chain proves."""

    def __init__(
        self,
        joint: SharedChain,
        numbers: Numbers,
        query: EffectQuery,
        *,
        budget: TimeBudget = FOR_EVER,
    ) -> None:
        (outcome,) = query.outcomes
        self._joint, self._treatments = joint, query.treatments
        axes = query.treatments + query.context
        self._walk = walk = ReweightedWalk.along(
            joint.chain, numbers, outcome=outcome, axes=axes, budget=budget
        )
        self._shape = [numbers.levels[axis] for axis in axes]
        self._weights: dict[int, tuple[Floats, Floats]] = {}
        # The ends once every link is drawn, then once all but the last are, and so on.
        self._ends = [walk.rewards()]
        for place in reversed(range(len(walk.links))):
            self._ends.append(walk.back(place, *self._ends[-1]))

    def find_greatest(self, one: Place, others: Sequence[Place]) -> Floats:
        """Bound an arm's mean less each of some others', in every context."""
        differ = find_differing(self._treatments, one, others[0])
        (_, upper), (lower, _) = self._look_up(0, one), self._look_up_each(0, others)
        found = upper - lower
        if not differ & self._joint.reward_treatments:
            found = np.zeros_like(found)
        for step, place in enumerate(reversed(range(len(self._walk.links)))):
            shared = not differ & self._joint.link_treatments[place]
            (_, upper), (lower, _) = (
                self._look_up(step + 1, one),
                self._look_up_each(step + 1, others),
            )
            apart = upper - lower
            if shared:
                found = np.minimum(self._find_mean(place, found, one), apart)
            elif isinstance(self._walk.links[place], ReweightedBlock):
                leads = [self._find_difference(step, place, one, other) for other in others]
                found = np.minimum(np.stack(leads), apart)
            else:
                found = apart
        return np.broadcast_to(found, [len(others), *self._shape[len(one) :]])

    def _look_up(self, step: int, arm: Place) -> tuple[Floats, Floats]:
        low, high = self._ends[step]
        return look_up(low, arm), look_up(high, arm)

    def _look_up_each(self, step: int, arms: Sequence[Place]) -> tuple[Floats, Floats]:
        """The ends of several arms, one after the other."""
        low, high = self._ends[step]
        return look_up_each(low, arms), look_up_each(high, arms)

    def _find_mean(self, place: int, values: Floats, arm: Place) -> Floats:
        """Take the greatest mean over a link whose law is that of an arm."""
        link, outer = self._walk.links[place], self._walk.before(place)
        if isinstance(link, ReweightedBlock):
            return np.stack([self._find_block_mean(place, each, arm) for each in values])
        if link.weights is None:
            return np.asarray(values.max(axis=-1))
        if place not in self._weights:
            order = (*outer, link.variable)
            self._weights[place] = self._walk.numbers.between(link.weights.expression, order)
        low, high = self._weights[place]
        return -least(look_up(low, arm), look_up(high, arm), -values)

    def _find_block_mean(self, place: int, values: Floats, arm: Place) -> Floats:
        expectation, outer = self._walk.expectations[place], self._walk.before(place)
        rest = outer[len(arm) :]
        if expectation.populations.are_many:
            return np.asarray(values.max(axis=tuple(range(len(rest), values.ndim))))
        found = np.empty(expectation.find_shape(values.shape, rest))
        for where in np.ndindex(*found.shape):
            given = expectation.select_given((*arm, *where), outer)
            found[where] = expectation.find_greatest(look_up(values, where), given)
        return found

    def _find_difference(self, step: int, place: int, one: Place, other: Place) -> Floats:
        """Take the greatest difference over a block whose law the arms do not share."""
        expectation, outer = self._walk.expectations[place], self._walk.before(place)
        rest = outer[len(one) :]
        (_, upper), (lower, _) = self._look_up(step, one), self._look_up(step, other)
        upper, lower = np.broadcast_arrays(upper, lower)
        if expectation.populations.are_many:
            return np.full([1] * len(rest), np.inf)
        found = np.empty(expectation.find_shape(upper.shape, rest))
        for where in np.ndindex(*found.shape):
            first = BlockMean(
                look_up(upper, where), expectation.select_given((*one, *where), outer)
            )
            second = BlockMean(
                look_up(lower, where), expectation.select_given((*other, *where), outer)
            )
            found[where] = RatioDifference(expectation, first, second).find_greatest()
        return found


def collect_contrasts(
    joints: Sequence[SharedUnknown],
    numbers: Numbers,
    query: EffectQuery,
    levels: Mapping[str, Sequence[object]],
    bounds: Mapping[Key, Bound],
    reward_range: tuple[float, float],
    *,
    budget: TimeBudget = FOR_EVER,
) -> dict[Pair, float]:
    """Collect, for every context and two arms, the greatest difference that rules prove.

    Kept where it says more than the two intervals apart. Once the ``budget`` is
    spent no further rule is begun; what was found holds. With very many pairs
    only rules that need no programs are tried.
    """
    arms, contexts = (list(dict.fromkeys(part)) for part in zip(*bounds, strict=True))
    places = list(product(*(range(len(levels[name])) for name in query.treatments)))
    shape = [len(levels[name]) for name in query.context]
    many = len(arms) * len(bounds) > MOST_PAIRS
    ready = list[GreatestDifferences]()
    for joint in _choose_rules(joints, programmed=not many):
        late = budget.is_over()
        if not late and joint.may_share(frozenset(query.treatments)):
            ready.append(joint.make_differences(numbers, query, budget))
    kept, scale = dict[Pair, float](), reward_range[1] - reward_range[0]
    lower, upper = _list_ends(arms, contexts, bounds)
    for one, place in enumerate(places if ready else ()):
        best = np.full((len(arms), *shape), np.inf)
        for others in _group_by_difference(query.treatments, place, places):
            against = [places[other] for other in others]
            for proved in ready:
                if not budget.is_over():
                    best[others] = np.minimum(
                        best[others], proved.find_greatest(place, against)
                    )
        leads = scale * best.reshape(len(arms), -1)
        more = leads < upper[one] - lower - _ROUNDING
        if len(kept) > MOST_KEPT:
            more &= leads < 0
        for other, c in np.argwhere(more):
            kept[contexts[c], arms[one], arms[other]] = float(leads[other, c])
    return kept


def _list_ends(
    arms: Sequence[Arm], contexts: Sequence[Context], bounds: Mapping[Key, Bound]
) -> tuple[Floats, Floats]:
    """Both ends of every arm in every context."""
    rows = [[bounds[arm, where].interval for where in contexts] for arm in arms]
    lower, upper = ([[getattr(i, end) for i in row] for row in rows] for end in _ENDS)
    return np.array(lower), np.array(upper)


def find_differing(treatments: Sequence[str], one: Place, other: Place) -> Nodes:
    """The treatments in which two arms differ.

    >>> sorted(find_differing(("A", "B"), (0, 1), (0, 2)))
    ['B']
    """
    pairs = zip(treatments, one, other, strict=True)
    return frozenset(name for name, i, j in pairs if i != j)


def _group_by_difference(
    treatments: Sequence[str], one: Place, places: Sequence[Place]
) -> Iterator[list[int]]:
    """Sort the other arms by the treatments in which they differ from one."""
    groups = dict[Nodes, list[int]]()
    for number, other in enumerate(places):
        if other != one:
            groups.setdefault(find_differing(treatments, one, other), []).append(number)
    yield from groups.values()


def _choose_rules(
    joints: Sequence[SharedUnknown], *, programmed: bool
) -> Iterator[SharedUnknown]:
    """All that need no programs; of those that do, the first of each kind."""
    yield from (joint for joint in joints if not joint.is_programmed)
    if programmed:
        made = [joint for joint in joints if joint.is_programmed]
        for kind in dict.fromkeys(map(type, made)):
            yield from [joint for joint in made if type(joint) is kind][:MOST_PROGRAMMED]
