r"""Every model of a small graph as one vector of logits, with what it logs and its slopes.

Each bidirected edge, or clique of them, is one explicit hidden cause of so many levels; every
other variable is binary. A row of a table is the softmax of its logits, so that any vector is a
model. What is logged and what an arm earns are sums of products in which each table stands
once,

.. math:: P(v, S{=}1) = \sum_u \prod_i P(v_i \mid pa_i, u_i)

so the slope in one table's entries is the same sum with that table left out. Nothing here knows
of bounds: it is what they are held against.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from boundit.counts.named_array import Floats
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.scm import SCM

Places: TypeAlias = NDArray[np.int64]
"""Where entries stand in the vector of all tables."""


@dataclass(frozen=True, eq=False)
class TableSlot:
    """Where one node's table stands in the vector of a model; its own levels come last."""

    axes: tuple[str, ...]
    places: Places

    @property
    def node(self) -> str:
        """The node whose conditional table stands at this place of the vector of all tables."""
        return self.axes[-1]


@dataclass(frozen=True, eq=False)
class TableProduct:
    """A product of tables, some axes held at one level, summed over all but the first ones.

    ``factors`` are places with one axis for each of the family's, of length 1 where the table
    lacks it or it is held. The first ``kept`` axes stay; ``size`` is the family's.
    """

    factors: tuple[Places, ...]
    kept: int
    size: int

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the product's axes before any is summed over."""
        return np.broadcast_shapes(*(places.shape for places in self.factors))

    @cached_property
    def cells(self) -> int:
        """The number of chances that remain once all but the kept axes are summed over."""
        return prod(self.shape[: self.kept])

    @cached_property
    def _slopes(self) -> list[tuple[tuple[int, ...], Places]]:
        """How to differentiate the product by each table: axes to sum, and places to fill.

        The axes are those of the product of all other tables.
        """
        found = []
        for places in self.factors:
            lone = [i for i in range(self.kept, len(self.shape)) if places.shape[i] == 1]
            left = [1 if i in lone else n for i, n in enumerate(self.shape)]
            into = np.broadcast_to(places, left).reshape(self.cells, -1)
            found.append((tuple(1 + i for i in lone), into))
        return found

    def evaluate(self, tables: Floats) -> tuple[Floats, Floats]:
        """Compute a law as a product of tables, and its slope in every table entry.

        For many models at once, a row of ``tables`` each.
        """
        n = len(tables)
        whole, others = multiply_without_each([tables[:, places] for places in self.factors])
        value = np.broadcast_to(whole, (n, *self.shape)).reshape(n, self.cells, -1).sum(axis=-1)
        slope = np.zeros((n, self.cells, self.size))
        cell = np.arange(self.cells)[:, None]
        for other, (gone, into) in zip(others, self._slopes, strict=True):
            left = np.broadcast_to(other, (n, *self.shape)).sum(axis=gone)
            slope[:, cell, into] = left.reshape(n, self.cells, -1)
        return value, slope


