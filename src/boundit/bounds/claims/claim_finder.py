"""Ends of all rules of a plan by exact claims, the error shared out over rows and rules.

The unit of error is a claim: one end of one row. Each of the rows that differ has the chance
``a`` to miss on each side; where several rules bound a row, the one that the pilot expects to
be best gets four fifths of it and the next ones share the rest. Rows, rules and ends then hold
all at once. Cells keep intervals of their own, boxes, with little of the error: an end is the
better of both.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import log, prod
from typing import Final, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from boundit.bounds.claims.box_claims import BestClaims, may_use_boxes
from boundit.bounds.claims.cell_claims import CellClaims
from boundit.bounds.claims.claim_rules import ClaimPlan, ClaimRule
from boundit.bounds.claims.explain_claim import ClaimCells, ClaimRows
from boundit.bounds.claims.level_form import LevelForm, RatioForm, Unmet
from boundit.bounds.claims.numeric_claims import VARIANCES, NumericClaims, suppose_variances
from boundit.bounds.claims.pilot import (
    FOR_LOOKED,
    SplitSources,
    make_seed,
    make_streams,
    split_sources,
)
from boundit.bounds.claims.pilot_choice import RowChoice, RowClaims
from boundit.bounds.claims.programs.program_claims import ProgramClaims, make_program_claims
from boundit.bounds.claims.programs.program_form import ProgramForm
from boundit.bounds.claims.ratio_claims import RatioClaims, make_ratio_claims
from boundit.bounds.claims.read_form import FormReader, PilotNumbers, RestNumbers
from boundit.bounds.claims.selection.explain_selection import SelectionRows
from boundit.bounds.claims.selection.selection_claims import (
    SelectionClaims,
    make_selection_claims,
)
from boundit.bounds.claims.selection.selection_form import SelectionForm
from boundit.bounds.claims.sum_claims import SumClaims
from boundit.bounds.evidence import BoundEvidence
from boundit.bounds.numbers import Ends, Numbers
from boundit.bounds.plan import PlannedRule
from boundit.bounds.proof import Place
from boundit.bounds.refusals import LIMITS, note_refused
from boundit.bounds.try_rules import try_rules
from boundit.counts.named_array import Floats
from boundit.terms.long_work import Progress
from boundit.terms.message import Note
from boundit.terms.names import Nodes
from boundit.terms.sampling import EndSampling

BEST_SHARE: Final = 0.8
"""Which part of a row's error the rule gets that the pilot expects to be best."""
NARROWER: Final = "an interval of each cell was narrower than a claim on their sum"
MOST_TRIED: Final = 3
"""How many rules share the error of a row."""


@final
class ClaimCounts:
    """Counts for claims: log and tables split into pilot and rest, once for all of them.

    The pilot is ``larger`` where it has multipliers of programs to choose.
    """

    def __init__(self, evidence: BoundEvidence, *, larger: bool = False) -> None:
        self.evidence, self.numeric = evidence, evidence.is_numeric
        self._larger = larger
        self._variances = VARIANCES if self.numeric else (None,)
        self._splits: dict[int, SplitSources] = {}

    def read(self, form: LevelForm, rng: Generator) -> tuple[PilotNumbers, RestNumbers]:
        """Read the counts of a sum: those of the pilot, and the rest's with its rewards.

        Of a numeric reward the pilot supposes the first of some variances.
        """
        evaluator, sources = self.evidence.evaluator, self.split(form.n_folds)
        reader = FormReader.of(form, sources, evaluator.levels, evaluator.workspace)
        rest = reader.read_rest(rng, numeric=self.numeric)
        return reader.read_pilot(self._variances[0]), rest

    def read_ratio(self, ratio: RatioForm, rng: Generator) -> list[RatioClaims]:
        """Read the counts of a ratio, and make its claims."""
        evaluator, sources = self.evidence.evaluator, self.split(ratio.form.n_folds)
        levels, space = evaluator.levels, evaluator.workspace
        return make_ratio_claims(ratio, sources, levels, space, rng, self._variances)

    def read_program(self, program: ProgramForm, rng: Generator) -> ProgramClaims | Unmet:
        """Read the counts of a program, and make its claims unless it has too many types."""
        evaluator, sources = self.evidence.evaluator, self.split(program.form.n_folds)
        levels, space = evaluator.levels, evaluator.workspace
        return make_program_claims(program, sources, levels, space, rng)

    def read_selection(self, form: SelectionForm) -> SelectionClaims | Unmet:
        """Read the counts of a mean of the population, and make its claims unless it is large."""
        evaluator, sources = self.evidence.evaluator, self.split(1)
        return make_selection_claims(form, sources, evaluator.levels, evaluator.workspace)

    def make_streams(self, n_streams: int) -> list[Generator]:
        """Make random streams for the orders of bets, independent of the pilot's."""
        return make_streams((self.evidence.rewards, *self.evidence.population), n_streams)

    def split(self, n_folds: int) -> SplitSources:
        """Split log and tables into pilot and folds, once for each number of folds."""
        if n_folds not in self._splits:
            evidence = self.evidence
            self._splits[n_folds] = split_sources(
                evidence.rewards, evidence.population, n_folds=n_folds, larger=self._larger
            )
        return self._splits[n_folds]

    def look_further(self, names: Nodes, chance: float) -> SplitSources:
        """Let some columns of further rows choose, each row of the log with a chance.

        Every claim's value must be given these columns.
        """
        sources = (self.evidence.rewards, *self.evidence.population)
        rng = np.random.default_rng(make_seed(sources, FOR_LOOKED))
        self._splits[1] = self.split(1).look_at(names, chance, rng)
        return self._splits[1]


