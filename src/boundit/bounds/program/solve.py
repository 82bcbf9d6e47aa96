r"""Spatial branch and bound: endpoints that are proved, however the solver rounds.

Within a box of bounds every product ``z = x y`` is relaxed to four planes (McCormick 1976), and
response types enter as columns that are generated on demand. A box's endpoint is never the
solver's word: from any multipliers y

.. math:: c\,q \ge \sum_i \min_{[lower_i, upper_i]} y_i\,\cdot
          + \sum_j \min_{[low_j, high_j]} (c - yA)_j\,\cdot - \sum_{blocks} \max_t y A_t

for every feasible point (weak duality), where all types t are priced. Of a cover by boxes the
least endpoint holds, so that the search may stop at any time. It is limited by numbers of boxes,
never by the clock alone: answers repeat on every machine.
"""

import heapq
from collections.abc import Iterator
from itertools import count
from math import inf
from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from boundit.bounds.program.bilinear import BilinearProgram, bound_ratios
from boundit.bounds.program.types import Variable
from boundit.core.long_work import FOR_EVER, TimeBudget
from boundit.core.rounding import EXACT_ROUNDING, SOLVER_ROUNDING
from boundit.counts.named_array import Floats

NEAR = 1e-4  # an endpoint is final if products that are off could move it by less
EMPTY = 1e-7  # a contradiction must be larger than this to refute
GAP_PRICE = 30.0  # of what types do not explain, while columns are generated
MAX_ROUNDS = 60  # of column generation in a box
MAX_ITERATIONS = 20_000  # of the simplex method
MAX_PROGRAMS = 100_000  # by one solver, unless another number is given
_FINE = 1e-11  # added to what interval arithmetic finds

Positions = NDArray[np.intp]
Box = tuple[Floats, Floats]


class Relaxed(NamedTuple):
    """The relaxation in one box: what it proves, its point, and how far products may move it."""

    bound: float
    point: Floats
    off: Floats
    is_priced: bool = True
    """Whether no response type would lower it further."""


class _Solved(NamedTuple):
    status: str
    point: Floats
    multipliers: Floats


