"""Linear programs over the populations that a selected log leaves possible: the numbers.

The variables are masses: of the values of the steering variables, and, where shares are only
known between two ends, of single cells. Programs are homogeneous: a law times any positive
number, the *total*, is as good as the law. So the denominator of a ratio can be set to one
(Charnes and Cooper 1962), and a ratio of masses becomes a linear objective.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, prod
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.lp.program import Program, SolveStatus, SparseMatrix
from boundit.bounds.lp.reweighting import Reweighting
from boundit.bounds.numbers import Numbers
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.named_array import Floats, divide
from boundit.estimand.language.expression import P
from boundit.terms.names import Nodes, sort_names
from boundit.terms.rounding import EXACT_ROUNDING

MOST_CELLS = 1_024
"""The most cells that programs are made for; beyond, nothing is said."""
SUMS = 3
"""The total, the steering masses and the cells: none of them adds up to more than the total."""
_TOTAL = 0
_Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MassLayout:
    """Which columns a program has: the total, the steering masses, the cells kept apart.

    ``exact`` says for which steering values the shares are exact: there every cell is a share
    of the steering mass and needs no column.
    """

    exact: _Mask
    kept: _Mask

    @property
    def n_columns(self) -> int:
        """The number of columns of the program: the total, the steering masses, the cells.

        A steering mass is how much of the population has one value of the variables by which
        the log is reweighted.
        """
        return 1 + len(self.exact) + int(self.kept.sum())

    def find_columns(self, steering: int) -> NDArray[np.intp]:
        """Find the columns of a program that hold the cells of one steering value.

        That is one combination of levels of the variables by which the log is reweighted.
        """
        start = 1 + len(self.exact) + int(self.kept[:steering].sum())
        return np.arange(start, start + int(self.kept[steering].sum()))


@dataclass(frozen=True, eq=False)
class ProgramRows:
    """Rows of a program, gathered one by one: a form, and the two ends it lies between."""

    n_columns: int
    rows: list[tuple[Floats, float, float]] = field(default_factory=list)

    def copy(self) -> "ProgramRows":
        """Copy the rows of a linear program gathered so far, so that the copy alone can grow."""
        return ProgramRows(self.n_columns, [*self.rows])

    def widen(self, *forms: Floats) -> "ProgramRows":
        """Add a column for each form (weighted sum of columns), and a row that equates the two.

        What comes out are new rows of a linear program, which few coefficients of these columns
        can change.
        """
        n_more = len(forms)
        wider = ProgramRows(self.n_columns + n_more)
        for form, lower, upper in self.rows:
            wider.add(np.concatenate([form, np.zeros(n_more)]), lower, upper)
        for place, form in enumerate(forms):
            wider.add(np.concatenate([form, -_make_unit(n_more, place)]), 0.0, 0.0)
        return wider

    def add(self, form: Floats, lower: float, upper: float) -> None:
        """Add ``lower <= form <= upper`` to a linear program's rows, ``form`` its coefficients."""
        self.rows.append((form, lower, upper))

    def add_between(self, form: Floats, of: int, low: float, high: float) -> None:
        """Add rows that keep a form (weighted sum of columns) within multiples of one column.

        It is to lie between ``low`` and ``high`` times the column ``of``; an end of zero or
        infinity needs no row.
        """
        for share, lower, upper in ((low, 0.0, inf), (high, -inf, 0.0)):
            if (share > 0) if lower == 0 else (share < inf):
                row = form.copy()
                row[of] -= share
                self.add(row, lower, upper)

    def make_program(self, most: float) -> Program:
        """Make the linear program with these rows, ready to be solved for any objective.

        At no point that counts do all columns add up to more than ``most``: the row that says
        so turns what the solver rounded into a proof.
        """
        # Twice as much, so that the row binds nowhere.
        whole = (np.ones(self.n_columns), 0.0, 2 * most)
        forms, lower, upper = zip(*self.rows, whole, strict=True)
        rows = SparseMatrix.from_dense(np.array(forms))
        return Program(rows, lower=np.array(lower), upper=np.array(upper))


