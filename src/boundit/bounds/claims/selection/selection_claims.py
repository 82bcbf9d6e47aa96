"""Claims on means of the population: thresholds are tried until one is not passed.

As for ratios, thresholds go upwards in steps that the pilot fixed, and the last before the
first that is not passed is the lower end: one error however many are tried. Upper ends are
lower ends of one minus the reward.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, log, prod
from typing import Final, final

import numpy as np

from boundit.bounds.claims.level_form import Unmet
from boundit.bounds.claims.pilot import SplitSources
from boundit.bounds.claims.selection.selection_bets import (
    SelectionBets,
    choose_scale,
    mend_totals,
)
from boundit.bounds.claims.selection.selection_cells import SelectionCells, SelectionReader
from boundit.bounds.claims.selection.selection_form import SelectionForm
from boundit.bounds.claims.selection.selection_multipliers import MultiplierFinder, Multipliers
from boundit.bounds.proof import Place
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats

N_FINE: Final = 128
"""How many thresholds are tried about the end that the pilot expects."""
N_COARSE: Final = 8
"""How many come before these."""
N_KNOTS: Final = 5
"""At how many thresholds multipliers are looked for; between them they are interpolated."""
MOST_ENDS: Final = 1_000
"""How many ends are claimed; a table with more keeps its boxes."""
_REACH: Final = 3.0  # how many standard errors the pilot may be wrong
_STILL: Final = 1e-6  # a move that is none
_MOVE: Final = 1.5  # by how many of them the pilot's multipliers are moved


@dataclass(frozen=True, eq=False)
class SelectionChoice:
    """What the pilot chose for one side: bets of every row that differs, and expected ends.

    There are no bets where the pilot cannot tell of a row.
    """

    bets: Mapping[Place, SelectionBets | None]
    predicted: Floats


@final
class SelectionClaims:
    """Claims on a mean of the population, for all rows of a table.

    ``choose`` asks the pilot alone; ``bound`` reads the rest under what was chosen.
    """

    def __init__(
        self, reader: SelectionReader, cells: SelectionCells, workspace: Workspace
    ) -> None:
        self.reader, self.cells, self.workspace = reader, cells, workspace
        self.finder = MultiplierFinder(cells, workspace.budget)
        form = reader.form
        self.shape = tuple(
            reader.levels[axis] if axis in form.reads else 1 for axis in form.axes
        )

    def choose(self, log_error: Floats, *, upper: bool) -> SelectionChoice:
        """Choose thresholds, multipliers and scales for one side of all rows."""
        predicted = np.zeros(self.shape)
        errors = np.broadcast_to(log_error, self.shape)
        bets = dict[Place, SelectionBets | None]()
        expected = self.cells.shares * self.cells.counts.sum()
        tables = tuple(
            None if each.counts is None else each.shares * each.counts.sum()
            for each in self.cells.tables
        )
        for place in np.ndindex(*self.shape):
            self.workspace.require_time()
            made = self._make_bets(place, float(errors[place]), upper=upper)
            bets[place] = made
            if made is not None:
                logs = made.count_log(expected, tables)
                predicted[place] = _find_last(made, logs, float(errors[place]))
        return SelectionChoice(bets, 1 - predicted if upper else predicted)

    def bound(self, choice: SelectionChoice, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one side of all rows, each missing with chance ``exp(-log_error)``."""
        errors = np.broadcast_to(log_error, np.broadcast_shapes(log_error.shape, self.shape))
        ends = np.zeros(errors.shape)
        tables = tuple(each.counts for each in self.cells.tables)
        logs = dict[Place, Floats]()
        for place in np.ndindex(*errors.shape):
            own = tuple(min(i, n - 1) for i, n in zip(place, self.shape, strict=True))
            made = choice.bets[own]
            if made is None:
                continue
            if own not in logs:
                self.workspace.require_time()
                logs[own] = made.count_log(self.cells.counts, tables)
            ends[place] = _find_last(made, logs[own], float(errors[place]))
        return 1 - ends if upper else ends

    def _make_bets(
        self, place: Place, log_error: float, *, upper: bool
    ) -> SelectionBets | None:
        """Fix thresholds, multipliers and scales for one end of one row."""
        at = dict(zip(self.reader.form.axes, place, strict=True))
        worth, there = self.reader.value_cells(at, upper=upper)
        solved = self.finder.solve(worth, there)
        if solved is None:
            return None
        start, stop = self._find_range(worth, there, *solved, log_error)
        knots = np.linspace(start, stop, N_KNOTS)
        at_knots = [self.finder.find((worth - t) * there) for t in knots]
        kept = [each for each in at_knots if each is not None]
        if len(kept) < N_KNOTS:
            return None
        fine = np.linspace(start, stop, N_FINE + 1)
        steps = np.concatenate([np.linspace(0, start, N_COARSE, endpoint=False), fine])
        steps = steps[steps > 0]  # an end of 0 says nothing
        value = (worth - steps[:, None, None]) * there
        total = np.interp(steps, knots, [each.total for each in kept])
        tables = tuple(
            _interpolate(steps, knots, np.array([each.tables[i] for each in kept]))
            for i in range(len(self.cells.tables))
        )
        middle = (worth - knots[N_KNOTS // 2]) * there
        move = self._find_move(middle, kept[N_KNOTS // 2])
        return self._place_bets(steps, value, total, tables, move, log_error)

    def _place_bets(
        self,
        steps: Floats,
        value: Floats,
        total: Floats,
        tables: tuple[Floats, ...],
        move: float,
        log_error: float,
    ) -> SelectionBets:
        """Place bets with the multipliers of the total moved up and down, and choose scales.

        Without an upper limit of weights they are not moved but mended.
        """
        cells = self.cells
        totals = [total - move, total + move] if move > 0 else [total]
        if cells.high == inf:
            totals = [mend_totals(cells, value, total, tables)]
        log_due = log_error + log(len(totals))
        scale = [choose_scale(cells, value, each, tables, log_due) for each in totals]
        doubled = tuple(np.stack([each] * len(totals)) for each in tables)
        return SelectionBets(cells, steps, value, np.stack(totals), doubled, np.stack(scale))

    def _find_range(
        self, worth: Floats, there: Floats, near: float, found: Multipliers, log_error: float
    ) -> tuple[float, float]:
        """Find between which thresholds the end will be, ``near`` being the pilot's least mean."""
        cells = self.cells
        weights = found.weights[:, None] * there
        squares = (cells.shares * (weights * (worth - near)) ** 2).sum()
        spread = float(squares**0.5 / (cells.shares * weights).sum())
        radius = spread * (2 * log_error / max(float(cells.counts.sum()), 1.0)) ** 0.5
        error = spread / max(cells.pilot_rows, 1.0) ** 0.5
        return max(near - _REACH * (radius + error), 0.0), min(near + _REACH * error, 1.0)

    def _find_move(self, left: Floats, found: Multipliers) -> float:
        """Find by how much the multiplier of the total may be wrong, as the pilot may err.

        It is the mean of what is ``left`` of values in the kind whose weight is between its
        limits; 0 if that hangs on no share.
        """
        cells = self.cells
        for table, y in zip(cells.tables, found.tables, strict=True):
            left = left - y[table.index]
        kinds = cells.shares.sum(axis=1)
        means = (cells.shares * left).sum(axis=1) / kinds
        squares = (cells.shares * left**2).sum(axis=1) / kinds
        kink = int(np.abs(means - found.total).argmin())
        variance = squares[kink] - means[kink] ** 2
        move = _MOVE * (variance.clip(0) / max(kinds[kink] * cells.pilot_rows, 1.0)) ** 0.5
        return float(move) if move > _STILL else 0.0


def _interpolate(steps: Floats, knots: Floats, values: Floats) -> Floats:
    """Interpolate the multipliers of a table's cells between some thresholds."""
    return np.stack([np.interp(steps, knots, column) for column in values.T], axis=-1)


def _find_last(bets: SelectionBets, logs: Floats, log_error: float) -> float:
    """Find the last threshold before the first whose capital is not what is due; 0 if none is."""
    passed = int((logs > log_error + bets.log_parts).cumprod().sum())
    return float(bets.steps[passed - 1]) if passed else 0.0


def make_selection_claims(
    form: SelectionForm,
    sources: SplitSources,
    levels: Mapping[str, int],
    workspace: Workspace,
) -> SelectionClaims | Unmet:
    """Make claims on a mean of the population, or say which condition is not met."""
    reader = SelectionReader(form, sources, levels)
    if fault := reader.find_fault():
        return Unmet(fault)
    if 2 * prod(levels[axis] for axis in form.reads) > MOST_ENDS:
        return Unmet(f"the table has more than {MOST_ENDS:,} ends on a reweighted log")
    return SelectionClaims(reader, reader.read(), workspace)