class Solver:
    """A bilinear program as arrays; ``box`` are its bounds, None where no point fits."""

    def __init__(self, program: BilinearProgram, budget: TimeBudget = FOR_EVER) -> None:
        self.program, self.budget = program, budget
        self.n = len(program.lower)
        triples = [[v.index for v in triple] for triple in program.products]
        self.z, self.x, self.y = np.array(triples, dtype=np.intp).reshape(-1, 3).T
        entries = [
            (i, v.index, c) for i, row in enumerate(program.rows) for v, c in row.form.items()
        ]
        self.row_of = np.array([row for row, _, _ in entries], dtype=np.intp)
        self.column_of = np.array([column for _, column, _ in entries], dtype=np.intp)
        self.weight = np.array([weight for _, _, weight in entries], dtype=np.float64)
        self.row_low = np.array([row.lower for row in program.rows])
        self.row_high = np.array([row.upper for row in program.rows])
        self._lay_out_ratios()
        cells = [cell.index for block in program.blocks for cell in block.cells]
        self.cells = np.array(cells, dtype=np.intp)
        self._lay_out_matrix()
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        self._highs.passOptions(_OPTIONS)
        self._basis: highspy.HighsBasis | None = None
        self.left = MAX_PROGRAMS  # how many linear programs it may still solve
        self.box = self.tighten(np.array(program.lower), np.array(program.upper), 12)

    def _lay_out_matrix(self) -> None:
        """Where the entries of all relaxations stand: rows, planes of products, types, gaps.

        A gap in a row of types has a price, so that there always is a point as far as types go.
        """
        m, n_rows, n_cells = len(self.z), len(self.row_low), len(self.cells)
        self.first = n_rows + 4 * m  # of the rows of types
        places = [(self.row_of, self.column_of)]
        for i in range(4):
            row = n_rows + i * m + np.arange(m)
            places += [(row, self.z), (row, self.x), (row, self.y)]
        places.append((self.first + np.arange(n_cells), self.cells))
        gaps = np.arange(n_cells + len(self.program.blocks))
        gap_places = [(self.first + gaps, self.n + i * len(gaps) + gaps) for i in (0, 1)]
        self.rows, self.columns = (np.concatenate(p) for p in zip(*places, strict=True))
        rows, columns = (np.concatenate(p) for p in zip(*places, *gap_places, strict=True))
        self._order = np.lexsort((rows, columns))
        rows, columns = rows[self._order], columns[self._order]
        # The same place twice, as in z = x x, is added up.
        new = (np.diff(columns, prepend=-1) != 0) | (np.diff(rows, prepend=-1) != 0)
        self._places = np.flatnonzero(new)
        self._index = rows[self._places].astype(np.int32)
        sizes = np.bincount(columns[self._places], minlength=self.n + 2 * len(gaps))
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        self._gap_values = np.repeat([1.0, -1.0], len(gaps))

    def _lay_out_ratios(self) -> None:
        """Ratios of forms as dense arrays, and which variables theta determines."""
        ratios, forms = self.program.ratios, self.program.forms
        used = {theta for ratio in ratios for end in ratio.bottom for theta in end}
        thetas = sorted(used, key=lambda v: v.index)
        self.theta = np.array([v.index for v in thetas], dtype=np.intp)
        self.ratio = np.array([ratio.variable.index for ratio in ratios], dtype=np.intp)

        def spread(form: dict[Variable, float]) -> list[float]:
            return [form.get(theta, 0.0) for theta in thetas]

        shape = len(ratios), len(thetas)
        self.tops = [
            np.array([spread(r.top[i]) for r in ratios]).reshape(shape) for i in (0, 1)
        ]
        self.bottoms = [
            np.array([spread(r.bottom[i]) for r in ratios]).reshape(shape) for i in (0, 1)
        ]
        whole = set(thetas)
        self.is_simplex = any(
            row.form.keys() == whole and row.lower == row.upper == 1.0
            for row in self.program.rows
        )
        self.sources = {v.index: np.array(spread(form)) for v, (_, form) in forms.items()}
        for i, index in enumerate(self.ratio):
            self.sources[int(index)] = self.tops[1][i] + self.bottoms[1][i]

    def is_over(self) -> bool:
        """Whether it may solve no more programs, or has no more time."""
        return self.left <= 0 or self.budget.is_over()

    # Interval arithmetic

    def tighten(self, low: Floats, high: Floats, rounds: int = 4) -> Box | None:
        """Propagate bounds through rows, products and ratios; None where a box is empty."""
        low, high = low.copy(), high.copy()
        x, y, z, rows, columns, c = (
            self.x,
            self.y,
            self.z,
            self.row_of,
            self.column_of,
            self.weight,
        )
        rising, n_rows = c > 0, len(self.row_low)
        for turn in range(rounds):
            before = (high - low).sum()
            ends = c * low[columns], c * high[columns]
            least, most = np.minimum(*ends), np.maximum(*ends)
            others_low = np.bincount(rows, least, n_rows)[rows] - least
            others_high = np.bincount(rows, most, n_rows)[rows] - most
            top = (self.row_high[rows] - others_low) / c
            bottom = (self.row_low[rows] - others_high) / c
            np.minimum.at(high, columns, np.where(rising, top, bottom) + _FINE)
            np.maximum.at(low, columns, np.where(rising, bottom, top) - _FINE)
            np.minimum.at(high, z, high[x] * high[y] + _FINE)
            np.maximum.at(low, z, low[x] * low[y] - _FINE)
            for one, other in ((x, y), (y, x)):
                sure, some = low[other] > 1e-6, high[other] > 1e-6
                np.minimum.at(high, one[sure], (high[z[sure]] + _FINE) / low[other[sure]])
                np.maximum.at(low, one[some], (low[z[some]] - _FINE) / high[other[some]])
            if self.is_simplex and turn < 2:
                box = low[self.theta], high[self.theta]
                least = bound_ratios(-1, self.tops[0], self.bottoms[1], *box)
                most = bound_ratios(1, self.tops[1], self.bottoms[0], *box)
                np.maximum.at(low, self.ratio, least - _FINE)
                np.minimum.at(high, self.ratio, most + _FINE)
            np.maximum(low, 0.0, out=low)
            if (low > high + EMPTY).any():
                return None
            if before - (high - low).sum() < 1e-3:
                break
        return np.minimum(low, high), np.maximum(low, high)

    # One box

    def relax(self, aim: int, sign: float, box: Box) -> Relaxed | None:
        """The least ``sign x aim`` in a box; None where the box is proved empty."""
        (low, high), x, y, z = box, self.x, self.y, self.z
        m, n_rows, n_cells = len(z), len(self.row_low), len(self.cells)
        pieces, none = [self.weight], np.full(m, inf)
        lower, upper = [self.row_low], [self.row_high]
        # McCormick: z >= or <= x b + y a - a b at the corners (a, b) of the box of x and y.
        corners = ((low, low, False), (high, high, False), (low, high, True), (high, low, True))
        for at_x, at_y, above in corners:
            a, b = at_x[x], at_y[y]
            pieces += [np.ones(m), -b, -a]
            lower.append(-none if above else -a * b)
            upper.append(-a * b if above else none)
        values = np.concatenate([*pieces, -np.ones(n_cells)])
        equal = np.concatenate([np.zeros(n_cells), np.ones(len(self.program.blocks))])
        ends = np.concatenate([*lower, equal]), np.concatenate([*upper, equal])
        cost = np.where(np.arange(self.n) == aim, sign, 0.0)
        passed = max(sign * low[aim], sign * high[aim]) + EMPTY
        solved, bound, fresh = _Solved("failed", low, np.zeros(0)), -inf, False
        for _ in range(MAX_ROUNDS):
            solved = self._solve(cost, box, values, ends)
            if solved.status == "failed":
                break
            is_ray = solved.status == "empty"
            bound, best = self._certify(
                0 * cost if is_ray else cost, solved.multipliers, box, values, ends
            )
            if bound > (EMPTY if is_ray else passed):
                return None
            fresh = False
            for block, (price, priced) in enumerate(best):
                pool = self.program.blocks[block].pool
                if not pool or price > -solved.multipliers[self.first + n_cells + block] + 1e-8:
                    fresh |= any(column not in pool for column in priced)
                    pool.update(dict.fromkeys(priced))
            if not fresh or (self.budget.is_over() and not is_ray):
                break
        if (
            solved.status != "optimal"
        ):  # nothing is proved: the endpoint of the box around stays
            off = (high - low)[x] * (high - low)[y] / 4 + NEAR
            return Relaxed(-inf, (low + high) / 2, off)
        steep = np.abs(solved.multipliers[n_rows : self.first]).reshape(4, m).sum(axis=0) + 0.02
        point = solved.point
        off = np.abs(point[z] - point[x] * point[y]) * steep
        return Relaxed(bound, point, off, not fresh)

    def _certify(
        self, cost: Floats, multipliers: Floats, box: Box, values: Floats, ends: Box
    ) -> tuple[float, list[tuple[float, list[tuple[int, ...]]]]]:
        """What multipliers prove by weak duality, and the best types of each block.

        Every coefficient, endpoint and cost may be off by the part ``EXACT_ROUNDING`` of itself.
        """
        (low, high), first, last = box, self.first, self.first + len(self.cells)
        end = np.where(multipliers > 0, *ends)
        usable = np.isfinite(end) & (np.arange(len(end)) < last)
        y = np.where(usable, multipliers, 0.0)
        parts = y * np.where(usable, end, 0.0)
        moved = values * y[self.rows]
        left = cost - np.bincount(self.columns, moved, self.n)
        off = np.abs(cost) + np.bincount(self.columns, np.abs(moved), self.n)
        own = np.minimum(left * low, left * high) - EXACT_ROUNDING * off * high
        prices = [block.price(y[first:last]) for block in self.program.blocks]
        size = np.abs(parts).sum() + np.abs(own).sum() + np.abs(y[first:last]).sum()
        proved = parts.sum() + own.sum() - sum(price for price, _ in prices)
        return float(proved - EXACT_ROUNDING * size), prices

    def _solve(self, cost: Floats, box: Box, values: Floats, ends: Box) -> _Solved:
        """Solve the relaxation over the types made so far."""
        self.left -= 1
        n_rows, n_gaps = len(ends[0]), len(self._gap_values)
        n_cells, start = len(self.cells), self.n + n_gaps
        made = [
            (*column, n_cells + block)
            for block, own in enumerate(self.program.blocks)
            for column in own.pool
        ]
        n = start + len(made)
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = n_rows, n
        model.col_cost_ = np.concatenate(
            [cost, np.full(n_gaps, GAP_PRICE), np.zeros(len(made))]
        )
        model.row_lower_, model.row_upper_ = ends
        model.col_lower_ = np.concatenate([box[0], np.zeros(n - self.n)])
        model.col_upper_ = np.concatenate([box[1], np.full(n - self.n, inf)])
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        sizes = np.cumsum([len(column) for column in made])
        reached = self.first + np.array([row for column in made for row in column])
        fixed = np.concatenate([values, self._gap_values])[self._order]
        fixed = np.add.reduceat(fixed, self._places)
        starts = self._starts[-1] + sizes
        model.a_matrix_.start_ = np.concatenate([self._starts, starts]).astype(np.int32)
        model.a_matrix_.index_ = np.concatenate([self._index, reached]).astype(np.int32)
        model.a_matrix_.value_ = np.concatenate([fixed, np.ones(len(reached))])
        solver = self._highs
        if (seconds := self.budget.count_seconds()) is not None:
            solver.setOptionValue("time_limit", solver.getRunTime() + seconds)
        failed = _Solved("failed", box[0], np.zeros(n_rows))
        if solver.passModel(model) != highspy.HighsStatus.kOk:
            return failed  # a basis passed to a rejected model would corrupt memory
        if self._basis is not None:  # start where the last box ended
            was = list(self._basis.col_status)
            self._basis.col_status = was + [highspy.HighsBasisStatus.kLower] * (n - len(was))
            solver.setBasis(self._basis)
        solver.run()
        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            found, self._basis = solver.getSolution(), solver.getBasis()
            point = np.array(found.col_value)[: self.n]
            return _Solved("optimal", point, np.array(found.row_dual))
        if status == highspy.HighsModelStatus.kInfeasible:
            _, exists, ray = solver.getDualRay()  # type: ignore[attr-defined]
            if exists:
                largest = max(float(np.abs(ray).max(initial=0.0)), 1e-300)
                return _Solved("empty", box[0], np.asarray(ray) / largest)
        return failed

    def split(self, box: Box, found: Relaxed) -> Iterator[Box]:
        """Halve what makes products uncertain: theta where it determines a factor, else that."""
        (low, high), point, off = box, found.point, found.off
        width, score = high - low, np.zeros(self.n)
        for factor in (self.x, self.y):
            np.add.at(score, factor, off * width[self.x] * width[self.y])
        for v in np.flatnonzero(score).tolist():
            if v in self.sources and v not in self.theta:
                part = self.sources[v] * width[self.theta]
                if part.sum() > 0:
                    score[self.theta] += score[v] * part / part.sum()
                    score[v] = 0.0
        v = int(np.argmax(score))
        middle = np.clip(point[v], low[v] + width[v] / 4, high[v] - width[v] / 4)
        for end in (1, 0):
            half = low.copy(), high.copy()
            half[end][v] = middle
            yield half