@final
class ClaimFinder:
    """Finds the ends of a plan's rules: by claims where they have any, and by boxes.

    ``error`` is the chance that any claim misses, or each row's; ``boxes`` are intervals of
    cells with an error of their own, which the rules named ``boxed`` read.
    """

    def __init__(
        self,
        plan: ClaimPlan,
        counts: ClaimCounts,
        error: float | Floats,
        boxes: Numbers,
        boxed: Collection[str],
    ) -> None:
        self.plan, self.counts, self.error = plan, counts, error
        self.boxes, self.boxed = boxes, frozenset(boxed)
        self.evidence = counts.evidence
        self._cells: dict[str, ClaimRows] = {}

    def find(
        self, rules: Sequence[PlannedRule], shape: Sequence[int], progress: Progress
    ) -> tuple[list[Ends], tuple[Note, ...]]:
        """Find both ends of every rule for all rows, in the order of ``rules``.

        ``_allow_for_chance`` hands it on to whatever intersects ends.
        """
        boxed = [each for each in rules if each.record.name in self.boxed]
        ends, notes = try_rules(self.boxes, boxed, shape, progress)
        by_name = dict(zip((each.record.name for each in boxed), ends, strict=True))
        progress("make claims", 0, 1)
        claims, refused = self._make_claims()
        sides = [self._bound_side(claims, refused, upper=upper) for upper in (False, True)]
        nothing = Ends(np.zeros(shape), np.ones(shape))
        for name in claims:
            whole = by_name.get(name, nothing)
            lower, upper = sides[0].get(name, whole.lower), sides[1].get(name, whole.upper)
            boxed_sides = (whole.lower > lower, whole.upper < upper)
            by_name[name] = replace(
                whole,
                lower=np.maximum(whole.lower, lower),
                upper=np.minimum(whole.upper, upper),
                sampling=self._explain_by(name, boxed_sides),
            )
        found = [by_name.get(each.record.name, nothing) for each in rules]
        return found, (*notes, *note_refused(refused))

    def find_among(
        self,
        alike: Sequence[PlannedRule],
        rules: Sequence[PlannedRule],
        shape: Sequence[int],
        progress: Progress,
    ) -> tuple[list[Ends], tuple[Note, ...]]:
        """Find both ends of the only rule by its claims, and by the boxes of rules alike."""
        others = [each for each in alike if each.record.name != rules[0].record.name]
        found, notes = self.find((*rules, *others), shape, progress)
        lower = np.max([each.lower for each in found], axis=0)
        upper = np.min([each.upper for each in found], axis=0)
        boxed_sides = (lower > found[0].lower, upper < found[0].upper)
        explain = self._explain_by(rules[0].record.name, boxed_sides)
        return [replace(found[0], lower=lower, upper=upper, sampling=explain)], notes

    def _explain_by(
        self, name: str, boxed: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    ) -> Callable[[Place, bool], EndSampling | None] | None:
        """Make what says why chance moves the ends of a rule; None if it has no claims."""
        cells = self._cells.get(name)
        return None if cells is None else partial(_explain, cells, boxed)

    def _make_claims(self) -> tuple[dict[str, RowClaims], dict[str, BaseException]]:
        """Count what the claims of every rule read; what does not fit is left to its boxes."""
        found, refused = dict[str, RowClaims](), dict[str, BaseException]()
        streams = self.counts.make_streams(len(self.plan.rules))
        for rule, rng in zip(self.plan.rules, streams, strict=True):
            name = rule.planned.record.name
            try:
                self.evidence.evaluator.workspace.require_time()
                made = self._make(rule, rng)
                if not isinstance(made, Unmet):
                    found[name] = made
            except LIMITS as error:
                if name not in self.boxed:
                    refused[name] = error
        return found, refused

    def _make(self, rule: ClaimRule, rng: Generator) -> RowClaims | Unmet:
        """Read one rule's counts, pilot and rest apart, and make its claims.

        A program may turn out to have too many response types.
        """
        name = rule.planned.record.name
        if isinstance(rule.form, RatioForm):
            ratios = self.counts.read_ratio(rule.form, rng)
            self._cells[name] = ratios[0].rest.list_cells(rule.form.form)
            return NumericClaims(ratios) if self.counts.numeric else ratios[0]
        if isinstance(rule.form, ProgramForm):
            program = self.counts.read_program(rule.form, rng)
            if not isinstance(program, Unmet):
                self._cells[name] = program
            return program
        if isinstance(rule.form, SelectionForm):
            selection = self.counts.read_selection(rule.form)
            if not isinstance(selection, Unmet):
                self._cells[name] = SelectionRows(selection)
            return selection
        pilot, rest = self.counts.read(rule.form, rng)
        self._cells[name] = ClaimCells(rule.form, rest.arrays, rest.last.rows, rest.last.mean)
        if not rule.is_sum:
            return CellClaims(pilot, rest)
        if self.counts.numeric:
            return suppose_variances(pilot, rest)
        return (BestClaims if may_use_boxes(rest.arrays) else SumClaims)(pilot, rest)

    def _bound_side(
        self,
        claims: Mapping[str, RowClaims],
        refused: dict[str, BaseException],
        *,
        upper: bool,
    ) -> dict[str, Floats]:
        """Bound one side of all rows by every rule that the pilot gives a part of the error."""
        if not claims:
            return {}
        read = frozenset[str]().union(
            *(rule.reads for rule in self.plan.rules if rule.planned.record.name in claims)
        )
        levels = self.evidence.evaluator.levels
        n_rows = prod(levels[axis] for axis in read)
        n_axes = len(self.plan.rules[0].planned.rule.axes)
        log_row = _share_ends(self.error, n_rows, n_axes)
        first = log_row - log(1.0 if len(claims) == 1 else BEST_SHARE)
        chosen = dict[str, RowChoice]()
        for name, each in claims.items():
            try:
                chosen[name] = each.choose(first, upper=upper)
            except LIMITS as error:
                refused[name] = error
        if not chosen:
            return {}
        shares = share_error(
            [c.predicted for c in chosen.values()], upper=upper, equal=self.counts.numeric
        )
        found = dict[str, Floats]()
        for (name, choice), share in zip(chosen.items(), shares, strict=True):
            try:
                found[name] = bound_shared(claims[name], choice, share, log_row, upper=upper)
            except LIMITS as error:
                refused[name] = error
        return found


