"""Ends of all rules of a plan by the normal law of large logs.

A rule that is a formula is as far off as its influence function says. Where a row has too few
successes or failures for that, and for rules of other kinds, exact ends are kept: they hold at
once, with a share of the error that no count has a say in.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.approximate.critical import (
    LEAST_FREEDOM,
    find_bonferroni,
    find_critical,
    widen_for_freedom,
)
from boundit.bounds.approximate.explain_end import explain_end
from boundit.bounds.approximate.flat_formula import TooManyTerms
from boundit.bounds.approximate.flat_rule import FlatRule, flatten_rule
from boundit.bounds.approximate.formula_ends import FormulaEnds, FoundEnd
from boundit.bounds.approximate.influences import Claims, LineInfluence
from boundit.bounds.approximate.term_counts import RewardBehindTheBar, TermCounter
from boundit.bounds.choose_rules import choose_rules, rank_rule
from boundit.bounds.claims.level_form import LevelForm, find_form
from boundit.bounds.evidence import BoundEvidence
from boundit.bounds.numbers import Ends
from boundit.bounds.plan import BoundPlan, PlannedRule
from boundit.bounds.proof import Place
from boundit.bounds.refusals import LIMITS
from boundit.bounds.rules.chain import Chain
from boundit.bounds.rules.factorization import Factorization
from boundit.bounds.rules.rule import BoundRule
from boundit.bounds.try_rules import EndFinder
from boundit.counts.errors import TooLarge
from boundit.counts.formulas.errors import CannotEvaluate
from boundit.counts.named_array import Floats
from boundit.terms.long_work import Told
from boundit.terms.message import Note
from boundit.terms.sampling import EndSampling

EXACT_SHARE = 1 / 20
"""How much of the error exact ends get where every rule is a formula."""
MIXED_SHARE = 1 / 2
"""How much they get where some rules have no ends but exact ones."""
LEAST_REWARDS = 15.0
"""So many successes, and failures, must count behind an end of this method."""
MOST_CLAIMS = 300
MOST_PRODUCTS = 4e8
"""Up to how many ends, and products of influences, ends are drawn together."""
MOST_INFLUENCES = 400_000_000
"""Up to how many influences of lines on ends are looked at for one rule."""
TOO_FEW = "too few successes or failures, or too few rows, for an approximation"
MOST_FORMULAS = 3
"""How many rules that leave something unknown have claims on one end."""
FORMULA_FAULTS = (TooManyTerms, RewardBehindTheBar, CannotEvaluate)


@dataclass(frozen=True, slots=True, eq=False)
class RuleEnd:
    """One end of a rule at all rows: estimates and standard errors, and where it is trusted.

    ``taken`` says at which rows the rule has a claim.
    """

    found: FoundEnd
    error: Floats
    freedom: Floats
    n_axes: int
    taken: NDArray[np.bool_]

    @property
    def is_trusted(self) -> NDArray[np.bool_]:
        """Where enough rewards stand behind the end, at every level the worst is taken of.

        Read by ``ApproximateRules``.
        """
        rewards, never = self.found.rewards, self.found.rewards.rows == 0
        enough = np.minimum(rewards.successes, rewards.failures) >= LEAST_REWARDS
        enough &= self.freedom >= LEAST_FREEDOM
        inner = tuple(range(self.n_axes, enough.ndim))
        return np.asarray((enough | never).all(axis=inner))

    def find_ends(self, critical: float) -> Floats:
        """Find the lower end of every row, so many standard errors below the estimate.

        Called by ``_NearEnds.join`` once the number is known.
        """
        far = widen_for_freedom(critical, self.freedom)
        inner = tuple(range(self.n_axes, self.error.ndim))
        return np.asarray((self.found.value - far * self.error).min(axis=inner).clip(0, 1))

    def explain(
        self, place: Place, critical: float, counts: TermCounter, boxes: str | None
    ) -> EndSampling:
        """Say why chance moves the end at one row. Called by ``_NearEnds.explain``."""
        low = self.found.value - critical * self.error
        at = tuple(0 if n == 1 else i for i, n in zip(place, low.shape, strict=False))
        worst = low[at]
        levels = np.unravel_index(int(worst.argmin()), worst.shape) if worst.ndim else ()
        return explain_end(self.found, (*place, *map(int, levels)), counts, boxes)

    def list_claims(self, critical: float) -> Claims:
        """List the rows the rule has a claim on, each at the worst level of its choices.

        Called by ``ApproximateRules`` for how ends move together.
        """
        low = self.found.value - critical * self.error
        rows, inner = low.shape[: self.n_axes], low.shape[self.n_axes :]
        worst = low.reshape(*rows, -1).argmin(axis=-1)
        places = np.argwhere(np.broadcast_to(self.taken, rows))
        levels = np.unravel_index(worst[tuple(places.T)], inner) if inner else ()
        joined = np.column_stack([places, *levels]) if inner else places
        return Claims(self.found.derivatives, self.found.rows, joined)


EndPair: TypeAlias = tuple[RuleEnd, RuleEnd]
"""The lower end of a rule, and the upper one as a lower end of failures."""


@final
class ApproximateRules:
    """The rules of a plan that are formulas, written flat, and shares of the ``error``."""

    def __init__(self, plan: BoundPlan, evidence: BoundEvidence, error: float) -> None:
        self.plan, self.error = plan, error
        workspace = evidence.evaluator.workspace
        self.counts = TermCounter(evidence.rewards, evidence.population, workspace)
        self.lines = LineInfluence(self.counts)
        self.flat = self._choose_formulas()

    def _choose_formulas(self) -> Mapping[str, FlatRule]:
        """Choose the rules to take by this method: the best that are formulas, each once.

        Where some leave nothing unknown, only those. Rewards have no say in it. Called by
        ``ApproximateRules.__init__``.
        """
        found, seen = dict[str, FlatRule](), set[object]()
        levels = self.counts.levels
        for planned in sorted(self.plan.rules, key=lambda each: rank_rule(each.rule, levels)):
            try:
                flat = flatten_rule(planned.rule, levels)
            except FORMULA_FAULTS:
                continue
            if flat is not None and (key := flat.identity) not in seen:
                seen.add(key)
                found[planned.record.name] = flat
        best = {name: flat for name, flat in found.items() if not flat.unknown} or found
        beaten = {
            name for name, one in best.items() if any(map(one.is_beaten_by, best.values()))
        }
        kept = [name for name in best if name not in beaten][:MOST_FORMULAS]
        return {name: best[name] for name in kept}

    @property
    def exact_error(self) -> float:
        """How much of the error exact ends get: by the rules alone, no count has a say in it.

        Nothing where rows belong together, for which no exact ends are known. Read by
        ``_approximate``, which makes them.
        """
        if self.lines.is_clustered:
            return 0.0
        if not self.flat:
            return self.error
        return self.error * (MIXED_SHARE if self.is_mixed else EXACT_SHARE)

    @property
    def is_mixed(self) -> bool:
        """Whether a rule that is tried with a confidence may be nearer than all formulas.

        Read by ``ApproximateRules.exact_error`` and ``ApproximateRules.find``.
        """
        if any(not flat.unknown for flat in self.flat.values()):
            return False
        tried = choose_rules(self.plan, self.counts.levels).rules
        others = (each.rule for each in tried if each.record.name not in self.flat)
        return not all(map(_is_settled, others))

    def add_formulas(self, tried: BoundPlan) -> BoundPlan:
        """Add the rules taken by this method to those tried otherwise, in the plan's order.

        Called by ``_approximate``.
        """
        names = {each.record.name for each in tried.rules} | self.flat.keys()
        kept = tuple(each for each in self.plan.rules if each.record.name in names)
        return replace(self.plan, rules=kept)

    def find(
        self,
        exact: EndFinder | None,
        tried: Sequence[PlannedRule],
        rules: Sequence[PlannedRule],
        shape: Sequence[int],
        told: Told,
    ) -> tuple[list[Ends], tuple[Note, ...]]:
        """Find the ends of rules in their order: near ones, and exact ones where rows are few.

        ``exact`` finds the exact ends of the rules that are ``tried`` so; with None there are
        no such ends, and rows with few rewards may be anything. Used by ``_approximate`` as the
        finder of a trial.
        """
        near, notes = self._find_near(shape, told)
        sure = np.zeros(shape, dtype=bool)
        for each in near.values():
            sure |= each.is_trusted
        ends = dict[str, Ends]()
        if exact is not None and (self.is_mixed or not sure.all()):
            found, more = exact(tried, shape, told)
            names = (each.record.name for each in tried)
            ends, notes = dict(zip(names, found, strict=True)), [*notes, *more]
        nothing = Ends(np.zeros(shape), np.ones(shape))
        for name, each in near.items():
            ends[name] = each.join(ends.get(name, nothing))
        doubt = _note_doubted(sure, exact is not None) if self.flat else []
        return [ends.get(each.record.name, nothing) for each in rules], (*notes, *doubt)

    def _find_near(
        self, shape: Sequence[int], told: Told
    ) -> tuple[dict[str, "_NearEnds"], list[Note]]:
        """Find the ends of every formula, as many standard errors away as all of them need.

        Called by ``ApproximateRules.find``.
        """
        found, refused = self._measure_all(told)
        if any(not flat.unknown for flat in self.flat.values()):
            found = _take_narrowest(found)
        if not found:
            return {}, refused
        critical = self._find_critical(found.values())
        near = {
            name: _NearEnds(*both, self.counts, critical, tuple(shape))
            for name, both in found.items()
        }
        return near, refused

    def _measure_all(self, told: Told) -> tuple[dict[str, EndPair], list[Note]]:
        """Measure both ends of every rule that is a formula; name those that do not fit.

        Called by ``ApproximateRules._find_near``.
        """
        found, refused = dict[str, EndPair](), list[Note]()
        for done, (name, flat) in enumerate(self.flat.items()):
            told(f"measure {name}", done, len(self.flat))
            try:
                found[name] = self._measure(name, flat)
            except LIMITS:
                refused.append(f"the rule {name!r} was too large to approximate")
            except FORMULA_FAULTS:
                continue
        return found, refused

    def _measure(self, name: str, flat: FlatRule) -> EndPair:
        """Measure both ends of one rule. Called by ``ApproximateRules._measure_all``."""
        rule = next(each.rule for each in self.plan.rules if each.record.name == name)
        form = find_form(rule, self.plan.graph)
        apart = isinstance(form, LevelForm) and form.n_folds == 1
        n_claims = 2 * int(np.prod([flat.levels[axis] for axis in flat.axes]))
        finder = FormulaEnds(flat, self.counts, (self.error - self.exact_error) / n_claims)
        lower, upper = (finder.find(upper=end) for end in (False, True))
        return (
            self._make_end(flat, lower, apart=apart),
            self._make_end(flat, upper, apart=apart),
        )

    def _make_end(self, flat: FlatRule, found: FoundEnd, *, apart: bool) -> RuleEnd:
        """Find the standard errors of an end, term by term or of all terms together.

        Called by ``ApproximateRules._measure``.
        """
        variance, freedom = found.variance.smoothed, found.variance.freedom
        if self.lines.is_clustered or not apart:
            shape = found.value.shape
            places = np.argwhere(np.ones(shape, dtype=bool))
            n_sums = len(places) * self.lines.n_sums
            if n_sums > MOST_INFLUENCES:
                raise TooLarge(found.rows, n_sums, MOST_INFLUENCES)
            claims = Claims(found.derivatives, found.rows, places)
            joint, of_clusters = self.lines.find_variances(claims)
            variance = joint.reshape(shape) + found.variance.cushion
            freedom = np.minimum(freedom, of_clusters.reshape(shape))
        taken = np.ones(found.value.shape[: len(flat.axes)], dtype=bool)
        error = np.sqrt(np.maximum(variance, 0))
        return RuleEnd(found, error, freedom, len(flat.axes), taken)

    def _find_critical(self, found: Iterable[EndPair]) -> float:
        """Find how many standard errors all ends keep from their estimates.

        Called by ``ApproximateRules._find_near``.
        """
        error = self.error - self.exact_error
        ends = [end for both in found for end in both]
        n_claims = sum(int(end.taken.sum()) for end in ends)
        critical = find_bonferroni(error, n_claims)
        if n_claims > MOST_CLAIMS or n_claims**2 * self.lines.n_sums > MOST_PRODUCTS:
            return critical
        claims = [end.list_claims(critical) for end in ends]
        return find_critical(error, self.lines.find_covariance(claims), n_claims)


def _take_narrowest(found: Mapping[str, EndPair]) -> dict[str, EndPair]:
    """Keep at each row the one rule that promises most, by numbers of rows alone.

    All estimate the same number; rewards must have no say in which is taken. Called by
    ``ApproximateRules._find_near`` for rules that leave nothing unknown.
    """
    if len(found) < 2:
        return dict(found)
    promised = []
    for lower, _ in found.values():
        rewards = lower.found.rewards
        promised.append(rewards.unseen + np.sqrt(1 / np.maximum(rewards.rows, 1e-9)))
    best = np.stack(np.broadcast_arrays(*promised)).argmin(axis=0)
    return {
        name: (replace(lower, taken=best == i), replace(upper, taken=best == i))
        for i, (name, (lower, upper)) in enumerate(found.items())
    }


def _is_settled(rule: BoundRule) -> bool:
    """Tell whether a rule is hardly ever nearer than the chains of the same plan.

    So is a sum of c-factors, and a reweighting that only tables limit. Their exact ends make do
    with a small share of the error. Called by ``ApproximateRules.is_mixed``.
    """
    if isinstance(rule, Chain | Factorization):
        return True
    supposed = rule.reweightings
    return bool(supposed) and not any(each.facts for each in supposed)


def _note_doubted(sure: NDArray[np.bool_], exact: bool) -> list[Note]:  # noqa: FBT001
    """Write a note on how many rows of a table are not approximate after all.

    Called by ``ApproximateRules.find``.
    """
    doubted = int((~sure).sum())
    if not doubted:
        return []
    least = int(LEAST_REWARDS)
    instead = "their ends are exact" if exact else "nothing is said of them"
    return [
        f"{doubted:,} of {sure.size:,} rows have fewer than {least} successes or failures that "
        f"count, or too few rows, for an approximation: {instead}"
    ]


@final
class _NearEnds:
    """Both ends of a rule at so many standard errors, and where they are trusted."""

    def __init__(
        self,
        lower: RuleEnd,
        upper: RuleEnd,
        counts: TermCounter,
        critical: float,
        shape: tuple[int, ...],
    ) -> None:
        self.ends, self.counts = (lower, upper), counts
        self.critical, self.shape = critical, shape
        sure = lower.is_trusted & upper.is_trusted & lower.taken & upper.taken
        self.is_trusted: NDArray[np.bool_] = np.broadcast_to(sure, shape)

    def join(self, exact: Ends) -> Ends:
        """Replace exact ends by nearer ones where these are trusted.

        Called by ``ApproximateRules.find``.
        """
        sure = self.is_trusted
        low, high = (
            np.broadcast_to(end.find_ends(self.critical), self.shape) for end in self.ends
        )
        return replace(
            exact,
            lower=np.where(sure, np.maximum(low, exact.lower), exact.lower),
            upper=np.where(sure, np.minimum(1 - high, exact.upper), exact.upper),
            sampling=self.explain,
        )

    def explain(self, place: Place, upper: bool) -> EndSampling | None:  # noqa: FBT001
        """Say why chance moves an end at one row. Used by ``_NearEnds.join`` for its ends."""
        boxes = None if self.is_trusted[place] else TOO_FEW
        return self.ends[upper].explain(place, self.critical, self.counts, boxes)
