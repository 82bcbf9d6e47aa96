"""Ends for which something is chosen by rewards: on one half of the rows, weighed by the other.

The best of several rules, or of a program's multipliers, looks better on the rows that chose it
than it is. So the log is cut blindly into halves; each half chooses for the other, and the two
estimates are averaged. Any choice proves an end, so that the average holds up to its own error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.approximate.critical import (
    LEAST_FREEDOM,
    find_bonferroni,
    widen_for_freedom,
)
from boundit.bounds.approximate.flat_rule import FlatRule
from boundit.bounds.approximate.formula_ends import FormulaEnds
from boundit.bounds.approximate.influences import LineInfluence
from boundit.bounds.approximate.multipliers import find_multipliers
from boundit.bounds.approximate.rule_end import LEAST_REWARDS, TOO_FEW, RuleEnd, make_rule_end
from boundit.bounds.approximate.term_counts import TermCounter
from boundit.bounds.claims.pilot import FOR_HALVES, make_seed, thin
from boundit.bounds.evidence import BoundEvidence
from boundit.bounds.numbers import Ends, PlugInNumbers
from boundit.bounds.proof import Place
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.named_array import Floats
from boundit.terms.sampling import EndSampling


@dataclass(frozen=True, slots=True, eq=False)
class HalfEnd:
    """An end of every row as one half of the log has it, at the worst of its choices."""

    value: Floats
    variance: Floats
    freedom: Floats
    successes: Floats
    failures: Floats
    rows: Floats
    unseen: Floats

    @classmethod
    def of(cls, end: RuleEnd, z: float, shape: Sequence[int]) -> "HalfEnd":
        """Take a rule's end at the worst level of its choices, so many errors below it."""
        rewards = end.found.rewards
        fields = (
            end.found.value,
            end.error**2,
            end.freedom,
            rewards.successes,
            rewards.failures,
            rewards.rows,
            rewards.unseen,
        )
        flat = end.found.value.shape[: end.n_axes]
        worst = (end.found.value - z * end.error).reshape(*flat, -1).argmin(axis=-1)
        taken = (
            np.take_along_axis(field.reshape(*flat, -1), worst[..., None], axis=-1)[..., 0]
            for field in fields
        )
        return cls(*(np.broadcast_to(field, shape) for field in taken))

    @classmethod
    def choose(cls, ends: Sequence["HalfEnd"], which: NDArray[np.intp]) -> "HalfEnd":
        """Take at every row the end of the rule of a number."""
        names = cls.__slots__
        stacked = (np.stack([getattr(end, name) for end in ends]) for name in names)
        return cls(*(np.take_along_axis(field, which[None], 0)[0] for field in stacked))

    @classmethod
    def average(cls, ends: Sequence["HalfEnd"]) -> "HalfEnd":
        """Average the ends of both halves, which are independent."""
        one, other = ends
        total = one.variance + other.variance
        squares = one.variance**2 / one.freedom + other.variance**2 / other.freedom
        return cls(
            (one.value + other.value) / 2,
            total / 4,
            np.where(squares > 0, total**2 / np.where(squares > 0, squares, 1), np.inf),
            one.successes + other.successes,
            one.failures + other.failures,
            one.rows + other.rows,
            np.maximum(one.unseen, other.unseen),
        )

    @property
    def is_trusted(self) -> NDArray[np.bool_]:
        """Where enough rows stand behind the end, and none of its cells is unseen."""
        enough = np.minimum(self.successes, self.failures) >= LEAST_REWARDS
        return np.asarray(enough & (self.freedom >= LEAST_FREEDOM) & (self.unseen == 0))


@dataclass(frozen=True, slots=True, eq=False)
class CrossFitEnd:
    """One end of all rows: how low, where trusted, and which rule each half took."""

    end: Floats
    is_trusted: NDArray[np.bool_]
    average: HalfEnd
    by: NDArray[np.intp]

    def explain(self, place: Place) -> EndSampling:
        """Say why chance moves the end at one row."""
        boxes = None if self.is_trusted[place] else TOO_FEW
        rows, unseen = self.average.rows[place], self.average.unseen[place]
        return EndSampling(float(rows), min(float(unseen), 1.0), (), boxes)


