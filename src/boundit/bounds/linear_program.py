r"""Linear programs whose answer is a proof: ends that hold however the solver rounds.

A program has variables ``q >= 0`` (or between bounds), rows ``lower <= A q <= upper`` and an
objective ``c q``. The solver is HiGHS. Its answer is never taken at its word: from any
multipliers ``y``, optimal or not,

.. math:: c\,q \;=\; y\,A q + (c - y A)\,q \;\ge\;
          \sum_i \min_{[lower_i,\, upper_i]} y_i\,\cdot \;+\; \sum_j \min_{q_j} (c - yA)_j\,q_j

for every feasible ``q`` (weak duality), so the end is computed from the multipliers. A solver
that stops early still leaves a bound, only a wider one.
"""

from dataclasses import dataclass
from enum import Enum
from typing import final

import highspy
import numpy as np
from numpy.typing import NDArray

from boundit.core.rounding import EXACT_ROUNDING, SOLVER_ROUNDING
from boundit.counts.named_array import Floats

_Positions = NDArray[np.intp]
_EPS = float(np.finfo(np.float64).eps)


class SolveStatus(Enum):
    """How a search ended."""

    OPTIMAL = "optimal"
    EMPTY = "empty"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """The numbers of a matrix that are not zero, and where they are.

    An array of ``scipy.sparse`` would give the same bits and, beyond a thousand numbers, be
    faster. But it takes 0.1 ms to make, and a table asks for hundreds of programs smaller than
    that: with it, bounds under a selection rate took about 5 % longer.

    >>> rows = SparseMatrix.from_dense(np.array([[1.0, 0.0], [2.0, 3.0]]))
    >>> rows.add_rows(np.array([1.0, 10.0]))
    array([21., 30.])
    """

    rows: _Positions
    columns: _Positions
    values: Floats
    shape: tuple[int, int]

    @classmethod
    def from_dense(cls, dense: Floats) -> "SparseMatrix":
        """Keep the numbers of a matrix that are not zero, column by column."""
        columns, rows = np.nonzero(dense.T)
        return cls(rows, columns, dense[rows, columns], (dense.shape[0], dense.shape[1]))

    def add_rows(self, multipliers: Floats, *, sizes: bool = False) -> Floats:
        """Add up the rows of the matrix, each times its multiplier: ``y A``.

        With ``sizes`` no sign counts, which says how far the sums can be off.
        """
        parts = self.values * multipliers[self.rows]
        parts = np.abs(parts) if sizes else parts
        return np.bincount(self.columns, parts, self.shape[1]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Optimum:
    """What a search found.

    ``bound`` holds for every feasible point. ``multipliers``, one a row, prove it; those of an
    ``EMPTY`` program prove that it has no feasible point. ``value`` is what the solver says is
    attained at ``point``; both are nan when it did not finish.
    """

    status: SolveStatus
    bound: float
    value: float
    point: Floats
    multipliers: Floats


@final
class Program:
    """A program that can be asked again after its rows' ends or its objective have changed.

    Each search starts where the last one ended.

    >>> rows = SparseMatrix.from_dense(np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]))
    >>> program = Program(rows, lower=np.array([1.0, 0.2]), upper=np.array([1.0, 0.3]))
    >>> found = program.maximise(np.array([0.0, 1.0, 0.5]))
    >>> round(found.bound, 9), found.status.value
    (0.8, 'optimal')
    >>> program.set_ends(np.array([1.0, 0.4]), np.array([1.0, 0.4]))
    >>> round(program.minimise(np.array([0.0, 1.0, 0.5])).bound, 9)
    0.3
    """

    def __init__(
        self,
        rows: SparseMatrix,
        *,
        lower: Floats,
        upper: Floats,
        highest: Floats | None = None,
    ) -> None:
        self.rows = rows
        n_rows, n_columns = rows.shape
        self.highest = np.full(n_columns, np.inf) if highest is None else highest
        self.lower, self.upper = lower, upper
        self._anchor = _find_anchor(rows)
        self._all_rows = np.arange(n_rows, dtype=np.int32)
        self._all_columns = np.arange(n_columns, dtype=np.int32)
        self._solver = _load_solver(rows, lower, upper, self.highest)
        self._clock = np.inf  # until when the solver may run, by its own clock

    def set_ends(self, lower: Floats, upper: Floats) -> None:
        """Change the lower and upper end of every row, and keep the solver's last basis."""
        self.lower, self.upper = lower, upper
        # The stubs of highspy leave out some of its methods.
        n = len(self._all_rows)
        self._solver.changeRowsBounds(n, self._all_rows, lower, upper)  # type: ignore[attr-defined]

    def set_coefficient(self, row: int, column: int, value: float) -> None:
        """Change one coefficient of a linear program's rows, of those kept as not zero."""
        place = np.flatnonzero((self.rows.rows == row) & (self.rows.columns == column))
        self.rows.values[place] = value
        self._solver.changeCoeff(row, column, value)

    def minimise(self, cost: Floats, *, seconds: float | None = None) -> Optimum:
        """Find the least ``cost q`` over feasible points ``q``, in at most so many ``seconds``."""
        self._solver.changeColsCost(len(self._all_columns), self._all_columns, cost)
        clock = np.inf if seconds is None else self._solver.getRunTime() + max(seconds, 0.0)
        if clock != self._clock:
            self._clock = float(clock)
            self._solver.setOptionValue("time_limit", self._clock)
        self._solver.run()
        status = self._solver.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return self._prove_empty(cost)
        solution = self._solver.getSolution()
        if status == highspy.HighsModelStatus.kOptimal:
            multipliers = np.array(solution.row_dual)
            bound, used = self.certify(cost, multipliers)
            point = np.array(solution.col_value)
            return Optimum(SolveStatus.OPTIMAL, bound, float(cost @ point), point, used)
        return self._keep_unfinished(cost, solution)

    def maximise(self, cost: Floats, *, seconds: float | None = None) -> Optimum:
        """Find the greatest ``cost q`` over feasible points ``q``, in so many ``seconds``.

        Its ``multipliers`` are those of the greatest.
        """
        found = self.minimise(-cost, seconds=seconds)
        sign = 1.0 if found.status is SolveStatus.EMPTY else -1.0
        return Optimum(
            found.status, -found.bound, -found.value, found.point, sign * found.multipliers
        )

    def certify(self, cost: Floats, multipliers: Floats) -> tuple[float, Floats]:
        """Compute what multipliers prove: ``cost q`` is at least this at every feasible point.

        Multipliers, one a row, are the dual solution. They are mended first where the solver
        rounded, and come back as they were used. Every coefficient, end and cost may be off by
        the part ``EXACT_ROUNDING`` of itself.
        """
        finite = np.where(multipliers > 0, self.lower, self.upper)
        y = np.where(np.isfinite(finite), multipliers, 0.0)
        left = cost - self.rows.add_rows(y)
        off = EXACT_ROUNDING * (np.abs(cost) + self.rows.add_rows(y, sizes=True))
        with np.errstate(invalid="ignore"):  # an end that does not bind is infinite
            if self._anchor is not None:  # what is left over is then 0 at least
                row, weights = self._anchor
                y[row] += float((left / weights).min())
                spare = -float((off / weights).max() * self.upper[row])
            else:
                least = left - off
                spare = float(np.where(least < 0, least * self.highest, 0.0).sum())
            ends = np.where(y > 0, self.lower, self.upper)
            parts = np.where(y == 0, 0.0, y * ends)
        return float(parts.sum() + spare - EXACT_ROUNDING * np.abs(parts).sum()), y

    def _prove_empty(self, cost: Floats) -> Optimum:
        """Prove by the solver's dual ray that no point is feasible; else return a loose bound.

        The ray gives multipliers of rows whose sum contradicts itself.
        """
        nothing = np.full(self.rows.shape[1], np.nan)
        _, exists, ray = self._solver.getDualRay()  # type: ignore[attr-defined]
        for sign in (1.0, -1.0) if exists else ():
            scaled = sign * np.asarray(ray) / max(float(np.abs(ray).max(initial=0.0)), _EPS)
            proof, used = self.certify(np.zeros(self.rows.shape[1]), scaled)
            if proof > SOLVER_ROUNDING:
                return Optimum(SolveStatus.EMPTY, -np.inf, np.nan, nothing, used)
        bound, used = self.certify(cost, np.zeros(self.rows.shape[0]))
        return Optimum(SolveStatus.UNFINISHED, bound, np.nan, nothing, used)

    def _keep_unfinished(self, cost: Floats, solution: highspy.HighsSolution) -> Optimum:
        """Return the better bound of two: by the solver's last multipliers, or by all zeros."""
        tried = [np.zeros(self.rows.shape[0])]
        if len(solution.row_dual) == self.rows.shape[0]:
            tried.append(np.array(solution.row_dual))
        bound, used = max((self.certify(cost, y) for y in tried), key=lambda pair: pair[0])
        nothing = np.full(self.rows.shape[1], np.nan)
        return Optimum(SolveStatus.UNFINISHED, bound, np.nan, nothing, used)


def _find_anchor(rows: SparseMatrix) -> tuple[int, Floats] | None:
    """Find a row in which every variable has a positive coefficient; None without one.

    What comes out are its number and coefficients. Adding a multiple of it mends multipliers
    that the solver rounded.
    """
    n_rows, n_columns = rows.shape
    full = np.bincount(rows.rows[rows.values > 0], minlength=n_rows) == n_columns
    if not full.any():
        return None
    row = int(full.argmax())
    inside = rows.rows == row
    weights = np.zeros(n_columns)
    weights[rows.columns[inside]] = rows.values[inside]
    return row, weights


def _choose_options() -> "highspy.HighsOptions":
    """Choose how the solver works, the same for every program.

    Called once, when this module is read.
    """
    options = highspy.HighsOptions()
    options.output_flag = False
    options.presolve = "off"  # it would forget where the last search ended
    options.solver = "simplex"
    options.threads = 1
    options.small_matrix_value = (
        EXACT_ROUNDING  # by default probabilities below 1e-9 are dropped
    )
    options.primal_feasibility_tolerance = SOLVER_ROUNDING
    options.dual_feasibility_tolerance = SOLVER_ROUNDING
    return options


_OPTIONS = _choose_options()


def _load_solver(
    rows: SparseMatrix, lower: Floats, upper: Floats, highest: Floats
) -> "highspy.Highs":
    """Hand rows and ends to a HiGHS solver, which starts each search where the last one ended."""
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = rows.shape
    model.col_cost_ = np.zeros(rows.shape[1])
    model.col_lower_, model.col_upper_ = np.zeros(rows.shape[1]), highest
    model.row_lower_, model.row_upper_ = lower, upper
    order = np.lexsort((rows.rows, rows.columns))
    starts = np.zeros(rows.shape[1] + 1, dtype=np.int32)
    starts[1:] = np.cumsum(np.bincount(rows.columns, minlength=rows.shape[1]))
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = starts
    model.a_matrix_.index_ = rows.rows[order].astype(np.int32)
    model.a_matrix_.value_ = rows.values[order]
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.passOptions(_OPTIONS)  # one call: seven by name would take as long as the rest
    solver.passModel(model)
    return solver
