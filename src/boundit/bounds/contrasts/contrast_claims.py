"""Claims on differences of arms: how much better one can be than another, by one exponent.

Ends of two arms apart add up two errors; the error of their difference is about the root of the
sum of squares, and what both share is lost once. Each pair of arms in a context is a claim, and
all of them together have a small part of the error. Where a difference is no sum of levels the
arms' own ends are subtracted, which costs nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from math import log, prod
from typing import Final, final

import numpy as np

from boundit.bounds.claims.claim_finder import ClaimCounts
from boundit.bounds.claims.claim_rules import ClaimPlan
from boundit.bounds.claims.last_level import NumericPilot
from boundit.bounds.claims.level_form import LevelForm
from boundit.bounds.claims.numeric_claims import suppose_variances
from boundit.bounds.claims.pilot_choice import RowClaims
from boundit.bounds.claims.read_form import PilotNumbers, RestNumbers
from boundit.bounds.claims.sum_arrays import add_up
from boundit.bounds.claims.sum_claims import SumClaims
from boundit.bounds.contrasts.chain_differences import SharedChain
from boundit.bounds.contrasts.two_sides import TwoSides, find_sides, name_other, show
from boundit.bounds.plan import BoundPlan
from boundit.bounds.refusals import LIMITS
from boundit.bounds.rules.chain import Chain
from boundit.bounds.rules.rule import BoundRule
from boundit.counts.named_array import Floats
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.names import Nodes

MOST_CELLS: Final = 2_000_000
"""How many cells the differences of all pairs may have; of more, ends are subtracted."""
MOST_KNOWN: Final = 300_000
"""How many where all laws are known, so that subtracted ends are nearly as good."""
MOST_RULES: Final = 3
"""How many rules the pilot chooses from."""
MOST_TREATMENTS: Final = 4
"""In how many treatments arms may differ."""


def make_contrast_claims(sides: TwoSides, pilot: PilotNumbers, rest: RestNumbers) -> RowClaims:
    """Make the claims on differences of all arms that differ in some treatments."""
    own, doubled = sides.double_pilot(pilot), sides.double_rest(rest)
    make = suppose_variances if isinstance(own.last, NumericPilot) else SumClaims
    return make(own, doubled, centre=_estimate(own))


def _estimate(pilot: PilotNumbers) -> Floats:
    """Estimate a sum from the pilot alone."""
    layout, weights = pilot.arrays.layout, pilot.arrays.weights[-1]
    found = add_up(weights * pilot.last.mean, layout.cells[-1].axes, layout.axes)
    return np.clip(found, 0.0, 1.0)


@final
class ContrastFinder:
    """Finds the greatest lead of every arm over every other, by claims on differences.

    ``error`` is the chance that any of them misses.
    """

    def __init__(
        self, plan: ClaimPlan, whole: BoundPlan, counts: ClaimCounts, error: float
    ) -> None:
        self.query, self.counts, self.error = whole.query, counts, error
        self.levels = counts.evidence.evaluator.levels
        self.rules = [
            (each.form, _find_worst_treatments(each.planned.rule, whole.graph))
            for each in plan.rules
            if isinstance(each.form, LevelForm)
        ]
        read = frozenset[str]().union(*(rule.reads for rule in plan.rules))
        self.treatments = tuple(name for name in self.query.treatments if name in read)
        n_arms = prod(self.levels[name] for name in self.treatments)
        n_contexts = prod(self.levels[name] for name in self.query.context if name in read)
        self.n_claims = n_arms * (n_arms - 1) * n_contexts
        self.sides = {each: self._find_sides(each) for each in self._list_differing()}

    @property
    def has_claims(self) -> bool:
        """Whether any difference is a sum of levels. Read before the error is shared out."""
        return self.n_claims > 0 and any(self.sides.values())

    def find(self) -> Floats:
        """Bound every arm's mean less every other's: treatments of both arms, then the context.

        Infinite where no claim says anything.
        """
        own = [self.levels[name] for name in self.query.treatments]
        rest = [self.levels[name] for name in self.query.context]
        found = np.full((*own, *own, *rest), np.inf)
        streams = self.counts.make_streams(len(self.rules))
        numbers = dict[int, tuple[PilotNumbers, RestNumbers]]()
        for differing, sides in self.sides.items():
            claims = list[RowClaims]()
            for place, each in sides.items():
                with suppress(*LIMITS):
                    if place not in numbers:
                        numbers[place] = self.counts.read(each.form, streams[place])
                    claims.append(make_contrast_claims(each, *numbers[place]))
            with suppress(*LIMITS):
                if claims:
                    leads = self._bound(claims, len(differing))
                    self._place(found, differing, leads)
        return found

    def _list_differing(self) -> Iterator[tuple[str, ...]]:
        """List the sets of treatments in which two arms may differ."""
        if len(self.treatments) <= MOST_TREATMENTS:
            for size in range(1, len(self.treatments) + 1):
                yield from combinations(self.treatments, size)

    def _find_sides(self, differing: tuple[str, ...]) -> dict[int, TwoSides]:
        """Find which rules make a sum of the difference of arms, by their places, a few."""
        found = dict[int, TwoSides]()
        for place, (form, worst) in enumerate(self.rules):
            sides = find_sides(form, differing, worst)
            most = MOST_CELLS if form.worst else MOST_KNOWN
            if sides and len(found) < MOST_RULES and sides.count_cells(self.levels) <= most:
                found[place] = sides
        return found

    def _bound(self, claims: Sequence[RowClaims], n_differing: int) -> Floats:
        """Bound differences, each by the rule of which the pilot expects most."""
        n_axes = len(self.query.treatments) + len(self.query.context) + n_differing
        error = np.full((1,) * n_axes, log(self.n_claims / self.error))
        choices = [each.choose(error, upper=True) for each in claims]
        ends = [
            each.bound(choice, error, upper=True)
            for each, choice in zip(claims, choices, strict=True)
        ]
        predicted = np.stack(np.broadcast_arrays(*(choice.predicted for choice in choices)))
        shown = np.stack(np.broadcast_arrays(*ends, predicted[0]))[:-1]
        best = np.broadcast_to(predicted.argmin(axis=0), shown.shape[1:])
        leads: Floats = 2 * np.take_along_axis(shown, best[None], axis=0)[0] - 1
        return leads

    def _place(self, found: Floats, differing: Sequence[str], leads: Floats) -> None:
        """Put the leads of arms that differ in some treatments where both arms say.

        Their axes are the first arm, the context and the other levels of what differs. What no
        rule reads may differ too.
        """
        treatments, context = self.query.treatments, self.query.context
        unread = [name for name in treatments if name not in self.treatments]
        others = [*differing, *unread]
        own = [self.levels[name] for name in treatments]
        shape = [*own, *(self.levels[name] for name in others)]
        axes = (*treatments, *context, *map(name_other, differing))
        kept = (*treatments, *map(name_other, others), *context)
        full = [*shape, *(self.levels[name] for name in context)]
        values = np.broadcast_to(show(leads, axes, kept), full)
        places = np.indices(shape).reshape(len(shape), -1)
        one = dict(zip(treatments, places, strict=False))
        two = one | dict(zip(others, places[len(own) :], strict=True))
        apart = np.all([one[name] != two[name] for name in differing], axis=0)
        index = (
            *(one[name][apart] for name in treatments),
            *(two[name][apart] for name in treatments),
        )
        found[index] = values[tuple(places[:, apart])]


def _find_worst_treatments(rule: BoundRule, graph: CausalGraph) -> Mapping[str, Nodes]:
    """Find on which treatments the unknown laws of a chain depend.

    Of others than chains nothing is known.
    """
    if not isinstance(rule, Chain):
        return {}
    shared = SharedChain.from_graph(graph, rule.query, rule)
    pairs = zip(rule.links, shared.link_treatments, strict=True)
    return {link.variable: treatments for link, treatments in pairs}
