"""Which rules of a plan are bounded by claims, decided before any row is read.

A rule that is a sum of levels, a ratio of two or a program has claims: one exponent for a whole
end. Where a condition fails, each cell gets an interval of its own, a box, and the table says
which condition. A plan without any sum is left to boxes altogether: for the least of some cells
nothing is gained by a claim.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, TypeAlias

from boundit.bounds.choose_rules import rank_rule
from boundit.bounds.claims.level_form import LevelForm, RatioForm, Unmet, find_form
from boundit.bounds.claims.programs.dual_vectors import may_pool
from boundit.bounds.claims.programs.program_form import ProgramForm, find_program_form
from boundit.bounds.claims.read_ratio import merge_levels
from boundit.bounds.claims.selection.selection_form import (
    SelectionForm,
    find_selection_form,
    is_stated,
)
from boundit.bounds.plan import BoundPlan, PlannedRule
from boundit.bounds.rules.factorization import Factorization
from boundit.bounds.rules.natural import NaturalBounds
from boundit.bounds.rules.nested_chain import NestedChain
from boundit.bounds.rules.response_program import ResponseProgram
from boundit.bounds.rules.reweighted_chain import ReweightedChain
from boundit.bounds.rules.reweighted_nested_chain import ReweightedNestedChain
from boundit.bounds.rules.reweighted_types import ReweightedTypes
from boundit.bounds.rules.rule import BoundRule
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.names import Nodes

BOX_SHARE: Final = 0.05
"""Which part of the error boxes get beside claims."""
RIVAL_SHARE: Final = 0.5
"""Which part they get where a rule without claims may be the best."""
SELECTION_SHARE: Final = 0.7
"""Which part they get beside claims on a reweighted log, where they also compare arms."""
CONTRAST_SHARE: Final = 0.05
"""Which part of the error claims on differences of arms get, where there are any."""
FEW_ROWS: Final = 500
"""With fewer rows boxes get all of the error, if no row of the table reads many cells."""
FEW_CELLS: Final = 4
MOST_CANDIDATES: Final = 12
"""How many rules the pilot ranks."""

LEARNED: Final = "rows that a policy chose while it learned hang on each other"

Form: TypeAlias = LevelForm | RatioForm | ProgramForm | SelectionForm


@dataclass(frozen=True, slots=True)
class ClaimRule:
    """A planned rule and the sum of levels that it computes."""

    planned: PlannedRule
    form: Form

    @property
    def is_sum(self) -> bool:
        """Whether there is anything to add up, so that a claim beats boxes."""
        return not isinstance(self.form, LevelForm) or len(self.form.levels) > 1

    @property
    def has_multipliers(self) -> bool:
        """Whether the pilot has multipliers of a program to choose."""
        if isinstance(self.form, ProgramForm):
            return not self.form.program.is_natural
        return isinstance(self.form, SelectionForm)

    @property
    def takes_arms(self) -> bool:
        """Whether it reads no reward of a reweighted log but with arms as they came."""
        return not isinstance(self.form, SelectionForm) or bool(self.form.chosen)

    def has_many_cells(self, levels: Mapping[str, int]) -> bool:
        """Tell whether cells of a reweighted log are so many that a claim beats their boxes."""
        return not isinstance(self.form, SelectionForm) or self.form.has_many_cells(levels)

    @property
    def reads(self) -> Nodes:
        """The axes of the table that its value hangs on.

        Rows that do not differ in them are one claim.
        """
        if isinstance(self.form, SelectionForm):
            return self.form.reads
        form = self.form if isinstance(self.form, LevelForm) else self.form.form
        named = frozenset[str]().union(*(level.of | level.given for level in form.levels))
        if isinstance(self.form, ProgramForm):
            named |= frozenset(self.form.place)
        return named & frozenset(form.axes)

    def is_part_of(self, other: "ClaimRule") -> bool:
        """Tell whether the claims of another rule include this one's: natural bounds.

        A program with instruments has those of all rows together among its multipliers. Natural
        bounds of strata, summed, are those of all rows together, which count rows at once.
        """
        if not (isinstance(self.form, ProgramForm) and isinstance(other.form, ProgramForm)):
            return False
        own, wider = self.form.program, other.form.program
        alike = (
            self.form.pooled_place == other.form.place
            and own.set_by_hand == wider.set_by_hand
            and own.asked.outcomes == wider.asked.outcomes
            and own.asked.selected == wider.asked.selected
        )
        return (
            alike
            and own.is_natural
            and not other.form.summed
            and self.form.law.logged == other.form.law.logged
            and (bool(self.form.summed) if wider.is_natural else may_pool(wider))
        )

    def count_cells(self, levels: Mapping[str, int]) -> int:
        """Count the cells that a row of the table reads, at most."""
        if isinstance(self.form, SelectionForm):
            return prod(levels[name] for name in self.form.cell_axes)
        form = self.form if isinstance(self.form, LevelForm) else self.form.form
        columns = {
            name: column for each in form.levels for name, column in each.columns.items()
        }
        return prod(levels[columns.get(name, name)] for name in (*form.drawn, *form.worst))


@dataclass(frozen=True, slots=True)
class ClaimPlan:
    """The rules that are bounded by claims, and why others are not."""

    rules: tuple[ClaimRule, ...]
    unmet: Mapping[str, str]

    @property
    def has_multipliers(self) -> bool:
        """Whether the pilot has multipliers of a program to choose, for some rule."""
        return any(each.has_multipliers for each in self.rules)

    @property
    def names(self) -> frozenset[str]:
        """The names of the rules with claims."""
        return frozenset(each.planned.record.name for each in self.rules)

    def share_with(self, boxed: BoundPlan) -> float:
        """Tell which part of the error boxes get, by the graph alone.

        Little, unless a rule that has nothing but boxes may be the best: then so much that its
        intervals are hardly wider than if all of it were theirs. A factorization with a lost
        factor never is. Most of it, beside claims on a reweighted log: there boxes are nearly
        as good on few cells, and compare arms.
        """
        if any(isinstance(each.form, SelectionForm) for each in self.rules):
            return SELECTION_SHARE
        known = any(not each.planned.rule.n_unknown for each in self.rules)
        rivals = (planned.rule for planned in boxed.rules if planned.record.name in self.unmet)
        lost = (isinstance(rule, Factorization) and rule.n_unknown > 0 for rule in rivals)
        return BOX_SHARE if known or all(lost) else RIVAL_SHARE


def find_forms(plan: BoundPlan, *, numeric: bool = False) -> dict[str, Form | Unmet]:
    """Find by name what each rule of a plan computes, or why no claims can be made of it.

    ``numeric`` rewards are known by their sums alone.
    """
    return {
        planned.record.name: _find_allowed_form(planned.rule, plan, numeric=numeric)
        for planned in plan.rules
    }


def plan_claims(
    plan: BoundPlan,
    forms: Mapping[str, Form | Unmet],
    levels: Mapping[str, int],
    n_rows: float,
) -> ClaimPlan | None:
    """Find the rules of a plan that claims are made of; None if none of them is a sum.

    Rules that compute the same sum are one, and such as are not sound have no claims. Where
    some are sums of known laws alone, only such are kept: what is known exactly needs no rule
    that is worse at every number of rows; where no claim is made of what is known exactly,
    boxes get all of the error. A log of few rows in few cells has none to spare for a pilot.
    ``forms`` are what the rules compute.
    """
    if not plan.is_sound:
        return None
    ranked = sorted(plan.rules, key=lambda each: rank_rule(each.rule, levels))
    found, unmet = _sort_rules(ranked, forms)
    rivals = [planned.rule for planned in plan.rules if planned.record.name in unmet]
    found = _keep_worthwhile(found, rivals, levels)
    if not any(each.is_sum for each in found):
        return None
    kept = _keep_known(found)
    known = any(_is_known(rule) for rule in rivals)
    if known and kept[0].planned.rule.n_unknown:
        return None
    if n_rows < FEW_ROWS and all(each.count_cells(levels) <= FEW_CELLS for each in kept):
        return None
    return ClaimPlan(tuple(kept[:MOST_CANDIDATES]), unmet)


def _keep_worthwhile(
    found: list[ClaimRule], rivals: Sequence[BoundRule], levels: Mapping[str, int]
) -> list[ClaimRule]:
    """Drop claims on a reweighted log where boxes do as well: on few cells, or by a rival.

    Natural bounds are worse at every law than another rule on that log, unless the law of the
    reward itself is read off it.
    """
    kept = [each for each in found if each.has_many_cells(levels)]
    laws = (law for rule in rivals for law in rule.reweightings)
    if not any(map(is_stated, laws)) or not all(each.takes_arms for each in kept):
        return kept
    return [each for each in kept if not isinstance(each.form, SelectionForm)]


def _keep_known(found: Sequence[ClaimRule]) -> list[ClaimRule]:
    """Keep rules of known laws alone if there are any, and none that is part of another."""
    known = [each for each in found if _is_known(each.planned.rule)] or found
    return [each for each in known if not any(each.is_part_of(other) for other in known)]


def _is_known(rule: BoundRule) -> bool:
    """Tell whether all laws of a rule are known, none of them up to weights or a limit."""
    return not (rule.n_unknown or rule.reweightings or rule.confounding_limits)


def _sort_rules(
    rules: Iterable[PlannedRule], forms: Mapping[str, Form | Unmet]
) -> tuple[list[ClaimRule], dict[str, str]]:
    """Sort rules into those with claims, each sum once, and reasons why others have none."""
    found, unmet = list[ClaimRule](), dict[str, str]()
    for planned in rules:
        form = forms[planned.record.name]
        if isinstance(form, Unmet):
            unmet[planned.record.name] = form.reason
        elif all(form != other.form for other in found):
            found.append(ClaimRule(planned, form))
    return found, unmet


def _find_allowed_form(rule: BoundRule, plan: BoundPlan, *, numeric: bool) -> Form | Unmet:
    """Find what a rule computes, if the reward allows for claims on it."""
    form = _find_any_form(rule, plan.graph)
    if numeric and not isinstance(form, Unmet):
        return _require_sums(form, plan.query.outcomes[0])
    return form


def explain_boxes(
    plan: BoundPlan, forms: Mapping[str, Form | Unmet], *, adaptive: bool
) -> dict[str, str]:
    """Say of each rule that can have no claims why its cells have intervals of their own.

    Tables tell it.
    """
    names = [planned.record.name for planned in plan.rules]
    if adaptive:
        return dict.fromkeys(names, LEARNED)
    found = {name: forms[name] for name in names}
    return {name: form.reason for name, form in found.items() if isinstance(form, Unmet)}


def _require_sums(form: Form, outcome: str) -> Form | Unmet:
    """Refuse a form that needs more of a numeric reward than its sums.

    They cannot be cut into folds: the value would be read off rows of which other columns were
    revealed, although these tell of the reward.
    """
    if isinstance(form, SelectionForm):
        return Unmet(f"a reweighted law, while {outcome} has more than two values")
    inner = form if isinstance(form, LevelForm) else form.form
    if isinstance(form, ProgramForm):
        return Unmet(f"a program, while {outcome} has more than two values")
    if inner.n_folds > 1:
        return Unmet(f"sums of {outcome} cannot be cut into folds")
    if any(outcome in level.term.free for level in inner.levels[:-1]):
        return Unmet(f"{outcome} is read twice, and is not 0/1")
    return form


def _find_any_form(rule: BoundRule, graph: CausalGraph) -> Form | Unmet:
    """Find what a rule computes: a sum, a ratio of sums, or a sum that ends in a program."""
    if isinstance(rule, NestedChain) and isinstance(rule.core, ResponseProgram):
        return find_program_form(rule, graph)
    reweighted = ReweightedChain | ReweightedNestedChain | NaturalBounds | ReweightedTypes
    if isinstance(rule, reweighted):
        return find_selection_form(rule)
    form = find_form(rule, graph)
    return merge_levels(form) if isinstance(form, RatioForm) else form
