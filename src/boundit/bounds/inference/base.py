"""The interface of inference, and what all three strategies give back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.caveats import LIMITS, note_moved, note_nonlinear, note_refused
from boundit.bounds.chain import Axes, Chain, Run
from boundit.bounds.evidence import Evidence, Probabilities
from boundit.bounds.pooling import POLICY, draw_policy
from boundit.bounds.population import Reweighting
from boundit.bounds.program.rule import Program
from boundit.bounds.program.solve import NEAR
from boundit.core.message import Caveat
from boundit.core.names import Nodes
from boundit.counts.formula import Formula, Pair
from boundit.counts.named_array import Floats
from boundit.estimand.expression import P
from boundit.estimand.notation import write_text
from boundit.estimand.query import EffectQuery
from boundit.graph.separation import open_walk
from boundit.results.bound import RuleRecord
from boundit.results.sampling import EndSampling

Mask = NDArray[np.bool_]
Place = tuple[int, ...]
Sampler = Callable[[Place, bool], EndSampling | None]
"""Says why sampling moves an endpoint of the row at a place; the flag asks for the upper one."""


class Rule(Protocol):
    """What bounds the mean outcome of every arm in every context: a chain, a program, others."""

    @property
    def query(self) -> EffectQuery:
        """The effect that it bounds."""

    @property
    def axes(self) -> Axes:
        """Treatments, then context: the axes of the endpoints."""

    @property
    def outcome(self) -> str:
        """The one outcome of the query."""

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas whose numbers it reads."""

    @property
    def terms(self) -> frozenset[P]:
        """The conditional probabilities that it reads."""

    @property
    def needs(self) -> Nodes:
        """The columns that are counted."""

    @property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """Selection as unknown reweightings that it rests on."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was stated and it rests on."""

    @property
    def n_unknown(self) -> int:
        """How many variables have an unknown distribution."""

    @property
    def is_identified(self) -> bool:
        """Whether the effect is a number."""

    @property
    def extremes(self) -> Nodes:
        """Variables of which only the least and greatest cell count."""

    @property
    def reason(self) -> RuleRecord:
        """Name, claim and steps."""

    @property
    def name(self) -> str:
        """A short name for tables."""

    def rank(self, levels: Mapping[str, int]) -> tuple[int, int]:
        """Order rules by how likely they are to win, by graph and levels alone."""

    def count_cells(self, levels: Mapping[str, int]) -> int:
        """Count the cells of its largest array."""

    def bound(self, run: Run) -> Pair:
        """Both endpoints for every arm and context, on the scale [0, 1]."""


@dataclass(frozen=True, eq=False)
class Endpoints:
    """A lower and an upper endpoint by every rule, for every arm and context.

    Index 0 of ``lowers`` and ``uppers`` is the range of the outcome. ``run`` holds the numbers
    of chains that are valid with the endpoints, ``program_run`` those of programs, whose cell
    intervals have a share of the error of their own. ``empty`` are rows that a program refutes:
    no model of the graph fits. Along the axes ``equal`` the mean is the same and the endpoints
    are the best of all rows; ``apart`` has those of single rows, for rules that this narrowed.
    """

    rules: tuple[Rule, ...]
    lowers: Floats
    uppers: Floats
    run: Run
    program_run: Run
    empty: Mask
    notes: tuple[Caveat, ...] = ()
    samplers: Mapping[Rule, Sampler] = field(default_factory=dict)
    equal: tuple[int, ...] = ()
    apart: Mapping[Rule, Pair] = field(default_factory=dict)

    @property
    def chains(self) -> tuple[Chain, ...]:
        """The rules that are chains."""
        return tuple(rule for rule in self.rules if isinstance(rule, Chain))

    @cached_property
    def lower_by(self) -> NDArray[np.intp]:
        """Which rule gave each lower endpoint: 0 for the outcome's range, else 1 + its index."""
        return np.asarray(self.lowers.argmax(axis=0))

    @cached_property
    def upper_by(self) -> NDArray[np.intp]:
        """The same of upper endpoints."""
        return np.asarray(self.uppers.argmin(axis=0))

    @cached_property
    def lower(self) -> Floats:
        """The greatest lower endpoint of every row."""
        return np.asarray(self.lowers.max(axis=0))

    @cached_property
    def upper(self) -> Floats:
        """The least upper endpoint of every row."""
        return np.asarray(self.uppers.min(axis=0))

    def find_source(self, rule: Rule, place: Place, *, upper: bool) -> Place:
        """The row from which an endpoint of a row comes: another where the mean is the same."""
        if rule not in self.apart:
            return place
        ends = self.apart[rule][1] if upper else -self.apart[rule][0]
        free = tuple(
            slice(None) if i in self.equal else slice(k, k + 1) for i, k in enumerate(place)
        )
        best = np.unravel_index(ends[free].argmin(), ends[free].shape)
        return tuple(
            int(b) if i in self.equal else k
            for i, (b, k) in enumerate(zip(best, place, strict=True))
        )

    def sampling(self, rule: Rule, place: Place, *, upper: bool) -> EndSampling | None:
        """Say why sampling moves an endpoint of a rule at a row; None where nothing is known."""
        made = self.samplers.get(rule)
        return made and made(self.find_source(rule, place, upper=upper), upper)


class Inference(Protocol):
    """How sampling error is allowed for."""

    def bound(self, rules: Sequence[Rule], evidence: Evidence) -> Endpoints:
        """Endpoints of all rules that hold at once."""


