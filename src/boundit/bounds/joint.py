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

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Protocol, final

import numpy as np

from boundit.bounds.backwards import Walk
from boundit.bounds.chain import Chain, Link
from boundit.bounds.difference import Difference, Mean
from boundit.bounds.fractional import at
from boundit.bounds.reweighted_chain import Block, ReweightedChain, drawn_by
from boundit.bounds.sequential import Numbers, least
from boundit.counts.named_array import Floats
from boundit.estimand.expression import free_variables
from boundit.estimand.query import EffectQuery
from boundit.estimand.question import Question, lightened
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import Bound, Key
from boundit.terms.contrast import Pair
from boundit.terms.names import Nodes

Place = tuple[int, ...]
MOST_PAIRS = 500
"""For how many pairs of arms, contexts counted, programs are made; each takes milliseconds."""
MOST_PROGRAMMED = 1
"""How many rules of a kind that makes programs are tried, the first ones given."""
_ROUNDING = 1e-9


class Leads(Protocol):
    """What one rule proves of the differences of arms."""

    def greatest(self, one: Place, other: Place) -> Floats:
        """Bound the first arm's mean less the second's, in every context."""


class Joint(Protocol):
    """A rule in which arms share something unknown."""

    @property
    def is_programmed(self) -> bool:
        """Whether it makes programs."""

    def may_share(self, treatments: Nodes) -> bool:
        """Tell whether any two arms may have an unknown in common."""

    def leads(self, numbers: Numbers, query: EffectQuery, deadline: float | None) -> Leads:
        """Make it ready for numbers."""


@dataclass(frozen=True, slots=True)
class JointChain:
    """A chain, and which treatments the law of each link and the reward depend on."""

    chain: Chain | ReweightedChain
    felt: tuple[Nodes, ...]
    rewarded: Nodes

    @classmethod
    def of(
        cls, graph: CausalGraph, query: EffectQuery, chain: Chain | ReweightedChain
    ) -> "JointChain":
        """Ask the graph which arms share which laws."""
        treatments, known = frozenset(query.treatments), frozenset(query.context)
        felt = list[Nodes]()
        for link in chain.links:
            felt.append(_felt(graph, link, treatments, known))
            known |= frozenset(drawn_by(link))
        reward = chain.reward
        rewarded = free_variables(reward.expression) & treatments if reward else Nodes()
        return cls(chain, tuple(felt), rewarded)

    def may_share(self, treatments: Nodes) -> bool:
        """Tell whether any two arms may have an unknown in common."""
        return self.has_block or any(treatments - part for part in (*self.felt, self.rewarded))

    @property
    def has_block(self) -> bool:
        """Whether some of it is reweighted."""
        return isinstance(self.chain, ReweightedChain)

    @property
    def is_programmed(self) -> bool:
        """Whether it makes programs."""
        return self.has_block

    def leads(
        self, numbers: Numbers, query: EffectQuery, deadline: float | None
    ) -> "Contrasts":
        """Make it ready for numbers."""
        return Contrasts(self, numbers, query, deadline=deadline)


def _felt(graph: CausalGraph, link: Link | Block, treatments: Nodes, known: Nodes) -> Nodes:
    if isinstance(link, Block):
        return link.given & treatments
    if link.weights is not None:
        return free_variables(link.weights.expression) & treatments
    light, _ = lightened(graph, Question(frozenset((link.variable,)), treatments, known))
    return light.variables & treatments


