r"""Chains: sequential bounds along an order of variables that ends with the outcome.

By the chain rule, in any order of variables ``w_1, ..., w_m`` and then ``y``,

.. math:: E[Y \mid do(x), c] = \sum_{w_1} P(w_1 \mid do(x), c) \cdots
          \sum_{y} P(y \mid do(x), c, w)\; y

Each link has a distribution, and a distribution can do one thing: bound the mean of a function of
its variables. Going backwards from ``y`` gives both endpoints, by induction: if L and U bracket
what follows, the least mean of L and the greatest of U bracket what precedes.

==============  ==================================================================================
known           a recovered formula: the mean; between intervals, the worst distribution in them
unknown         nothing is known: least and greatest value (Manski 1990)
reweighted      P(. | given) of the population, which is the log up to an unknown reweighting
natural         the arm as it came: who got x shows the value, the others may have any (Manski)
tilted          natural, but the others differ by at most a limit on the odds (Tan 2006)
meet            of the outcome in a finer context: the best that several chains say there
==============  ==================================================================================

With no variables and a known outcome the effect is identified; with only unknown ones this is the
worst case over them; with a reweighted outcome selection may depend on the outcome.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from math import inf, prod
from typing import Protocol

import numpy as np

from boundit.bounds.caveats import LIMITS
from boundit.bounds.evidence import SUCCESS, Probabilities
from boundit.bounds.population import Population, Reweighting
from boundit.bounds.selection_facts import FactsRefuted
from boundit.core.formula import Group, Over, Sentence, Sign, StepRecord, Term, Variable
from boundit.core.long_work import FOR_EVER, TimeBudget
from boundit.core.names import Nodes, join_names, sort_names
from boundit.counts.formula import Formula, Normaliser, Pair, normalise
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.expression import Expression, P
from boundit.estimand.notation import make_sentence
from boundit.estimand.query import EffectQuery
from boundit.results.bound import RuleRecord

Axes = tuple[str, ...]
MAX_SHOWN = 3  # how many claims are written out where the best of many counts


@dataclass(eq=False)
class Run:
    """One evaluation of rules on some numbers.

    Programs of one population are made once, and chains that several others hold are bounded once.
    """

    numbers: Probabilities
    budget: TimeBudget = FOR_EVER
    _populations: dict[Reweighting, Population] = field(default_factory=dict)
    _bounds: "dict[int, tuple[Chain, Pair | None]]" = field(default_factory=dict)

    def population(self, reweighting: Reweighting) -> Population:
        """The populations that a reweighting leaves possible by these numbers."""
        if reweighting not in self._populations:
            self._populations[reweighting] = Population(reweighting, self.numbers, self.budget)
        return self._populations[reweighting]

    def bound_once(self, chain: "Chain") -> Pair | None:
        """Both endpoints of a chain, kept for who asks next; None where it does not fit."""
        if id(chain) not in self._bounds:
            found = None
            with suppress(*LIMITS):
                self.numbers.workspace.require_time()
                found = chain.bound(self)
            self._bounds[id(chain)] = chain, found
        return self._bounds[id(chain)][1]

    @property
    def late(self) -> bool:
        """Whether some program ran out of time: its endpoint holds, and could be narrower."""
        return any(population.late for population in self._populations.values())


class Distribution(Protocol):
    """The distribution of a link's variables given everything before them."""

    @property
    def steps(self) -> tuple[StepRecord, ...]:
        """Why it is what it is said to be."""

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """What is read off the log and the tables."""

    @property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """How the log is reweighted."""

    @property
    def given(self) -> Nodes:
        """The names that it may depend on; those of its own variables may be among them."""

    def bound_mean(self, run: Run, names: Axes, outer: Axes, low: Floats, high: Floats) -> Pair:
        """The least mean of ``low`` and the greatest of ``high`` over the last axes, ``names``."""

    def count_unknown(self, names: Axes) -> int:
        """How many variables have a distribution of which nothing is known."""

    def write(self, names: Axes, inside: Sentence | None) -> Sentence:
        """The claim: what is done over these variables, around the formula inside."""


