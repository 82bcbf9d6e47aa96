r"""A reward confounded with its arm within a limit: who got the arm shows it, others nearly.

For covariates ``z`` that leave nothing open between arm and reward but the edge that the limit
is on,

.. math:: E[Y \mid do(x), c] = \sum_z P(z \mid c) \, E[V(x) \mid c, z]

and ``E[V(x) | c, z]`` is bounded by the chance of the arm and the law of ``V`` among those who
got it (``tilted_mean``). ``V`` is the reward, or what it is expected to be given a variable on
its way that the arm is confounded with. Several treatments that came by themselves are taken
one after another: what is known given the first ones bounds what is known without the last.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.confounding.laws import Law, list_formulas, read_law, write_law
from boundit.bounds.confounding.limits import describe_limit
from boundit.bounds.confounding.reward_spread import LawPair, RewardSpread, read_term
from boundit.bounds.confounding.tilted_mean import find_least_tilted_mean
from boundit.bounds.lp.fractional import Expectation
from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.reweighting import ReweightedBlock, Reweighting
from boundit.bounds.numbers import UNFINISHED, Ends, Numbers
from boundit.bounds.proof import ArmShare, Place, TiltedProof
from boundit.bounds.rules.chain import ChainLink, KnownFormula, average_over_links
from boundit.bounds.rules.claims import (
    enclose,
    sum_over,
    take_extremes,
    write_reweighting,
)
from boundit.bounds.rules.reweighted_chain import list_drawn
from boundit.bounds.rules.rule import BoundRule
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import Expression, P
from boundit.estimand.language.notation import make_sentence
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import Edge
from boundit.terms.bound import RuleRecord, StepRecord
from boundit.terms.formula import Sentence, Sign
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes, join_names


@dataclass(frozen=True, slots=True)
class TakenTreatment:
    """A treatment as it came: its law given those before it, and the limit on one edge.

    ``edge`` is None, and ``limit`` infinite, where nothing limits what is unseen.
    """

    name: str
    law: Law
    edge: Edge | None
    limit: float

    @property
    def statement(self) -> str:
        """What the limit assumes, in words; nothing where there is none."""
        return describe_limit(self.name, self.edge, self.limit) if self.edge else ""


@dataclass(frozen=True)
class LimitedConfounding(BoundRule):
    """Covariates, what the arm is confounded with, and treatments as they came.

    Of a covariate of unknown law the worst level counts.
    ``target`` is the reward or a variable on its way, ``law`` its law given arm, context and
    covariates, ``reward`` the reward's given ``target`` too, None where it is the target.
    ``taken`` has at least one treatment, the first one given no other of them. ``spread`` is
    how rewards of more than two values spread, where they were counted.
    """

    query: EffectQuery
    links: tuple[ChainLink | ReweightedBlock, ...]
    target: str
    law: Law
    taken: tuple[TakenTreatment, ...]
    reward: KnownFormula | None
    steps: tuple[StepRecord, ...] = ()
    spread: RewardSpread | None = field(default=None, compare=False, repr=False)

    @property
    def covariates(self) -> tuple[str, ...]:
        """The variables that are averaged over, besides the target."""
        return tuple(name for link in self.links for name in list_drawn(link))

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The formulas read off counts: laws of target, treatments, covariates and reward."""
        read = (formula for law in self.laws for formula in list_formulas(law))
        return tuple(dict.fromkeys(read))

    @property
    def laws(self) -> tuple[Law, ...]:
        """All laws that it reads: of target, treatments, covariates and reward."""
        found: list[Law] = [self.law, *(each.law for each in self.taken)]
        found += filter(None, map(get_weights, self.links))
        return tuple(found + ([self.reward] if self.reward else []))

    @property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """By what the log is reweighted where selection leaves no formula of a law."""
        blocks = (law for law in self.laws if isinstance(law, ReweightedBlock))
        return tuple(dict.fromkeys(block.reweighting for block in blocks))

    @property
    def spread_term(self) -> P | None:
        """The law of the reward itself that it reads, if that is a term and not a formula."""
        if self.target != self.outcome or not isinstance(self.law, KnownFormula):
            return None
        return read_term(self.law.expression, self.outcome)

    @property
    def range_variables(self) -> Nodes:
        """The covariates, and the target if it is not the reward: all levels must be known."""
        steering = (each.variables for each in self.reweightings)
        own = frozenset(self.covariates).union({self.target}, *steering)
        return own - {self.outcome, *self.axes}

    @property
    def n_unknown(self) -> int:
        """How many covariates have a law of which nothing is known; others are limited."""
        return sum(get_weights(link) is None for link in self.links)

    @property
    def array_variables(self) -> Nodes:
        """The variables at each level of which the rule keeps a number, besides the query's."""
        return frozenset(self.covariates) | {self.target} - {self.outcome}

    @property
    def confounding_limits(self) -> tuple[str, ...]:
        """What its limits assume, a sentence each."""
        return tuple(each.statement for each in self.taken if each.edge)

    def write_record(self) -> RuleRecord:
        """Write the rule's name, its claim as a formula in words, and the steps that prove it.

        A bound table keeps the record and explains its ends by it.
        """
        shown, steps = self._write_mean(), list(self.steps)
        if self.reward is not None:
            shown = sum_over([self.target], shown, make_sentence(self.reward.expression))
        for link in reversed(self.links):
            drawn, weights = list_drawn(link), get_weights(link)
            if weights is None:
                shown = take_extremes(drawn, shown)
                continue
            shown = sum_over(drawn, write_law(weights), shown)
            if isinstance(weights, KnownFormula):
                steps += weights.prefix_steps(", ".join(drawn))
        claim = Sentence.of(
            self.query.formula,
            " lies between " if self.n_unknown else " is ",
            shown,
            self._write_limits(),
            *self._write_selection(),
        )
        of_selection = (step for each in self.reweightings for step in each.steps)
        return RuleRecord(self._write_name(), claim, (*steps, *of_selection))

    def _write_name(self) -> str:
        """Write the rule's name: its limits, its covariates, and those of unknown law."""
        limited = (each for each in self.taken if each.edge)
        name = "; ".join(
            f"limit {each.limit:g} on {each.name} <-> {self.target}" for each in limited
        )
        if self.links:
            name += f", given {join_names(self.covariates)}"
        unknown = [link for link in self.links if get_weights(link) is None]
        if unknown:
            name += (
                f", unknown {join_names(name for link in unknown for name in list_drawn(link))}"
            )
        return name

    def _write_selection(self) -> Iterator[Sentence]:
        """Write by what the log is reweighted, where it is, and that the ends are not sharp."""
        laws = self.reweightings
        if laws:
            stated = "; ".join(dict.fromkeys(each.statement for each in laws))
            yield write_reweighting([each.steering for each in laws], stated)
            yield Sentence.of(" (each law bounded by itself, so not sharp)")

    def _write_mean(self) -> Sentence:
        """Write the law of everyone as that of those who got the arm, and that of the others."""
        shown = write_law(self.law)
        for each in reversed(self.taken):
            law = write_law(each.law)
            times = (" ", Sign("x"), " ")
            unseen = f"(that of those with another {each.name})"
            inner = enclose(shown) if each is not self.taken[-1] else shown
            shown = Sentence.of(law, *times, inner, " + (1 - ", law, ")", *times, unseen)
        return shown

    def _write_limits(self) -> Sentence:
        """Write what is assumed of those who got another arm."""
        said = []
        for each in self.taken:
            if each.edge:
                within = f"between 1/{each.limit:g} and {each.limit:g} times as common"
                said.append(
                    f"each {self.target} is {within} among those with another {each.name} "
                    f"as among those with it, given that {each.statement}"
                )
            else:
                said.append(f"of those with another {each.name} nothing is known")
        return Sentence.of(", where ", "; ".join(said))

    def find_ends(self, numbers: Numbers, budget: TimeBudget = FOR_EVER) -> Ends:
        """Bound every arm and context: the worst that others may be, averaged over covariates.

        Both ends fall and rise with the chance of the arm and the law of those who got it, so
        that over intervals of these they are at the least chance.
        """
        order = (*self.axes, *self.covariates)
        laws = read_law(self.law, self.target, order, numbers, budget)
        values = self._read_values(numbers, order)
        *outer, inner = self.taken
        chances = {
            each.name: self._read_chance(each, numbers, order, budget) for each in self.taken
        }
        lower, upper = _tilt(chances[inner.name], laws, values, inner.limit)
        if self.spread is not None and (term := self.spread_term):
            found = self.spread.find_laws(term, order, numbers.find_error(term))
            least, most = _tilt_spread(chances[inner.name], found, inner.limit)
            lower, upper = np.maximum(lower, least), np.minimum(upper, most)
        for each in reversed(outer):
            # Of a reward between 0 and 1 with this mean, the most spread one is 0/1.
            lower, _ = _tilt(chances[each.name], _draw_success(lower), ZERO_OR_ONE, each.limit)
            _, upper = _tilt(chances[each.name], _draw_success(upper), ZERO_OR_ONE, each.limit)
        ends = self._average(Ends(lower, upper), numbers, budget)
        proof = self._make_proof(chances, values, laws, numbers)
        late = (UNFINISHED,) if self.reweightings and budget.is_over() else ()
        return Ends(ends.lower, ends.upper, proof=proof, notes=late)

    def _average(self, ends: Ends, numbers: Numbers, budget: TimeBudget) -> Ends:
        """Average over the covariates: each of them by its formula, or all as one block."""
        blocks = [link for link in self.links if isinstance(link, ReweightedBlock)]
        plain = tuple(link for link in self.links if isinstance(link, ChainLink))
        if blocks:
            (block,) = blocks
            expectation = Expectation(Populations(block.reweighting, numbers), block, budget)
            ends = Ends(*expectation.find_ends(ends.lower, ends.upper, self.axes))
        return average_over_links(plain, ends, numbers, axes=self.axes)

    def _read_values(self, numbers: Numbers, order: tuple[str, ...]) -> tuple[Floats, Floats]:
        """Read both ends of the reward at each level of the target, which is the last axis."""
        if self.reward is None:
            return ZERO_OR_ONE
        wanted = (*order, self.target, self.outcome)
        low, high = numbers.read_ends(self.reward.expression, wanted)
        return low[..., SUCCESS].clip(0, 1), high[..., SUCCESS].clip(0, 1)

    def _read_chance(
        self,
        taken: TakenTreatment,
        numbers: Numbers,
        order: tuple[str, ...],
        budget: TimeBudget,
    ) -> Floats:
        """Read the least chance of a treatment's level, by arm, context and covariates."""
        others = tuple(name for name in order if name != taken.name)
        low, _ = read_law(taken.law, taken.name, others, numbers, budget)
        return np.moveaxis(low, -1, order.index(taken.name)).clip(0, 1)

    def _make_proof(
        self,
        chances: Mapping[str, Floats],
        values: tuple[Floats, Floats],
        laws: tuple[Floats, Floats],
        numbers: Numbers,
    ) -> Callable[[Place, bool], TiltedProof]:
        """Make what says of each end which chances and means it was made from.

        A table asks for few rows.
        """
        covariates = self.covariates
        shape = [numbers.levels[name] for name in (*self.axes, *covariates)]
        (low_values, high_values), (low_law, high_law) = values, laws
        means = (
            find_least_tilted_mean(np.ones(()), low_law, high_law, low_values, 1.0),
            -find_least_tilted_mean(np.ones(()), low_law, high_law, -high_values, 1.0),
        )

        def list_shares(place: Place, mean: Floats) -> Iterator[ArmShare]:
            for at in np.ndindex(*shape[len(place) :]):
                found = {
                    name: float(np.broadcast_to(chance, shape)[(*place, *at)])
                    for name, chance in chances.items()
                }
                shown = float(np.broadcast_to(mean, shape)[(*place, *at)])
                yield ArmShare(dict(zip(covariates, at, strict=True)), found, shown)

        return lambda place, upper: TiltedProof(
            tuple(each.limit for each in self.taken), tuple(list_shares(place, means[upper]))
        )


