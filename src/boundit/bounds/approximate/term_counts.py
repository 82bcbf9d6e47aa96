"""The counts behind every term of a formula: how many rows, of how many, of which table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import final

import numpy as np

from boundit.bounds.binary_reward import SUCCESS, BinaryReward
from boundit.counts.errors import TooLarge
from boundit.counts.formulas.elimination import ProductTable
from boundit.counts.formulas.errors import NeedsPopulation, NotLogged
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import P
from boundit.terms.errors import BounditError
from boundit.terms.names import Nodes, sort_names

MOST_AXES = 30
"""How many columns a term may have: arrays have 64 axes, and a derivative each column twice."""
PSEUDO_ROWS = 2.0
"""How many rows, spread evenly, smooth the shares that variances are made of."""


class RewardBehindTheBar(BounditError):
    """A term given a reward that is no 0/1 variable: sums of it say nothing of such a law."""

    def __init__(self, outcome: str) -> None:
        super().__init__(f"a law given {outcome}, which is not 0/1, has no counts")


@dataclass(frozen=True, slots=True, eq=False)
class TermCounts:
    """How many rows have each cell of a term ``P(of | given)``, and of how many.

    Arrays have the axes ``axes``, those of ``n`` length 1 along ``of``. ``overstated`` is by
    how much sums of squares of a reward that is not 0/1 fall short of those of a 0/1 one, at
    success; None for others. ``reach`` are the least and greatest reward of its table, scaled
    to [0, 1]. ``table`` numbers the table the rows are from; 0 is the log.
    """

    term: P
    table: int
    axes: tuple[str, ...]
    k: Floats
    n: Floats
    exact: bool
    overstated: Floats | None = None
    reach: tuple[float, float] = (0.0, 1.0)

    def find_shares(self, hole: float | None = None) -> ProductTable:
        """Divide the counts; where nothing was seen the share is ``hole``, or even if None."""
        fill = 1 / self._n_outcomes if hole is None else hole
        shares = np.where(self.n > 0, self.k / np.where(self.n > 0, self.n, 1), fill)
        return ProductTable(self.axes, (shares,))

    def smooth_shares(self) -> Floats:
        """Divide the counts after some rows were spread evenly over every cell.

        A share of 0 in a small cell must not look certain.
        """
        if self.exact:
            return self.find_shares().arrays[0]
        return (self.k + PSEUDO_ROWS / self._n_outcomes) / (self.n + PSEUDO_ROWS)

    def invert_rows(self) -> Floats:
        """Invert the numbers of rows; 0 where there are none, and for an exact law."""
        if self.exact:
            return np.zeros_like(self.n)
        return np.where(self.n > 0, 1 / np.where(self.n > 0, self.n, 1), 0.0)

    @property
    def _n_outcomes(self) -> int:
        """How many combinations of levels ``of`` has. Read wherever shares are even."""
        return prod(
            size
            for axis, size in zip(self.axes, self.k.shape, strict=True)
            if axis in self.term.of
        )


@final
class TermCounter:
    """Finds the counts of terms in a log and in tables of the population, each once."""

    def __init__(
        self, log: BinaryReward, population: Sequence[BinaryReward], workspace: Workspace
    ) -> None:
        self.tables = (log, *(table for table in population if table is not log))
        self.workspace = workspace
        self._log, self._known = log, dict[P, TermCounts]()
        self._population = sorted(population, key=lambda each: prod(each.n_levels.values()))
        self.levels: Mapping[str, int] = {}
        for table in (*population, log):
            self.levels = {**self.levels, **table.n_levels}

    def read(self, term: P) -> TermCounts:
        """Count the rows of a term."""
        if term not in self._known:
            self._known[term] = self._count(term)
        return self._known[term]

    def order_columns(self, columns: Nodes) -> list[str]:
        """Put columns into the order of the log."""
        order = [name for table in self.tables for name in table.table.variables]
        return sorted(columns, key=order.index)

    def _count(self, term: P) -> TermCounts:
        """Count the rows of a term in the table it reads."""
        table = self._find_table(term)
        cells = prod(table.n_levels[name] for name in term.free)
        self.workspace.require_cells(cells, term.free)
        if len(term.free) > MOST_AXES:
            raise TooLarge(sort_names(term.free), 2 ** len(term.free), 2**MOST_AXES)
        joint, below = table.marginalize(term.free), table.marginalize(term.given)
        overstated, reach = None, (0.0, 1.0)
        if table.outcome in term.given and not table.is_variable:
            raise RewardBehindTheBar(str(table.outcome))
        if not table.binary and table.outcome in term.free:
            squares = table.sum_squares(term.free).align(joint.axes)
            place = joint.axes.index(str(table.outcome))
            overstated = np.take(joint.values - squares, [SUCCESS], place).clip(0)
            reach = table.reach
        return TermCounts(
            term,
            self.tables.index(table),
            joint.axes,
            joint.values,
            below.align(joint.axes),
            table.table.exact,
            overstated,
            reach,
        )

    def _find_table(self, term: P) -> BinaryReward:
        """Find the table that a term reads: the log, or the smallest that covers it."""
        if term.logged:
            if missing := term.free - self._log.names:
                raise NotLogged(sort_names(missing)[0], self._log.names)
            return self._log
        for table in self._population:
            if term.free <= table.names:
                return table
        raise NeedsPopulation(term, [table.names for table in self._population])


def align_to(
    axes: Sequence[str], values: Floats, names: Mapping[str, str], order: Sequence[str]
) -> Floats:
    """Rename the axes of an array and show it in another order, length 1 where it lacks one."""
    renamed = tuple(names.get(axis, axis) for axis in axes)
    (aligned,) = ProductTable(renamed, (values,)).align(tuple(order))
    return aligned