@dataclass(frozen=True)
class Known:
    """A recovered formula; what it is read off may leave intervals around it.

    ``renamed`` pairs columns with other names: that of a treatment's natural value, beside the
    arm that is set.
    """

    expression: Expression
    steps: tuple[StepRecord, ...] = field(default=(), compare=False)
    renamed: tuple[tuple[str, str], ...] = ()
    reweightings = ()

    @cached_property
    def formula(self) -> Formula:
        """The formula in normal form."""
        return normalise(self.expression, names=dict(self.renamed))

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The one formula."""
        return (self.formula,)

    @property
    def given(self) -> Nodes:
        """The free names of the formula."""
        return frozenset(self.formula.columns) - frozenset(self.formula.summed)

    def bound_mean(self, run: Run, names: Axes, outer: Axes, low: Floats, high: Floats) -> Pair:
        """The mean; where probabilities are intervals, over the worst distribution in them."""
        weights = run.numbers.read(self.formula, (*outer, *names))
        return least_mean(*weights, low, len(names)), -least_mean(*weights, -high, len(names))

    def count_unknown(self, names: Axes) -> int:
        """None of them."""
        del names
        return 0

    def write(self, names: Axes, inside: Sentence | None) -> Sentence:
        """A sum, weighted by the formula."""
        own = make_sentence(self.expression)
        return own if inside is None else sum_over(names, own, inside)


@dataclass(frozen=True)
class Unknown:
    """Nothing is known: the least and the greatest value count."""

    steps: tuple[StepRecord, ...] = ()
    formulas = ()
    reweightings = ()
    given = frozenset[str]()

    def bound_mean(self, run: Run, names: Axes, outer: Axes, low: Floats, high: Floats) -> Pair:
        """The least value of ``low``, the greatest of ``high``."""
        del run
        over = tuple(range(len(outer), len(outer) + len(names)))
        return low.min(axis=over), high.max(axis=over)

    def count_unknown(self, names: Axes) -> int:
        """All of them."""
        return len(names)

    def write(self, names: Axes, inside: Sentence | None) -> Sentence:
        """Minimum and maximum."""
        return Sentence.of(Over("min/max", name_variables(names)), " ", inside or Sentence(()))


@dataclass(frozen=True)
class Reweighted:
    """``P(names | given)`` of the population, which is known up to the reweighting."""

    given: Nodes
    reweighting: Reweighting
    steps: tuple[StepRecord, ...] = field(default=(), compare=False)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """What the reweighting reads."""
        return self.reweighting.formulas

    @property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """The one reweighting."""
        return (self.reweighting,)

    def bound_mean(self, run: Run, names: Axes, outer: Axes, low: Floats, high: Floats) -> Pair:
        """The least and the greatest mean over all populations, cell by cell of what is given."""
        population = run.population(self.reweighting)
        if population.is_too_large:
            return Unknown().bound_mean(run, names, outer, low, high)
        levels, n = run.numbers.levels, len(outer)
        low, high = np.broadcast_arrays(low, high)
        shape = widen_shape(low.shape, outer, self.given, levels)
        least, most = np.empty(shape), np.empty(shape)
        full = tuple(levels[name] for name in names)
        for at in np.ndindex(*shape):
            given = {a: i for a, i in zip(outer, at, strict=True) if a in self.given}
            own = tuple(min(i, s - 1) for i, s in zip(at, low.shape[:n], strict=True))
            here = np.broadcast_to(low[own], full), np.broadcast_to(high[own], full)
            least[at] = -population.greatest_mean(-here[0], names, given)
            most[at] = population.greatest_mean(here[1], names, given)
        return least, most

    def count_unknown(self, names: Axes) -> int:
        """All of them where nothing limits the reweighting."""
        return len(names) if self.reweighting.is_free else 0

    def write(self, names: Axes, inside: Sentence | None) -> Sentence:
        """A sum, weighted by the population's distribution."""
        given = name_variables(sort_names(self.given))
        own = Sentence.of(Term("P*", name_variables(names), given))
        return own if inside is None else sum_over(names, own, inside)


