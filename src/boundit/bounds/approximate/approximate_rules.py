"""Ends of all rules of a plan by the normal law of large logs.

A rule that is a formula is as far off as its influence function says. Rules of other kinds keep
exact ends: they hold at once, with a share of the error that no count has a say in.

A row that has too little behind it for that, or that would not be narrower, is as the exact
method alone has it, at the whole error. Of R rows each has about 1/R of the error by either
method, and each is taken by one of them: where counts settle by which, all still miss with the
chance of the error. Where rewards do, a row may miss by both; but the exact method hardly ever
uses its error up, and a part is left over of that of the other.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.approximate.critical import (
    find_bonferroni,
    find_critical,
)
from boundit.bounds.approximate.cross_fit import CrossFit, CrossFitEnds
from boundit.bounds.approximate.flat_formula import TooManyTerms
from boundit.bounds.approximate.flat_rule import FlatRule, flatten_rule
from boundit.bounds.approximate.formula_ends import FormulaEnds
from boundit.bounds.approximate.influences import LineInfluence
from boundit.bounds.approximate.multipliers import find_multipliers
from boundit.bounds.approximate.rule_end import (
    LEAST_REWARDS,
    TOO_FEW,
    EndPair,
    RuleEnd,
    make_rule_end,
)
from boundit.bounds.approximate.term_counts import RewardBehindTheBar, TermCounter
from boundit.bounds.choose_rules import choose_rules, rank_rule
from boundit.bounds.claims.level_form import LevelForm, find_form
from boundit.bounds.evidence import BoundEvidence
from boundit.bounds.numbers import AnyProof, Ends, PlugInNumbers
from boundit.bounds.plan import BoundPlan, PlannedRule
from boundit.bounds.proof import Place
from boundit.bounds.refusals import LIMITS
from boundit.bounds.rules.factorization import Factorization
from boundit.bounds.rules.rule import BoundRule
from boundit.bounds.try_rules import EndFinder
from boundit.counts.formulas.errors import CannotEvaluate
from boundit.counts.named_array import Floats
from boundit.terms.long_work import Progress
from boundit.terms.message import Note
from boundit.terms.sampling import EndSampling

EXACT_SHARE = 1 / 20
"""How much of the error is left for rows that are not approximate, where rules are formulas."""
MIXED_SHARE = 1 / 2
"""How much they get where some rules have no ends but exact ones."""
MOST_PROGRAMS = 6
"""Among how many programs half of the rows choose for the other half."""
MOST_CLAIMS = 300
MOST_PRODUCTS = 4e8
"""Up to how many ends, and products of influences, ends are drawn together."""
MOST_FORMULAS = 3
"""How many rules that leave something unknown have claims on one end."""
NO_WIDER = "it is no wider here"
NO_WIDER_ROWS = "rows are no wider by the exact method: their ends are exact"
NO_FORMULA = "no rule here gains by an approximation, so all ends are exact"
FORMULA_FAULTS = (TooManyTerms, RewardBehindTheBar, CannotEvaluate)


@final
class ApproximateRules:
    """The rules of a plan that are formulas, written flat, and shares of the ``error``."""

    def __init__(self, plan: BoundPlan, evidence: BoundEvidence, error: float) -> None:
        self.plan, self.evidence, self.error = plan, evidence, error
        workspace = evidence.evaluator.workspace
        self.counts = TermCounter(evidence.rewards, evidence.population, workspace)
        self.lines = LineInfluence(self.counts)
        self.flat = self._choose_formulas()

    def _choose_formulas(self) -> Mapping[str, FlatRule]:
        """Choose the rules to take by this method: the best that are formulas, each once.

        Where some leave nothing unknown, only those. Rewards have no say in it.
        """
        found = self._flatten_rules()
        best = {name: flat for name, flat in found.items() if flat.is_known} or found
        programs = [name for name, flat in best.items() if self._may_fit(flat)]
        others = [name for name, flat in best.items() if self._is_worth(flat, best)]
        kept = {*others[:MOST_FORMULAS], *programs[:MOST_PROGRAMS]}
        return {name: flat for name, flat in best.items() if name in kept}

    def _is_worth(self, flat: FlatRule, best: Mapping[str, FlatRule]) -> bool:
        """Tell whether a formula is taken by this method: neither beaten nor better exact."""
        beaten = any(map(flat.is_beaten_by, best.values()))
        exact = flat.is_extreme and not self.lines.is_clustered
        return not (beaten or flat.has_choice or exact)

    def _flatten_rules(self) -> dict[str, FlatRule]:
        """Write flat what can be, the likeliest rules first, each formula once."""
        found, seen = dict[str, FlatRule](), set[object]()
        levels = self.counts.levels
        for planned in sorted(self.plan.rules, key=lambda each: rank_rule(each.rule, levels)):
            flat = self._try_flat(planned.rule)
            if flat is not None and (key := flat.identity) not in seen:
                seen.add(key)
                found[planned.record.name] = flat
        return found

    def _try_flat(self, rule: BoundRule) -> FlatRule | None:
        """Write a rule flat, or return None where that cannot be."""
        try:
            return flatten_rule(rule, self.counts.levels)
        except FORMULA_FAULTS:
            return None

    def _may_fit(self, flat: FlatRule) -> bool:
        """Tell whether a rule is a program whose multipliers can be chosen on half of the rows.

        Rows that belong together, and sums of rewards that are not 0/1, cannot be taken apart.
        """
        return flat.has_choice and self.evidence.rewards.binary and not self.lines.is_clustered

    @property
    def exact_error(self) -> float:
        """How much of the error exact ends get: by the rules alone, no count has a say in it.

        Nothing where rows belong together, for which no exact ends are known.
        """
        if self.lines.is_clustered:
            return 0.0
        if not self.flat:
            return self.error
        return self.error * (MIXED_SHARE if self.is_mixed else EXACT_SHARE)

    @property
    def is_mixed(self) -> bool:
        """Whether a rule that is tried with a confidence may be nearer than all formulas."""
        if any(flat.is_known for flat in self.flat.values()):
            return False
        tried = choose_rules(self.plan, self.counts.levels).rules
        return not all(self._is_settled(each.rule) for each in tried)

    def _is_settled(self, rule: BoundRule) -> bool:
        """Tell whether a rule is hardly ever nearer than those taken by this method.

        So is one of them, one that they beat, a sum of c-factors, and a reweighting that only
        tables limit. Their exact ends make do with a small share of the error.
        """
        if isinstance(rule, Factorization):
            return True
        if supposed := rule.reweightings:
            return not any(each.facts for each in supposed)
        flat = self._try_flat(rule)
        if flat is None:
            return False
        if flat.has_choice:
            return any(each.has_choice for each in self.flat.values())
        return not flat.is_extreme or any(map(flat.is_beaten_by, self.flat.values()))

    def add_formulas(self, tried: Iterable[PlannedRule]) -> BoundPlan:
        """Add the rules taken by this method to those tried otherwise, in the plan's order."""
        names = {each.record.name for each in tried} | self.flat.keys()
        kept = tuple(each for each in self.plan.rules if each.record.name in names)
        return replace(self.plan, rules=kept)

    def find(
        self,
        exact: EndFinder | None,
        tried: Sequence[PlannedRule],
        rules: Sequence[PlannedRule],
        shape: Sequence[int],
        progress: Progress,
        *,
        whole: EndFinder | None,
        alone: Sequence[PlannedRule],
    ) -> tuple[list[Ends], tuple[Note, ...]]:
        """Find the ends of rules in their order: near ones, and exact ones where rows are few.

        ``exact`` finds the exact ends of the rules that are ``tried`` so, to stand beside near
        ones; ``whole`` those of the rules that the exact method would try ``alone``, at the
        whole error. With None there are no such ends, and rows with few rewards may be
        anything.
        """
        near, notes = self._find_near(shape, progress)
        sure = np.zeros(shape, dtype=bool)
        for each in near.values():
            sure |= each.is_trusted
        ends, nothing = dict[str, Ends](), Ends(np.zeros(shape), np.ones(shape))
        if exact is not None and self.is_mixed:
            ends, more = _find_by_name(exact, tried, shape, progress)
            notes = [*notes, *more]
        for name, each in near.items():
            ends[name] = each.join(ends.get(name, nothing))
        taken = np.zeros(shape, dtype=bool)
        if whole is not None:
            others, more = _find_by_name(whole, alone, shape, progress)
            taken = _find_width(others.values(), nothing) <= _find_width(ends.values(), nothing)
            names = [each.record.name for each in rules]
            ends = {
                name: _mix(taken, others.get(name, nothing), ends.get(name, nothing))
                for name in names
            }
            notes = [*notes, *more]
        doubt = _note_doubted(sure, taken, whole is not None) if self.flat else [NO_FORMULA]
        found = [ends.get(each.record.name, nothing) for each in rules]
        return found, tuple(dict.fromkeys((*notes, *doubt)))

    def _find_near(
        self, shape: Sequence[int], progress: Progress
    ) -> tuple[Mapping[str, "_NearEnds | CrossFitEnds"], list[Note]]:
        """Find the ends of every formula, as many standard errors away as all of them need."""
        if any(flat.has_choice for flat in self.flat.values()):
            return self._cross_fit(shape, progress)
        found, refused = self._measure_all(progress)
        if any(flat.is_known for flat in self.flat.values()):
            found = _take_narrowest(found, self.plan.query.outcomes[0])
        if not found:
            return {}, refused
        critical = self._find_critical(found.values())
        near = {
            name: _NearEnds(*both, self.counts, critical, tuple(shape))
            for name, both in found.items()
        }
        return near, refused

    def _cross_fit(
        self, shape: Sequence[int], progress: Progress
    ) -> tuple[dict[str, CrossFitEnds], list[Note]]:
        """Let half of the rows choose rules and multipliers for the other half."""
        progress("choose on half of the rows", 0, 1)
        try:
            fit = CrossFit(self.flat, self.evidence, self.error - self.exact_error)
            return fit.find(shape), []
        except LIMITS:
            return {}, ["the programs were too large to approximate"]
        except FORMULA_FAULTS:
            return {}, []

    def _measure_all(self, progress: Progress) -> tuple[dict[str, EndPair], list[Note]]:
        """Measure both ends of every rule that is a formula; name those that do not fit."""
        found, refused = dict[str, EndPair](), list[Note]()
        for done, (name, flat) in enumerate(self.flat.items()):
            progress(f"measure {name}", done, len(self.flat))
            try:
                found[name] = self._measure(name, flat)
            except LIMITS:
                refused.append(f"the rule {name!r} was too large to approximate")
            except FORMULA_FAULTS:
                continue
        return found, refused

    def _measure(self, name: str, flat: FlatRule) -> EndPair:
        """Measure both ends of one rule."""
        rule = next(each.rule for each in self.plan.rules if each.record.name == name)
        form = find_form(rule, self.plan.graph)
        apart = isinstance(form, LevelForm) and form.n_folds == 1
        n_claims = 2 * int(np.prod([flat.levels[axis] for axis in flat.axes]))
        multipliers = None
        if flat.program is not None:
            numbers = PlugInNumbers(self.evidence.evaluator)
            multipliers = find_multipliers(flat.program, numbers, 1.0)
        error = (self.error - self.exact_error) / n_claims
        finder = FormulaEnds(flat, self.counts, error, multipliers)
        lower, upper = (finder.find(upper=end) for end in (False, True))
        return (
            make_rule_end(lower, len(flat.axes), self.lines, apart=apart),
            make_rule_end(upper, len(flat.axes), self.lines, apart=apart),
        )

    def _find_critical(self, found: Iterable[EndPair]) -> float:
        """Find how many standard errors all ends keep from their estimates."""
        error = self.error - self.exact_error
        ends = [end for both in found for end in both]
        n_claims = sum(int(end.taken.sum()) for end in ends)
        critical = find_bonferroni(error, n_claims)
        if n_claims > MOST_CLAIMS or n_claims**2 * self.lines.n_sums > MOST_PRODUCTS:
            return critical
        claims = [end.list_claims(critical) for end in ends]
        return find_critical(error, self.lines.find_covariance(claims), n_claims)


