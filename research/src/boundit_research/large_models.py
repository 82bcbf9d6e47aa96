"""Random worlds of ten to hundreds of variables: sparse graphs, small tables, a question each.

Small models can be enumerated, so all their claims can be checked; whether the work still ends
on a large graph, and whether the bounds still hold there, needs worlds such as these.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from boundit.core.names import Nodes, sort_names
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.environment import Environment
from boundit.simulation.random_models import draw_model
from boundit.simulation.scm import SCM

MOST_PARENTS = 4
"""A variable has no more observed causes, so that its table stays small."""
MOST_COMPANIONS = 3
"""Nor does it share hidden causes with more other variables."""
BATCH = 50_000
"""So many people are drawn at a time."""


@dataclass(frozen=True, slots=True)
class WorldShape:
    """What a large random world is made of.

    ``parents`` is the mean number of direct causes of a variable (before the cap), ``hidden``
    how many bidirected edges there are for each variable, ``levels`` the numbers of levels that
    variables can have; the reward, hidden causes and selection have two. Causes are drawn from
    all variables before their effect, so that even the last one has few, direct or not; with a
    ``reach`` from so many before it, which makes for long chains of causes.
    """

    nodes: int
    parents: float = 1.5
    hidden: float = 0.15
    treatments: int = 1
    contexts: int = 0
    selection: bool = True
    levels: tuple[int, ...] = (2, 3, 4)
    reach: int | None = None

    def __str__(self) -> str:
        parts = [
            f"{self.nodes} nodes",
            f"{self.parents:g} parents",
            f"{self.hidden:g} hidden causes a node",
            f"{self.treatments} treatments",
            f"{self.contexts} contexts",
            "selected" if self.selection else "not selected",
            *([f"causes within {self.reach}"] if self.reach else []),
        ]
        return ", ".join(parts)


def draw_large_world(shape: WorldShape, rng: Generator) -> Environment:
    """Draw a sparse graph, a model of it and a question about it, of this shape.

    The reward is one of the third of the variables that have most causes, direct or not; the
    treatments are causes of it, and the contexts no effects of the treatments. Rows are logged
    by one or two variables. Half of the contexts and of these are causes of the reward, if any
    can be.

    >>> world = draw_large_world(WorldShape(12, contexts=1), np.random.default_rng(1))
    >>> len(world.graph.observed), len(world.query.treatments), len(world.query.context)
    (12, 1, 1)
    """
    query = None
    while query is None:
        graph = _draw_sparse_graph(shape, rng)
        query = _draw_large_query(graph, shape, rng)
    if shape.selection:
        graph = _draw_selection(graph, query, rng)
    model = draw_model(
        graph, rng, levels=shape.levels, binary=query.outcomes, binary_hidden=True
    )
    return Environment(model, query, f"a random world of {shape}")


def draw_large_log(model: SCM, rows: int, rng: Generator) -> dict[str, NDArray[np.int8]]:
    """Draw people until exactly ``rows`` of them are logged: a column of levels each.

    A column takes a byte a row, since a log of hundreds of variables is held whole.

    >>> world = draw_large_world(WorldShape(10), np.random.default_rng(2))
    >>> log = draw_large_log(world.model, 100, np.random.default_rng(3))
    >>> len(log), {len(column) for column in log.values()}
    (10, {100})
    """
    batches: list[dict[str, NDArray[np.int8]]] = []
    kept = 0
    while kept < rows:
        drawn = model.sample_log(BATCH, rng)
        batches.append({name: column.astype(np.int8) for name, column in drawn.items()})
        kept += len(next(iter(drawn.values())))
    return {
        name: np.concatenate([batch[name] for batch in batches])[:rows] for name in batches[0]
    }


def _draw_sparse_graph(shape: WorldShape, rng: Generator) -> CausalGraph:
    """Draw the graph of a large world over ``V1`` to ``Vn``, each a cause of later ones alone."""
    names = [f"V{i + 1}" for i in range(shape.nodes)]
    arrows: list[tuple[str, str]] = []
    for i, name in enumerate(names):
        before = names[max(i - (shape.reach or i), 0) : i]
        n = min(len(before), MOST_PARENTS, int(rng.poisson(shape.parents)))
        arrows += [(str(cause), name) for cause in rng.choice(before, n, replace=False)]
    companions = dict.fromkeys(names, 0)
    arcs = set[tuple[str, str]]()
    for _ in range(round(shape.hidden * shape.nodes)):
        one, other = sorted(int(i) for i in rng.choice(shape.nodes, 2, replace=False))
        pair = names[one], names[other]
        if pair not in arcs and max(companions[name] for name in pair) < MOST_COMPANIONS:
            arcs.add(pair)
            for name in pair:
                companions[name] += 1
    return CausalGraph.of(names, directed=arrows, bidirected=sorted(arcs))


def _draw_large_query(
    graph: CausalGraph, shape: WorldShape, rng: Generator
) -> EffectQuery | None:
    """Draw a question about a large graph; none where no variable has causes enough."""
    causes = {name: graph.ancestors(name) - {name} for name in sort_names(graph.observed)}
    many = sorted(causes, key=lambda name: -len(causes[name]))[: max(shape.nodes // 3, 1)]
    outcomes = [name for name in many if len(causes[name]) >= shape.treatments]
    if not outcomes:
        return None
    outcome = str(rng.choice(outcomes))
    drawn = rng.choice(sort_names(causes[outcome]), shape.treatments, replace=False)
    treatments = tuple(map(str, drawn))
    free = graph.observed - graph.descendants(treatments) - {outcome}
    context = _draw_some(free, causes[outcome], shape.contexts, rng)
    return EffectQuery((outcome,), treatments, tuple(context))


def _draw_selection(graph: CausalGraph, query: EffectQuery, rng: Generator) -> CausalGraph:
    """Add a selection node that one or two variables cause."""
    causes = graph.ancestors(query.outcomes)
    steering = _draw_some(graph.observed, causes, int(rng.integers(1, 3)), rng)
    return CausalGraph.of(
        [*graph.order, "S"],
        directed=[*sorted(graph.directed), *((name, "S") for name in steering)],
        bidirected=sorted(graph.bidirected),
        selection="S",
    )


def _draw_some(among: Nodes, preferred: Nodes, n: int, rng: Generator) -> list[str]:
    """Draw ``n`` nodes, fewer if there are no more, half of them from those preferred."""
    drawn: list[str] = []
    for _ in range(min(n, len(among))):
        near = among & preferred
        drawn.append(
            str(rng.choice(sort_names(near if near and rng.random() < 0.5 else among)))
        )
        among -= {drawn[-1]}
    return drawn