@dataclass(frozen=True)
class Natural:
    """The arms ``taken`` as they came: who got x shows the value, the others may have any.

    ``E[f(V) | do(x), g] = E[f(V) 1(A=x) + (anything) 1(A!=x) | g]``: the mean of a worth that
    depends on the natural arm too, under the ``joint`` distribution of arms and variables.
    """

    taken: Axes
    joint: Known | Reweighted
    steps: tuple[StepRecord, ...] = field(default=(), compare=False)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """Those of the joint distribution."""
        return self.joint.formulas

    @property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """Those of the joint distribution."""
        return self.joint.reweightings

    @property
    def given(self) -> Nodes:
        """Those of the joint distribution, and the arms."""
        return self.joint.given.union(self.taken)

    def bound_mean(self, run: Run, names: Axes, outer: Axes, low: Floats, high: Floats) -> Pair:
        """The mean of the worth, arm by arm: cells with another arm count their worst value."""
        levels, tail = run.numbers.levels, tuple(range(-len(names), 0))
        low, high = np.broadcast_arrays(low, high)
        rest = tuple(a for a in outer if a not in self.taken)
        at_arm = tuple(outer.index(a) for a in self.taken)
        arms = tuple(levels[a] for a in self.taken)
        shape = widen_shape(low.shape, outer, self.given, levels)
        least, most = np.empty(shape), np.empty(shape)
        for arm in np.ndindex(*arms):
            worths = []
            for values, worst in ((low, np.min), (high, np.max)):
                size = [values.shape[axis] for axis in at_arm]
                level = tuple(min(i, n - 1) for i, n in zip(arm, size, strict=True))
                own = np.moveaxis(values, at_arm, range(len(arm)))[level]  # axes: rest, names
                others = worst(own, axis=tail, keepdims=True)
                worth = np.broadcast_to(others, (*arms, *own.shape)).copy()
                worth[arm] = own
                to = range(len(rest), len(rest) + len(arm))
                worths.append(np.moveaxis(worth, range(len(arm)), to))
            ends = self.joint.bound_mean(run, (*self.taken, *names), rest, *worths)
            for found, end in zip((least, most), ends, strict=True):
                np.moveaxis(found, at_arm, range(len(arm)))[arm] = end
        return least, most

    def count_unknown(self, names: Axes) -> int:
        """One for each arm: of those who got another nothing is known."""
        del names
        return len(self.taken)

    def write(self, names: Axes, inside: Sentence | None) -> Sentence:
        """The joint probability, plus anything where the arm is another."""
        own = self.joint.write((*self.taken, *names), None)
        said = Sentence.of(
            own, f" plus any value where {join_names(self.taken)} is another arm"
        )
        return said if inside is None else sum_over(names, said, inside)