def _take_narrowest(found: Mapping[str, EndPair], outcome: str) -> dict[str, EndPair]:
    """Keep at each row the one rule that promises most, by numbers of rows alone.

    All estimate the same number; rewards must have no say in which is taken.
    """
    if len(found) < 2:
        return dict(found)
    promised = [lower.found.promise_width(outcome) for lower, _ in found.values()]
    best = np.stack(np.broadcast_arrays(*promised)).argmin(axis=0)
    return {
        name: (replace(lower, taken=best == i), replace(upper, taken=best == i))
        for i, (name, (lower, upper)) in enumerate(found.items())
    }


def _find_by_name(
    finder: EndFinder, rules: Sequence[PlannedRule], shape: Sequence[int], progress: Progress
) -> tuple[dict[str, Ends], tuple[Note, ...]]:
    """Find the ends of rules, by the names of these."""
    found, notes = finder(rules, shape, progress)
    names = (each.record.name for each in rules)
    return dict(zip(names, found, strict=True)), notes


def _find_width(ends: Iterable[Ends], nothing: Ends) -> Floats:
    """Find how wide every row is by all rules together."""
    every = [nothing, *ends]
    upper = np.min([each.upper for each in every], axis=0)
    return np.asarray(upper - np.max([each.lower for each in every], axis=0))


