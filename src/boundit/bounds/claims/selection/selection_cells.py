"""Counts of the cells of a population, pilot and rest apart, and those of unselected tables.

Cells are an array: kinds of rows, which the log is reweighted by, and what else matters within
each. Where weights have no upper limit every cell is a kind of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, prod
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.claims.pilot import SplitRows, SplitSources
from boundit.bounds.claims.read_form import smooth_pilot
from boundit.bounds.claims.selection.selection_form import SelectionForm
from boundit.bounds.lp.population import MOST_CELLS
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.language.expression import P
from boundit.terms.names import Nodes, sort_names


@dataclass(frozen=True, eq=False)
class TableCells:
    """An unselected table: shares by the pilot, rows of the rest, and whose cell is whose.

    ``index`` tells of each cell of the population in which cell of the table it lies. There are
    no ``counts`` where the table is an exact law.
    """

    shares: Floats
    counts: Floats | None
    index: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SelectionCells:
    """Shares of the population's cells in the log by the pilot, and rows of the rest.

    ``pilot_rows`` are those of the pilot; ``low`` and ``high`` limit the weights of kinds.
    """

    shares: Floats
    counts: Floats
    pilot_rows: float
    tables: tuple[TableCells, ...]
    low: float
    high: float

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights at which a kind of row can be worst: its limits, or the lower alone.

        Without an upper limit multipliers leave nothing that a greater weight could lower.
        """
        return (self.low,) if self.high == inf else (self.low, self.high)


@final
class SelectionReader:
    """Reads the cells of one mean of the population, and what each counts for a table row."""

    def __init__(
        self, form: SelectionForm, sources: SplitSources, levels: Mapping[str, int]
    ) -> None:
        self.form, self.sources, self.levels = form, sources, levels
        self.names = form.cell_axes
        self.shape = tuple(2 if name == form.outcome else levels[name] for name in self.names)
        n_kinds = prod(self.shape[: len(form.block.reweighting.steering)])
        self.low, self.high = form.limits
        self._flat = (prod(self.shape), 1) if self.high == inf else (n_kinds, -1)

    def find_fault(self) -> str | None:
        """Find why these counts allow for no claims, or None."""
        log = self.sources.log
        if log.is_exact:
            return "the law of the log is exact"
        if not log.pilot.binary or log.pilot.outcome is None:
            return f"{self.form.outcome} has more than two values"
        steered = self.form.outcome in self.form.block.reweighting.steering
        if steered and not log.pilot.is_variable:
            return f"selection depends on {self.form.outcome}, which may have hidden values"
        if prod(self.shape) > MOST_CELLS:
            return f"a population with more than {MOST_CELLS:,} cells"
        return self._find_table_fault()

    def _find_table_fault(self) -> str | None:
        """Find why the tables of the population allow for no claims, or None."""
        splits = [split for _, split in self._list_tables()]
        if len({id(self.sources.log), *map(id, splits)}) <= len(splits):
            return "two tables of the population have the same rows"
        if any(not split.is_exact and not split.folds[0].table.rows for split in splits):
            return "an unselected table has too few rows"
        return None

    def read(self) -> SelectionCells:
        """Read pilot and rest of the log and of every table."""
        log = self.sources.log
        joint = log.pilot.marginalize(frozenset(self.names))
        shares = smooth_pilot(joint, frozenset(), log).align(self.names)
        counts = log.folds[0].marginalize(frozenset(self.names)).align(self.names)
        return SelectionCells(
            (shares / shares.sum()).reshape(self._flat),
            np.rint(counts).reshape(self._flat),
            float(joint.values.sum()),
            tuple(self._read_table(names, split) for names, split in self._list_tables()),
            self.low,
            self.high,
        )

    def value_cells(self, place: Mapping[str, int], *, upper: bool) -> tuple[Floats, Floats]:
        """Find what every cell is worth in a row of the table, and whether it counts at all.

        For an upper end the worth is that of one minus the reward.
        """
        reward = np.zeros(2)
        reward[1 - SUCCESS if upper else SUCCESS] = 1.0
        value, there = self._align(self.form.outcome, reward), np.ones(())
        for name in self.form.chosen:
            value = value * self._align(name, _mark(self.levels[name], place[name]))
        for name in self.form.block.given:
            there = there * self._align(name, _mark(self.levels[name], place[name]))
        full = (np.broadcast_to(each, self.shape) for each in (value, there))
        worth, counted = (each.reshape(self._flat) for each in full)
        return worth, counted

    def name_kind(self, kind: int) -> dict[str, int]:
        """Name the levels of a kind of row."""
        n_steering = len(self.form.block.reweighting.steering)
        n_own = len(self.names) if self.high == inf else n_steering
        at = np.unravel_index(kind, self.shape[:n_own])
        return {name: int(i) for name, i in zip(self.names, at, strict=False)}

    def _list_tables(self) -> list[tuple[Nodes, SplitRows]]:
        """List the tables that the population must fit, with their rows."""
        tables = self.form.block.reweighting.tables
        return [(each, self.sources.find(P(each, logged=False))) for each in tables]

    def _read_table(self, names: Nodes, split: SplitRows) -> TableCells:
        """Read one unselected table."""
        order = tuple(sort_names(names))
        shape = [self.shape[self.names.index(name)] for name in order]
        joint = split.pilot.marginalize(names)
        if split.is_exact:
            shares, counts = joint.align(order), None
        else:
            shares = smooth_pilot(joint, frozenset(), split).align(order)
            counts = np.rint(split.folds[0].marginalize(names).align(order)).ravel()
        numbers = NamedArray(order, np.arange(float(prod(shape))).reshape(shape))
        index = np.broadcast_to(numbers.align(self.names), self.shape)
        shares = shares.ravel() / shares.sum()
        return TableCells(shares, counts, index.reshape(self._flat).astype(np.intp))

    def _align(self, name: str, values: Floats) -> Floats:
        """Align an array over one variable with the cells."""
        return NamedArray((name,), values).align(self.names)


def _mark(size: int, place: int) -> Floats:
    """Mark one of some levels."""
    found = np.zeros(size)
    found[place] = 1.0
    return found
