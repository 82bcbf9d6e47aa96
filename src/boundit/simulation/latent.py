"""Models with one hidden cause per bidirected edge: their parameters, and how well they fit.

A model is one vector of free parameters: logarithms of unnormalized probabilities, and of
selection its log odds, so that every vector is a model and the search has no constraints. The
likelihood of the logged rows, ``sum target log P(v | S=1)``, is greatest where the model
reproduces the log. Among models that fit alike a small pull, the likelihood of interventional
rounds with given means, chooses; where the log determines a mean the pull is outweighed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.errors import ModelTooLarge
from boundit.simulation.scm import SCM

if TYPE_CHECKING:
    from boundit.simulation.tables import TableSpec

MOST_CELLS = 2**20
"""Most cells of the array of a whole model."""
QUICK_CELLS = 2**15
"""With up to so many cells, a model is fitted in about a second."""
MOST_HIDDEN, FEWEST_HIDDEN = 6, 2
"""Levels of a hidden cause; fewer where the array would be too large."""
STRONGEST = (12.0, 5.0)
"""Largest parameter of a table, and of selection: no probability is lost to 0."""
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class TablePlace:
    """Where the table of one node lies: its axes, and its part of the parameters."""

    node: str
    parents: tuple[str, ...]
    shape: tuple[int, ...]
    part: slice
    order: tuple[int, ...]
    wide: tuple[int, ...]
    gone: tuple[int, ...]

    def widen(self, values: Floats) -> Floats:
        """Lay a table along the axes of the whole model."""
        return values.transpose(self.order).reshape(self.wide)

    def narrow(self, cells: Floats) -> Floats:
        """Sum an array over the whole model down to the axes of this table."""
        inverse = np.argsort(self.order)
        return np.asarray(cells.sum(axis=self.gone).transpose(inverse))


@dataclass(frozen=True, eq=False)
class LatentDesign:
    """A graph, the number of levels of its variables and hidden causes, and their tables.

    Axes are the observed variables in causal order, then the hidden causes. The selection node
    has no axis: its table holds the probability that a row is logged.
    """

    graph: CausalGraph
    hidden: Mapping[str, tuple[str, str]]
    n_levels: Mapping[str, int]

    @classmethod
    def of(cls, graph: CausalGraph, n_levels: Mapping[str, int]) -> "LatentDesign":
        """Give every bidirected edge a hidden cause, of as many levels as fit.

        A cause of two variables never needs more levels than they have combinations. Raises
        ModelTooLarge where causes of two levels are too many cells.
        """
        hidden = {f"{a}<->{b}": (a, b) for a, b in sorted(graph.bidirected)}
        levels = {name: n_levels[name] for name in graph.order if name != graph.selection}
        cells = prod(levels.values())
        for most in range(MOST_HIDDEN, FEWEST_HIDDEN - 1, -1):
            sizes = {
                name: max(FEWEST_HIDDEN, min(most, prod(levels.get(end, 2) for end in ends)))
                for name, ends in hidden.items()
            }
            most_cells = MOST_CELLS if most == FEWEST_HIDDEN else QUICK_CELLS
            if cells * prod(sizes.values()) <= most_cells:
                return cls(graph, hidden, levels | sizes)
        names = frozenset(levels) | frozenset(hidden)
        raise ModelTooLarge(names, cells * FEWEST_HIDDEN ** len(hidden), MOST_CELLS)

    @property
    def axes(self) -> tuple[str, ...]:
        """The variables of the array of a whole model, hidden causes last."""
        return tuple(self.n_levels)

    @property
    def observed(self) -> tuple[str, ...]:
        """The observed variables among the axes."""
        return self.axes[: len(self.axes) - len(self.hidden)]

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
            names = parents if node == selection else (*parents, node)
            shape = tuple(self.n_levels[name] for name in names)
            spots = [self.axes.index(name) for name in names]
            place = TablePlace(
                node,
                parents,
                shape,
                slice(start, start + prod(shape)),
                tuple(int(i) for i in np.argsort(spots)),
                tuple(n if i in spots else 1 for i, n in enumerate(self.n_levels.values())),
                tuple(i for i in range(len(self.axes)) if i not in spots),
            )
            found.append(place)
            start = place.part.stop
        return tuple(found)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return sum(prod(place.shape) for place in self.places)

    @property
    def limits(self) -> list[tuple[float, float]]:
        """Least and greatest value of each parameter."""
        found = []
        for place in self.places:
            most = STRONGEST[place.node == self.graph.selection]
            found += [(-most, most)] * prod(place.shape)
        return found

    def read_tables(self, numbers: Floats) -> list[Floats]:
        """Turn parameters into tables, one for each place; of selection, P(logged)."""
        found = []
        for place in self.places:
            raw = numbers[place.part].reshape(place.shape)
            if place.node == self.graph.selection:
                found.append(1 / (1 + np.exp(-raw)))
                continue
            raised = np.exp(raw - raw.max(axis=-1, keepdims=True))
            found.append(raised / raised.sum(axis=-1, keepdims=True))
        return found

    def multiply(self, tables: list[Floats], leave: frozenset[str]) -> Floats:
        """Multiply all tables but those of ``leave`` into one array over the whole model."""
        product: Floats = np.ones(tuple(self.n_levels.values()))
        for place, table in zip(self.places, tables, strict=True):
            if place.node not in leave:
                product *= place.widen(table)
        return product

    def make_model(self, numbers: Floats, greatest: float) -> SCM:
        """Make a model of parameters, its largest probability to be logged being ``greatest``.

        All are scaled alike, which leaves the distribution of logged rows as it is.
        """
        specs: dict[str, TableSpec] = {}
        for place, table in zip(self.places, self.read_tables(numbers), strict=True):
            values = table
            if place.node == self.graph.selection:
                logged = table * (greatest / table.max())
                values = np.stack([1 - logged, logged], axis=-1)
            specs[place.node] = (place.parents, values)
        return SCM(self.graph, specs)


@dataclass(frozen=True, eq=False)
class MeanPull:
    """The mean that each arm is pulled to in each context, and how strongly.

    ``means`` and ``weights`` have an axis for every treatment and context variable; ``values``
    are those of the outcome. Means and values are on a scale from 0 to 1.
    """

    query: EffectQuery
    means: NamedArray
    weights: Floats
    values: Floats


@dataclass(frozen=True, eq=False)
class FitObjective:
    """Log-likelihood of a target distribution of logged rows, with its gradient.

    ``target`` has the axes of the observed variables of the design.
    """

    design: LatentDesign
    target: Floats
    pull: MeanPull | None = None

    def compute(self, numbers: Floats) -> tuple[float, Floats]:
        """Compute minus the objective and its gradient, to be minimized."""
        tables = self.design.read_tables(numbers)
        value, slopes = self._fit_rows(tables)
        if self.pull is not None:
            more, others = self._fit_means(tables, self.pull)
            value += more
            slopes = [a + b for a, b in zip(slopes, others, strict=True)]
        gradient = np.empty_like(numbers)
        for place, table, slope in zip(self.design.places, tables, slopes, strict=True):
            if place.node == self.design.graph.selection:
                along = slope * (1 - table)
            else:
                along = slope - table * slope.sum(axis=-1, keepdims=True)
            gradient[place.part] = along.ravel()
        return -value, -gradient

    def compute_rows(self, numbers: Floats) -> Floats:
        """Compute the distribution of logged rows of the model with these parameters."""
        tables = self.design.read_tables(numbers)
        rows = self.design.multiply(tables, frozenset()).sum(axis=self._hidden_axes)
        return np.asarray(rows / rows.sum())

    @property
    def _hidden_axes(self) -> tuple[int, ...]:
        return tuple(range(len(self.design.observed), len(self.design.axes)))

    def _fit_rows(self, tables: list[Floats]) -> tuple[float, list[Floats]]:
        """Compute the log-likelihood, and its slope in the log of every probability."""
        joint = self.design.multiply(tables, frozenset())
        rows = np.maximum(joint.sum(axis=self._hidden_axes), TINY)
        total = float(rows.sum())
        value = float((self.target * np.log(rows)).sum()) - np.log(total)
        weights = self.target / rows - 1 / total
        joint *= weights.reshape(weights.shape + (1,) * len(self.design.hidden))
        return value, [place.narrow(joint) for place in self.design.places]

    def _fit_means(self, tables: list[Floats], pull: MeanPull) -> tuple[float, list[Floats]]:
        """Compute the weighted likelihood of the pulled means, and its slopes as above.

        Without the tables of the treatments, each of their values is as if set by intervention.
        An outcome counts as a success with the probability of its place on the scale.
        """
        query, axes = pull.query, self.design.axes
        (outcome,) = query.outcomes
        left = frozenset(query.treatments) | {str(self.design.graph.selection)}
        joint = self.design.multiply(tables, left)
        asked = (*query.treatments, *query.context, outcome)
        spots = [axes.index(name) for name in asked]
        gone = tuple(i for i in range(len(axes)) if i not in spots)
        found = joint.sum(axis=gone, keepdims=True)
        paid = axes.index(outcome)
        share = NamedArray((outcome,), pull.values).align(axes)
        mean = pull.means.align(axes)
        won = np.maximum((found * share).sum(axis=paid, keepdims=True), TINY)
        lost = np.maximum((found * (1 - share)).sum(axis=paid, keepdims=True), TINY)
        total = np.maximum(found.sum(axis=paid, keepdims=True), TINY)
        weights = NamedArray(pull.means.axes, pull.weights).align(axes)
        likely = mean * np.log(won / total) + (1 - mean) * np.log(lost / total)
        joint *= weights * (mean * share / won + (1 - mean) * (1 - share) / lost - 1 / total)
        return float((weights * likely).sum()), [
            np.zeros(place.shape) if place.node in left else place.narrow(joint)
            for place in self.design.places
        ]
