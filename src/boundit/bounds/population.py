r"""Selection as an unknown reweighting: means over the populations that a log leaves possible.

Let ``M`` be the variables that shield selection from some others ``T``: ``(S _||_ T | M)``. Then
``P(t, m) = P(t | m, S=1) q(m)``, and only ``q``, the distribution of ``M`` among everyone, is
unknown. A selection rate s says ``q(m) >= s P(m | S=1)``, a selection limit G
``P(m | S=1)/G <= q(m) <= G P(m | S=1)``, an external table over T' fixes ``sum P(t', m) = P(t')``:
all linear in q. A value of M that was never logged may have any mass, spread in any way.

A mean ``E[f(B) | a]`` is a ratio of two sums of masses. The program is homogeneous, so the
denominator is set to one (Charnes and Cooper 1962). Endpoints are those that the dual
multipliers prove, not those the solver reports. Where nothing limits the reweighting from below,
everyone may have one value of the shield: a closed form, and no program.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.evidence import Probabilities
from boundit.bounds.linear_program import Optimum, Program, SolveStatus, SparseMatrix
from boundit.bounds.selection_facts import SelectionFacts
from boundit.core.long_work import FOR_EVER, TimeBudget
from boundit.core.names import Nodes, join_names, sort_names
from boundit.core.rounding import EXACT_ROUNDING
from boundit.counts.formula import Formula, Pair, normalise
from boundit.counts.named_array import Floats, divide
from boundit.estimand.expression import P
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import find_boundary

MAX_CELLS = 1_024  # the most cells that programs are made for; beyond, nothing is said
SUMS = 3  # the total, the masses of the shield and the cells: none exceeds the total


@dataclass(frozen=True)
class Reweighting:
    """Which variables are reweighted, by which shield, and what is known of it."""

    variables: Nodes
    shield: Nodes
    facts: SelectionFacts
    tables: tuple[Nodes, ...] = ()

    @classmethod
    def of(
        cls,
        graph: CausalGraph,
        variables: Nodes,
        facts: SelectionFacts,
        tables: Sequence[Nodes] = (),
    ) -> "Reweighting":
        """Find which of some variables, and those of the tables, shield the others from S.

        >>> from boundit.graph.text import parse
        >>> chain = parse("X -> M -> Y; M -> [S]")
        >>> sorted(Reweighting.of(chain, frozenset("XMY"), SelectionFacts()).shield)
        ['M']
        """
        every = variables.union(*tables)
        shield = find_boundary(graph, str(graph.selection), given=every)
        return cls(every, shield, facts, tuple(tables))

    @property
    def is_free(self) -> bool:
        """Whether everyone may have one value of the shield: nothing keeps the others frequent."""
        return not self.tables and self.facts.least_ratio == 0

    @cached_property
    def conditional(self) -> P:
        """``P(others | shield)``, which selection does not change."""
        return P(self.variables - self.shield, self.shield)

    @property
    def reads_shield(self) -> bool:
        """Whether facts or tables need how often each value of the shield was logged."""
        return bool(self.shield and (self.facts or (self.tables and not self.conditional.of)))

    @cached_property
    def formulas(self) -> tuple[Formula, ...]:
        """What is read off the log and the tables, each term a formula."""
        terms = [self.conditional] if self.conditional.of else []
        terms += [P(self.shield)] if self.reads_shield else []
        return tuple(map(normalise, (*terms, *(P(t, logged=False) for t in self.tables))))

    def __str__(self) -> str:
        said = [str(self.facts)] if self.facts else []
        said += [f"P({join_names(t)}) is that of external data" for t in self.tables]
        return ", ".join(said) or str(self.facts)


class Row(NamedTuple):
    """A row of a program: ``lower <= form <= upper``."""

    form: Floats
    lower: float
    upper: float


class Population:
    """Every distribution of some variables that the log, facts and tables leave possible.

    Columns of a program: the total mass, one mass a value of the shield, and, where conditional
    probabilities are known up to intervals only, one mass a cell. ``late``: some program ran out
    of time, so that its endpoint holds and could be narrower.
    """

    def __init__(
        self, reweighting: Reweighting, numbers: Probabilities, budget: TimeBudget = FOR_EVER
    ) -> None:
        self.reweighting, self.numbers, self.budget = reweighting, numbers, budget
        self.late = False
        shield, others = reweighting.shield, reweighting.variables - reweighting.shield
        self.axes = (*sort_names(shield), *sort_names(others))
        self.shape = tuple(numbers.levels[axis] for axis in self.axes)
        self.n_shield = prod(numbers.levels[axis] for axis in shield)
        self._programs: dict[tuple[tuple[str, int], ...], Program | None] = {}
        self._means: dict[object, float] = {}

    @property
    def is_too_large(self) -> bool:
        """Whether there are more cells than programs are made for."""
        return prod(self.shape) > MAX_CELLS

    def _read(self, term: P, names: Sequence[str]) -> Pair:
        formula = next(f for f in self.reweighting.formulas if f.terms == {term})
        low, high = self.numbers.read(formula, names)
        shape = [self.numbers.levels[name] for name in names]
        return np.broadcast_to(low, shape), np.broadcast_to(high, shape)

    @cached_property
    def shares(self) -> Pair:
        """``P(cell | shield)`` between two endpoints, a row for each value of the shield."""
        if not self.reweighting.conditional.of:
            return np.ones((self.n_shield, 1)), np.ones((self.n_shield, 1))
        low, high = self._read(self.reweighting.conditional, self.axes)
        return low.reshape(self.n_shield, -1), high.reshape(self.n_shield, -1)

    @cached_property
    def logged(self) -> Pair:
        """How often each value of the shield is in the log."""
        low, high = self._read(P(self.reweighting.shield), sort_names(self.reweighting.shield))
        return low.ravel(), high.ravel()

    @cached_property
    def _may_happen(self) -> NDArray[np.bool_]:
        """Which values of the shield anybody may have: all, unless a limit says all were logged."""
        if self.reweighting.facts.limit is None or not self.reweighting.shield:
            return np.ones(self.n_shield, dtype=bool)
        return np.asarray(self.logged[1] > 0)

    @cached_property
    def _columns(self) -> tuple[NDArray[np.intp], int]:
        """The column of each cell (-1 where it is an exact share of its mass), and their number."""
        low, high = self.shares
        apart = (low != high).any(axis=1)
        columns = np.full(low.shape, -1)
        n_apart = int(apart.sum()) * low.shape[1]
        columns[apart] = 1 + self.n_shield + np.arange(n_apart).reshape(-1, low.shape[1])
        return columns, 1 + self.n_shield + n_apart

    def place(self, values: Mapping[str, int], weights: Floats | float = 1.0) -> Floats:
        """Weights over the population's cells, zero where levels differ from ``values``."""
        where = tuple(values.get(axis, slice(None)) for axis in self.axes)
        found = np.zeros(self.shape)
        found[where] = np.broadcast_to(weights, self.shape)[where]
        return found

    def spread(self, values: Floats, names: Sequence[str], given: Mapping[str, int]) -> Floats:
        """Put a function of ``names`` on the cells with the ``given`` levels."""
        order = sorted(range(len(names)), key=lambda i: self.axes.index(names[i]))
        sizes = iter(values.transpose(order).shape)
        shape = [next(sizes) if axis in names else 1 for axis in self.axes]
        return self.place(given, values.transpose(order).reshape(shape))

    def form(self, weights: Floats) -> Floats:
        """A weighted sum of the masses of cells as coefficients of the columns."""
        columns, size = self._columns
        spread, found = weights.reshape(columns.shape), np.zeros(size)
        exact = columns[:, 0] < 0
        found[1 : 1 + self.n_shield][exact] = (spread * self.shares[0])[exact].sum(axis=1)
        found[columns[~exact]] = spread[~exact]
        return found

    def rows(self, unit: Floats) -> list[Row]:
        """The constraints ``lower <= form <= upper``, with ``unit`` set to one."""
        columns, size = self._columns
        eye, found = np.eye(size), [Row(unit, 1.0, 1.0)]
        total, masses = eye[0], eye[1 : 1 + self.n_shield]
        found.append(Row(masses.sum(axis=0) - total, 0.0, 0.0))

        def between(form: Floats, of: Floats, low: float, high: float) -> None:
            if low > 0:
                found.append(Row(form - low * of, 0.0, inf))
            if high < inf:
                found.append(Row(form - high * of, -inf, 0.0))

        for m in np.flatnonzero(columns[:, 0] >= 0):
            found.append(Row(eye[columns[m]].sum(axis=0) - masses[m], 0.0, 0.0))
            ends = (end[m] for end in self.shares)
            for column, low, high in zip(columns[m], *ends, strict=True):
                between(eye[column], masses[m], float(low), float(high))
        facts = self.reweighting.facts
        if facts and self.reweighting.shield:
            for mass, low, high in zip(masses, *self.logged, strict=True):
                most = facts.find_greatest_share(float(high))
                between(mass, total, facts.least_ratio * float(low), most)
        for table in self.reweighting.tables:
            names = sort_names(table)
            least, most_shares = self._read(P(table, logged=False), names)
            for at in np.ndindex(*least.shape):
                cell = self.form(self.place(dict(zip(names, at, strict=True))))
                # Two exact distributions agree up to rounding, no better.
                low, high = float(least[at]), float(most_shares[at])
                between(cell, total, low - EXACT_ROUNDING, high + EXACT_ROUNDING)
        return found

    def may_have(self, values: Mapping[str, int]) -> bool:
        """Whether some row with these levels was logged, so that they surely occur."""
        low = self.shares[0]
        if not self.reweighting.conditional.of:
            low = self.logged[0][:, None] if self.reweighting.reads_shield else 0 * low
        return bool((self.place(values).reshape(low.shape)[low > 0] > 0).any())

    def least_share(self, values: Mapping[str, int], *others: Mapping[str, int]) -> float:
        """Prove what part of the population has these levels; 0 where nothing is proved.

        Rounding errors of a program are divided by this part. Where everyone may have one value
        of the shield, only those count that go with these levels or the ``others``: without the
        rest every mean given either is the same.
        """
        reweighting, low = self.reweighting, self.shares[0]
        there = [self.place(each).reshape(low.shape) > 0 for each in (values, *others)]
        here = np.where(there[0], low, 0.0)
        counted = self._may_happen
        if reweighting.is_free:
            counted = counted & np.any(there, axis=(0, 2))
        known = [float(here.sum(axis=1)[counted].min(initial=1.0))]
        if reweighting.reads_shield and reweighting.facts.least_ratio > 0:
            logged = float((here * self.logged[0][:, None]).sum())
            known.append(reweighting.facts.least_ratio * logged)
        for table in reweighting.tables:
            if table >= values.keys():
                names = sort_names(table)
                full, _ = self._read(P(table, logged=False), names)
                where = tuple(values.get(name, slice(None)) for name in names)
                known.append(float(full[where].sum()))
        if max(known) > 0 or not reweighting.tables:
            return max(known)
        found = self._program_of_all.minimise(self.form(self.place(values)))
        return max(found.bound, 0.0)

    @cached_property
    def _program_of_all(self) -> Program:
        """The program in which the whole population has mass one."""
        total = np.zeros(self._columns[1])
        total[0] = 1.0
        return make_program(self.rows(total), SUMS)

    def may_exist(self) -> bool:
        """Whether some population fits log, facts and tables; False only where none is proved."""
        found = self._program_of_all.minimise(np.zeros(self._columns[1]))
        return found.status is not SolveStatus.EMPTY

    def greatest_mean(
        self, values: Floats, names: Sequence[str], given: Mapping[str, int]
    ) -> float:
        """The greatest mean of a function of ``names``, given the levels of others."""
        low, high = float(values.min()), float(values.max())
        if low == high or not self.may_have(given):
            return high  # nothing is read off what may not occur
        key = tuple(names), tuple(sorted(given.items())), values.tobytes()
        if key not in self._means:  # several chains ask for the same mean
            if self.reweighting.is_free:
                end = self._freest_mean(self.spread(values, names, given), given)
                end += EXACT_ROUNDING * (high - low)
            else:
                found = self.solve(values, names, given)
                end = inf if found is None or found.status is SolveStatus.EMPTY else found.bound
            self._means[key] = min(max(end, low), high)
        return self._means[key]

    def solve(
        self, values: Floats, names: Sequence[str], given: Mapping[str, int]
    ) -> Optimum | None:
        """Maximise a mean by a program; None where the ``given`` levels may not occur.

        ``point`` of what is found is the population at the endpoint (``read_shares``).
        """
        key = tuple(sorted(given.items()))
        if key not in self._programs:
            least = self.least_share(given)
            rows = self.rows(self.form(self.place(given))) if least > 0 else []
            self._programs[key] = make_program(rows, SUMS / least) if rows else None
        program = self._programs[key]
        if program is None:
            return None
        objective = self.form(self.spread(values, names, given))
        found = program.maximise(objective, seconds=self.budget.count_seconds())
        self.late |= self.budget.is_over()
        return found

    def read_shares(self, point: Floats) -> Floats:
        """What part of everyone has each value of the shield, at a solution of a program."""
        return np.asarray(point[1 : 1 + self.n_shield] / point[0])

    def _freest_mean(self, tops: Floats, given: Mapping[str, int]) -> float:
        """The greatest mean of ``tops`` where everyone may have one value of the shield.

        That is the value at which it is greatest. Whatever part of its rows has the ``given``
        levels, their best cells are as common as can be: the mean is greatest at some part where
        one more cell is.
        """
        low, high = self.shares
        here = self.place(given).reshape(low.shape) > 0
        may = self._may_happen & here.any(axis=1)
        own, others = np.ix_(may, here.any(axis=0)), np.ix_(may, ~here.any(axis=0))
        order = np.argsort(-tops.reshape(low.shape)[own], axis=1)
        value, least, most = (
            np.take_along_axis(each[own], order, axis=1)
            for each in (tops.reshape(low.shape), low, high)
        )
        slack = most - least
        filled = least.sum(axis=1, keepdims=True) + np.cumsum(slack, axis=1)
        parts = np.concatenate([filled[:, :1] - slack[:, :1], filled], axis=1)
        # The other cells of a shield's value leave so much, which is rounded as one is.
        fewest, fullest = (
            (1 - end[others].sum(axis=1, keepdims=True) + off).clip(parts[:, :1], parts[:, -1:])
            for end, off in ((high, -EXACT_ROUNDING), (low, EXACT_ROUNDING))
        )
        parts = parts.clip(fewest, fullest)
        more = parts[:, :, None] - (filled - slack)[:, None]
        cells = least[:, None] + more.clip(0.0, slack[:, None])
        means = divide((cells * value[:, None]).sum(axis=2), cells.sum(axis=2))
        return float(np.nan_to_num(means, nan=-inf).max(initial=-inf))


def make_program(rows: Sequence[Row], most: float | None = None) -> Program:
    """Make a program of rows, at no point of which all columns add up to more than ``most``.

    The row that says so turns what the solver rounded into a proof; it stands at twice as much,
    so that it binds nowhere. Without it, ``certify`` proves endpoints.
    """
    forms, lower, upper = zip(*rows, strict=True)
    if most is not None:
        forms, lower, upper = (
            (*forms, np.ones(len(forms[0]))),
            (*lower, 0.0),
            (*upper, 2 * most),
        )
    matrix = SparseMatrix.from_dense(np.array(forms))
    return Program(matrix, lower=np.array(lower), upper=np.array(upper))
