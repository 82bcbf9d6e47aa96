"""Random graphs and models, for properties that must hold for every model."""

from itertools import combinations

import numpy as np
from numpy.random import Generator

from boundit.core.names import Names
from boundit.counts.named_array import Floats
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.scm import SCM


def draw_graph(
    n: int,
    rng: Generator,
    *,
    directed: float = 0.4,
    bidirected: float = 0.2,
    selection: bool = False,
) -> CausalGraph:
    """Draw a graph over ``V1 .. Vn``, and ``S`` when there is selection.

    Each pair gets a directed edge with probability ``directed``, in a random order, and a
    bidirected edge with probability ``bidirected``. The selection node is always an effect and
    has at least one edge.

    >>> graph = draw_graph(4, np.random.default_rng(0), selection=True)
    >>> sorted(graph.observed), graph.selection
    (['V1', 'V2', 'V3', 'V4'], 'S')
    """
    observed = [f"V{i + 1}" for i in rng.permutation(n)]
    order = [*observed, "S"] if selection else observed
    pairs = list(combinations(order, 2))
    arrows = [pair for pair in pairs if rng.random() < directed]
    arcs = [pair for pair in pairs if rng.random() < bidirected]
    if selection and not any("S" in pair for pair in arrows + arcs):
        arrows.append((observed[rng.integers(n)], "S"))
    return CausalGraph.of(
        order, directed=arrows, bidirected=arcs, selection="S" if selection else None
    )


def draw_model(
    graph: CausalGraph,
    rng: Generator,
    *,
    levels: tuple[int, ...] = (2, 3),
    floor: float = 0.02,
    zeros: float = 0.0,
    binary: Names = (),
    binary_hidden: bool = False,
) -> SCM:
    """Draw a model of ``graph`` with one hidden cause for each bidirected edge.

    Every variable has one of these numbers of ``levels``; the selection node has two, and so
    have ``binary`` nodes and, with ``binary_hidden``, the hidden causes. Each row of a table is
    uniform over all distributions (Dirichlet) and then mixed, so that no probability is below
    ``floor``. With ``zeros``, each probability but one of its row is then set to 0 with this
    probability; it may happen that no row is logged.

    >>> bow = CausalGraph.of(directed=[("X", "Y")], bidirected=[("X", "Y")])
    >>> model = draw_model(bow, np.random.default_rng(0), levels=(2,))
    >>> sorted(model.hidden), model.distribution().values.shape
    (['X<->Y'], (2, 2))
    """
    hidden = {f"{a}<->{b}": (a, b) for a, b in sorted(graph.bidirected)}
    parents = {node: [*graph.links[node].parents] for node in graph.order}
    for name, ends in hidden.items():
        for end in ends:
            parents[end].append(name)
    parents |= {name: [] for name in hidden}
    n_levels = {node: int(rng.choice(levels)) for node in parents}
    n_levels |= dict.fromkeys(graph.require(binary), 2)
    if graph.selection:
        n_levels[graph.selection] = 2
    if binary_hidden:
        n_levels |= dict.fromkeys(hidden, 2)
    tables = {}
    for node, above in parents.items():
        shape = [n_levels[parent] for parent in above]
        tables[node] = (above, _draw_table(shape, n_levels[node], rng, floor, zeros))
    return SCM(graph, tables)


def _draw_table(shape: list[int], n: int, rng: Generator, floor: float, zeros: float) -> Floats:
    table = floor + (1 - n * floor) * rng.dirichlet(np.ones(n), size=shape)
    spared = rng.integers(n, size=[*shape, 1]) == np.arange(n)
    struck = (rng.random(table.shape) < zeros) & ~spared
    table[struck] = 0
    return np.asarray(table / table.sum(axis=-1, keepdims=True))