def _explain(
    cells: ClaimRows,
    boxed: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    place: Place,
    upper: bool,  # noqa: FBT001
) -> EndSampling | None:
    """Say why chance moves an end of a row, and whether a box gave it after all."""
    return cells.explain(place, upper=upper, boxes=NARROWER if boxed[upper][place] else None)


def _share_ends(error: float | Floats, n_rows: int, n_axes: int) -> Floats:
    """Share the error over both ends of rows: the logarithm of one over each end's part."""
    of_row = error / n_rows if isinstance(error, float) else error
    found: Floats = np.log(2 / of_row) + np.zeros((1,) * n_axes)
    return found


def share_error(predicted: Sequence[Floats], *, upper: bool, equal: bool) -> list[Floats]:
    """Share the error of every row out over rules, most of it to the best that is expected.

    What comes out are parts of one for each rule. Where the pilot's rows speak too, as those of
    a numeric reward do, nothing of them may rank rules: the first few get ``equal`` parts.

    >>> share_error([np.array([0.2]), np.array([0.3])], upper=False, equal=False)
    [array([0.2]), array([0.8])]
    """
    ends = np.stack(np.broadcast_arrays(*predicted))
    n_tried = min(len(ends), MOST_TRIED)
    if n_tried <= 1:
        return [np.ones_like(each) for each in ends]
    shares = np.zeros(ends.shape)
    if equal:
        shares[:n_tried] = 1 / n_tried
        return list(shares)
    order = np.argsort(ends if upper else -ends, axis=0, kind="stable")
    parts = np.full(n_tried, (1 - BEST_SHARE) / (n_tried - 1))
    parts[0] = BEST_SHARE
    for place, part in enumerate(parts):
        np.put_along_axis(shares, order[place][None], part, axis=0)
    return list(shares.round(12))


def bound_shared(
    claims: RowClaims, choice: RowChoice, share: Floats, log_row: Floats, *, upper: bool
) -> Floats:
    """Bound one side of all rows by one rule, each with its share of the row's error.

    A rule without any share says nothing of a row.
    """
    nothing = 1.0 if upper else 0.0
    if not share.any():
        return np.full((1,) * share.ndim, nothing)
    least = share[share > 0].min()
    log_error = log_row - np.log(np.where(share > 0, share, least))
    ends = claims.bound(choice, log_error, upper=upper)
    return np.where(share > 0, ends, nothing)
