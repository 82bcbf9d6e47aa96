r"""How laws move with a model's tables: a model as a point, and slopes there.

A point holds the logarithms of all chances in a model's tables. All slopes are one identity:
for a node at level :math:`k` with its causes at :math:`p`, where :math:`\theta_{p,k}` is the
logarithm of its chance, and rows are scaled to add up to one,

.. math:: \partial \log P(e) / \partial \theta_{p,k}
          = P(p, k \mid e) - P(p \mid e)\, P(k \mid p)
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod

import numpy as np
from numpy.typing import NDArray

from boundit.core.names import Nodes, sort_names
from boundit.counts.named_array import Floats, NamedArray

Tables = Mapping[str, NamedArray]
LARGEST = 2**18
"""No law of more cells is written out: 18 binary variables, hidden ones included."""


class ModelPoints:
    """Models of one graph as vectors: how their tables lie side by side.

    >>> coin = {"X": NamedArray(("X",), np.array([0.2, 0.8]))}
    >>> points = ModelPoints(coin)
    >>> points.to_tables(points.to_point(coin) + 1)["X"].values
    array([0.2, 0.8])
    """

    def __init__(self, tables: Tables) -> None:
        self.axes = {node: table.axes for node, table in tables.items()}
        self.shapes = {node: table.values.shape for node, table in tables.items()}
        self.levels = {node: shape[-1] for node, shape in self.shapes.items()}
        ends = np.cumsum([prod(shape) for shape in self.shapes.values()])
        starts = [0, *ends[:-1]]
        self.parts = {
            node: slice(int(a), int(b))
            for node, a, b in zip(self.axes, starts, ends, strict=True)
        }
        self.size = int(ends[-1])

    def to_point(self, tables: Tables) -> Floats:
        """Write the tables of a model as one vector, the logarithms of all their chances."""
        return np.concatenate([np.log(tables[node].values).ravel() for node in self.axes])

    def to_tables(self, point: Floats) -> dict[str, NamedArray]:
        """Read a model's tables from the vector of the logarithms of their chances.

        Every table row is scaled to add up to one.
        """
        found = {}
        for node, part in self.parts.items():
            logs = point[part].reshape(self.shapes[node])
            chances = np.exp(logs - logs.max(axis=-1, keepdims=True))
            chances /= chances.sum(axis=-1, keepdims=True)
            found[node] = NamedArray(self.axes[node], chances)
        return found

    def find_causes(self, names: Nodes, done: Nodes) -> Nodes:
        """Collect ``names`` and all their causes, hidden ones too; not past those in ``done``.

        ``done`` are set by an intervention, which cuts off their causes.
        """
        found = set[str]()
        queue = list(names - done)
        while queue:
            if (node := queue.pop()) not in found:
                found.add(node)
                queue += [cause for cause in self.axes[node][:-1] if cause not in done]
        return frozenset(found)


class LawSlopes:
    """The law of some variables where others are seen or set at values, and its slopes.

    >>> from boundit.simulation.scm import SCM
    >>> tables = SCM.of({"X": ([], [0.2, 0.8]), "Y": (["X"], [0.5, 0.75])}).tables
    >>> law, slopes = LawSlopes(ModelPoints(tables), ["Y"], seen={"X": 1})(tables)
    >>> law, slopes[1].round(3)
    (array([0.2, 0.6]), array([-0.2 ,  0.2 ,  0.  ,  0.  , -0.25,  0.25]))
    """

    def __init__(
        self,
        points: ModelPoints,
        shown: Sequence[str],
        *,
        seen: Mapping[str, int] | None = None,
        done: Mapping[str, int] | None = None,
    ) -> None:
        self.points = points
        self.shown = tuple(shown)
        self.fixed = {**(seen or {}), **(done or {})}
        drawn = points.find_causes(frozenset(shown).union(seen or ()), frozenset(done or ()))
        self.drawn = sort_names(drawn)
        rest = [node for node in self.drawn if node not in {*shown, *self.fixed}]
        self.order = (*shown, *rest)
        self.shape = [points.levels[node] for node in self.order]
        self.cells = prod(self.shape[: len(shown)])
        self._places = {node: self._find_places(node) for node in self.drawn}

    @property
    def is_large(self) -> bool:
        """Whether computing this law needs a joint law with too many cells for a search."""
        return bool(prod(self.shape) > LARGEST)

    def __call__(self, tables: Tables) -> tuple[Floats, Floats]:
        """Compute the law, and by how much the logarithm of each cell moves with each entry."""
        parts = [self._drop_fixed(tables[node]).align(self.order) for node in self.drawn]
        whole = reduce(np.multiply, sorted(parts, key=np.size))
        joint = NamedArray(self.order, whole)
        law = whole.reshape(self.cells, -1).sum(axis=1)
        slopes = np.zeros((self.cells, self.points.size))
        for node in self.drawn:
            chances = tables[node].values
            cells, entries = self._places[node]
            family = joint.marginalize(self._list_family(node)).values.ravel()
            block = np.zeros((self.cells, chances.size))
            block[cells, entries] = family / law[cells]
            rows = block.reshape(self.cells, -1, chances.shape[-1])
            rows -= rows.sum(axis=-1, keepdims=True) * chances.reshape(rows.shape[1:])
            slopes[:, self.points.parts[node]] = block
        return law, slopes

    def _drop_fixed(self, table: NamedArray) -> NamedArray:
        """Read a node's table at the levels of the variables that are seen or set."""
        return table.at({a: v for a, v in self.fixed.items() if a in table.names})

    def _list_family(self, node: str) -> tuple[str, ...]:
        """List the axes of an array that has the law's variables, a node and the node's causes.

        In the order of the law's axes, without those seen or set.
        """
        wanted = {*self.shown, *self.points.axes[node]}
        return tuple(name for name in self.order if name in wanted)

    def _find_places(self, node: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Find which cell of the law and which entry of a node's table belong together.

        Gives two index arrays, one pair for each combination of levels that ``_list_family``
        spans.
        """
        kept, levels = self._list_family(node), self.points.levels
        codes = np.indices([levels[name] for name in kept])
        at = dict(zip(kept, codes.reshape(len(kept), -1), strict=True))
        n = prod(levels[name] for name in kept)
        fixed = {name: np.full(n, value) for name, value in self.fixed.items()}
        shown = tuple(at[name] for name in self.shown)
        family = tuple((at | fixed)[name] for name in self.points.axes[node])
        return (
            np.ravel_multi_index(shown, self.shape[: len(shown)]),
            np.ravel_multi_index(family, self.points.shapes[node]),
        )
