r"""Differences of two arms in a context, under one shared unknown.

Two intervals apart let each arm have its own worst case. But the population is one: a distribution
that two arms do not change (Rule 3) is the same for both, known or not, and so is the reweighting.
Going backwards along a chain with the difference of the two arms,

- over a link whose distribution both share, the greatest mean of the difference is taken once;
- over a reweighted link that they do not share, the greatest difference of two ratios under one
  population: branch and bound over the second mean's range (``RatioDifference``);
- over anything else the arms part: the upper endpoint of one less the lower endpoint of the other.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product, starmap
from math import inf
from typing import TypeGuard

import numpy as np

from boundit.bounds.caveats import LIMITS
from boundit.bounds.chain import Chain, Known, Link, Reweighted, Run, least_mean
from boundit.bounds.evidence import Evidence
from boundit.bounds.inference import Endpoints, Exact, Inference
from boundit.bounds.inference.base import Rule
from boundit.bounds.linear_program import SolveStatus
from boundit.bounds.population import Population, Row, make_program
from boundit.core.interval import Interval
from boundit.core.names import Nodes
from boundit.core.rounding import ROUNDING
from boundit.counts.named_array import Floats
from boundit.estimand.derivation import Question, lighten
from boundit.graph.causal_graph import CausalGraph
from boundit.results.bound import Key
from boundit.results.contrast import Pair

ACCURACY, ROUGH, FINEST = 1e-4, 2e-3, 1e-6
CELL_SHARE = 0.8  # of the error, for the cell intervals that differences are made of
MAX_PIECES = 60
MAX_PAIRS = 500  # beyond, only chains without programs compare arms


def compare_arms(
    endpoints: Endpoints, evidence: Evidence, inference: Inference, keys: Sequence[Key]
) -> tuple[dict[Pair, float], dict[Key, Interval]]:
    """Bound the differences of all pairs of arms, as one simultaneous statement.

    Nothing is shared where some rule identifies the effect: then the intervals of the table are
    the statement. Else intervals and differences are made anew, at the same confidence, with
    most of the error on the cell intervals that differences are made of.

    Returns
    -------
    contrasts : dict
        Context, arm and another arm to the greatest difference, where that is less than the
        difference of the two intervals.
    compared : dict
        The intervals that hold together with the contrasts.
    """
    arms = list(dict.fromkeys(arm for arm, _ in keys))
    contexts = list(dict.fromkeys(context for _, context in keys))
    tried = list(filter(_may_compare, endpoints.rules))
    if len(arms) < 2 or not tried or any(rule.is_identified for rule in tried):
        return {}, {}
    if isinstance(inference, Exact):
        endpoints = replace(inference, cell_share=CELL_SHARE).bound(endpoints.rules, evidence)
    scale = evidence.log.high - evidence.log.low
    shape = (len(arms), len(contexts))
    lower, upper = endpoints.lower.reshape(shape), endpoints.upper.reshape(shape)
    shared = bound_differences(endpoints, evidence).reshape(len(arms), len(arms), -1)
    apart = upper[:, None] - lower[None, :]
    contrasts = {
        (contexts[c], arms[i], arms[j]): float(scale * shared[i, j, c])
        for i, j, c in np.argwhere(shared < apart - ROUNDING)
        if i != j
    }
    if not contrasts:
        return {}, {}
    ends = zip(evidence.scale(lower), evidence.scale(np.maximum(lower, upper)), strict=True)
    return contrasts, dict(zip(keys, starmap(Interval, ends), strict=True))


def bound_differences(endpoints: Endpoints, evidence: Evidence) -> Floats:
    """The greatest lead of every arm over every other, by context; infinite where nothing says."""
    query, levels = evidence.query, evidence.levels
    arms = list(product(*(range(levels[name]) for name in query.treatments)))
    shape = [levels[name] for name in query.context]
    best = np.full((len(arms), len(arms), *shape), inf)
    covered = (rule for rule in endpoints.rules if endpoints.run.numbers.covers(rule.terms))
    tried = list(filter(_may_compare, covered))
    few = len(arms) ** 2 * int(np.prod(shape)) <= MAX_PAIRS
    # Of chains that need programs, the one with the fewest links shares most.
    programs = sorted(
        (c for c in tried if c.reweightings), key=lambda c: (c.n_unknown, len(c.links))
    )
    for chain in [c for c in tried if not c.reweightings] + programs[: 1 if few else 0]:
        try:
            shared = Differences(chain, endpoints.run, evidence.graph)
            for (i, one), (j, other) in product(enumerate(arms), repeat=2):
                if i != j:
                    best[i, j] = np.minimum(best[i, j], shared.greatest(one, other))
        except LIMITS:
            continue
    return best


def _may_compare(rule: Rule) -> TypeGuard[Chain]:
    """Whether differences are made of a rule: a chain of known, unknown and reweighted links."""
    return isinstance(rule, Chain) and all(
        isinstance(link.distribution, Known | Reweighted) or link.is_unknown
        for link in rule.links
    )


class Differences:
    """The greatest differences of arms that one chain proves."""

    def __init__(self, chain: Chain, run: Run, graph: CausalGraph) -> None:
        self.chain, self.run = chain, run
        self.n_arm = len(chain.query.treatments)
        treatments, known = frozenset(chain.query.treatments), frozenset(chain.query.context)
        self.depends = list[Nodes]()  # on which treatments each link's distribution depends
        for link in chain.links:
            self.depends.append(_find_treatments(graph, link, treatments, known))
            known |= frozenset(link.variables)
        self.ends = [chain.bound_from(run, i) for i in range(len(chain.links) + 1)]

    def greatest(self, one: Sequence[int], other: Sequence[int]) -> Floats:
        """The greatest value of one arm's mean less another's, in every context."""
        names = self.chain.query.treatments
        differ = {n for n, a, b in zip(names, one, other, strict=True) if a != b}
        found = np.zeros(
            (1,) * len(self._outer(len(self.chain.links)))
        )  # the same reward is the same
        for place in reversed(range(len(self.chain.links))):
            apart, distribution = (
                self._apart(place, one, other),
                self.chain.links[place].distribution,
            )
            if not differ & self.depends[place]:
                found = np.minimum(self._over_shared(place, found, one), apart)
            elif isinstance(distribution, Reweighted):
                found = np.minimum(self._over_ratio(place, one, other), apart)
            else:
                found = apart
        shape = [self.run.numbers.levels[name] for name in self.chain.query.context]
        return np.broadcast_to(found, shape)

    def _outer(self, place: int) -> tuple[str, ...]:
        """The axes before a link, without the treatments."""
        before = sum(len(link.variables) for link in self.chain.links[:place])
        return (*self.chain.query.context, *self.chain.variables[:before])

    def _apart(self, place: int, one: Sequence[int], other: Sequence[int]) -> Floats:
        low, high = self.ends[place]
        return look_up(high, one) - look_up(low, other)

    def _over_shared(self, place: int, values: Floats, arm: Sequence[int]) -> Floats:
        """The greatest mean of the difference over a link whose distribution both arms share."""
        link, outer = self.chain.links[place], self._outer(place)
        distribution, axes = (
            link.distribution,
            (*self.chain.query.treatments, *self._outer(place)),
        )
        over = tuple(range(len(outer), values.ndim))
        if link.is_unknown:
            return np.asarray(values.max(axis=over))
        if isinstance(distribution, Known):
            low, high = self.run.numbers.read(distribution.formula, (*axes, *link.variables))
            return -least_mean(look_up(low, arm), look_up(high, arm), -values)
        assert isinstance(distribution, Reweighted)
        wide = values[(None,) * self.n_arm]  # the same for every arm: fix the arm that is asked
        _, most = distribution.bound_mean(self.run, link.variables, axes, wide, wide)
        return look_up(most, arm)

    def _over_ratio(self, place: int, one: Sequence[int], other: Sequence[int]) -> Floats:
        """The greatest difference of two means of the population, a ratio each."""
        link, outer, ends = self.chain.links[place], self._outer(place), self.ends[place + 1]
        distribution = link.distribution
        assert isinstance(distribution, Reweighted)
        population = self.run.population(distribution.reweighting)
        if population.is_too_large:
            return np.full((1,) * len(outer), inf)
        levels = self.run.numbers.levels
        upper, lower = np.broadcast_arrays(look_up(ends[1], one), look_up(ends[0], other))
        full = tuple(levels[name] for name in link.variables)
        shape = [
            levels[a] if a in distribution.given else s
            for a, s in zip(outer, upper.shape, strict=False)
        ]
        found = np.empty(shape)
        axes = (*self.chain.query.treatments, *outer)
        for at in np.ndindex(*shape):
            own = tuple(min(i, s - 1) for i, s in zip(at, upper.shape, strict=False))
            means = [
                Mean(
                    np.broadcast_to(values[own], full),
                    {
                        a: i
                        for a, i in zip(axes, (*arm, *at), strict=True)
                        if a in distribution.given
                    },
                )
                for values, arm in ((upper, one), (lower, other))
            ]
            found[at] = RatioDifference(population, link.variables, *means).greatest()
        return found


def _find_treatments(graph: CausalGraph, link: Link, treatments: Nodes, known: Nodes) -> Nodes:
    distribution = link.distribution
    if isinstance(distribution, Reweighted):
        return distribution.given & treatments
    if isinstance(distribution, Known):
        formula = distribution.formula
        return (frozenset(formula.columns) - frozenset(formula.summed)) & treatments
    own = frozenset(link.variables)
    if any(name.endswith("'") for name in own | known):
        return treatments  # behind a natural value, which may depend on the other arms
    light, _ = lighten(graph, Question(own, treatments, known))
    return light.variables & treatments


def look_up(values: Floats, place: Sequence[int]) -> Floats:
    """The entry at a place on the first axes; an axis of length 1 holds for every level."""
    first = values.shape[: len(place)]
    return np.asarray(values[tuple(min(i, n - 1) for i, n in zip(place, first, strict=True))])


@dataclass(frozen=True, eq=False)
class Mean:
    """A function of a link's variables, and the levels under which its mean is taken."""

    values: Floats
    given: Mapping[str, int]


