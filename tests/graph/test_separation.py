"""What a law depends on, against separation pair by pair."""

import random
from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise

import networkx as nx
import pytest
from hypothesis import given

from boundit.core.errors import OverlappingRoles, UnknownNode
from boundit.graph.causal_graph import CausalGraph, Links
from boundit.graph.separation import find_boundary, open_walk
from tests.estimand.truth import random_cases
from tests.strategies import graphs, random_graph, some_of


def as_dag(graph: CausalGraph) -> nx.DiGraph:
    """Replace every bidirected edge by a hidden common cause, as networkx knows no others."""
    dag = nx.DiGraph(list(graph.directed))
    dag.add_nodes_from(graph.nodes)
    for i, (a, b) in enumerate(sorted(graph.bidirected)):
        dag.add_edges_from([(("hidden", i), a), (("hidden", i), b)])
    return dag


def test_separation_is_that_of_networkx() -> None:
    """20,000 random mixed graphs of two to seven nodes, sets of every size."""
    rng = random.Random(3)
    separated = 0
    for _ in range(20_000):
        density = rng.choice([0.1, 0.2, 0.4])
        graph = random_graph(rng, rng.randint(2, 6), arrows=density, arcs=0.1, selection=True)
        roles = {node: rng.choice("xyzz-") for node in sorted(graph.nodes)}
        x, y, z = ({n for n in roles if roles[n] == role} for role in "xyz")
        if not (x and y):
            continue
        claim = open_walk(graph, x, y, given=z) is None
        separated += claim

        assert claim == nx.is_d_separator(as_dag(graph), x, y, z)
    assert separated > 3000


def test_separation_is_the_absence_of_an_open_path() -> None:
    """The definition by paths, enumerated: a path is open iff its colliders cause ``given``."""
    rng = random.Random(4)
    for _ in range(400):
        graph = random_graph(rng, 5)
        x, y, *rest = rng.sample(sorted(graph.nodes), 5)
        known = some_of(rng, rest)

        assert (open_walk(graph, x, y, given=known) is None) == (
            not any(is_open(graph, path, known) for path in all_paths(graph, [x], y))
        )


@given(graphs())
def test_the_walk_is_in_the_graph_and_open(graph: CausalGraph) -> None:
    nodes = sorted(graph.nodes)
    for x, y in combinations(nodes, 2):
        known = frozenset(nodes[::2]) - {x, y}
        walk = open_walk(graph, x, y, given=known)
        if walk is not None:
            assert (walk[0], walk[-1]) == (x, y)
            assert all(step in edges_between(graph, *step[::2]) for step in steps(walk))
            assert is_open(graph, walk, known)


@given(graphs())
def test_markov_condition(graph: CausalGraph) -> None:
    """Without hidden causes, parents separate a node from whatever it does not cause."""
    observed = CausalGraph.of(graph.nodes, directed=graph.directed)
    for node in observed.nodes:
        causes = observed.parents(node)
        others = observed.nodes - observed.descendants(node) - causes
        if others:
            assert open_walk(observed, node, others, given=causes) is None


class Tally(Mapping[str, Links]):
    """The links of a graph, counting how often they are looked up."""

    def __init__(self, links: Mapping[str, Links]) -> None:
        self._links, self.looked = links, 0

    def __getitem__(self, node: str) -> Links:
        self.looked += 1
        return self._links[node]

    def __iter__(self) -> Iterator[str]:
        return iter(self._links)

    def __len__(self) -> int:
        return len(self._links)


