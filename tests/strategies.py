"""Random graphs and formulas, drawn by Hypothesis (small) or from a seeded generator (many)."""

import random
from itertools import combinations

from hypothesis import strategies as st

from boundit.core.names import is_name
from boundit.estimand.expression import Expression, P, Product, Ratio, Sum
from boundit.graph.causal_graph import CausalGraph

plain_names = st.sampled_from(
    [f"V{i}" for i in range(12)] + ["a.b", "X_1", "hidden", "do", "dag"]
)
odd_names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(is_name)

_sets = st.frozensets(st.sampled_from("XYZ"))
formulas: st.SearchStrategy[Expression] = st.recursive(
    st.builds(P, _sets, _sets),
    lambda inner: st.one_of(
        st.builds(Sum, _sets, inner),
        st.builds(lambda parts: Product(tuple(parts)), st.lists(inner, max_size=3)),
        st.builds(Ratio, inner, inner),
    ),
    max_leaves=8,
)


@st.composite
def graphs(
    draw: st.DrawFn, *, names: st.SearchStrategy[str] = plain_names, max_nodes: int = 6
) -> CausalGraph:
    """Draw a valid graph, with or without a selection node."""
    nodes = draw(st.lists(names, min_size=1, max_size=max_nodes, unique=True))
    pairs = list(combinations(nodes, 2))
    selection = nodes[-1] if len(nodes) > 1 and draw(st.booleans()) else None
    return CausalGraph.of(
        nodes,
        directed=draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [],
        bidirected=draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [],
        selection=selection,
    )


def random_graph(
    rng: random.Random,
    n: int,
    *,
    arrows: float = 0.35,
    arcs: float = 0.2,
    selection: bool = False,
) -> CausalGraph:
    """Draw a graph over ``n`` observed nodes V0, V1, ... and, if asked, S."""
    nodes = [f"V{i}" for i in range(n)] + ["S"] * selection
    pairs = list(combinations(nodes, 2))
    return CausalGraph.of(
        nodes,
        directed=[pair for pair in pairs if rng.random() < arrows],
        bidirected=[pair for pair in pairs if rng.random() < arcs],
        selection="S" if selection else None,
    )


def some_of(rng: random.Random, names: list[str], chance: float = 0.5) -> frozenset[str]:
    """Draw a subset."""
    return frozenset(name for name in names if rng.random() < chance)
