"""Adjustment by models as one more rule of a plan, beside those that read counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.approximate.approximate_rules import NO_FORMULA, NO_WIDER_ROWS
from boundit.bounds.approximate.critical import (
    find_bonferroni,
    find_critical,
    widen_for_freedom,
)
from boundit.bounds.models.scores import ArmScores
from boundit.bounds.numbers import Ends, Numbers
from boundit.bounds.plan import PlannedRule
from boundit.bounds.proof import ModelProof, Place
from boundit.bounds.rules.rule import BoundRule
from boundit.bounds.try_rules import EndFinder
from boundit.counts.named_array import Floats
from boundit.estimand.criteria.context_adjustment import ContextAdjustment
from boundit.estimand.language.expression import Expression, P, Product, Sum
from boundit.estimand.language.notation import make_sentence
from boundit.estimand.query import EffectQuery
from boundit.terms.bound import RuleRecord, StepRecord
from boundit.terms.formula import Sentence
from boundit.terms.long_work import Progress, TimeBudget
from boundit.terms.message import Note
from boundit.terms.names import Nodes
from boundit.terms.rounding import ROUNDING
from boundit.terms.sampling import EndSampling

NAME = "adjustment by models"
OTHERS_SHARE = 1 / 10
"""How much of the error all other rules get beside the models."""


@dataclass(frozen=True, eq=False)
class ModelledAdjustment(BoundRule):
    """A sum over covariates whose terms models predict, already measured on the rows.

    ``levels`` are how many levels each treatment and context has; ``fitted`` says in words
    which models were fitted and how; ``why`` are the steps that prove the formula. In a graph
    with selection the log is ``selected``.
    """

    query: EffectQuery
    adjustment: ContextAdjustment
    scores: ArmScores
    levels: Mapping[str, int]
    fitted: str
    why: tuple[StepRecord, ...]
    selected: bool = False

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """None: it reads rows, not counts."""
        return ()

    @property
    def range_variables(self) -> Nodes:
        """None: no level of a covariate has to be known."""
        return frozenset()

    @property
    def n_unknown(self) -> int:
        """Nothing is unknown but what chance adds."""
        return 0

    def write_record(self) -> RuleRecord:
        """Write the rule's name, the formula whose terms are predicted, and why it holds."""
        x, y, c = (
            frozenset(names)
            for names in (self.query.treatments, self.query.outcomes, self.query.context)
        )
        z, whole = self.adjustment.covariates, bool(self.adjustment.table)
        reward = P(y, x | c | z, self.selected)
        formula = Sum(z, Product((reward, P(z, c, self.selected and not whole))))
        claim = Sentence.of(self.query.formula, " is ", make_sentence(formula))
        return RuleRecord(NAME, claim, (*self.why, StepRecord(self.fitted)))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels each axis of the ends has."""
        return tuple(self.levels[axis] for axis in self.axes)

    @cached_property
    def is_trusted(self) -> NDArray[np.bool_]:
        """At which arms and contexts the models have a say."""
        return self.scores.is_trusted.reshape(self.shape)

    def find_ends(self, numbers: Numbers, budget: TimeBudget) -> Ends:
        """Give the estimates of every arm and context; counts have no say in them."""
        del numbers, budget
        low, high = (
            end.reshape(self.shape).clip(0, 1) for end in (self.scores.lower, self.scores.upper)
        )
        sure = self.is_trusted
        return Ends(
            np.where(sure, low, 0.0), np.where(sure, high, 1.0), proof=self._explain_end
        )

    def find_near(self, error: float) -> Ends:
        """Find ends that all hold at once but for a chance of ``error``, on large logs."""
        scores = self.scores
        n_claims = 2 * int(scores.is_trusted.sum())
        critical = find_bonferroni(error, n_claims)
        if scores.covariance is not None:
            taken = np.tile(scores.is_trusted.ravel(), 2)
            critical = find_critical(error, scores.covariance[np.ix_(taken, taken)], n_claims)
        far = widen_for_freedom(critical, scores.freedom) * np.sqrt(scores.variance)
        low, high = (
            end.reshape(self.shape).clip(0, 1)
            for end in (scores.lower - far[0], scores.upper + far[1])
        )
        sure = self.is_trusted
        return Ends(
            np.where(sure, low, 0.0),
            np.where(sure, high, 1.0),
            proof=self._explain_end,
            sampling=self._explain_sampling,
        )

    def _look_up(self, values: Floats, place: Place) -> float:
        """Look up a number at an arm and context."""
        return float(values.reshape(self.shape)[place])

    def _explain_end(self, place: Place, upper: bool) -> ModelProof:  # noqa: FBT001
        """Give the numbers that an end was made from."""
        scores = self.scores
        predicted, lower, unlikely = (
            self._look_up(of, place) for of in (scores.predicted, scores.lower, scores.unlikely)
        )
        return ModelProof(predicted, lower - predicted, unlikely, upper=upper)

    def _explain_sampling(self, place: Place, upper: bool) -> EndSampling:  # noqa: FBT001
        """Say how many rows of equal weight tell a mean as well."""
        del upper
        return EndSampling(self._look_up(self.scores.rows, place), 0.0)

    def describe_gaps(self) -> tuple[Note, ...]:
        """Say where models had too few rewards, and where an arm is hardly ever chosen."""
        scores, notes = self.scores, list[Note]()
        doubted, whole = int((~self.is_trusted).sum()), prod(self.shape)
        if doubted:
            notes.append(
                f"in {doubted:,} of {whole:,} rows of the table too few successes or failures "
                f"stand behind {NAME}, which says nothing there"
            )
        worst = float(np.where(scores.is_trusted, scores.unlikely, 0.0).max(initial=0.0))
        if worst > 0:
            share = float(f"{100 * worst:.2g}")
            notes.append(
                f"some arms are hardly ever chosen where up to {share:g} % of the rows lie: "
                "there their reward may be anything"
            )
        return tuple(notes)


def find_with_models(
    modelled: PlannedRule,
    others: EndFinder,
    error: float,
    rules: Sequence[PlannedRule],
    shape: Sequence[int],
    progress: Progress,
) -> tuple[list[Ends], tuple[Note, ...]]:
    """Find the ends of all rules in their order: those of the models, and of all others.

    Where the models' interval does not meet that of the other rules, the models are wrong, and
    have no say.
    """
    rule = modelled.rule
    assert isinstance(rule, ModelledAdjustment)
    rest = [planned for planned in rules if planned is not modelled]
    found, notes = others(rest, shape, progress)
    # Of rules beside the models, these say nothing of the ends that are taken.
    notes = tuple(note for note in notes if not str(note).endswith((NO_FORMULA, NO_WIDER_ROWS)))
    near = rule.find_near(error)
    low = np.max([np.zeros(shape), *(ends.lower for ends in found)], axis=0)
    high = np.min([np.ones(shape), *(ends.upper for ends in found)], axis=0)
    # Rules that contradict each other are no measure of models.
    against = ((near.lower > high + ROUNDING) | (near.upper < low - ROUNDING)) & (low <= high)
    if against.any():
        near = replace(
            near,
            lower=np.where(against, 0.0, near.lower),
            upper=np.where(against, 1.0, near.upper),
        )
        notes = (
            *notes,
            f"in {int(against.sum()):,} of {against.size:,} rows of the table the interval of "
            f"{NAME} does not meet that of the other rules; it was left out there, and the "
            "models deserve no trust",
        )
    ends = iter(found)
    joined = [near if planned is modelled else next(ends) for planned in rules]
    return joined, (*notes, *rule.describe_gaps())