class RatioDifference:
    r"""The greatest difference of two means under one population, certified.

    A difference of ratios is not a linear program. But where the second mean lies in a piece
    [s, t] it is at most ``max mu_a - s - (N_b - s D_b) / d`` with ``D_b <= d``, subject to
    ``s <= mu_b <= t``, both linear in the masses. The pieces with the greatest endpoint are halved;
    whenever this stops, the greatest endpoint of all pieces holds.
    """

    def __init__(
        self, population: Population, names: Sequence[str], one: Mean, other: Mean
    ) -> None:
        self.population, self.names, self.one, self.other = population, names, one, other
        self.top = population.form(population.spread(one.values, names, one.given))
        self.second = population.form(population.spread(other.values, names, other.given))
        self.below = population.form(population.place(other.given))
        self.least = population.least_share(one.given, other.given)
        # Columns N_b and D_b of their own: only two coefficients change from piece to piece.
        rows = [
            Row(np.append(f, (0.0, 0.0)), a, b)
            for f, a, b in population.rows(population.form(population.place(one.given)))
        ]
        rows.append(Row(np.append(self.second, (-1.0, 0.0)), 0.0, 0.0))
        rows.append(Row(np.append(self.below, (0.0, -1.0)), 0.0, 0.0))
        self.size = len(self.top)
        between = np.zeros(self.size + 2)
        between[-2:] = 1.0, -1.0
        rows += [Row(between, 0.0, inf), Row(between, -inf, 0.0)]
        self.n_rows = len(rows) - 2
        # The columns are the whole mass, those of shield and cells, N_b and D_b: each at most
        # the whole mass in sum, of which the unit is at least its least share.
        self.programs = [
            make_program(rows, 5 / self.least) for _ in range(2 * (self.least > 0))
        ]

    def greatest(self) -> float:
        """The greatest difference; infinite where the given levels may not occur."""
        population = self.population
        may = population.may_have(self.one.given) and population.may_have(self.other.given)
        if not may or not self.programs:
            return inf
        low = -population.greatest_mean(-self.other.values, self.names, self.other.given)
        high = population.greatest_mean(self.other.values, self.names, self.other.given)
        waiting, attained = [self._bound_piece(low, high)], -inf
        for _ in range(MAX_PIECES):
            end, start, stop, reached = waiting[0]
            attained = max(attained, reached)
            certain = -end < 0 or attained >= 0
            near = max(ACCURACY, ROUGH * -end) if certain else FINEST
            if (
                end == inf
                or -end - attained <= near
                or stop - start < FINEST
                or population.budget.is_over()
            ):
                break
            heapq.heappop(waiting)
            middle = (start + stop) / 2
            for piece in ((start, middle), (middle, stop)):
                heapq.heappush(waiting, self._bound_piece(*piece))
        return -waiting[0][0] if waiting[0][0] < inf else inf

    def _bound_piece(self, start: float, stop: float) -> tuple[float, float, float, float]:
        """An entry of the heap: the endpoint with its sign changed, the piece, what is attained."""
        for program in self.programs:
            for row, end in enumerate((start, stop), self.n_rows):
                program.set_coefficient(row, self.size + 1, -end)
        seconds = self.population.budget.count_seconds()
        found = self.programs[0].maximise(np.append(self.below, (0.0, 0.0)), seconds=seconds)
        if found.status is SolveStatus.EMPTY:
            return inf, start, stop, -inf
        heaviest = max(found.bound, 1e-300) if found.status is SolveStatus.OPTIMAL else inf
        objective = self.top - (self.second - start * self.below) / heaviest
        found = self.programs[1].maximise(np.append(objective, (0.0, 0.0)), seconds=seconds)
        if found.status is SolveStatus.EMPTY:
            return inf, start, stop, -inf
        attained = -inf
        if found.status is SolveStatus.OPTIMAL:
            point = found.point[: self.size]
            if (bottom := float(self.below @ point)) > 0:
                attained = float(self.top @ point - self.second @ point / bottom)
        return start - found.bound, start, stop, attained