@dataclass(frozen=True)
class Tilted:
    """Confounding within a limit: the marginal sensitivity model (Tan 2006; Dorn and Guo 2023).

    With ``e = P(x | g)``, ``E[f(V) | do(x), g] = e E[f | x, g] + (1 - e) E[rho f | x, g]``, where
    ``1/L <= rho <= L`` has mean one: the least puts L on the smallest values until the mean of
    rho is used up, at their share 1/(1 + L). It rises with e and as V's distribution rises. Of a
    numeric outcome f is the success that has its mean: given the success, rho is a mean of rhos.
    """

    arm: str
    limit: float
    propensity: Known | Reweighted
    observed: Known | Reweighted
    edge: tuple[str, str]
    statement: str
    steps: tuple[StepRecord, ...] = field(default=(), compare=False)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """Those of the propensity and of the distribution among who got the arm."""
        return (*self.propensity.formulas, *self.observed.formulas)

    @property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """Those of both."""
        return tuple(
            dict.fromkeys((*self.propensity.reweightings, *self.observed.reweightings))
        )

    @property
    def given(self) -> Nodes:
        """Those of both, and the arm."""
        return self.propensity.given | self.observed.given | {self.arm}

    def bound_mean(self, run: Run, names: Axes, outer: Axes, low: Floats, high: Floats) -> Pair:
        """The mean where the others' distribution is as bad as the limit allows."""
        weights = read_probabilities(self.observed, run, names, outer)
        others = tuple(a for a in outer if a != self.arm)
        least, _ = read_probabilities(self.propensity, run, (self.arm,), others)
        propensity = np.moveaxis(least, -1, outer.index(self.arm)).clip(0, 1)
        return (
            least_tilted_mean(propensity, *weights, low, self.limit),
            -least_tilted_mean(propensity, *weights, -high, self.limit),
        )

    def count_unknown(self, names: Axes) -> int:
        """None of them: what is unknown is limited."""
        del names
        return 0

    def write(self, names: Axes, inside: Sentence | None) -> Sentence:
        """Who got the arm, and who did not."""
        e, own = self.propensity.write((self.arm,), None), self.observed.write(names, None)
        said = Sentence.of(
            e, " x ", own, " + (1 - ", e, ") x (that of others, ", self.statement, ")"
        )
        return said if inside is None else sum_over(names, said, inside)


@dataclass(frozen=True)
class Meet:
    """Of the outcome in a finer context: in every cell the best that several chains say.

    The chains are those of the finer query, whose context the links before this one complete. All
    hold at once, so the greatest lower and the least upper endpoint hold.
    """

    chains: "tuple[Chain, ...]"

    @cached_property
    def steps(self) -> tuple[StepRecord, ...]:
        """Those of every chain, under its name."""
        found = (
            step.prefix(f"{chain.name}: ")
            for chain in self.chains
            for step in chain.reason.steps
        )
        return tuple(found)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """Those of all chains."""
        return tuple(formula for chain in self.chains for formula in chain.formulas)

    @property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """Those of all chains."""
        return tuple(dict.fromkeys(r for chain in self.chains for r in chain.reweightings))

    @property
    def given(self) -> Nodes:
        """The finer context and the treatments."""
        return frozenset(name for chain in self.chains for name in chain.axes)

    def bound_mean(self, run: Run, names: Axes, outer: Axes, low: Floats, high: Floats) -> Pair:
        """The best endpoints of the outcome; ``low`` and ``high`` are its own values."""
        del names
        least, most = low.min(axis=-1), high.max(axis=-1)
        for chain in self.chains:
            if (found := run.bound_once(chain)) is not None:
                lower, upper = (NamedArray(chain.axes, end).align(outer) for end in found)
                least, most = np.maximum(least, lower), np.minimum(most, upper)
        return least, most

    def count_unknown(self, names: Axes) -> int:
        """The fewest of any chain."""
        del names
        return min(chain.n_unknown for chain in self.chains)

    def write(self, names: Axes, inside: Sentence | None) -> Sentence:
        """The first few of them, one after another."""
        del names, inside
        shown = dict.fromkeys(enclose(chain.claimed) for chain in self.chains)
        first, *others = list(shown)[:MAX_SHOWN]
        said = Sentence.of(first, *(part for each in others for part in (" or ", each)))
        left = len(shown) - 1 - len(others)
        more = f" or {left} more" if left else ""
        return Sentence.of("the narrowest of ", said, more)


def widen_shape(
    shape: Sequence[int], outer: Axes, given: Nodes, levels: Mapping[str, int]
) -> list[int]:
    """The outer shape of endpoints: all levels of what is given, else as the values have it."""
    return [levels[a] if a in given else s for a, s in zip(outer, shape, strict=False)]


