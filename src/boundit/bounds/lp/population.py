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

from boundit.bounds.lp.program import Optimum, Program, SolveStatus, SparseMatrix
from boundit.bounds.lp.reweighting import Reweighting
from boundit.bounds.numbers import Numbers
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import P
from boundit.terms.names import Nodes, sort_names
from boundit.terms.rounding import EXACT_ROUNDING

MOST_CELLS = 1_024
"""The most cells that programs are made for; beyond, nothing is said."""
RARE = 1e-7
"""Of what surely no more than this part of everyone have, nothing is said."""
_USUAL = 1e-3
"""Where nothing is known of selection: how much rarer something may be than it can be."""
_HEAVIEST = 1e9
"""No mass is larger, for nothing is set to one that fewer than this part of everyone have."""
_EPS = float(np.finfo(np.float64).eps)
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
        the log is reweighted. Read by ``Populations.write_rows`` and ``Populations._add_cells``
        for the length of a row.
        """
        return 1 + len(self.exact) + int(self.kept.sum())

    def find_columns(self, steering: int) -> NDArray[np.intp]:
        """Find the columns of a program that hold the cells of one steering value.

        That is one combination of levels of the variables by which the log is reweighted.
        Called by ``Populations._add_cells``, which says that these cells add up to the mass of
        that value.
        """
        start = 1 + len(self.exact) + int(self.kept[:steering].sum())
        return np.arange(start, start + int(self.kept[steering].sum()))


@dataclass(frozen=True, eq=False)
class ProgramRows:
    """Rows of a program, gathered one by one: a form, and the two ends it lies between."""

    n_columns: int
    rows: list[tuple[Floats, float, float]] = field(default_factory=list)

    def copy(self) -> "ProgramRows":
        """Copy the rows of a linear program gathered so far, so that the copy alone can grow.

        Called by ``_JointProgram.keep_in_box``, which adds other rows for each box.
        """
        return ProgramRows(self.n_columns, [*self.rows])

    def widen(self, *forms: Floats) -> "ProgramRows":
        """Add a column for each form (weighted sum of columns), and a row that equates the two.

        What comes out are new rows of a linear program, which few coefficients of these columns
        can change. Called by ``RatioDifference.__init__`` for ranges of the second mean, and by
        ``BoxProgram.__init__`` for ends of chances.
        """
        n_more = len(forms)
        wider = ProgramRows(self.n_columns + n_more)
        for form, lower, upper in self.rows:
            wider.add(np.concatenate([form, np.zeros(n_more)]), lower, upper)
        for place, form in enumerate(forms):
            wider.add(np.concatenate([form, -_make_unit(n_more, place)]), 0.0, 0.0)
        return wider

    def add(self, form: Floats, lower: float, upper: float) -> None:
        """Add ``lower <= form <= upper`` to a linear program's rows, ``form`` its coefficients.

        Called by ``Populations.write_rows``, ``BoxProgram.__init__`` and others, row
        by row.
        """
        self.rows.append((form, lower, upper))

    def add_between(self, form: Floats, of: int, low: float, high: float) -> None:
        """Add rows that keep a form (weighted sum of columns) within multiples of one column.

        It is to lie between ``low`` and ``high`` times the column ``of``; an end of zero or
        infinity needs no row. Called by ``Populations._add_cells``, ``Populations._add_facts``
        and ``Populations._add_table``.
        """
        for share, lower, upper in ((low, 0.0, inf), (high, -inf, 0.0)):
            if (share > 0) if lower == 0 else (share < inf):
                row = form.copy()
                row[of] -= share
                self.add(row, lower, upper)

    def make_program(self) -> Program:
        """Make the linear program with these rows, ready to be solved for any objective.

        Called by ``Expectation._make_normed_program``, ``RatioDifference.__init__`` and
        ``Populations.may_exist`` once all rows are there, and by ``BoxProgram.__init__`` for
        all boxes.
        """
        forms, lower, upper = zip(*self.rows, strict=True)
        # Without a ceiling no proof that nothing fits would survive rounding.
        ceiling = np.full(self.n_columns, _HEAVIEST)
        rows = SparseMatrix.from_dense(np.array(forms))
        return Program(rows, lower=np.array(lower), upper=np.array(upper), highest=ceiling)


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

        No program is made then, and rules leave their ends as wide as can be. Read by
        ``Expectation.find_ends``, ``NaturalBounds.find_ends`` and
        ``PopulationProgram.has_too_many_cells``.
        """
        return prod(self.shape) > MOST_CELLS

    def weigh_cells(self, values: Mapping[str, int], weights: Floats | float = 1.0) -> Floats:
        """Make an array over the population's cells: a weight where levels are as asked.

        Cells in which some variables have other levels than ``values`` get zero. ``weights``
        has an axis for every variable, of length 1 where it does not matter. Called by
        ``Expectation.weigh_cells``, ``Expectation._make_normed_program`` and wherever the mass
        of some levels is meant.
        """
        where = tuple(values.get(axis, slice(None)) for axis in self.axes)
        found = np.zeros(self.shape)
        found[where] = np.broadcast_to(weights, self.shape)[where]
        return found

    def lay_out(self, needed: Floats) -> MassLayout:
        """Decide which cells of the population get a column of their own in a linear program.

        These are the cells where ``needed`` is not zero (all, where tables must be met) and
        whose share among rows that agree on the reweighting variables is not known exactly.
        Called by ``Expectation._make_normed_program``, ``RatioDifference.__init__`` and
        ``ReweightedProgram.__init__`` before any row is written.
        """
        low, high = self._cell_shares
        exact = (low == high).all(axis=1)
        wanted = needed.reshape(low.shape) != 0
        return MassLayout(exact, (wanted | bool(self.reweighting.tables)) & ~exact[:, None])

    def write_form(self, weights: Floats, layout: MassLayout) -> Floats:
        """Write a weighted sum of the masses of cells as coefficients of a program's columns.

        A mass is a part of the population; cells without a column count through others. Called
        by ``Expectation.write_form`` for objectives and by ``Populations._add_table`` for the
        rows of a table.
        """
        low, _ = self._cell_shares
        spread = weights.reshape(low.shape)
        exact = np.where(layout.exact, (spread * low).sum(axis=1), 0.0)
        return np.concatenate([[0.0], exact, spread[layout.kept]])

    def has_logged(self, values: Mapping[str, int]) -> bool:
        """Tell whether some row with these levels was logged, so that they surely occur.

        Called by ``Expectation.solve_greatest``, ``RatioDifference.find_greatest`` and
        ``ReweightedProgram._find_greatest``: a mean given levels that nobody may have is not
        bounded.
        """
        low = self._cell_shares[0]
        if not self.reweighting.shares.of:
            low = self.logged_shares[0][:, None] if self.reweighting.reads_steering else 0 * low
        return bool((self.weigh_cells(values).reshape(low.shape)[low > 0] > 0).any())

    def find_least_share(self, values: Mapping[str, int]) -> float:
        """Find what part of the population surely has these levels, by facts and tables.

        Where neither says anything, a small share of what the log shows. Called by
        ``Expectation._make_normed_program``, ``RatioDifference.__init__`` and
        ``ReweightedProgram.__init__``: rounding errors of a program are divided by this part.
        """
        known = [0.0]
        law, shares = self.reweighting, self._cell_shares[0]
        here = np.where(self.weigh_cells(values).reshape(shares.shape) > 0, shares, 0.0)
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
        return max(known) or _USUAL * float(here.sum(axis=1).max())

    def write_rows(self, layout: MassLayout, unit: Floats) -> ProgramRows:
        """Write the rows of a linear program over these populations, in which ``unit`` is one.

        ``unit`` is a weighted sum of masses. The rows say that masses add up to the total and
        fit the log, the facts and the tables. Called by ``Expectation._make_normed_program``,
        ``RatioDifference.__init__`` and ``ReweightedProgram.__init__``.
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

        That is a combination of levels of the variables by which the log is reweighted. Called
        by ``find_worst_population`` to tell who there would be more of than in the log.
        """
        masses = point[1 : 1 + self._n_steering] / point[_TOTAL]
        return np.asarray(masses)

    def may_exist(self) -> bool:
        """Tell whether some population fits the log, the facts and the tables together.

        False only where a program proves that none does. Called by ``require_possible`` before
        any bound is derived.
        """
        layout = self.lay_out(np.zeros(self.shape))
        total = _make_unit(layout.n_columns, _TOTAL)
        program = self.write_rows(layout, total).make_program()
        _, found = certify_greatest(program, np.zeros_like(total), least=1.0)
        return found.status is not SolveStatus.EMPTY

    @cached_property
    def _cell_shares(self) -> tuple[Floats, Floats]:
        """Both ends of ``P(others | steering variables)`` by the log, a row per steering value.

        The log is reweighted by the steering variables alone, so that these shares are
        everyone's. Read by ``Populations._add_cells``, ``Populations.lay_out`` and
        ``Populations.write_form``.
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
    def logged_shares(self) -> tuple[Floats, Floats]:
        """Both ends of how often each value of the steering variables is in the log.

        These are the variables by which the log is reweighted. Read by
        ``Populations._add_facts`` and ``find_worst_population``.
        """
        names = sort_names(self.reweighting.steering)
        low, high = self._numbers.read_ends(P(frozenset(names)), names)
        shape = self.shape[: len(names)]
        return np.broadcast_to(low, shape).ravel(), np.broadcast_to(high, shape).ravel()

    def _add_cells(self, rows: ProgramRows, layout: MassLayout, steering: int) -> None:
        """Add the rows that keep cells of one steering value within their shares of its mass.

        A steering value is a combination of levels of the variables by which the log is
        reweighted. A last pair of rows says that these cells make up the mass. Called by
        ``Populations.write_rows`` for each steering value without exact shares.
        """
        own, kept = layout.find_columns(steering), layout.kept[steering]
        low, high = (end[steering] for end in self._cell_shares)
        added = np.zeros(layout.n_columns)
        added[own] = 1.0
        most, least = 1 - low[~kept].sum(), 1 - high[~kept].sum()
        rows.add_between(added, 1 + steering, float(least), float(max(most, 0.0)))
        for column, *ends in zip(own, low[kept], high[kept], strict=True):
            rows.add_between(_make_unit(layout.n_columns, int(column)), 1 + steering, *ends)

    def _add_facts(self, rows: ProgramRows, facts: SelectionFacts) -> None:
        """Add the rows that limit how much rarer, or commoner, than logged a kind of row is.

        Called by ``Populations.write_rows`` where a selection rate or a sensitivity limit is
        stated.
        """
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
        """Add the rows that make the population agree with every cell of an unselected table.

        Called by ``Populations.write_rows`` for each table.
        """
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


def certify_greatest(
    program: Program,
    objective: Floats,
    *,
    least: float,
    seconds: float | None = None,
    sums: int = 3,
) -> tuple[float, Optimum]:
    """Maximise an objective over a program's populations; return an end proved by duality.

    In the program the form of the first row is one.

    All other rows have ends of zero or none, so with multipliers ``y`` every law has
    ``objective <= y_0 unit + left``. What is left over is rounding, and is at most its greatest
    coefficient times ``sums``, for the total is one, masses add up to it, and cells to no more.
    In the ratio it is divided by the mass that was set to one, of which everyone has ``least``.
    Called by ``Expectation.solve_greatest``, ``RatioDifference._bound_piece`` and
    ``BoxProgram.prove_end`` for every search.
    """
    with np.errstate(invalid="ignore"):  # an end that does not bind is infinite
        found = program.maximise(objective, seconds=seconds)
    y = found.multipliers
    left = float((objective - program.rows.add_rows(y)).max())
    size = np.abs(objective).max(initial=0.0) + np.abs(y).max(initial=0.0)
    spare = max(left, 0.0) + 4 * _EPS * float(size)
    return float(y[0]) + sums * spare / least, found


def _make_unit(size: int, place: int) -> Floats:
    """Make the row of ``size`` coefficients that is one at a ``place`` and zero elsewhere.

    Called by ``Populations._add_cells``, ``Populations._add_facts`` and ``ProgramRows.widen``.
    """
    found = np.zeros(size)
    found[place] = 1.0
    return found