@final
class Populations:
    """Every law of some variables that the log, facts and tables leave possible."""

    def __init__(self, reweighting: Reweighting, numbers: Numbers) -> None:
        self.reweighting, self._numbers = reweighting, numbers
        self.axes, self.levels = reweighting.axes, numbers.levels
        self.shape = tuple(numbers.levels[axis] for axis in self.axes)
        self._n_steering = prod(numbers.levels[axis] for axis in reweighting.steering)

    @property
    def has_too_many_cells(self) -> bool:
        """Whether the joint table of the variables has more than ``MOST_CELLS`` cells.

        No program is made then, and rules leave their ends as wide as can be.
        """
        return prod(self.shape) > MOST_CELLS

    def weigh_cells(self, values: Mapping[str, int], weights: Floats | float = 1.0) -> Floats:
        """Make an array over the population's cells: a weight where levels are as asked.

        Cells in which some variables have other levels than ``values`` get zero. ``weights``
        has an axis for every variable, of length 1 where it does not matter.
        """
        where = tuple(values.get(axis, slice(None)) for axis in self.axes)
        found = np.zeros(self.shape)
        found[where] = np.broadcast_to(weights, self.shape)[where]
        return found

    def lay_out(self, needed: Floats) -> MassLayout:
        """Decide which cells of the population get a column of their own in a linear program.

        These are the cells where ``needed`` is not zero (all, where tables must be met) and
        whose share among rows that agree on the reweighting variables is not known exactly.
        """
        low, high = self._cell_shares
        exact = (low == high).all(axis=1)
        wanted = needed.reshape(low.shape) != 0
        return MassLayout(exact, (wanted | bool(self.reweighting.tables)) & ~exact[:, None])

    def write_form(self, weights: Floats, layout: MassLayout) -> Floats:
        """Write a weighted sum of the masses of cells as coefficients of a program's columns.

        A mass is a part of the population; cells without a column count through others.
        """
        low, _ = self._cell_shares
        spread = weights.reshape(low.shape)
        exact = np.where(layout.exact, (spread * low).sum(axis=1), 0.0)
        return np.concatenate([[0.0], exact, spread[layout.kept]])

    def has_logged(self, values: Mapping[str, int]) -> bool:
        """Tell whether some row with these levels was logged, so that they surely occur.

        A mean given levels that nobody may have is not bounded.
        """
        low = self._cell_shares[0]
        if not self.reweighting.shares.of:
            low = self.logged_shares[0][:, None] if self.reweighting.reads_steering else 0 * low
        return bool((self.weigh_cells(values).reshape(low.shape)[low > 0] > 0).any())

    def find_least_share(self, values: Mapping[str, int], *others: Mapping[str, int]) -> float:
        """Prove what part of the population has these levels; 0 where nothing is proved.

        Rounding errors of a program are divided by this part. Where everyone may have one value
        of the steering variables, only those count that go with these levels or the ``others``:
        without the rest every mean given either is the same.
        """
        law, low = self.reweighting, self._cell_shares[0]
        there = [self.weigh_cells(each).reshape(low.shape) > 0 for each in (values, *others)]
        here = np.where(there[0], low, 0.0)
        counted = self._may_happen & (np.any(there, axis=(0, 2)) if law.is_free else True)
        known = [float(here.sum(axis=1)[counted].min(initial=1.0))]
        if law.reads_steering and law.facts.least_ratio > 0:
            known.append(
                law.facts.least_ratio * float((here * self.logged_shares[0][:, None]).sum())
            )
        for table in law.tables:
            if table >= values.keys():
                names = sort_names(table)
                low, _ = self._numbers.read_ends(P(table, logged=False), names)
                full = np.broadcast_to(low, [self.levels[name] for name in names])
                where = tuple(values.get(name, slice(None)) for name in names)
                known.append(float(full[where].sum()))
        return max(known) or (self._prove_least_share(values) if law.tables else 0.0)

    def _prove_least_share(self, values: Mapping[str, int]) -> float:
        """Prove by a program what part of everyone has these levels, by all tables together."""
        cells = self.weigh_cells(values)
        layout = self.lay_out(cells)
        program = self.write_rows(layout, _make_unit(layout.n_columns, _TOTAL)).make_program(
            SUMS
        )
        found = program.minimise(self.write_form(cells, layout))
        return max(found.bound, 0.0)

    def find_freest_mean(self, tops: Floats, given: Mapping[str, int]) -> float:
        """Find the greatest mean of ``tops`` given some levels, where ``Reweighting.is_free``.

        Everyone may have the steering value at which it is greatest. Whatever part of that has
        the ``given`` levels, its best cells are as common as can be: the mean is greatest at
        some part where one more cell is.
        """
        low, high = self._cell_shares
        here = self.weigh_cells(given).reshape(low.shape) > 0
        own = np.ix_(self._may_happen & here.any(axis=1), here.any(axis=0))
        others = np.ix_(self._may_happen & here.any(axis=1), ~here.any(axis=0))
        order = np.argsort(-tops.reshape(low.shape)[own], axis=1)
        value, least, most = (
            np.take_along_axis(each[own], order, axis=1)
            for each in (tops.reshape(low.shape), low, high)
        )
        room = most - least
        filled = least.sum(axis=1, keepdims=True) + np.cumsum(room, axis=1)
        parts = np.concatenate([filled[:, :1] - room[:, :1], filled], axis=1)
        # The other cells of a steering value leave so much, which is rounded as one is.
        fewest, fullest = (
            (1 - end[others].sum(axis=1, keepdims=True) + off).clip(parts[:, :1], parts[:, -1:])
            for end, off in ((high, -EXACT_ROUNDING), (low, EXACT_ROUNDING))
        )
        parts = parts.clip(fewest, fullest)
        more = parts[:, :, None] - (filled - room)[:, None]
        cells = least[:, None] + more.clip(0.0, room[:, None])
        means = divide((cells * value[:, None]).sum(axis=2), cells.sum(axis=2))
        return float(np.nan_to_num(means, nan=-inf).max(initial=-inf))

    def write_rows(self, layout: MassLayout, unit: Floats) -> ProgramRows:
        """Write the rows of a linear program over these populations, in which ``unit`` is one.

        ``unit`` is a weighted sum of masses. The rows say that masses add up to the total and
        fit the log, the facts and the tables.
        """
        rows = ProgramRows(layout.n_columns)
        rows.add(unit, 1.0, 1.0)
        whole = np.zeros(layout.n_columns)
        whole[1 : 1 + self._n_steering], whole[_TOTAL] = 1.0, -1.0
        rows.add(whole, 0.0, 0.0)
        for steering in np.flatnonzero(~layout.exact):
            self._add_cells(rows, layout, int(steering))
        if self.reweighting.facts and self.reweighting.steering:
            self._add_facts(rows, self.reweighting.facts)
        for table in self.reweighting.tables:
            self._add_table(rows, layout, table)
        return rows

    def read_shares(self, point: Floats) -> Floats:
        """Read what part of everyone each steering value is, at a solution of a program.

        That is a combination of levels of the variables by which the log is reweighted.
        """
        masses = point[1 : 1 + self._n_steering] / point[_TOTAL]
        return np.asarray(masses)

    def may_exist(self) -> bool:
        """Tell whether some population fits the log, the facts and the tables together.

        False only where a program proves that none does.
        """
        layout = self.lay_out(np.zeros(self.shape))
        total = _make_unit(layout.n_columns, _TOTAL)
        program = self.write_rows(layout, total).make_program(SUMS)
        return program.minimise(np.zeros_like(total)).status is not SolveStatus.EMPTY

    @cached_property
    def _cell_shares(self) -> tuple[Floats, Floats]:
        """Both ends of ``P(others | steering variables)`` by the log, a row per steering value.

        The log is reweighted by the steering variables alone, so that these shares are
        everyone's.
        """
        shares = self.reweighting.shares
        if not shares.of:
            ones = np.ones((self._n_steering, 1))
            return ones, ones
        low, high = self._numbers.read_ends(shares, self.axes)
        size = (self._n_steering, -1)
        full = np.broadcast_to(low, self.shape), np.broadcast_to(high, self.shape)
        return full[0].reshape(size), full[1].reshape(size)

    @cached_property
    def _may_happen(self) -> _Mask:
        """Which steering values anybody may have: all, unless a fact says all had a chance."""
        law = self.reweighting
        if law.facts.limit is None or not law.steering:
            return np.ones(self._n_steering, dtype=bool)
        return np.asarray(self.logged_shares[1] > 0)

    @cached_property
    def logged_shares(self) -> tuple[Floats, Floats]:
        """Both ends of how often each value of the steering variables is in the log.

        These are the variables by which the log is reweighted.
        """
        names = sort_names(self.reweighting.steering)
        low, high = self._numbers.read_ends(P(frozenset(names)), names)
        shape = self.shape[: len(names)]
        return np.broadcast_to(low, shape).ravel(), np.broadcast_to(high, shape).ravel()

    def _add_cells(self, rows: ProgramRows, layout: MassLayout, steering: int) -> None:
        """Add the rows that keep cells of one steering value within their shares of its mass.

        A steering value is a combination of levels of the variables by which the log is
        reweighted. A last pair of rows says that these cells make up the mass.
        """
        own, kept = layout.find_columns(steering), layout.kept[steering]
        low, high = (end[steering] for end in self._cell_shares)
        added = np.zeros(layout.n_columns)
        added[own] = 1.0
        # What is left of one was rounded as one is.
        most = 1 - low[~kept].sum() + EXACT_ROUNDING
        least = 1 - high[~kept].sum() - EXACT_ROUNDING
        rows.add_between(added, 1 + steering, float(least), float(max(most, 0.0)))
        for column, *ends in zip(own, low[kept], high[kept], strict=True):
            rows.add_between(_make_unit(layout.n_columns, int(column)), 1 + steering, *ends)

    def _add_facts(self, rows: ProgramRows, facts: SelectionFacts) -> None:
        """Add the rows that limit how much rarer, or commoner, than logged a kind of row is."""
        low, high = self.logged_shares
        for m in range(self._n_steering):
            mass = _make_unit(rows.n_columns, 1 + m)
            rows.add_between(
                mass,
                _TOTAL,
                facts.least_ratio * float(low[m]),
                facts.find_greatest_share(float(high[m])),
            )

    def _add_table(self, rows: ProgramRows, layout: MassLayout, table: Nodes) -> None:
        """Add the rows that make the population agree with every cell of an unselected table."""
        names = sort_names(table)
        shape = [self._numbers.levels[name] for name in names]
        pair = self._numbers.read_ends(P(table, logged=False), names)
        low, high = (np.broadcast_to(end, shape) for end in pair)
        for place in np.ndindex(*shape):
            form = self.write_form(
                self.weigh_cells(dict(zip(names, place, strict=True))), layout
            )
            # Two exact laws agree up to rounding, no better.
            least, most = (
                float(low[place]) - EXACT_ROUNDING,
                float(high[place]) + EXACT_ROUNDING,
            )
            rows.add_between(form, _TOTAL, least, most)


def _make_unit(size: int, place: int) -> Floats:
    """Make the row of ``size`` coefficients that is one at a ``place`` and zero elsewhere."""
    found = np.zeros(size)
    found[place] = 1.0
    return found