def read_probabilities(
    distribution: Known | Reweighted, run: Run, names: Axes, outer: Axes
) -> Pair:
    """Both endpoints of each probability of one variable; its axis comes last."""
    if isinstance(distribution, Known):
        return run.numbers.read(distribution.formula, (*outer, *names))
    (name,) = names
    size, pairs = run.numbers.levels[name], []
    for level in np.eye(size):
        values = level.reshape([1] * len(outer) + [size])
        pairs.append(distribution.bound_mean(run, names, outer, values, values))
    return np.stack([p[0] for p in pairs], axis=-1), np.stack([p[1] for p in pairs], axis=-1)


def lowest_distribution(low: Floats, high: Floats, values: Floats) -> Pair:
    """Within intervals, the distribution with most weight on small values, and these in order.

    Every level gets its least probability, the rest goes to the smallest values first.
    """
    low, high, values = np.broadcast_arrays(low.clip(0, 1), high.clip(0, 1), values)
    order = values.argsort(axis=-1)
    low, high, values = (np.take_along_axis(a, order, axis=-1) for a in (low, high, values))
    left = np.maximum(1 - low.sum(axis=-1, keepdims=True), 0)
    slack = (high - low).clip(0)
    weights = low + np.minimum(slack, (left - (slack.cumsum(axis=-1) - slack)).clip(0))
    # Intervals that leave no distribution between them: the missing rest to the smallest value.
    weights[..., :1] += (1 - weights.sum(axis=-1, keepdims=True)).clip(0)
    return weights, values


def least_mean(low: Floats, high: Floats, values: Floats, n_names: int = 1) -> Floats:
    """The least mean of values over the last axes, over distributions within intervals."""
    if n_names != 1:
        low, high, values = np.broadcast_arrays(low, high, values)
        shape = (*values.shape[: values.ndim - n_names], -1)
        low, high, values = (a.reshape(shape) for a in (low, high, values))
    weights, values = lowest_distribution(low, high, values)
    return np.asarray((weights * values).sum(axis=-1) / weights.sum(axis=-1))


def least_tilted_mean(
    propensity: Floats, low: Floats, high: Floats, values: Floats, limit: float
) -> Floats:
    """The least mean of values under the marginal sensitivity model; it rises with propensity."""
    weights, ordered = lowest_distribution(low, high, values)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    mean = (weights * ordered).sum(axis=-1)
    if limit == inf:
        return np.asarray(propensity * mean + (1 - propensity) * ordered[..., 0])
    taken = np.minimum(weights, (1 / (1 + limit) - (weights.cumsum(axis=-1) - weights)).clip(0))
    lowest = (taken * ordered).sum(axis=-1) / taken.sum(axis=-1)
    return np.asarray(
        propensity * mean + (1 - propensity) * (mean / limit + (1 - 1 / limit) * lowest)
    )


@dataclass(frozen=True)
class Link:
    """Some variables of a chain, and their distribution given everything before."""

    variables: Axes
    distribution: Distribution

    @property
    def is_unknown(self) -> bool:
        """Whether nothing is known of its distribution."""
        return isinstance(self.distribution, Unknown)


