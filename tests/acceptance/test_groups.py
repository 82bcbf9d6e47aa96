"""A group says that its members may be related in any way; answers must hold in every way."""

from itertools import combinations

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from boundit.bounds.derive import derive_bounds
from boundit.counts.formula import evaluate
from boundit.estimand.identify import identify
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.groups import NodeGroup
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from boundit.simulation.scm import SCM
from tests.bounds.exact import as_log, ends

Pairs = list[tuple[str, str]]


def draw_pair(rng: Generator) -> tuple[CausalGraph, CausalGraph]:
    """Draw a graph with a group, and one of the graphs that it stands for.

    In the second, members cause each other in an order drawn at random, some have hidden common
    causes, and each edge that leads into the group leads into some of its members alone.
    """
    members = [f"Z{i}" for i in range(int(rng.integers(2, 4)))]
    others = ["W", "X", "Y"] if len(members) == 2 else ["X", "Y"]
    while others.index("X") > others.index("Y"):
        others = [str(name) for name in rng.permutation(others)]
    units = [*others]
    units.insert(int(rng.integers(len(units) + 1)), "Z")
    said: tuple[Pairs, Pairs] = [], []
    true: tuple[Pairs, Pairs] = [], []
    for one, other in combinations(units, 2):
        for kind, chance in enumerate((0.65, 0.25)):
            if rng.random() > chance and (one, other, kind) != ("X", "Y", 0):
                continue
            ones = _draw_some(members, rng) if one == "Z" else [one]
            reached = _draw_some(members, rng) if other == "Z" else [other]
            some = [(a, b) for a in ones for b in reached]
            true[kind].extend(some)
            said[kind].extend(some)
    if rng.random() < 0.4:
        cause = str(rng.choice([*others, *members]))
        true[0].append((cause, "S"))
        said[0].append((cause, "S"))
    selection = "S" if ("S" in {b for _, b in said[0]}) else None
    order = [str(name) for name in rng.permutation(members)]
    inner = list(combinations(order, 2))
    true[0].extend(pair for pair in inner if rng.random() < 0.7)
    true[1].extend(pair for pair in inner if rng.random() < 0.5)
    nodes = [*others, *members]
    group = NodeGroup("Z", frozenset(members))
    return (
        CausalGraph.of(
            nodes, directed=said[0], bidirected=said[1], selection=selection, groups=[group]
        ),
        CausalGraph.of(nodes, directed=true[0], bidirected=true[1], selection=selection),
    )


def _draw_some(members: list[str], rng: Generator) -> list[str]:
    kept = [name for name in members if rng.random() < 0.6]
    return kept or [members[int(rng.integers(len(members)))]]


def find_misses(graph: CausalGraph, model: SCM, query: EffectQuery) -> list[str]:
    """Hold formula and bounds by one graph against the truth of a model of another."""
    axes = query.treatments + query.context + query.outcomes
    effect = model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    ).align(axes)
    misses = []
    answer = identify(graph, query)
    if answer.expression is not None and not answer.arbitrary:
        law = as_log(model.log()).count(sorted(graph.observed), selection=graph.selection)
        everyone = [law] if graph.selection is None else []
        found = evaluate(answer.expression, law, external=everyone).align(axes)
        if not np.allclose(found, effect, atol=1e-9):
            misses.append("formula")
    table = derive_bounds(graph, query, as_log(model.log()), confidence=None)
    truth = effect[..., 1]
    lower, upper = ends(table, truth.shape)
    if not ((lower <= truth + 1e-9) & (truth <= upper + 1e-9)).all():
        misses.append("bounds")
    return misses


def list_queries(graph: CausalGraph) -> list[EffectQuery]:
    known = sorted(graph.observed - graph.descendants("X") - {"Y"})
    contexts = [(), tuple(known[:1])] if known else [()]
    return [EffectQuery(("Y",), ("X",), context) for context in contexts]


@pytest.mark.parametrize(
    "seeds", [range(12), pytest.param(range(12, 72), marks=pytest.mark.full)]
)
def test_bounds_and_formulas_hold_however_members_are_related(seeds: range) -> None:
    """Members in any causal order, with hidden causes: no formula and no bound misses."""
    formulas = tried = 0
    for seed in seeds:
        rng = default_rng(seed)
        graph, true = draw_pair(rng)
        model = draw_model(true, rng, levels=(2,))
        for query in list_queries(graph):
            assert find_misses(graph, model, query) == [], (seed, str(graph), str(true))
            formulas += identify(graph, query).expression is not None
            tried += 1
    assert tried > len(seeds)
    assert formulas > len(seeds) // 3


def test_a_fixed_order_of_members_would_miss() -> None:
    """Where W moves Z0 alone and Z0 moves Z1, no edge from W to Z1 claims too much."""
    true = parse("W -> Z0 -> Z1 -> Y; Z0 <-> Z1; Z1 -> X; X -> Y; W -> X")
    other = parse("W -> Z0; Z1 -> Z0; Z1 -> Y; Z0 <-> Z1; Z1 -> X; X -> Y; W -> X")
    model = draw_model(true, default_rng(1), levels=(2,))
    query = EffectQuery(("Y",), ("X",), ("W",))

    assert find_misses(other, model, query) == ["formula", "bounds"]
    grouped = parse("Z = {Z0, Z1}; W -> Z0; Z1 -> Y; Z1 -> X; X -> Y; W -> X")
    assert find_misses(grouped, model, query) == []


def test_an_arm_among_members_is_refused_because_their_order_matters() -> None:
    graph = parse("Z = {A, B}; Z -> Y")
    with pytest.raises(Exception, match="take 'A' out of the group"):
        identify(graph, "Y | do(A)")
