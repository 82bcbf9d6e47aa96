"""Discrete structural causal models with exact answers.

Every variable has a table of its probabilities given its direct causes; hidden variables stand
behind bidirected edges. The exact distributions are what methods that only see the log are
measured against.
"""

from collections.abc import Mapping
from typing import Self, TypeAlias, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from boundit.core.errors import OverlappingRoles, shorten
from boundit.core.names import Names, Nodes, join_names, sort_names, write_name
from boundit.counts.named_array import NamedArray, read_level
from boundit.graph.causal_graph import CausalGraph, project
from boundit.graph.read import GraphLike, require_graph
from boundit.simulation.errors import InvalidModel
from boundit.simulation.tables import TableSpec, read_tables, sum_product

Rows: TypeAlias = dict[str, NDArray[np.int64]]
"""One column of levels for each variable."""


@final
class SCM:
    """Discrete structural causal model: a causal graph with a probability table per node.

    Parameters
    ----------
    graph : CausalGraph or str
        The graph. It may have edges that the tables do not use, but not the reverse.
    tables : mapping
        ``node: (parents, probabilities)`` of every node, see ``TableSpec``. A variable that has
        a table and is not in the graph is hidden.

    Examples
    --------
    >>> model = SCM("X -> Y; X <-> Y", {
    ...     "C": ([], 0.5),
    ...     "X": (["C"], [0.2, 0.8]),
    ...     "Y": (["X", "C"], lambda x, c: 0.1 + 0.2 * x + 0.5 * c),
    ... })
    >>> model.effect(outcomes="Y", treatments="X").at({"Y": 1}).values
    array([0.35, 0.55])
    >>> model.distribution().condition_on("X").at({"Y": 1}).values
    array([0.2, 0.7])
    """

    def __init__(self, graph: GraphLike, tables: Mapping[str, TableSpec]) -> None:
        graph = require_graph(graph)
        if missing := graph.nodes - tables.keys():
            held = shorten(join_names(tables)) or "none"
            raise InvalidModel(
                f"Node {sort_names(missing)[0]!r} has no table (tables: {held}). Add one."
            )
        self.graph = graph
        self.tables = read_tables(tables)
        self.hidden: Nodes = frozenset(tables) - graph.nodes
        used = project(_make_graph(self.tables, graph.selection), self.hidden)
        for edges, ours, edge in (
            (used.directed, graph.directed, "->"),
            (used.bidirected, graph.bidirected, "<->"),
        ):
            for one, other in sorted(edges - ours):
                shown = f"{write_name(one)} {edge} {write_name(other)}"
                raise InvalidModel(
                    f"The tables need {shown}, which the graph does not have. Add the edge."
                )
        if graph.selection and (n := self.n_levels[graph.selection]) != 2:
            raise InvalidModel(
                f"The selection node {graph.selection!r} has {n} levels. A row is logged (1) or "
                "not (0)."
            )

    @classmethod
    def of(
        cls,
        tables: Mapping[str, TableSpec],
        *,
        hidden: Names = (),
        selection: str | None = None,
    ) -> Self:
        """Make a model from tables alone, with the graph that they imply.

        >>> tables = {"C": ([], 0.5), "X": (["C"], [0.2, 0.8]), "Y": (["C"], [0.4, 0.9])}
        >>> print(SCM.of(tables, hidden="C").graph)
        X <-> Y
        """
        drawn = _make_graph(read_tables(tables), selection)
        return cls(project(drawn, drawn.require(hidden)), tables)

    @property
    def n_levels(self) -> Mapping[str, int]:
        """Number of levels of each variable, hidden ones included."""
        return {node: table.values.shape[-1] for node, table in self.tables.items()}

    def distribution(self, names: Names | None = None) -> NamedArray:
        """Compute ``P(names)`` in the population; of all observed variables by default."""
        return self._compute(
            self.graph.observed if names is None else self.graph.require(names)
        )

    def log(self, names: Names | None = None) -> NamedArray:
        """Compute ``P(names | S = 1)``, the distribution of logged rows."""
        selection = self.graph.selection
        if selection is None:
            return self.distribution(names)
        asked = self.graph.observed if names is None else self.graph.require(names)
        chosen = self._compute(asked | {selection}).at({selection: 1})
        if not chosen.values.any():
            raise InvalidModel(
                f"{selection!r} is never 1, so nothing is logged. Raise its probability above 0."
            )
        return chosen.condition_on(())

    def selection_rate(self) -> float:
        """Compute ``P(S = 1)``, the share of the population that is logged."""
        selection = self.graph.selection
        if selection is None:
            return 1.0
        return min(float(self.distribution(selection).at({selection: 1})), 1.0)

    def intervene(self, treatments: Names, names: Names | None = None) -> NamedArray:
        """Compute ``P(names | do(treatments))``, with an axis for each treatment too."""
        fixed = self.graph.require(treatments)
        asked = self.graph.observed - fixed if names is None else self.graph.require(names)
        if both := fixed & asked:
            raise OverlappingRoles(sort_names(both)[0], "a treatment", "asked about")
        return self._compute(asked, fixed)

    def effect(
        self, *, outcomes: Names, treatments: Names = (), context: Names = ()
    ) -> NamedArray:
        """Compute ``P(outcomes | do(treatments), context)`` at every value of all of them.

        It is nan where a context has probability 0.
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
        """Draw rows of the population, the selection node among the columns.

        Parameters
        ----------
        n : int
            Number of rows.
        rng : numpy.random.Generator
            Source of randomness. Each node uses as many random numbers whether it is set or
            not: the same state gives the same units under every intervention.
        do : mapping, optional
            Levels of nodes that are set by intervention.
        names : names, optional
            Draw only these and their causes.

        Returns
        -------
        dict of arrays
            A column of levels for each observed variable.
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
            ends = table.values.cumsum(axis=-1)[..., :-1]
            ends = ends[tuple(rows[parent] for parent in table.axes[:-1])]
            rows[node] = (uniforms[:, None] >= ends).sum(axis=-1)
        return {node: rows[node] for node in self.graph.order if node in rows}

    def sample_log(self, n: int, rng: Generator) -> Rows:
        """Draw ``n`` rows of the population; return those that are logged, without S."""
        rows = self.sample(n, rng)
        if self.graph.selection:
            kept = rows.pop(self.graph.selection) == 1
            rows = {node: column[kept] for node, column in rows.items()}
        return rows

    def __repr__(self) -> str:
        return f"<SCM: {shorten(str(self.graph), 200)}>"

    def _compute(self, names: Nodes, fixed: Nodes = frozenset()) -> NamedArray:
        """Compute ``P(names | do(fixed))`` by the truncated factorization, in causal order."""
        needed = self._find_causes(names, fixed)
        tables = [self.tables[node] for node in sort_names(needed)]
        # A treatment without effect still gets its axis.
        tables += [NamedArray((x,), np.ones(self.n_levels[x])) for x in sort_names(fixed)]
        axes = [node for node in self.graph.order if node in names | fixed]
        return sum_product(tables, axes)

    def _find_causes(self, names: Nodes, fixed: Nodes) -> Nodes:
        """Find the ancestors of ``names`` where ``fixed`` are set, ``names`` included."""
        needed: set[str] = set()
        queue = list(names)
        while queue:
            node = queue.pop()
            if node not in needed and node not in fixed:
                needed.add(node)
                queue += self.tables[node].axes[:-1]
        return frozenset(needed)


def _make_graph(tables: Mapping[str, NamedArray], selection: str | None) -> CausalGraph:
    """Draw the graph of all tables, hidden nodes included."""
    return CausalGraph.of(
        tables,
        directed=[(cause, node) for node, table in tables.items() for cause in table.axes[:-1]],
        selection=selection,
    )