@pytest.mark.parametrize("length", [100, 1_000, 10_000])
def test_a_node_is_entered_at_most_twice(length: int) -> None:
    """Linear time, counted and not clocked: ancestors look once, the search twice a node."""
    names = [f"V{i:05}" for i in range(length)]
    arrows = [*pairwise(names), *zip(names, names[2:], strict=False)]
    arcs = zip(names, names[3:], strict=False)
    graph = CausalGraph.of([*names, "alone"], directed=arrows, bidirected=arcs)
    vars(graph)["links"] = tally = Tally(graph.links)

    assert open_walk(graph, names[0], "alone", given=names[length // 2]) is None
    assert tally.looked <= 3 * len(graph.nodes)


def test_sets_that_overlap_or_do_not_exist_are_refused() -> None:
    graph = CausalGraph.of(directed=[("X", "Y")])

    with pytest.raises(OverlappingRoles, match="'X' is a source and given at once"):
        open_walk(graph, "X", "Y", given="X")
    with pytest.raises(OverlappingRoles, match="'X' is a source and a target at once"):
        open_walk(graph, "X", {"X", "Y"})
    with pytest.raises(UnknownNode, match="no node 'Z'"):
        open_walk(graph, "X", "Y", given="Z")


def steps(walk: tuple[str, ...]) -> list[tuple[str, str, str]]:
    return [(walk[i], walk[i + 1], walk[i + 2]) for i in range(0, len(walk) - 2, 2)]


def edges_between(graph: CausalGraph, a: str, b: str) -> list[tuple[str, str, str]]:
    kinds = [
        ("->", (a, b) in graph.directed),
        ("<-", (b, a) in graph.directed),
        ("<->", tuple(sorted((a, b))) in graph.bidirected),
    ]
    return [(a, edge, b) for edge, there in kinds if there]


def is_open(graph: CausalGraph, walk: tuple[str, ...], known: frozenset[str]) -> bool:
    for (_, before, node), (_, after, _) in zip(steps(walk), steps(walk)[1:], strict=False):
        collider = before in {"->", "<->"} and after in {"<-", "<->"}
        if collider and not graph.descendants(node) & known:
            return False
        if not collider and node in known:
            return False
    return True


def all_paths(graph: CausalGraph, path: list[str], goal: str) -> Iterator[tuple[str, ...]]:
    if path[-1] == goal:
        yield tuple(path)
        return
    for other in sorted(graph.nodes - set(path[::2])):
        for _, edge, _ in edges_between(graph, path[-1], other):
            yield from all_paths(graph, [*path, edge, other], goal)


def test_the_boundary_separates_from_all_else_and_none_of_it_can_be_spared() -> None:
    for case in random_cases(100, seed=2):
        given = case.graph.nodes - case.outcomes
        met = find_boundary(case.graph, case.outcomes, given=given)

        if rest := given - met:
            assert open_walk(case.graph, case.outcomes, rest, given=met) is None
        for node in met:
            assert open_walk(case.graph, case.outcomes, node, given=given - {node}) is not None


def test_bit_masks_reach_what_open_walks_reach_in_the_cut_graph() -> None:
    rng = random.Random(12)
    for case in random_cases(200, seed=12):
        graph, bits = case.graph, case.graph.bits
        known = frozenset(rng.sample(sorted(graph.nodes), 1)) | case.context
        cut = graph.without_edges_into(case.treatments).without_edges_out_of(case.context)
        given, into, out_of = map(bits.mask, (known, case.treatments, case.context))
        (source, *_) = sorted(graph.nodes - known)

        opening = bits.ancestors(given, into, out_of)
        reached = bits.find_reached(
            bits.places[source], given, bits.everything, opening, into, out_of
        )

        assert bits.read(opening) == cut.ancestors(known)
        for node in graph.nodes - known - {source}:
            is_open = open_walk(cut, source, node, given=known) is not None
            assert bool(reached & bits.places[node]) == is_open


def test_parts_of_bit_masks_are_induced_graphs() -> None:
    for case in random_cases(100, seed=13):
        bits = case.graph.bits
        within = case.graph.nodes - case.treatments
        part = case.graph.induced(within)

        found = bits.ancestors(bits.mask(case.outcomes), within=bits.mask(within))
        assert bits.read(found) == part.ancestors(case.outcomes)
        assert set(map(bits.read, bits.components(bits.mask(within)))) == set(part.components())