@dataclass(frozen=True)
class Chain:
    """An order of links, the last of which is that of the outcome."""

    query: EffectQuery
    links: tuple[Link, ...]

    @property
    def outcome(self) -> str:
        """The variable whose mean is bounded."""
        return self.query.outcomes[0]

    @property
    def axes(self) -> Axes:
        """Treatments and context: the axes of the endpoints."""
        return self.query.treatments + self.query.context

    @cached_property
    def variables(self) -> Axes:
        """The variables of its links, in order; the outcome is the last."""
        return tuple(name for link in self.links for name in link.variables)

    @property
    def last(self) -> Distribution:
        """The distribution of the outcome."""
        return self.links[-1].distribution

    @cached_property
    def formulas(self) -> tuple[Formula, ...]:
        """What is read off the log and the tables."""
        return tuple(f for link in self.links for f in link.distribution.formulas)

    @cached_property
    def terms(self) -> frozenset[P]:
        """The distinct conditional probabilities that it reads."""
        return frozenset[P]().union(*(formula.terms for formula in self.formulas))

    @cached_property
    def needs(self) -> Nodes:
        """The columns that are counted: those of its terms, variables and reweightings."""
        own = frozenset(name.rstrip("'") for name in self.variables)
        read = [term.free for term in self.terms]
        read += [reweighting.variables for reweighting in self.reweightings]
        read += [chain.needs for chain in self.members]
        return own.union(*read)

    @cached_property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """How the log is reweighted, each way once."""
        found = (r for link in self.links for r in link.distribution.reweightings)
        return tuple(dict.fromkeys(found))

    @property
    def members(self) -> "tuple[Chain, ...]":
        """The chains of a finer query of which it takes the best."""
        return self.last.chains if isinstance(self.last, Meet) else ()

    def unfold(self) -> "Iterator[Chain]":
        """Chains without a meet that it is at least as narrow as: one for each member."""
        if not self.members:
            yield self
        for member in self.members:
            for chain in member.unfold():
                yield replace(self, links=(*self.links[:-1], *chain.links))

    @cached_property
    def assumptions(self) -> tuple[str, ...]:
        """What the user stated and the chain rests on: facts, and limits on confounding."""
        found = [str(reweighting) for reweighting in self.reweightings if reweighting.facts]
        tilted = (link.distribution for link in self.links)
        found += [each.statement for each in tilted if isinstance(each, Tilted)]
        found += [said for chain in self.members for said in chain.assumptions]
        return tuple(dict.fromkeys(found))

    @cached_property
    def n_unknown(self) -> int:
        """How many variables have a distribution of which nothing is known."""
        return sum(link.distribution.count_unknown(link.variables) for link in self.links)

    @property
    def is_identified(self) -> bool:
        """Whether every distribution has a formula, so that the effect is a number."""
        return all(isinstance(link.distribution, Known) for link in self.links)

    @property
    def extremes(self) -> Nodes:
        """Variables of which only the least and greatest cell of one formula count.

        Which cell truly is the least is fixed by the distribution, so that all of them together
        cost no more of a confidence's error than one.
        """
        only = all(link.is_unknown for link in self.links[:-1]) and isinstance(self.last, Known)
        return frozenset(name.rstrip("'") for name in self.variables[:-1] if only)

    def rank(self, levels: Mapping[str, int]) -> tuple[int, int]:
        """Fewest unknown variables first, then fewest cells; counts and outcomes play no part."""
        cells = sum(prod(levels[name] for name in term.free) for term in self.terms)
        return self.n_unknown, cells

    def count_cells(self, levels: Mapping[str, int]) -> int:
        """Count the cells of its largest array."""
        return prod(levels[name] for name in {*self.axes, *self.variables} - {self.outcome})

    def bound(self, run: Run) -> Pair:
        """Both endpoints for every arm and context, backwards from the outcome."""
        lower, upper = self.bound_from(run, 0)
        shape = [run.numbers.levels[axis] for axis in self.axes]
        return np.broadcast_to(lower, shape), np.broadcast_to(upper, shape)

    def bound_from(self, run: Run, first: int) -> Pair:
        """Both endpoints given what comes before link ``first``."""
        run.numbers.workspace.require_cells(
            self.count_cells(run.numbers.levels), self.variables
        )
        outer = (*self.axes, *self.variables)
        low = np.zeros([1] * (len(outer) - 1) + [2])
        low[..., SUCCESS] = 1.0
        high = low
        for link in reversed(self.links[first:]):
            outer = outer[: len(outer) - len(link.variables)]
            low, high = link.distribution.bound_mean(run, link.variables, outer, low, high)
        return low, high

    @cached_property
    def claimed(self) -> Sentence:
        """What is said to bound the mean, as a nested formula."""
        shown: Sentence | None = None
        for link in reversed(self.links):
            shown = link.distribution.write(link.variables, shown)
        return shown or Sentence(())

    @cached_property
    def reason(self) -> RuleRecord:
        """Name, claim and steps, as data: the only writer of explanations of rules."""
        steps = list(self.last.steps)
        for link in self.links[:-1]:
            said = f"for {join_names(link.variables)}: "
            steps += (step.prefix(said) for step in link.distribution.steps)
        verb = " is " if self.is_identified else " lies between "
        weights = (write_weights(self.reweightings),) if self.reweightings else ()
        claim = Sentence.of(self.query.formula, verb, self.claimed, *weights)
        return RuleRecord(self.name, claim, tuple(steps))

    @cached_property
    def name(self) -> str:
        """A short name for tables; rules differ by identity, never by it."""
        names = dict[type, list[str]]()
        for link in self.links[:-1]:
            names.setdefault(type(link.distribution), []).extend(link.variables)
        if isinstance(self.last, Reweighted):
            names.setdefault(Reweighted, []).append(self.outcome)
        said = ["identified"] if self.is_identified else []
        for link in self.links:
            own = link.distribution
            if isinstance(own, Natural):
                said.append(f"natural bounds on {join_names(own.taken)}")
                if isinstance(own.joint, Reweighted):
                    names.setdefault(Reweighted, []).extend((*own.taken, *link.variables))
            elif isinstance(own, Tilted):
                on = " <-> ".join(own.edge)
                said.append(f"marginal sensitivity model, limit {own.limit:g} on {on}")
        if found := names.get(Reweighted):
            said.append(f"selection reweighting of {join_names(dict.fromkeys(found))}")
        # The outer one first: an average of worst cases is not the worst of averages.
        words = {Unknown: "worst case over", Known: "average over"}
        said += [f"{words[k]} {join_names(found)}" for k, found in names.items() if k in words]
        if self.members:
            said.append(f"best of {len(self.members)} rules")
        return ", ".join(said)