@final
class Contrasts:
    """The greatest differences of all pairs of arms that one chain proves."""

    def __init__(
        self,
        joint: JointChain,
        numbers: Numbers,
        query: EffectQuery,
        *,
        deadline: float | None = None,
    ) -> None:
        (outcome,) = query.outcomes
        self._joint, self._treatments = joint, query.treatments
        axes = query.treatments + query.context
        self._walk = walk = Walk.along(
            joint.chain, numbers, outcome=outcome, axes=axes, deadline=deadline
        )
        self._shape = [numbers.levels[axis] for axis in axes]
        # The ends once every link is drawn, then once all but the last are, and so on.
        self._ends = [walk.rewards()]
        for place in reversed(range(len(walk.links))):
            self._ends.append(walk.back(place, *self._ends[-1]))

    def greatest(self, one: Place, other: Place) -> Floats:
        """Bound the first arm's mean less the second's, in every context."""
        differ = frozenset(
            name for name, i, j in zip(self._treatments, one, other, strict=True) if i != j
        )
        (_, upper), (lower, _) = self._at(0, one), self._at(0, other)
        found = upper - lower
        if not differ & self._joint.rewarded:
            found = np.zeros_like(found)
        for step, place in enumerate(reversed(range(len(self._walk.links)))):
            shared = not differ & self._joint.felt[place]
            (_, upper), (lower, _) = self._at(step + 1, one), self._at(step + 1, other)
            apart = upper - lower
            if shared:
                found = np.minimum(self._mean(place, found, one), apart)
            elif isinstance(self._walk.links[place], Block):
                found = np.minimum(self._difference(step, place, one, other), apart)
            else:
                found = apart
        return np.broadcast_to(found, self._shape[len(self._treatments) :])

    def _at(self, step: int, arm: Place) -> tuple[Floats, Floats]:
        low, high = self._ends[step]
        return at(low, arm), at(high, arm)

    def _mean(self, place: int, values: Floats, arm: Place) -> Floats:
        """Take the greatest mean over a link whose law is that of an arm."""
        link, outer = self._walk.links[place], self._walk.before(place)
        if isinstance(link, Block):
            expectation, rest = self._walk.expectations[place], outer[len(arm) :]
            found = np.empty(expectation.shape(values.shape, rest))
            if expectation.populations.are_many:
                return np.asarray(values.max(axis=tuple(range(len(rest), values.ndim))))
            for where in np.ndindex(*found.shape):
                given = expectation.given((*arm, *where), outer)
                found[where] = expectation.greatest(at(values, where), given)
            return found
        if link.weights is None:
            return np.asarray(values.max(axis=-1))
        low, high = self._walk.numbers.between(link.weights.expression, (*outer, link.variable))
        return -least(at(low, arm), at(high, arm), -values)

    def _difference(self, step: int, place: int, one: Place, other: Place) -> Floats:
        """Take the greatest difference over a block whose law the arms do not share."""
        expectation, outer = self._walk.expectations[place], self._walk.before(place)
        rest = outer[len(one) :]
        (_, upper), (lower, _) = self._at(step, one), self._at(step, other)
        upper, lower = np.broadcast_arrays(upper, lower)
        if expectation.populations.are_many:
            return np.full([1] * len(rest), np.inf)
        found = np.empty(expectation.shape(upper.shape, rest))
        for where in np.ndindex(*found.shape):
            first = Mean(at(upper, where), expectation.given((*one, *where), outer))
            second = Mean(at(lower, where), expectation.given((*other, *where), outer))
            found[where] = Difference(expectation, first, second).greatest()
        return found


def contrasts(
    joints: Sequence[Joint],
    numbers: Numbers,
    query: EffectQuery,
    levels: Mapping[str, Sequence[object]],
    bounds: Mapping[Key, Bound],
    reward_range: tuple[float, float],
    *,
    deadline: float | None = None,
) -> dict[Pair, float]:
    """Collect, for every context and two arms, the greatest difference that rules prove.

    Kept where it says more than the two intervals apart. After ``deadline``, a time of
    ``time.monotonic``, no further rule is begun; what was found holds. With very many pairs
    only rules that need no programs are tried.
    """
    low, high = reward_range
    n_arms, found = len(query.treatments), dict[Pair, float]()
    names = query.treatments + query.context
    many = len(bounds) * len({arm for arm, _ in bounds}) > MOST_PAIRS
    pairs = list(permutations(product(*(range(len(levels[x])) for x in query.treatments)), 2))
    for joint in _tried(joints, programmed=not many):
        late = deadline is not None and time.monotonic() > deadline
        if late or not joint.may_share(frozenset(query.treatments)):
            continue
        proved = joint.leads(numbers, query, deadline)
        for one, other in pairs:
            for where, most in np.ndenumerate(proved.greatest(one, other)):
                arm, context = _key(names, levels, one + where, n_arms)
                against, _ = _key(names, levels, other + where, n_arms)
                lead = (high - low) * float(most)
                apart = bounds[arm, context].upper - bounds[against, context].lower
                best = found.get((context, arm, against), apart - _ROUNDING)
                if lead < best:
                    found[context, arm, against] = lead
    return found


def _tried(joints: Sequence[Joint], *, programmed: bool) -> Iterator[Joint]:
    """All that need no programs; of those that do, the first of each kind."""
    yield from (joint for joint in joints if not joint.is_programmed)
    if programmed:
        made = [joint for joint in joints if joint.is_programmed]
        for kind in dict.fromkeys(map(type, made)):
            yield from [joint for joint in made if type(joint) is kind][:MOST_PROGRAMMED]


def _key(
    names: Sequence[str], levels: Mapping[str, Sequence[object]], place: Place, n_arms: int
) -> Key:
    values = tuple(levels[name][i] for name, i in zip(names, place, strict=True))
    return values[:n_arms], values[n_arms:]
