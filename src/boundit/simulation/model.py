"""Discrete structural models: what nature knows and the log does not show.

Every variable, hidden ones included, has a table of its chances given its direct causes. Hidden
variables are what bidirected edges stand for: whatever causes two observed variables and is not
observed. From the tables every question about the world has an exact answer, which is what the
methods that only see the log are measured against.
"""

from collections.abc import Mapping
from typing import Self, TypeAlias, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from boundit.counts.named_array import NamedArray, read_level
from boundit.graph.causal_graph import CausalGraph, project
from boundit.graph.read import GraphLike, require_graph
from boundit.simulation.elimination import sum_product
from boundit.simulation.errors import (
    MissingTable,
    NeverSelected,
    NotInGraph,
    SelectionNotBinary,
)
from boundit.simulation.tables import TableSpec, read_tables
from boundit.terms.errors import OverlappingRoles, shorten
from boundit.terms.names import Names, Nodes, sort_names

Rows: TypeAlias = dict[str, NDArray[np.int64]]
"""One column of levels for each variable."""


@final
class Model:
    """A causal graph with a table for every node, and for every hidden cause.

    Tables are written ``node: (parents, probabilities)``, see ``TableSpec``. Whatever has a
    table and is no node of the graph is hidden. The graph may have edges that the tables do
    not use, never the other way round.

    >>> graph = CausalGraph.of(directed=[("X", "Y")], bidirected=[("X", "Y")])
    >>> model = Model(graph, {
    ...     "C": ([], 0.5),
    ...     "X": (["C"], [0.2, 0.8]),
    ...     "Y": (["X", "C"], lambda x, c: 0.1 + 0.2 * x + 0.5 * c),
    ... })
    >>> model.effect(outcomes="Y", treatments="X").at({"Y": 1}).values
    array([0.35, 0.55])
    >>> model.law().condition_on("X").at({"Y": 1}).values
    array([0.2, 0.7])
    """

    def __init__(self, graph: GraphLike, tables: Mapping[str, TableSpec]) -> None:
        graph = require_graph(graph)
        if missing := graph.nodes - tables.keys():
            raise MissingTable(sort_names(missing)[0], frozenset(tables))
        self.graph = graph
        self.tables = read_tables(tables)
        self.hidden: Nodes = frozenset(tables) - graph.nodes
        seen = project(_make_graph(self.tables, graph.selection), self.hidden)
        for edges, ours, edge in (
            (seen.directed, graph.directed, "->"),
            (seen.bidirected, graph.bidirected, "<->"),
        ):
            for one, other in sorted(edges - ours):
                raise NotInGraph(one, other, edge)
        if graph.selection and (n := self.n_levels[graph.selection]) != 2:
            raise SelectionNotBinary(graph.selection, n)

    @classmethod
    def of(
        cls,
        tables: Mapping[str, TableSpec],
        *,
        hidden: Names = (),
        selection: str | None = None,
    ) -> Self:
        """Make a model from its tables alone; the graph is what an onlooker would draw.

        Users write worlds with it; also called by ``read_world`` and ``make_paper_model``.

        >>> tables = {"C": ([], 0.5), "X": (["C"], [0.2, 0.8]), "Y": (["C"], [0.4, 0.9])}
        >>> print(Model.of(tables, hidden="C").graph)
        X <-> Y
        """
        drawn = _make_graph(read_tables(tables), selection)
        return cls(project(drawn, drawn.require(hidden)), tables)

    @property
    def n_levels(self) -> Mapping[str, int]:
        """The number of levels of each variable, hidden ones included."""
        return {node: table.values.shape[-1] for node, table in self.tables.items()}

    def law(self, names: Names | None = None) -> NamedArray:
        """Compute ``P(names)`` in the whole population; of all observed variables if not named.

        Users compare estimates with it; also called by ``World._population_shares``.
        """
        return self._compute_law(
            self.graph.observed if names is None else self.graph.require(names)
        )

    def log(self, names: Names | None = None) -> NamedArray:
        """Compute ``P(names | S = 1)``, what endless logging shows; without selection ``P``.

        Of all observed variables if not named. Users take it for a log without noise; also
        called by ``World.exact_log`` and ``LawSource.group``.
        """
        selection = self.graph.selection
        if selection is None:
            return self.law(names)
        asked = self.graph.observed if names is None else self.graph.require(names)
        chosen = self._compute_law(asked | {selection}).at({selection: 1})
        if not chosen.values.any():
            raise NeverSelected(selection)
        return chosen.condition_on(())

    def selection_rate(self) -> float:
        """Compute ``P(S = 1)``: the share of the population that is logged.

        Users pass it on where bounds ask how much was logged; also called by ``count_pruned``.
        """
        selection = self.graph.selection
        return min(float(self.law(selection).at({selection: 1})), 1.0) if selection else 1.0

    def intervene(self, treatments: Names, names: Names | None = None) -> NamedArray:
        """Compute ``P(names | do(treatments))``, with an axis for each treatment's values too.

        Users ask it for exact answers; also called by ``Model.effect``.
        """
        fixed = self.graph.require(treatments)
        asked = self.graph.observed - fixed if names is None else self.graph.require(names)
        if both := fixed & asked:
            raise OverlappingRoles(sort_names(both)[0], "a treatment", "asked about")
        return self._compute_law(asked, fixed)

    def effect(
        self, *, outcomes: Names, treatments: Names = (), context: Names = ()
    ) -> NamedArray:
        """Compute ``P(outcomes | do(treatments), context)`` at every value of all of them.

        It is nan where a context has no probability under the treatment. Users hold bounds
        against this true effect; also called by ``World._means``.
        """
        known, asked = self.graph.require(context), self.graph.require(outcomes)
        fixed = self.graph.require(treatments)
        if both := known & asked:
            raise OverlappingRoles(sort_names(both)[0], "an outcome", "a context")
        return self.intervene(fixed, asked | known).condition_on(known | fixed)

    def sample(
        self,
        n: int,
        rng: Generator,
        *,
        do: Mapping[str, int] | None = None,
        names: Names | None = None,
    ) -> Rows:
        """Draw ``n`` rows of the population, the selection node among the columns.

        ``do`` sets nodes by hand. Every node uses up its random numbers all the same, so the
        same generator state gives the same people under every intervention; but with ``names``
        only these and what they depend on are drawn. Users make trial data with it; also called
        by ``Model.sample_log`` and ``_draw_arm``.
        """
        self.graph.require(do or {})
        fixed = {x: read_level(x, value, self.n_levels[x]) for x, value in (do or {}).items()}
        drawn = frozenset(self.tables)
        if names is not None:
            drawn = self._find_causes(self.graph.require(names), frozenset(fixed))
        rows: Rows = {}
        for node, table in self.tables.items():
            if node not in drawn and node not in fixed:
                continue
            uniforms = rng.random(n)
            if node in fixed:
                rows[node] = np.full(n, fixed[node])
                continue
            # Added up in the table, which is smaller than the rows that look into it.
            ends = table.values.cumsum(axis=-1)[..., :-1]
            ends = ends[tuple(rows[parent] for parent in table.axes[:-1])]
            rows[node] = (uniforms[:, None] >= ends).sum(axis=-1)
        return {node: rows[node] for node in self.graph.order if node in rows}

    def sample_log(self, n: int, rng: Generator) -> Rows:
        """Draw ``n`` rows of the population and keep those that are logged, without S.

        Users make biased logs with it; also called by ``World.draw_columns``.
        """
        rows = self.sample(n, rng)
        if self.graph.selection:
            kept = rows.pop(self.graph.selection) == 1
            rows = {node: column[kept] for node, column in rows.items()}
        return rows

    def __repr__(self) -> str:
        return f"<Model of {shorten(str(self.graph), 200)}>"

    def _compute_law(self, names: Nodes, fixed: Nodes = frozenset()) -> NamedArray:
        """Compute ``P(names | do(fixed))``: the product of all other tables, summed.

        Axes are in causal order.
        """
        needed = self._find_causes(names, fixed)
        tables = [self.tables[node] for node in sort_names(needed)]
        # A treatment that changes nothing still gets its axis.
        tables += [NamedArray((x,), np.ones(self.n_levels[x])) for x in sort_names(fixed)]
        axes = [node for node in self.graph.order if node in names | fixed]
        return sum_product(tables, axes)

    def _find_causes(self, names: Nodes, fixed: Nodes) -> Nodes:
        """Find the nodes that ``names`` depend on when ``fixed`` are set by hand."""
        needed: set[str] = set()
        queue = list(names)
        while queue:
            node = queue.pop()
            if node not in needed and node not in fixed:
                needed.add(node)
                queue += self.tables[node].axes[:-1]
        return frozenset(needed)


def _make_graph(tables: Mapping[str, NamedArray], selection: str | None) -> CausalGraph:
    """Make the causal graph that a model's tables draw, its hidden nodes included."""
    return CausalGraph.of(
        tables,
        directed=[(cause, node) for node, table in tables.items() for cause in table.axes[:-1]],
        selection=selection,
    )