@dataclass(frozen=True, eq=False)
class ModelFamily:
    """The models of ``graph`` whose hidden causes have ``levels`` levels each.

    >>> from boundit.graph.text import parse
    >>> bow = ModelFamily(parse("X -> Y; X <-> Y"), levels=4)
    >>> bow.axes, bow.size
    (('X', 'Y', 'X<->Y'), 28)
    """

    graph: CausalGraph
    levels: int

    @cached_property
    def hidden(self) -> Mapping[str, tuple[str, ...]]:
        """The hidden causes with what each acts on: the largest cliques of bidirected edges."""
        ends = sorted({node for edge in self.graph.bidirected for node in edge})
        found: list[tuple[str, ...]] = []
        for size in range(len(ends), 1, -1):
            for group in combinations(ends, size):
                joined = self.graph.bidirected.issuperset(combinations(group, 2))
                if joined and not any(set(group) <= set(larger) for larger in found):
                    found.append(group)
        return {"<->".join(group): group for group in found}

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """All variables: observed ones in causal order, the selection node, hidden causes."""
        return (*self.graph.order, *self.hidden)

    @cached_property
    def slots(self) -> tuple[TableSlot, ...]:
        """Where the table of each variable stands in the vector of all table entries.

        Read wherever tables are cut out of that vector, as by ``ModelFamily.make_model``.
        """
        found, start = [], 0
        for node in self.axes:
            above = [cause for cause, acts_on in self.hidden.items() if node in acts_on]
            known = self.graph.links[node].parents if node in self.graph.nodes else ()
            axes = (*known, *above, node)
            shape = [self._count_levels(axis) for axis in axes]
            stop = start + prod(shape)
            found.append(TableSlot(axes, np.arange(start, stop).reshape(shape)))
            start = stop
        return tuple(found)

    @cached_property
    def size(self) -> int:
        """The number of entries of all tables together."""
        return sum(slot.places.size for slot in self.slots)

    @cached_property
    def _rows(self) -> tuple[Places, Places]:
        """The start and the length of each table row in the vector of all table entries.

        The chances in a row add up to one.
        """
        starts = np.concatenate([slot.places[..., 0].ravel() for slot in self.slots])
        return starts, np.diff(np.append(starts, self.size))

    def make_tables(self, logits: Floats) -> Floats:
        """Turn logits of all table entries into chances that add up to one in each table row.

        The last axis is that of the entries.
        """
        starts, lengths = self._rows
        top = np.maximum.reduceat(logits, starts, axis=-1)
        raised = np.exp(logits - np.repeat(top, lengths, axis=-1))
        total = np.add.reduceat(raised, starts, axis=-1)
        return np.asarray(raised / np.repeat(total, lengths, axis=-1))

    def convert_slopes(self, tables: Floats, slopes: Floats) -> Floats:
        """Turn slopes of a law in table chances into its slopes in logits."""
        starts, lengths = self._rows
        leaned = tables * slopes
        mean = np.add.reduceat(leaned, starts, axis=-1)
        return np.asarray(leaned - tables * np.repeat(mean, lengths, axis=-1))

    def clip_logits(self, logits: Floats, span: float) -> Floats:
        """Shift each table row's logits so that the greatest is 0; raise those below ``-span``.

        So no chance vanishes and the logits stay finite.
        """
        starts, lengths = self._rows
        top = np.repeat(np.maximum.reduceat(logits, starts, axis=-1), lengths, axis=-1)
        return np.asarray(np.maximum(logits - top, -span))

    def make_model(self, tables: Floats) -> SCM:
        """Make a ``SCM`` of one vector of table chances, so that its laws can be checked."""
        return SCM(
            self.graph,
            {slot.node: (slot.axes[:-1], tables[slot.places]) for slot in self.slots},
        )

    def find_sources(self, other: "ModelFamily") -> Places:
        """Find where each table entry is copied from in a family of fewer hidden levels.

        Gives an index into the other's vector for each entry of ours. Level ``j`` behaves as
        their level ``j`` modulo their number and shares its chance with the other copies: the
        same model, when ours is a multiple of their number.
        """
        copied = np.empty(self.size, dtype=np.int64)
        for ours, theirs in zip(self.slots, other.slots, strict=True):
            index = [
                np.arange(n) % m
                for n, m in zip(ours.places.shape, theirs.places.shape, strict=True)
            ]
            copied[ours.places] = theirs.places[np.ix_(*index)]
        return copied

    def make_log_law(self) -> TableProduct:
        """Make the law of the log: ``P(v, S=1)`` of every cell ``v``, or ``P(v)`` of all."""
        held = {self.graph.selection: 1} if self.graph.selection else {}
        factors = tuple(self._align_places(slot, held) for slot in self.slots)
        return TableProduct(factors, len(self.graph.observed), self.size)

    def make_effect_law(
        self, treatments: Sequence[str], held: Mapping[str, int]
    ) -> TableProduct:
        """Make the chance of the ``held`` outcome and context under ``do(treatments)``."""
        cut = self.graph.without_edges_into(treatments)
        drawn = cut.ancestors(held).difference(treatments)
        drawn |= {cause for cause, acts_on in self.hidden.items() if drawn & set(acts_on)}
        factors = tuple(
            self._align_places(slot, held) for slot in self.slots if slot.node in drawn
        )
        return TableProduct(factors, 0, self.size)

    def _align_places(self, slot: TableSlot, held: Mapping[str, int]) -> Places:
        """Give the places of one table's entries, as an array with an axis for each variable.

        An axis has length 1 where the table lacks the variable or it is ``held`` at a level.
        """
        own = [axis for axis in self.axes if axis in slot.axes]
        places = slot.places.transpose([slot.axes.index(axis) for axis in own])
        for at, axis in enumerate(own):
            if axis in held:
                places = places.take([held[axis]], axis=at)
        lengths = dict(zip(own, places.shape, strict=True))
        return places.reshape([lengths.get(axis, 1) for axis in self.axes])

    def _count_levels(self, axis: str) -> int:
        """Count the levels of a variable: ``levels`` of a hidden cause, else two."""
        return self.levels if axis in self.hidden else 2


def multiply_without_each(factors: Sequence[Floats]) -> tuple[Floats, list[Floats]]:
    """Multiply all arrays, and for each array all the others, without dividing.

    >>> factors = [np.array([2.0]), np.array([3.0]), np.array([5.0])]
    >>> whole, others = multiply_without_each(factors)
    >>> float(whole[0]), [float(other[0]) for other in others]
    (30.0, [15.0, 10.0, 6.0])
    """
    one = np.ones([1] * factors[0].ndim)
    before, after = [one], [one]
    for factor in factors:
        before.append(before[-1] * factor)
    for factor in reversed(factors):
        after.append(after[-1] * factor)
    return before.pop(), [b * a for b, a in zip(before, after[-2::-1], strict=True)]