def drop_idle(links: Iterable[Link]) -> tuple[Link, ...]:
    """Drop links that no later one depends on: a mean over them changes nothing.

    Neighbouring unknown links come by name, as their order does not matter either.
    """
    *before, last = links
    kept, read = [last], last.distribution.given
    for link in reversed(before):
        if read.isdisjoint(link.variables):
            continue
        read |= link.distribution.given
        place = 0
        if link.is_unknown:
            run = takewhile(lambda one: one.is_unknown, kept)
            place = sum(one.variables < link.variables for one in run)
        kept.insert(place, link)
    return tuple(kept)


def require_possible(reweightings: Iterable[Reweighting], run: Run) -> None:
    """Refuse stated facts that no population could have, the log being as it is.

    Raises
    ------
    FactsRefuted
        If a program proves that no population fits. What exceeds memory or time is
        not looked at.
    """
    for reweighting in dict.fromkeys(each for each in reweightings if each.facts):
        with suppress(*LIMITS):
            population = run.population(reweighting)
            if not population.is_too_large and not population.may_exist():
                raise FactsRefuted(str(reweighting))


def name_variables(names: Iterable[str]) -> tuple[Variable, ...]:
    """Names as variables of a formula, in the order given and written without quotes."""
    return tuple(Variable(name, bare=True) for name in names)


def sum_over(names: Iterable[str], weights: Sentence, inside: Sentence) -> Sentence:
    """Write "sum over these variables of their distribution times" in front of a formula."""
    over = Over("sum", name_variables(names))
    return Sentence.of(over, " ", weights, " ", Sign("x"), " ", enclose(inside))


def enclose(inside: Sentence) -> Sentence:
    """Put a formula in brackets, so that it can follow a sum or min/max."""
    if any(isinstance(part, str) and part.strip() for part in inside.parts):
        return Sentence.of("(", inside, ")")
    return Sentence.of(Group(inside.parts))