def _mix(taken: NDArray[np.bool_], exact: Ends, near: Ends) -> Ends:
    """Take the ends of a rule from the exact method at some rows, and near ones at others."""

    def explain(place: Place, upper: bool) -> EndSampling | None:  # noqa: FBT001
        told = near.sampling(place, upper) if near.sampling else None
        if not taken[place] or (told and told.boxes):
            return told
        if told:
            return replace(told, boxes=NO_WIDER)
        return exact.sampling(place, upper) if exact.sampling else None

    def prove(place: Place, upper: bool) -> AnyProof | None:  # noqa: FBT001
        proof = exact.proof if taken[place] else near.proof
        return proof(place, upper) if proof else None

    return Ends(
        np.where(taken, exact.lower, near.lower),
        np.where(taken, exact.upper, near.upper),
        exact.empty if near.empty is None else near.empty,
        prove if exact.proof or near.proof else None,
        (*exact.notes, *near.notes),
        explain,
    )


def _note_doubted(
    sure: NDArray[np.bool_],
    taken: NDArray[np.bool_],
    exact: bool,  # noqa: FBT001
) -> list[Note]:
    """Write notes on how many rows of a table are not approximate after all."""
    doubted, narrow, said = int((~sure).sum()), int((sure & taken).sum()), list[Note]()
    if doubted:
        instead = "their ends are exact" if exact else "nothing is said of them"
        said.append(
            f"{doubted:,} of {sure.size:,} rows have fewer than {int(LEAST_REWARDS)} successes "
            "or failures that count, too few rows, or rewards that vary too little, for an "
            f"approximation: {instead}"
        )
    if narrow:
        said.append(f"{narrow:,} of {sure.size:,} {NO_WIDER_ROWS}")
    return said


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
        """Replace exact ends by nearer ones where these are trusted."""
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
        """Say why chance moves an end at one row."""
        boxes = None if self.is_trusted[place] else TOO_FEW
        return self.ends[upper].explain(place, self.critical, self.counts, boxes)