ZERO_OR_ONE: tuple[Floats, Floats] = (np.arange(2.0), np.arange(2.0))
"""The values of a reward of 0 or 1, as both ends."""


def _tilt_spread(chance: Floats, laws: LawPair, limit: float) -> tuple[Floats, Floats]:
    """Find the least and the greatest mean of everyone, by how rewards spread."""
    (least, low), (most, high) = laws
    lower = find_least_tilted_mean(chance, least, least, low, limit)
    return lower, -find_least_tilted_mean(chance, most, most, -high, limit)


def get_weights(link: ChainLink | ReweightedBlock) -> Law | None:
    """Get the law of the covariates of one link; None where it is unknown."""
    return link if isinstance(link, ReweightedBlock) else link.weights


def _draw_success(mean: Floats) -> tuple[Floats, Floats]:
    """Make the law of a reward of 0 or 1 with this mean, as both ends."""
    law = np.stack([1 - mean, mean], axis=-1)
    return law, law


def _tilt(
    chance: Floats, laws: tuple[Floats, Floats], values: tuple[Floats, Floats], limit: float
) -> tuple[Floats, Floats]:
    """Find the least and the greatest mean of everyone, by those who got the arm."""
    low, high = values
    least = find_least_tilted_mean(chance, *laws, low, limit)
    return least, -find_least_tilted_mean(chance, *laws, -high, limit)
