"""The numbers a row was made from: cells, sums that prove an end, worst populations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import prod
from operator import itemgetter
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.confidence import collect_terms
from boundit.bounds.numbers import Ends
from boundit.bounds.proof import EndProof, ModelProof, Place, TiltedProof, WorstPopulation
from boundit.bounds.refusals import LIMITS
from boundit.bounds.rules.rule import BoundRule
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.named_array import NamedArray
from boundit.counts.table import CountTable
from boundit.estimand.language.expression import P
from boundit.terms.explanation import format_count
from boundit.terms.formula import Line, Sentence, Term, Variable
from boundit.terms.names import Nodes, sort_names
from boundit.terms.rounding import ROUNDING
from boundit.terms.sampling import EndSampling, HeavyCell

MOST_EXPLAINED = 5_000
"""Up to how many rows each carry the numbers they were made from."""
NEAR = 1e-6
"""How far the sum of a proof may be from the end that it proves."""
MOST_SAMPLED = 1_000
"""Up to how many rows each say why chance widens them as it does."""
MOST_CELLS = 1_000
"""Up to how many cells behind a row are listed; of more, none is: nobody could read them."""
MOST_UNSEEN = 1_000_000
"""In more cells than that nobody looks for those that were never logged: some were not."""
Cell: TypeAlias = tuple[Mapping[str, int], float]
"""The levels of a cell, and the mean reward in it, on the scale from 0 to 1."""


@final
class Explainer:
    """Tells what the ends of a table were made from.

    ``boxes`` says of each rule why its cells have intervals of their own, where it must be so.
    """

    def __init__(
        self,
        rules: Sequence[BoundRule],
        evaluator: Evaluator,
        log: CountTable,
        axes: Sequence[str],
        outcome_range: tuple[float, float],
        *,
        boxes: Sequence[str | None] = (),
    ) -> None:
        self.rules, self.evaluator, self.log, self.axes = rules, evaluator, log, axes
        self.low, self.high = outcome_range
        self.boxes = boxes or [None] * len(rules)
        self._needs = [rule.needs for rule in rules]
        self._marginals: dict[Nodes, NamedArray] = {}
        self._last_cells: dict[tuple[int, Place], tuple[Cell, ...]] = {}
        rows = np.prod([len(log.levels[axis]) for axis in axes])
        self.is_small, self.is_sampled = rows <= MOST_EXPLAINED, rows <= MOST_SAMPLED

    def scale(self, share: float) -> float:
        """Turn a number on the scale from 0 to 1 into a reward within its range.

        Rules bound the chance of success, tables speak of rewards.
        """
        return float(self.low + (self.high - self.low) * share)

    def list_numbers(
        self, which: int, place: Place, ends: Ends, estimates: Ends, *, upper: bool
    ) -> tuple[Line, ...]:
        """List the numbers from which rule number ``which`` made an end of a row, a line each.

        A row is an arm and context. An end that is not the sum of its proof, as that of a claim
        on the whole, is explained by the ``estimates`` of the rule.
        """
        if self.evaluator.workspace.budget.is_over():
            return ()
        if ends.proof is not None:
            proof = ends.proof(place, upper)
            end = (ends.upper if upper else ends.lower)[place]
            if isinstance(proof, EndProof) and abs(proof.value - end) > NEAR:
                proof = estimates.proof(place, upper) if estimates.proof else None
            return self._write_reason(proof)
        try:
            return self._list_cell_numbers(which, place)
        except LIMITS:  # a reason less, but the end holds
            return ()

    def _write_reason(
        self, proof: EndProof | WorstPopulation | TiltedProof | ModelProof | None
    ) -> tuple[Line, ...]:
        """Write what an end was made from, by what kind of reason it has."""
        match proof:
            case EndProof():
                return self._write_proof(proof)
            case WorstPopulation():
                return self._write_population(proof)
            case TiltedProof():
                return self._write_shares(proof)
            case ModelProof():
                return self._write_predictions(proof)
            case None:
                return ()

    def find_unseen(self, which: int) -> NDArray[np.bool_]:
        """Find the rows for which rule number ``which`` reads cells that were never logged."""
        sizes = {name: len(levels) for name, levels in self.log.levels.items()}
        found = np.zeros([sizes[axis] for axis in self.axes], dtype=bool)
        for term in collect_terms(self.rules[which].formulas):
            names = frozenset(name for name in term.given if sizes.get(name, 1) > 1)
            if prod(sizes[name] for name in names.union(self.axes)) > MOST_UNSEEN:
                return np.ones_like(found)
            order = (*self.axes, *sort_names(names.difference(self.axes)))
            empty = self._count_log_rows(names - {self.log.reward}).align(order) == 0
            found = found | empty.any(axis=tuple(range(len(self.axes), len(order))))
        return found

    def explain_sampling(
        self, which: int, place: Place, ends: Ends, *, upper: bool
    ) -> EndSampling | None:
        """Say why chance moves an end of a row as it does, with the levels of cells as logged.

        The end is that of rule number ``which``. None where nobody can say.
        """
        if self.evaluator.workspace.budget.is_over():
            return None
        if ends.sampling is not None:
            found = ends.sampling(place, upper)
        else:
            found = self._find_attaining_cell(which, place, upper=upper)
        if found is None:
            why = self.boxes[which]
            return None if why is None else EndSampling(None, 0.0, (), why)
        return replace(found, heaviest=tuple(map(self._name_levels, found.heaviest)))

    def _find_attaining_cell(
        self, which: int, place: Place, *, upper: bool
    ) -> EndSampling | None:
        """Find the one cell at which an end is attained, where a rule reads cells one by one.

        As in a conditioning bound: the least or the greatest of some shares.
        """
        rule = self.rules[which]
        (formula, *others) = rule.formulas or (None,)
        if others or not isinstance(formula, P):
            return None
        try:
            cells = self._list_cells(which, place)
        except LIMITS:
            return None
        found = [
            self._measure_cell(formula, place, levels, share, upper=upper)
            for levels, share in cells
        ]
        if not found:
            return None
        reach, cell = max(found, key=itemgetter(0))
        return None if np.isinf(reach) else EndSampling(cell.rows, 0.0, (cell,))

    def _measure_cell(
        self, term: P, place: Place, levels: Mapping[str, int], share: float, *, upper: bool
    ) -> tuple[float, HeavyCell]:
        """Measure how far a cell may reach upwards, or downwards, by chance; any, if unseen."""
        here = dict(zip(self.axes, place, strict=True)) | dict(levels)
        read = {name: i for name, i in here.items() if name in term.given}
        rows = float(self._count_log_rows(frozenset(read)).at(read))
        cell = HeavyCell(tuple(read.items()), rows, 1.0)
        if not rows or np.isnan(share):
            return np.inf, cell
        error = np.sqrt(max(share * (1 - share), 1 / (rows + 2)) / rows)
        return float((share if upper else -share) + 2 * error), cell

    def _name_levels(self, cell: HeavyCell) -> HeavyCell:
        """Give a cell the levels that the numbers of its levels stand for.

        A variable that the log lacks, as one of an external table, keeps its number.
        """
        known = self.log.levels
        levels = [
            (name, known[name][i] if name in known and isinstance(i, int) else i)
            for name, i in cell.levels
        ]
        return replace(cell, levels=tuple(levels))

    def _list_cell_numbers(self, which: int, place: Place) -> tuple[str, ...]:
        """Write a line for each cell behind a row: its levels, mean reward and logged rows."""
        here = dict(zip(self.axes, place, strict=True))
        lines, needs = [], self._needs[which]
        for levels, share in self._list_cells(which, place):
            where = ", ".join(str(self._write_level(name, i)) for name, i in levels.items())
            read = {n: i for n, i in (here | dict(levels)).items() if n in needs}
            rows = float(self._count_log_rows(frozenset(read)).at(read))
            unknown = "never logged in some strata" if rows else "never logged"
            worth = unknown if np.isnan(share) else f"{self.scale(share):.4g}"
            lines.append(f"{where or 'value'}: {worth} ({format_count(rows)})")
        return tuple(lines)

    def _list_cells(self, which: int, place: Place) -> tuple[Cell, ...]:
        """List the cells that rule number ``which`` reads for a row; none if they are too many.

        Rows are explained one after another, both ends of each, so that the last cells are
        kept.
        """
        if (which, place) not in self._last_cells:
            listed = self.rules[which].list_cells(self.evaluator, place)
            cells = tuple(islice(listed, MOST_CELLS + 1))
            self._last_cells = {(which, place): cells if len(cells) <= MOST_CELLS else ()}
        return self._last_cells[which, place]

    def _write_proof(self, proof: EndProof) -> tuple[Line, ...]:
        """Write an end as a sum of observed probabilities, on the scale from 0 to 1."""
        lines: list[Line] = [f"{proof.constant:.4g}"] if abs(proof.constant) > ROUNDING else []
        for times, cell, value in proof.terms:
            of = tuple(self._write_level(n, i) for n, i in cell.items() if n in proof.of)
            given = tuple(self._write_level(n, i) for n, i in cell.items() if n not in proof.of)
            factor = f"{'-' if times < 0 else '+'} {abs(times):.4g} x "
            lines.append(Sentence.of(factor, Term("P", of, given), f" = {value:.4g}"))
        return tuple(lines)

    def _write_population(self, worst: WorstPopulation) -> tuple[str, ...]:
        """Write who would be commoner or rarer than in the log where an end is attained.

        A line for each kind of row: its share of everyone and of the log.
        """
        lines = []
        for kind in worst.kinds:
            who = ", ".join(str(self._write_level(name, i)) for name, i in kind.levels.items())
            shares = f"{kind.share:.4g} of everyone, {kind.logged:.4g} of the log"
            lines.append(f"attained when {who}: {shares}{kind.stopped}")
        return (*lines, f"and {worst.n_more} kinds more") if worst.n_more else tuple(lines)

    def _write_shares(self, tilted: TiltedProof) -> tuple[str, ...]:
        """Write how many got the arm and what they show, a line for each covariates' levels."""
        lines = []
        for share in tilted.shares[:MOST_CELLS]:
            given = [str(self._write_level(name, i)) for name, i in share.levels.items()]
            where = f"given {', '.join(given)}: " if given else ""
            chances = (f"chance of {name} {p:.4g}" for name, p in share.chances.items())
            mean = self.scale(share.mean)
            lines.append(f"{where}{', '.join(chances)}, mean with the arm {mean:.4g}")
        return tuple(lines)

    def _write_predictions(self, found: ModelProof) -> tuple[str, ...]:
        """Write what models predict, what the rows' errors add, and where an arm is too rare."""
        width = self.high - self.low
        predicted = self.low * (1 - found.unlikely) + width * found.predicted
        lines = [
            f"mean of what models predict: {predicted:.4g}",
            f"mean of the rows' weighted errors: {width * found.correction:+.4g}",
        ]
        if found.unlikely > 0:
            taken = self.high if found.upper else self.low
            share = f"{found.unlikely:.2g} of the rows"
            lines.append(f"where the arm is too rare, {share}: {taken:g}, as it may be")
        return tuple(lines)

    def _count_log_rows(self, names: Nodes) -> NamedArray:
        """Count the rows of the log by some variables, once however many ends ask."""
        if names not in self._marginals:
            self._marginals[names] = self.log.marginalize(names)
        return self._marginals[names]

    def _write_level(self, name: str, place: int) -> Variable:
        """Write a variable at a level, as in "C='a'"; the reward at an end of its range."""
        if name == self.log.reward:
            return Variable(name, value=f"{self.scale(float(place)):g}", bare=True)
        return Variable(name, value=repr(self.log.levels[name][place]), bare=True)
