"""The shape of a model with hidden causes: which tables it has, and how they lie in one array.

Every bidirected edge gets one hidden cause of its two ends. The numbers of a model are one
vector of free parameters: the logarithms of unnormalised chances, and of selection its log
odds, so that every vector is a model and a search needs no constraints.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from boundit.counts.named_array import Floats
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.errors import ModelTooLarge
from boundit.simulation.model import Model

if TYPE_CHECKING:
    from boundit.simulation.tables import TableSpec

MOST_CELLS = 2**20
"""No array of more cells is made for a model that is fitted."""
QUICK_CELLS = 2**15
"""With up to so many cells, a world is fitted in about a second."""
MOST_HIDDEN, FEWEST_HIDDEN = 6, 2
"""How many levels a hidden cause may have; fewer where the array would be too large."""
STRONGEST = (12.0, 5.0)
"""The largest parameter of a table of chances, and of selection."""


@dataclass(frozen=True, eq=False)
class TablePlace:
    """Where the table of one node lies: its axes, and its part of the vector of parameters."""

    node: str
    parents: tuple[str, ...]
    shape: tuple[int, ...]
    part: slice
    order: tuple[int, ...]
    wide: tuple[int, ...]
    gone: tuple[int, ...]

    def widen(self, values: Floats) -> Floats:
        """Lay a table along the axes of the whole model, so that tables can be multiplied."""
        return values.transpose(self.order).reshape(self.wide)

    def narrow(self, cells: Floats) -> Floats:
        """Sum an array over the whole model down to the axes of this table."""
        inverse = np.argsort(self.order)
        return np.asarray(cells.sum(axis=self.gone).transpose(inverse))


@dataclass(frozen=True, eq=False)
class LatentDesign:
    """A graph, how many levels its variables and hidden causes have, and where tables lie.

    ``axes`` are the observed variables in causal order, then the hidden causes. The selection
    node has no axis: its table holds the chance that a row is logged.
    """

    graph: CausalGraph
    hidden: Mapping[str, tuple[str, str]]
    n_levels: Mapping[str, int]

    @classmethod
    def of(cls, graph: CausalGraph, n_levels: Mapping[str, int]) -> "LatentDesign":
        """Give every bidirected edge of a graph a hidden cause, of as many levels as fit.

        A cause of two variables has at most as many levels as they have combinations, and never
        more than ``MOST_HIDDEN``. Raises ModelTooLarge where even hidden causes of two levels
        make too large an array.
        """
        hidden = {f"{a}<->{b}": (a, b) for a, b in sorted(graph.bidirected)}
        levels = {name: n_levels[name] for name in graph.order if name != graph.selection}
        cells = prod(levels.values())
        for most in range(MOST_HIDDEN, FEWEST_HIDDEN - 1, -1):
            sizes = {
                name: max(FEWEST_HIDDEN, min(most, prod(levels.get(end, 2) for end in ends)))
                for name, ends in hidden.items()
            }
            room = MOST_CELLS if most == FEWEST_HIDDEN else QUICK_CELLS
            if cells * prod(sizes.values()) <= room:
                return cls(graph, hidden, levels | sizes)
        names = frozenset(levels) | frozenset(hidden)
        raise ModelTooLarge(names, cells * FEWEST_HIDDEN ** len(hidden), MOST_CELLS)

    @property
    def axes(self) -> tuple[str, ...]:
        """The variables of the array of a whole model, hidden causes last."""
        return tuple(self.n_levels)

    @cached_property
    def places(self) -> tuple[TablePlace, ...]:
        """Where the table of each node lies, the selection node last."""
        causes = {node: list(self.graph.links[node].parents) for node in self.graph.order}
        for name, ends in self.hidden.items():
            for end in ends:
                causes[end].append(name)
        selection = self.graph.selection
        nodes = [*self.hidden, *(node for node in self.graph.order if node != selection)]
        found, start = [], 0
        for node in [*nodes, *([selection] if selection else [])]:
            parents = tuple(sorted(causes.get(node, ()), key=self.axes.index))
            own = () if node == selection else (node,)
            place = self._make_place(node, parents, own, start)
            found.append(place)
            start = place.part.stop
        return tuple(found)

    def _make_place(
        self, node: str, parents: tuple[str, ...], own: tuple[str, ...], start: int
    ) -> TablePlace:
        """Find where a table's numbers start and how its axes lie among those of the model."""
        names = (*parents, *own)
        shape = tuple(self.n_levels[name] for name in names)
        spots = [self.axes.index(name) for name in names]
        return TablePlace(
            node,
            parents,
            shape,
            slice(start, start + prod(shape)),
            tuple(int(i) for i in np.argsort(spots)),
            tuple(n if i in spots else 1 for i, n in enumerate(self.n_levels.values())),
            tuple(i for i in range(len(self.axes)) if i not in spots),
        )

    @property
    def size(self) -> int:
        """How many parameters a model has."""
        return sum(prod(place.shape) for place in self.places)

    @property
    def limits(self) -> list[tuple[float, float]]:
        """The least and the largest value of each parameter, so that no chance is lost to 0.

        The least likely kind of row is logged at least once in some hundred times.
        """
        found = []
        for place in self.places:
            most = STRONGEST[place.node == self.graph.selection]
            found += [(-most, most)] * prod(place.shape)
        return found

    def read_chances(self, numbers: Floats) -> list[Floats]:
        """Turn parameters into chances: a table for each place, each row adding up to 1.

        Of selection, the chance to be logged.
        """
        found = []
        for place in self.places:
            raw = numbers[place.part].reshape(place.shape)
            if place.node == self.graph.selection:
                found.append(1 / (1 + np.exp(-raw)))
                continue
            raised = np.exp(raw - raw.max(axis=-1, keepdims=True))
            found.append(raised / raised.sum(axis=-1, keepdims=True))
        return found

    def multiply(self, chances: list[Floats], leave: frozenset[str]) -> Floats:
        """Multiply all tables but those of ``leave`` into one array over the whole model."""
        product: Floats = np.ones(tuple(self.n_levels.values()))
        for place, table in zip(self.places, chances, strict=True):
            if place.node not in leave:
                product *= place.widen(table)
        return product

    def make_model(self, numbers: Floats, greatest: float) -> Model:
        """Make a model of parameters, its largest chance to be logged being ``greatest``.

        All such chances are raised or lowered alike, which leaves the law of logged rows as it
        is.
        """
        specs: dict[str, TableSpec] = {}
        for place, table in zip(self.places, self.read_chances(numbers), strict=True):
            chances = table
            if place.node == self.graph.selection:
                logged = table * (greatest / table.max())
                chances = np.stack([1 - logged, logged], axis=-1)
            specs[place.node] = (place.parents, chances)
        return Model(self.graph, specs)
