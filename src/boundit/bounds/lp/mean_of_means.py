r"""The greatest mean of a mean, where one unknown population has both laws, certified.

The value is the sum over ``b`` and ``c`` of ``P(b | a) P(c | e) f(b, c)``, both laws those of
one population. Either law alone is a ratio of sums that are linear in the masses, so a linear
program finds its worst case; their product is not, and the worst case of each apart may be no
population's worst case of both.

Two copies of the masses serve, divided by the mass of ``a`` and by that of ``e``. Chances
``p(c) = P(c | e)`` are kept in a box, and columns ``w(b, c)`` stand for ``P(b | a) p(c)``: each
lies between the four planes that enclose a product of two numbers with known ranges (McCormick
1976), and they add up to ``P(b | a)`` over ``c`` and to ``p(c)`` over ``b``. Where ``a`` is
``e`` and one value ``c'`` of the inner variables, the second copy is ``p(c')`` times the first,
and ``w(b, c')`` is a mass itself. All of it is linear in a box; splitting boxes brings the end
down (``search_boxes``), and whenever the search stops, the greatest end among the boxes that
are left holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, prod
from typing import final

import numpy as np

from boundit.bounds.lp.branch_and_bound import BoxBound, ProbabilityBox, search_boxes
from boundit.bounds.lp.fractional import AttainedEnd, Expectation
from boundit.bounds.lp.population import (
    SUMS,
    MassLayout,
    Populations,
    ProgramRows,
)
from boundit.bounds.lp.program import SolveStatus
from boundit.bounds.lp.reweighting import ReweightedBlock
from boundit.bounds.lp.worst import find_worst_population
from boundit.counts.named_array import Floats
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.rounding import ROUNDING

ACCURACY = 5e-4
"""How near a proved end must come to what a population attains."""
MOST_BOXES = 40
"""How many boxes are looked into for one end."""
MOST_JOINT_CELLS = 64
"""For how many cells of a population both means are taken jointly; beyond, one by one."""
_NARROW = 1e-6  # a narrower range would make rows of a program too much alike


@dataclass(frozen=True, eq=False)
class _JointProgram:
    """The rows of both copies of the masses, and the forms that boxes and objectives need.

    A copy has ``n_masses`` columns. ``outer`` are the forms of
    ``P(b | a)`` in the first copy, ``inner`` those of ``p(c)`` in the second, ``own`` those of
    the mass of ``c`` and ``e`` in the first, ``meeting`` of ``b`` and ``a`` in the second.
    ``ranges`` are those of ``P(b | a)``, ``box`` those of ``p(c)``. ``linked`` is the place of
    ``c'``, if there is one.
    """

    rows: ProgramRows
    n_masses: int
    outer: Floats
    inner: Floats
    own: Floats
    meeting: Floats
    ranges: ProbabilityBox
    box: ProbabilityBox
    most: float
    linked: int | None

    @property
    def shape(self) -> tuple[int, int]:
        """How many values the outer and the inner variables have together."""
        return len(self.outer), len(self.inner)

    def write_product(self, b: int, c: int) -> Floats:
        """Write the form that is one at the column which stands for ``P(b | a) p(c)``."""
        form = np.zeros(self.rows.n_columns)
        form[2 * self.n_masses + b * self.shape[1] + c] = 1.0
        return form

    def add_products(self) -> None:
        """Add what holds of the products in every box: their sums, and those that are masses."""
        n_outer, n_inner = self.shape
        for b in range(n_outer):
            total = sum(self.write_product(b, c) for c in range(n_inner))
            self.rows.add(total - self.outer[b], 0.0, 0.0)
        for c in range(n_inner):
            total = sum(self.write_product(b, c) for b in range(n_outer))
            self.rows.add(total - self.inner[c], 0.0, 0.0)
        if self.linked is not None:
            for b in range(n_outer):
                self.rows.add(self.write_product(b, self.linked) - self.meeting[b], 0.0, 0.0)

    def keep_in_box(self, box: ProbabilityBox) -> ProgramRows:
        """Copy the rows and add those that keep the chances of the inner values in a box."""
        rows = self.rows.copy()
        unit, base = self.outer.sum(axis=0), self.own.sum(axis=0)
        for c, (low, high) in enumerate(zip(*box, strict=True)):
            self._keep_between(rows, self.own[c], base, low, high)
            self._keep_between(rows, self.inner[c], unit, low, high)
        if self.linked is not None:
            low, high = box.low[self.linked], box.high[self.linked]
            for column in range(self.n_masses):
                one, other = np.zeros(rows.n_columns), np.zeros(rows.n_columns)
                one[column] = other[self.n_masses + column] = 1.0
                self._keep_between(rows, other, one, low, high)
        return rows

    def add_planes(
        self, rows: ProgramRows, ranges: ProbabilityBox, box: ProbabilityBox
    ) -> None:
        """Add the planes that enclose each product, by the ranges of both its factors."""
        unit = self.outer.sum(axis=0)
        for b, c in np.ndindex(*self.shape):
            least, most = ranges.low[b], ranges.high[b]
            product, share, chance = self.write_product(b, c), self.outer[b], self.inner[c]
            if least == most:
                rows.add(product - least * chance, 0.0, 0.0)
                continue
            low, high = box.low[c], box.high[c]
            for one, other in ((low, least), (high, most)):
                plane = one * share + other * chance - one * other * unit
                rows.add(product - plane, 0.0, inf)
            for one, other in ((low, most), (high, least)):
                plane = one * share + other * chance - one * other * unit
                rows.add(product - plane, -inf, 0.0)

    def read_copy(self, point: Floats, which: int) -> tuple[Floats, Floats]:
        """Read both laws off one copy of the masses at a solution: each copy is a population.

        A law that is given what nobody in the copy has is read off the other.
        """
        forms = ((self.outer, self.own), (self.meeting, self.inner))
        outer, chances = (form @ point for form in forms[which])
        if outer.sum() < ROUNDING:
            outer = self.outer @ point
        if chances.sum() < ROUNDING:
            chances = self.inner @ point
        return outer / outer.sum(), chances / chances.sum()

    @staticmethod
    def _keep_between(
        rows: ProgramRows, form: Floats, of: Floats, low: float, high: float
    ) -> None:
        """Add rows that keep a form between ``low`` and ``high`` times another form."""
        if low == high:
            rows.add(form - low * of, 0.0, 0.0)
            return
        rows.add(form - low * of, 0.0, inf)
        rows.add(form - high * of, -inf, 0.0)


@final
class MeanOfMeans:
    """What the mean over one block of a mean over another can be, in one population.

    ``late`` says that some search ran out of time.
    """

    def __init__(
        self,
        populations: Populations,
        outer: ReweightedBlock,
        inner: ReweightedBlock,
        budget: TimeBudget = FOR_EVER,
    ) -> None:
        self.populations, self.budget = populations, budget
        self.outer, self.inner = outer, inner
        self._outer_mean = Expectation(populations, outer, budget)
        self._inner_mean = Expectation(populations, inner, budget)
        self._programs = dict[tuple[tuple[str, int], ...], _JointProgram]()
        self._late = False

    @property
    def late(self) -> bool:
        """Whether some search ran out of time."""
        return self._late or self._outer_mean.late or self._inner_mean.late

    def find_greatest(
        self, values: Floats, at: Mapping[str, int], *, most: int = MOST_BOXES
    ) -> AttainedEnd:
        """Find the greatest mean of a mean, and a population that attains it if one is known.

        ``values`` has an axis for each variable of the outer block, then of the inner one;
        ``at`` are the levels of what either is given. At most about ``most`` boxes are
        searched; with none, each mean is taken at its own worst population.
        """
        if self.populations.has_too_many_cells:
            return AttainedEnd(float(values.max()))
        n_outer = len(self.outer.variables)
        shapes = values.shape[:n_outer], values.shape[n_outer:]
        table = values.reshape(prod(shapes[0]), prod(shapes[1]))
        apart = min(
            self._take_apart(table, shapes, at),
            self._take_apart(table.T, shapes[::-1], at, swapped=True),
            key=lambda found: found.end,
        )
        if not most or not self._may_search(table, at):
            return apart
        found = self._search(table, at, most)
        if found is None or found.end >= apart.end:
            return apart
        worst = find_worst_population(self.populations, found.answer) if found.answer else None
        return AttainedEnd(max(found.end, float(values.min())), worst)

    def _take_apart(
        self,
        table: Floats,
        shapes: tuple[tuple[int, ...], tuple[int, ...]],
        at: Mapping[str, int],
        *,
        swapped: bool = False,
    ) -> AttainedEnd:
        """Take the one mean after the other, each at its own worst population.

        The one over columns of ``table`` comes first: the inner one, unless ``swapped``. It is
        exact where the other has a known law.
        """
        means = (self._outer_mean, self._inner_mean)
        last, first = means[::-1] if swapped else means
        given = self._select(at, first.block)
        each = [first.find_greatest(row.reshape(shapes[1]), given) for row in table]
        return last.solve_greatest(
            np.array(each).reshape(shapes[0]), self._select(at, last.block)
        )

    def _may_search(self, table: Floats, at: Mapping[str, int]) -> bool:
        """Tell whether a joint search can gain anything, and is small enough.

        ``table`` has a row for each outer value and a column for each inner one.
        """
        flat = np.ptp(table, axis=0).max() == 0 or np.ptp(table, axis=1).max() == 0
        seen = all(
            self.populations.has_logged(self._select(at, block))
            for block in (self.outer, self.inner)
        )
        few = prod(self.populations.shape) <= MOST_JOINT_CELLS
        if flat or not seen or not few or self.budget.is_over():
            return False
        joint = self._find_program(at)
        wide = all(np.ptp(box, axis=0).max() > 2 * _NARROW for box in (joint.ranges, joint.box))
        return wide and joint.most < inf

    def _search(self, table: Floats, at: Mapping[str, int], most: int) -> BoxBound | None:
        """Search boxes of the inner chances for the greatest value of both means.

        None where no population fits.
        """
        attained = [-inf]
        joint = self._find_program(at)
        look = partial(self._solve_box, table, joint, attained)
        return search_boxes(joint.box, look, most=most, is_late=self._note_late)

    def _solve_box(
        self,
        table: Floats,
        joint: _JointProgram,
        attained: list[float],
        box: ProbabilityBox,
    ) -> BoxBound | None:
        """Solve the program of one box of inner chances; None when nothing fits in it.

        Both copies of its masses are populations, and the greater value of the two goes into
        ``attained``: a box that ends no further than a little beyond it is not split.
        """
        rows = joint.keep_in_box(box)
        ranges = joint.ranges if box is joint.box else self._narrow_ranges(joint, rows)
        if ranges is None:
            return None
        joint.add_planes(rows, ranges, box)
        aim = np.zeros(rows.n_columns)
        aim[2 * joint.n_masses :] = table.ravel()
        program = rows.make_program(joint.most)
        answer = program.maximise(aim, seconds=self.budget.count_seconds())
        end = answer.bound
        if answer.status is SolveStatus.EMPTY:
            return None
        middle = (box.low + box.high) / 2
        if answer.status is SolveStatus.UNFINISHED:
            self._note_late()
            return BoxBound(end, middle, np.zeros_like(middle))
        read = [joint.read_copy(answer.point, which) for which in (0, 1)]
        values = [float(outer @ table @ chances) for outer, chances in read]
        best = int(np.argmax(values))
        attained[0] = max(attained[0], values[best])
        outer, chances = read[best]
        products = answer.point[2 * joint.n_masses :].reshape(joint.shape)
        off = np.abs(products - outer[:, None] * chances).sum(axis=0)
        if end - attained[0] <= ACCURACY:
            off = np.zeros_like(off)
        shown = replace(answer, point=answer.point[best * joint.n_masses :])
        return BoxBound(end, (chances + middle) / 2, off, shown)

    def _narrow_ranges(self, joint: _JointProgram, rows: ProgramRows) -> ProbabilityBox | None:
        """Narrow the ranges of the outer chances to those that one box leaves possible.

        None when nothing fits in the box. Products are then enclosed the more closely, the
        smaller the box is.
        """
        low, high = joint.ranges.low.copy(), joint.ranges.high.copy()
        program, seconds = rows.make_program(joint.most), self.budget.count_seconds()
        for b, form in enumerate(joint.outer):
            for sign, end in ((-1.0, low), (1.0, high)):
                found = program.maximise(sign * form, seconds=seconds)
                if found.status is SolveStatus.EMPTY:
                    return None
                keep = max if sign < 0 else min
                end[b] = keep(end[b], sign * found.bound)
        return _leave_room(low, high)

    def _note_late(self) -> bool:
        """Tell whether the time budget is spent; if so, note it in ``late``."""
        self._late |= self.budget.is_over()
        return self._late

    def _find_ranges(self, mean: Expectation, at: Mapping[str, int]) -> ProbabilityBox:
        """Find the range of the chance of each value of a block, over all populations.

        ``mean`` takes means over the block.
        """
        given, shape = self._select(at, mean.block), self._count_levels(mean.block.variables)
        units = np.eye(prod(shape)).reshape(-1, *shape)
        low = np.array([-mean.find_greatest(-unit, given) for unit in units])
        high = np.array([mean.find_greatest(unit, given) for unit in units])
        return _leave_room(low, high)

    def _find_program(self, at: Mapping[str, int]) -> _JointProgram:
        """Find the joint program at some levels; each is made once."""
        given = {**self._select(at, self.inner), **self._select(at, self.outer)}
        key = tuple(sorted(given.items()))
        if key not in self._programs:
            self._programs[key] = self._make_program(at)
        return self._programs[key]

    def _make_program(self, at: Mapping[str, int]) -> _JointProgram:
        """Write the rows of both copies of the masses and of their products."""
        populations = self.populations
        a, e = self._select(at, self.outer), self._select(at, self.inner)
        cells = [populations.weigh_cells(given) for given in (a, e)]
        layout = populations.lay_out(cells[0] + cells[1])
        n = layout.n_columns
        masses, chances = (
            self._write_forms(given, block.variables, layout)
            for given, block in ((a, self.outer), (e, self.inner))
        )
        more = len(masses) * len(chances)
        rows = ProgramRows(2 * n + more)
        units = [populations.write_form(each, layout) for each in cells]
        for which, unit in enumerate(units):
            own = populations.write_rows(layout, unit).rows
            for form, lower, upper in own if which == 0 else own[1:]:
                rows.add(_place(form, which, more), lower, upper)
        rows.add(_place(units[1], 1, more) - _place(units[0], 0, more), 0.0, 0.0)
        least = min(populations.find_least_share(*pair) for pair in ((a, e), (e, a)))
        joint = _JointProgram(
            rows,
            n,
            np.array([_place(form, 0, more) for form in masses]),
            np.array([_place(form, 1, more) for form in chances]),
            np.array([_place(form, 0, more) for form in chances]),
            np.array([_place(form, 1, more) for form in masses]),
            self._find_ranges(self._outer_mean, at),
            self._find_ranges(self._inner_mean, at),
            (2 * SUMS + 1) / least if least else inf,  # both copies, and the products
            self._find_linked(a),
        )
        joint.add_products()
        return joint

    def _find_linked(self, a: Mapping[str, int]) -> int | None:
        """Find which inner value the outer law is given, beside what the inner law is given.

        ``a`` are the levels that the outer law is given; None where they are anything else.
        """
        drawn = self.inner.variables
        if self.inner.given.union(drawn) != self.outer.given:
            return None
        levels = tuple(a[name] for name in drawn)
        return int(np.ravel_multi_index(levels, self._count_levels(drawn)))

    def _write_forms(
        self, given: Mapping[str, int], drawn: Sequence[str], layout: MassLayout
    ) -> list[Floats]:
        """Write the form of the mass of each value of a block's variables, given some levels."""
        weigh, write = self.populations.weigh_cells, self.populations.write_form
        places = np.ndindex(*self._count_levels(drawn))
        values = (dict(zip(drawn, place, strict=True)) for place in places)
        return [write(weigh({**value, **given}), layout) for value in values]

    def _count_levels(self, names: Sequence[str]) -> tuple[int, ...]:
        """Count the levels of some variables."""
        return tuple(self.populations.levels[name] for name in names)

    @staticmethod
    def _select(at: Mapping[str, int], block: ReweightedBlock) -> dict[str, int]:
        """Select the levels of what a block is given."""
        return {name: at[name] for name in sorted(block.given)}


def _leave_room(low: Floats, high: Floats) -> ProbabilityBox:
    """Make a box of ranges of chances, none of them so narrow that rows are too much alike."""
    room = np.where(high > low, np.maximum(_NARROW - (high - low), 0.0) / 2, 0.0)
    high = np.maximum(low, high)
    return ProbabilityBox((low - room).clip(0, 1), (high + room).clip(0, 1)).tighten()


def _place(form: Floats, copy: int, more: int) -> Floats:
    """Put coefficients of masses into the columns of one of two copies of them.

    ``more`` columns come after both.
    """
    nothing = np.zeros_like(form)
    both = (form, nothing) if copy == 0 else (nothing, form)
    return np.concatenate([*both, np.zeros(more)])