def write_weights(reweightings: Sequence[Reweighting]) -> Sentence:
    """Write the end of a claim: what ``P*`` is, and what its weights ``r`` must fit.

    >>> from boundit.bounds.selection_facts import SelectionFacts
    >>> z = frozenset("Z")
    >>> print(write_weights([Reweighting(z, z, SelectionFacts((0.5, 0.5)))]))
    , where P*(v) = P(v | S=1) r(Z) is the distribution of the population and r are any weights \
that fit: r >= 0.5 (selection rate)
    """
    value, weights = Variable("v"), list[str | Term]()
    for shield in dict.fromkeys(reweighting.shield for reweighting in reweightings):
        own = Term("r", name_variables(sort_names(shield))) if shield else "r"
        weights += [" or ", own]
    stated = "; ".join(dict.fromkeys(map(str, reweightings)))
    return Sentence.of(
        ", where ",
        Term("P*", (value,)),
        " = ",
        Term("P", (value,), (Variable("S", value="1"),)),
        " ",
        *weights[1:],
        f" is the distribution of the population and r are any weights that fit: {stated}",
    )


@dataclass(frozen=True, eq=False)
class FlatChain:
    """A chain of known and unknown links as one sum of products.

    ``unknown`` are the names of variables of unknown distribution, outermost first, ``idle``
    those whose level does not matter to the true value. ``natural``: the outcome's factor draws
    the arm as well, and is read at the arm of the row; the lower endpoint is then the sum with a
    success, the upper one 1 less the sum with a failure (Manski).
    """

    formula: Formula
    axes: Axes
    outcome: str
    unknown: Axes
    idle: Axes
    natural: bool = False

    @property
    def divisors(self) -> bool:
        """Whether some factor divides."""
        return any(factor.divides for factor in self.formula.factors)


def flatten(chain: Chain) -> FlatChain | None:
    """Write a chain as one sum of products; None where a link is neither known nor unknown.

    Natural bounds are such a sum too, for each endpoint, if their joint distribution is known.
    """
    *before, outcome = (link.distribution for link in chain.links)
    natural = isinstance(outcome, Natural)
    if isinstance(outcome, Natural):
        outcome = outcome.joint
    distributions = (*before, outcome)
    if not all(isinstance(each, Known | Unknown) for each in distributions):
        return None
    made = Normaliser({*chain.axes, chain.outcome})
    made.columns |= {name: name for name in (*chain.axes, chain.outcome)}
    scope = {axis: axis for axis in chain.axes}
    unknown, idle = list[str](), list[str]()
    # All links get their names first: a formula may hold one of them as a variable of its own.
    for name in chain.variables[:-1]:
        made.taken.add(name)
        made.columns[name] = name.rstrip("'")
    for link, found in zip(chain.links, distributions, strict=True):
        (variable,) = link.variables
        scope[variable] = variable
        if not isinstance(found, Known):
            unknown.append(variable)
            continue
        if variable != chain.outcome:
            made.summed.append(variable)
        expression, known = found.expression, scope | dict(found.renamed)
        own = {
            column: made.name(column) for column in sort_names(expression.free - known.keys())
        }
        idle += own.values()
        made.add(expression, {**known, **own}, len(unknown))
    formula = Formula(tuple(made.factors), tuple(made.summed), made.columns)
    return FlatChain(formula, chain.axes, chain.outcome, tuple(unknown), tuple(idle), natural)


def bound_cells(chain: Chain, run: Run) -> Pair:
    """The outcome's endpoints at each level of a chain's variables, for all rows."""
    low, high = chain.bound_from(run, len(chain.links) - 1)
    shape = [run.numbers.levels[name] for name in (*chain.axes, *chain.variables[:-1])]
    return np.broadcast_to(low, shape), np.broadcast_to(high, shape)