class EndpointSearch:
    """Best first search for one endpoint of one variable, to be continued at will."""

    def __init__(self, solver: Solver, aim: int, *, upper: bool) -> None:
        self.solver, self.aim, self.sign = solver, aim, -1.0 if upper else 1.0
        self._worst = min(self.sign * 0.0, self.sign * 1.0)
        self.boxes, self._ties = 0, count()
        self._heap: list[tuple[float, int, Box, Relaxed]] = []
        self._push(solver.box, self._worst)

    def _push(self, box: Box | None, least: float) -> None:
        self.boxes += 1
        found = None if box is None else self.solver.relax(self.aim, self.sign, box)
        if box is not None and found is not None:
            ends = self.sign * box[0][self.aim], self.sign * box[1][self.aim]
            bound = max(least, found.bound, min(ends))
            heapq.heappush(self._heap, (bound, next(self._ties), box, found))

    @property
    def is_empty(self) -> bool:
        """Whether no point fits: every box is proved empty."""
        return not self._heap

    @property
    def is_final(self) -> bool:
        """Whether more boxes would not move the endpoint."""
        return self.is_empty or bool(self._heap[0][3].off.sum() <= NEAR)

    @property
    def is_open(self) -> bool:
        """Whether it was stopped early, so that the endpoint may be wider than it need be."""
        return not self.is_final or not (self.is_empty or self._heap[0][3].is_priced)

    @property
    def endpoint(self) -> float:
        """What is proved so far: the least of all open boxes."""
        return self.sign * (self._heap[0][0] if self._heap else self._worst)

    def advance(self, boxes: int) -> None:
        """Split boxes until the endpoint is final, or so many boxes were looked at in all."""
        while self.boxes < boxes and not self.is_final and not self.solver.is_over():
            bound, _, box, found = heapq.heappop(self._heap)
            for half in self.solver.split(box, found):
                self._push(self.solver.tighten(*half), bound)


def _choose_options() -> "highspy.HighsOptions":
    options = highspy.HighsOptions()
    options.output_flag = False
    options.presolve = "off"  # it would forget where the last box ended
    options.solver = "simplex"
    options.threads = 1
    options.simplex_iteration_limit = MAX_ITERATIONS
    options.small_matrix_value = EXACT_ROUNDING
    options.primal_feasibility_tolerance = 10 * SOLVER_ROUNDING
    options.dual_feasibility_tolerance = 10 * SOLVER_ROUNDING
    return options


_OPTIONS = _choose_options()