@final
class CrossFitEnds:
    """Both ends of all rows, as far as one rule gave them."""

    def __init__(self, lower: CrossFitEnd, upper: CrossFitEnd, number: int) -> None:
        self.ends, self.number = (lower, upper), number
        self.is_trusted = np.asarray(lower.is_trusted & upper.is_trusted)

    def join(self, exact: Ends) -> Ends:
        """Replace exact ends by nearer ones where this rule gave them and they are trusted."""
        own = [self.is_trusted & (end.by == self.number) for end in self.ends]
        low, high = (np.where(at, e.end, 0) for at, e in zip(own, self.ends, strict=True))
        return replace(
            exact,
            lower=np.maximum(low, exact.lower),
            upper=np.minimum(1 - high, exact.upper),
            sampling=self.explain,
        )

    def explain(self, place: Place, upper: bool) -> EndSampling | None:  # noqa: FBT001
        """Say why chance moves an end at one row."""
        return self.ends[upper].explain(place)


@final
class CrossFit:
    """Both halves of a log and of its tables, and the rules that are tried on them."""

    def __init__(
        self, rules: Mapping[str, FlatRule], evidence: BoundEvidence, error: float
    ) -> None:
        self.rules, self.error = rules, error
        self.workspace = evidence.evaluator.workspace
        sources = (evidence.rewards, *evidence.population)
        streams = make_seed(sources, FOR_HALVES).spawn(len(sources))
        log, *others = (
            (source, source) if source.table.exact else thin(source, 0.5, rng)
            for source, rng in zip(sources, map(np.random.default_rng, streams), strict=True)
        )
        whole = [source is evidence.rewards for source in evidence.population]
        self.halves = [
            (
                log[h],
                tuple(
                    log[h] if own else other[h]
                    for own, other in zip(whole, others, strict=True)
                ),
            )
            for h in (0, 1)
        ]
        self.counts = [TermCounter(*half, self.workspace) for half in self.halves]
        self.numbers = [PlugInNumbers(Evaluator(*half, self.workspace)) for half in self.halves]

    def find(self, shape: Sequence[int]) -> dict[str, CrossFitEnds]:
        """Find both ends of all rows, and give them to the rules that they came from."""
        z = find_bonferroni(self.error, 2 * int(np.prod(shape)))
        measured = [self._measure(flat, z, shape) for flat in self.rules.values()]
        lower, upper = (self.find_end(measured, z, upper=end) for end in (False, True))
        return {name: CrossFitEnds(lower, upper, i) for i, name in enumerate(self.rules)}

    def find_end(
        self, measured: Sequence[Sequence[Sequence[HalfEnd]]], z: float, *, upper: bool
    ) -> CrossFitEnd:
        """Let each half choose a rule for the other at every row, and average what they say."""
        halves, by = [], []
        for half in (0, 1):
            own = [rule[1 - half][upper] for rule in measured]
            # A half flatters what it chose; the penalty of one half's error makes up for it.
            scores = np.stack([end.value - z * np.sqrt(end.variance) for end in own])
            by.append(scores.argmax(axis=0))
            ends = [rule[2 + half][upper] for rule in measured]
            halves.append(HalfEnd.choose(ends, by[-1]))
        average = HalfEnd.average(halves)
        far = widen_for_freedom(z, average.freedom) * np.sqrt(average.variance)
        end = np.asarray((average.value - far).clip(0, 1))
        return CrossFitEnd(end, average.is_trusted, average, by[0])

    def _measure(self, flat: FlatRule, z: float, shape: Sequence[int]) -> list[list[HalfEnd]]:
        """Measure a rule on each half with its own choices, then with those of the other.

        Four pairs of ends come out.
        """
        chosen: list[tuple[Floats, Floats] | None] = [None, None]
        if flat.program is not None:
            chosen = [
                find_multipliers(flat.program, numbers, half[0].table.rows)
                for numbers, half in zip(self.numbers, self.halves, strict=True)
            ]
        return [
            self._measure_half(flat, half, chosen[by], z, shape)
            for half, by in ((0, 0), (1, 1), (0, 1), (1, 0))
        ]

    def _measure_half(
        self,
        flat: FlatRule,
        half: int,
        multipliers: tuple[Floats, Floats] | None,
        z: float,
        shape: Sequence[int],
    ) -> list[HalfEnd]:
        """Measure both ends of a rule on one half."""
        counts = self.counts[half]
        finder = FormulaEnds(flat, counts, self.error / (2 * np.prod(shape)), multipliers)
        lines, n_axes = LineInfluence(counts), len(flat.axes)
        ends = (finder.find(upper=upper) for upper in (False, True))
        return [
            HalfEnd.of(make_rule_end(end, n_axes, lines, apart=False), z, shape) for end in ends
        ]
