"""Response types of one c-component, where Identify stops (Balke and Pearl 1994).

A type says how a variable answers every combination of levels of its causes. A distribution over
joint types must show given probabilities in given *worlds*: some variables held, all others run.
Types are far too many to list where a variable has several causes, so one variable is *free*:
the others are enumerated, and the free one's best answer to each of its arguments is chosen
argument by argument. That prices all types exactly without an integer program.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import prod

import numpy as np
from numpy.typing import NDArray

from boundit.counts.named_array import Floats

Positions = NDArray[np.intp]
MAX_LISTED = 5_000  # up to so many joint types all are enumerated
MAX_OTHERS = 20_000  # types of all variables but the free one
PRICED = 12  # columns made at once


class Variable:
    """A column of the program; two are equal only if they are the same one."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


@dataclass(frozen=True, eq=False)
class World:
    """``held`` variables at levels, all others run; ``cells`` are the shares of ``shown``."""

    held: Mapping[str, int]
    shown: Sequence[str]
    cells: Sequence[Variable]


@dataclass(frozen=True, eq=False)
class IndependentTypes:
    """``cells`` are the joint distribution of the types of ``names``."""

    names: Sequence[str]
    cells: Sequence[Variable]


@dataclass(eq=False)
class TypeBlock:
    """A distribution over the joint types of ``names``, causes first."""

    names: Sequence[str]
    levels: Mapping[str, int]
    parents: Mapping[str, Sequence[str]]
    worlds: list[World] = field(default_factory=list)
    joints: list[IndependentTypes] = field(default_factory=list)
    pool: dict[tuple[int, ...], None] = field(default_factory=dict)
    """The columns made so far, each by the rows it reaches."""

    def count_types(self, *names: str) -> int:
        """How many joint types some variables have."""
        return prod(
            self.levels[v] ** prod(self.levels[p] for p in self.parents[v]) for v in names
        )

    def fits(self, most: int) -> bool:
        """Whether the types of all variables but one are few enough."""
        total = self.count_types(*self.names)
        return total <= MAX_LISTED or total // max(map(self.count_types, self.names)) <= most

    @property
    def cells(self) -> list[Variable]:
        """The variable of each row: the share of types that reach it."""
        return [cell for cells in self._list_cells() for cell in cells]

    def _list_cells(self) -> list[Sequence[Variable]]:
        return [world.cells for world in self.worlds] + [joint.cells for joint in self.joints]

    def prepare(self, start: int) -> None:
        """Lay out all types; each cell of a world has a row of its own, from ``start`` on."""
        listed = self.count_types(*self.names) <= MAX_LISTED
        self.free = None if listed else max(self.names, key=self.count_types)
        sizes = {v: self.count_types(v) for v in self.names if v != self.free}
        self.n_types = prod(sizes.values())
        self.width = self.levels[self.free] if self.free else 1
        codes = (
            np.unravel_index(np.arange(self.n_types), tuple(sizes.values())) if sizes else ()
        )
        self.codes: dict[str, Positions] = dict(zip(sizes, codes, strict=True))
        self.reached = [self._run(world) for world in self.worlds]
        self.joint_cells = [
            np.ravel_multi_index([self.codes[v] for v in j.names], [sizes[v] for v in j.names])
            for j in self.joints
        ]
        lengths = [len(cells) for cells in self._list_cells()]
        starts = accumulate(lengths, initial=start)
        self.rows = [first + np.arange(n) for first, n in zip(starts, lengths, strict=False)]

    def _argument(self, v: str, values: Mapping[str, Positions]) -> Positions:
        """Which combination of its causes' levels a variable answers, type by type."""
        argument: Positions = np.zeros((1, 1), dtype=np.intp)
        for parent in self.parents[v]:
            argument = argument * self.levels[parent] + values[parent]
        return argument

    def _run(self, world: World) -> tuple[Positions, Positions]:
        """The cell of every type in a world, for each answer of the free variable.

        And which argument the free variable is asked in it.
        """
        values: dict[str, Positions] = {
            v: np.full((self.n_types, 1), level) for v, level in world.held.items()
        }
        asked: Positions = np.zeros((self.n_types, 1), dtype=np.intp)
        for v in (v for v in self.names if v not in world.held):
            argument = self._argument(v, values)
            if v == self.free:  # nothing before it is free, so a type asks it one argument
                asked = asked + argument
                values[v] = np.broadcast_to(np.arange(self.width), (self.n_types, self.width))
            else:
                values[v] = (
                    self.codes[v][:, None] // self.levels[v] ** argument % self.levels[v]
                )
        cell: Positions = np.zeros((self.n_types, 1), dtype=np.intp)
        for v in world.shown:
            cell = cell * self.levels[v] + values[v]
        return np.broadcast_to(cell, (self.n_types, self.width)), asked[:, 0]

    def price(self, y: Floats) -> tuple[float, list[tuple[int, ...]]]:
        """The greatest ``y A_t`` over all types t, exactly, and the best columns."""
        every = np.arange(self.n_types)
        totals = np.zeros(self.n_types)
        n_arguments = prod(self.levels[p] for p in self.parents[self.free]) if self.free else 0
        worth = np.zeros((n_arguments, self.n_types, self.width))
        for (cells, asked), world, rows in zip(
            self.reached, self.worlds, self.rows, strict=False
        ):
            if self.free is None or self.free in world.held:
                totals += y[rows][cells[:, 0]]
            else:
                worth[asked, every] += y[rows][cells]
        tail = self.rows[len(self.worlds) :]
        for code, rows in zip(self.joint_cells, tail, strict=True):
            totals += y[rows][code]
        answers = worth.argmax(axis=2)
        totals += worth.max(axis=2, initial=-np.inf).sum(axis=0) if n_arguments else 0.0
        columns = list[tuple[int, ...]]()
        for t in np.argsort(-totals, kind="stable")[:PRICED]:
            reached = list[int]()
            for (cells, asked), world, rows in zip(
                self.reached, self.worlds, self.rows, strict=False
            ):
                fixed = self.free is None or self.free in world.held
                answer = 0 if fixed else answers[asked[t], t]
                reached.append(int(rows[cells[t, answer]]))
            reached += (int(r[c[t]]) for c, r in zip(self.joint_cells, tail, strict=True))
            columns.append(tuple(reached))
        return float(totals.max()), columns