@dataclass(eq=False)
class Gathered:
    """Endpoints by rule while they are gathered; those of one rule are intersected.

    So are those of all rows along ``equal`` axes, as the mean is the same there.
    """

    shape: tuple[int, ...]
    equal: tuple[int, ...] = ()
    pairs: dict[Rule, Pair] = field(default_factory=dict)
    refused: dict[str, BaseException] = field(default_factory=dict)
    notes: list[Caveat] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.empty: Mask = np.zeros(self.shape, dtype=bool)

    def add(self, rule: Rule, low: Floats, high: Floats) -> None:
        """Add endpoints of a rule that hold with all others."""
        lower, upper = self.pairs.get(rule, (np.zeros(self.shape), np.ones(self.shape)))
        self.pairs[rule] = np.maximum(lower, low), np.minimum(upper, high)

    def evaluate(self, rules: Sequence[Rule], run: Run) -> None:
        """Evaluate rules one by one, the cheapest first; what does not fit is left out."""
        for rule in sorted(rules, key=lambda rule: rule.rank(run.numbers.levels)):
            try:
                run.numbers.workspace.require_time()
                if isinstance(rule, Program):
                    found = rule.solve(run, self.intersect())
                    self.empty |= found.empty
                    self.add(rule, found.lower, found.upper)
                else:
                    self.add(rule, *rule.bound(run))
            except LIMITS as error:
                self.refused[rule.name] = error

    def intersect(self) -> Pair:
        """What all rules so far leave of every row."""
        lower, upper = np.zeros(self.shape), np.ones(self.shape)
        for low, high in self.pairs.values():
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
        return lower, upper

    def finish(
        self,
        rules: Sequence[Rule],
        run: Run,
        program_run: Run | None = None,
        samplers: Mapping[Rule, Sampler] | None = None,
    ) -> Endpoints:
        """Put endpoints together in the order of the rules."""
        kept = tuple(rule for rule in rules if rule in self.pairs)
        apart = dict[Rule, Pair]()
        for rule in kept if self.equal else ():
            low, high = self.pairs[rule]
            self.add(
                rule, low.max(self.equal, keepdims=True), high.min(self.equal, keepdims=True)
            )
            found = self.pairs[rule]
            if max(np.max(found[0] - low), np.max(high - found[1])) > NEAR:
                apart[rule] = low, high
        lowers = [np.zeros(self.shape), *(self.pairs[rule][0] for rule in kept)]
        uppers = [np.ones(self.shape), *(self.pairs[rule][1] for rule in kept)]
        return Endpoints(
            kept,
            np.stack(lowers),
            np.stack(uppers),
            run,
            program_run or run,
            self.empty,
            tuple(dict.fromkeys((*self.notes, *note_refused(self.refused)))),
            samplers or {},
            self.equal,
            apart,
        )


def split_rules(
    rules: Sequence[Rule], evidence: Evidence
) -> tuple[list[Rule], list[Program], list[Caveat]]:
    """Part rules into programs and others, without those that cannot win or do not hold.

    A program is cut to variables of which it can hold all levels; where a chain gives a point no
    program does better. While a policy learns, what depends on how treatments were chosen is
    not one distribution: rules that read it are left out, and a note says which.
    """
    stable, notes = _keep_stable(rules, evidence)
    others = [rule for rule in stable if not isinstance(rule, Program)]
    programs = list[Program]()
    if not any(isinstance(rule, Chain) and rule.is_identified for rule in others):
        fitted = (rule.fit(evidence.levels) for rule in stable if isinstance(rule, Program))
        programs = [rule for rule in fitted if rule is not None]
    return others, programs, notes


def _keep_stable(
    rules: Sequence[Rule], evidence: Evidence
) -> tuple[Sequence[Rule], list[Caveat]]:
    if not evidence.is_adaptive:
        return rules, []
    drawn = draw_policy(evidence.graph, evidence.query.treatments)
    selection = evidence.graph.selection

    def is_moved(term: P) -> bool:
        chosen = {selection} if term.logged and selection else set[str]()
        walk = open_walk(drawn, term.of, POLICY, given=term.given | chosen)
        return walk is not None and evidence.find(term).table.adaptive

    kept, moved = list[Rule](), dict[P, list[str]]()
    for rule in rules:
        terms = sorted(rule.terms, key=lambda term: term.rank)
        first = next(filter(is_moved, terms), None)
        if first is None:
            kept.append(rule)
        else:
            moved.setdefault(first, []).append(rule.name)
    return kept, [note_moved(names, write_text(term)) for term, names in moved.items()]


@dataclass(frozen=True)
class PlugIn:
    """Estimates taken as they are: sampling error is neglected."""

    def bound(self, rules: Sequence[Rule], evidence: Evidence) -> Endpoints:
        """Endpoints of all rules at the estimates.

        A rule that multiplies two unknown probabilities is evaluated on exact distributions
        alone: estimates break the independences that it states.
        """
        others, programs, notes = split_rules(rules, evidence)
        # Estimates of rows whose means are equal differ by noise.
        equal = evidence.lightened[0] if evidence.is_exact else ()
        found = Gathered(tuple(evidence.shape), equal, notes=notes)
        fitting = [rule for rule in programs if evidence.is_exact or rule.is_linear]
        if left := [rule.name for rule in programs if rule not in fitting]:
            found.notes.append(note_nonlinear(left))
        run = Run(Probabilities(evidence), evidence.workspace.budget)
        found.evaluate(others, run)
        found.evaluate(fitting, run)
        return found.finish((*others, *programs), run)
