"""Separators are compared with the list of all of them, taken subset by subset."""

from collections.abc import Iterator, Mapping
from itertools import chain, combinations, islice, pairwise
from random import Random
from typing import NamedTuple

import networkx as nx
import pytest

from boundit.core.errors import OverlappingRoles, UnknownNode
from boundit.core.names import Nodes
from boundit.graph.causal_graph import CausalGraph, Links
from boundit.graph.separation import find_connected_nodes, open_walk
from boundit.graph.separators import (
    cut_vertices,
    find_needed_nodes,
    find_separator,
    list_minimal_separators,
    list_separators,
    list_sets_between,
    minimal_separator,
    nearest_separator,
    smallest_separator,
)
from tests.nodes import make_nodes
from tests.strategies import random_graph


class Question(NamedTuple):
    graph: CausalGraph
    sources: Nodes
    targets: Nodes
    include: Nodes
    within: Nodes

    def separates(self, given: Nodes) -> bool:
        return open_walk(self.graph, self.sources, self.targets, given=given) is None

    def separators(self) -> list[Nodes]:
        free = sorted(self.within - self.include)
        return [z for z in (self.include | s for s in subsets(free)) if self.separates(z)]

    def limits(self) -> dict[str, Nodes]:
        return {"include": self.include, "within": self.within}


def subsets(names: list[str]) -> Iterator[Nodes]:
    sizes = (combinations(names, k) for k in range(len(names) + 1))
    return map(frozenset, chain.from_iterable(sizes))


def random_question(rng: Random) -> Question:
    names = [f"V{i}" for i in range(rng.randint(3, 6))]
    pairs = list(combinations(names, 2))
    density, confounding_limit = rng.choice([0.3, 0.5]), rng.choice([0.0, 0.2, 0.4])
    graph = CausalGraph.of(
        names,
        directed=[p for p in pairs if rng.random() < density],
        bidirected=[p for p in pairs if rng.random() < confounding_limit],
    )
    rng.shuffle(names)
    n_sources, n_targets = rng.choice([(1, 1), (1, 1), (2, 1), (1, 2)])
    rest = names[n_sources + n_targets :]
    return Question(
        graph,
        frozenset(names[:n_sources]),
        frozenset(names[n_sources : n_sources + n_targets]),
        frozenset(n for n in rest if rng.random() < 0.2),
        frozenset(n for n in rest if rng.random() < 0.8),
    )


def questions(n: int, seed: int) -> Iterator[Question]:
    rng = Random(seed)
    return (random_question(rng) for _ in range(n))


def test_one_is_found_exactly_when_some_subset_separates() -> None:
    """If any allowed set separates, all allowed ancestors together do."""
    for q in questions(4000, seed=1):
        found = find_separator(q.graph, q.sources, q.targets, **q.limits())

        assert (found is not None) == bool(q.separators())
        assert found is None or found in q.separators()


def test_of_a_minimal_one_nothing_can_be_spared() -> None:
    for q in questions(4000, seed=2):
        found = minimal_separator(q.graph, q.sources, q.targets, **q.limits())

        assert (found is not None) == bool(q.separators())
        if found is not None:
            assert found in q.separators()
            assert not [z for z in q.separators() if z < found]


def test_none_has_fewer_nodes_than_the_smallest() -> None:
    for q in questions(4000, seed=8):
        found = smallest_separator(q.graph, q.sources, q.targets, **q.limits())

        assert (found is not None) == bool(q.separators())
        if found is not None:
            assert found in q.separators()
            assert len(found) == min(map(len, q.separators()))


def test_the_smallest_one_may_lead_past_a_selection_node_that_is_given() -> None:
    graph = CausalGraph.of(
        directed=[("X", "S"), ("A", "S"), ("B", "A"), ("C", "A"), ("B", "Y"), ("C", "Y")],
        selection="S",
    )

    assert smallest_separator(graph, "X", "Y") == frozenset()
    assert smallest_separator(graph, "X", "Y", include="S") == make_nodes("A", "S")
    assert smallest_separator(graph, "X", "Y", include="S", within=["B", "C"]) == make_nodes(
        *"BCS"
    )


def test_no_separator_comes_between_the_sources_and_the_nearest_one() -> None:
    """Whatever another separator leaves out of the nearest one, it leaves connected."""
    for q in questions(4000, seed=3):
        found = nearest_separator(q.graph, q.sources, q.targets, **q.limits())

        assert (found is not None) == bool(q.separators())
        if found is not None:
            assert found in q.separators()
            for other in q.separators():
                for node in found - other:
                    assert open_walk(q.graph, q.sources, node, given=other) is not None


def test_the_list_is_complete_and_free_of_repetition() -> None:
    for q in questions(3000, seed=4):
        listed = list(list_separators(q.graph, q.sources, q.targets, **q.limits()))

        assert len(listed) == len(set(listed))
        assert set(listed) == set(q.separators())


def test_minimal_separators_are_those_of_the_enumeration() -> None:
    several = 0
    for q in questions(3000, seed=8):
        every = q.separators()
        least = {one for one in every if not any(other < one for other in every)}
        listed = list(list_minimal_separators(q.graph, q.sources, q.targets, **q.limits()))

        assert len(listed) == len(set(listed))
        assert set(listed) == least
        several += len(least) > 1
    assert several > 3


def test_what_is_needed_is_in_every_separator() -> None:
    for q in questions(3000, seed=7):
        needed = find_needed_nodes(q.graph, q.sources, q.targets, **q.limits())

        assert (needed is not None) == bool(q.separators())
        if needed is not None:
            assert needed == frozenset.intersection(*q.separators()) - q.include


def test_what_is_connected_is_what_is_not_separated() -> None:
    for q in questions(3000, seed=6):
        others = q.graph.nodes - q.sources - q.within
        walks = {n: open_walk(q.graph, q.sources, n, given=q.within) for n in others}

        found = find_connected_nodes(q.graph, q.sources, given=q.within)

        assert found == {node for node, walk in walks.items() if walk is not None}


def test_any_property_can_be_listed_once_ranges_can_be_searched() -> None:
    rng = Random(5)
    every = [make_nodes("A") | s for s in subsets(["B", "C", "D", "E"])]
    for _ in range(200):
        liked = [z for z in every if rng.random() < 0.4]

        def find(low: Nodes, high: Nodes, liked: list[Nodes] = liked) -> Nodes | None:
            return next((z for z in liked if low <= z <= high), None)

        listed = list(list_sets_between(make_nodes("A"), make_nodes(*"ABCDE"), find))

        assert len(listed) == len(set(listed))
        assert set(listed) == set(liked)


def test_by_default_the_selection_node_is_only_used_when_included() -> None:
    graph = CausalGraph.of(
        directed=[("X", "A"), ("A", "Y"), ("A", "S"), ("B", "S")], selection="S"
    )

    assert find_separator(graph, "X", "Y") == make_nodes("A")
    assert find_separator(graph, "X", "Y", include="S") == make_nodes("A", "B", "S")
    assert minimal_separator(graph, "X", "Y", include="S") == make_nodes("A", "S")


def test_an_included_node_need_not_be_allowed_and_an_end_is_never_used() -> None:
    graph = CausalGraph.of(directed=[("X", "A"), ("A", "Y"), ("B", "A")])

    assert find_separator(graph, "X", "Y", include="A", within=["X", "Y"]) == make_nodes("A")
    assert find_separator(graph, "X", "Y", within=()) is None


def test_a_bidirected_edge_cannot_be_separated() -> None:
    graph = CausalGraph.of(directed=[("X", "Y")], bidirected=[("Y", "I")])

    assert find_separator(graph, "I", "Y") is None
    assert list(list_separators(graph, "I", "Y")) == []


@pytest.mark.parametrize(
    "search",
    [
        find_separator,
        nearest_separator,
        minimal_separator,
        smallest_separator,
        find_needed_nodes,
        list_separators,
    ],
)
def test_senseless_questions_are_refused_at_once(search) -> None:  # type: ignore[no-untyped-def]
    graph = CausalGraph.of(directed=[("X", "A"), ("A", "Y")])

    with pytest.raises(UnknownNode, match="no node 'Q'"):
        search(graph, "X", "Q")
    with pytest.raises(UnknownNode, match="no node 'Q'"):
        search(graph, "X", "Y", within="Q")
    with pytest.raises(OverlappingRoles, match="'X' is a source and a target"):
        search(graph, ["X", "A"], "X")
    with pytest.raises(OverlappingRoles, match="'Y' is a target and included"):
        search(graph, "X", "Y", include="Y")


class Tally(dict[str, Links]):
    """The links of a graph, counting how often a node is left."""

    looked = 0

    def __getitem__(self, node: str) -> Links:
        self.looked += 1
        return super().__getitem__(node)


def ladder(length: int) -> CausalGraph:
    """Two long chains with confounded rungs."""
    left, right = [f"A{i}" for i in range(length)], [f"B{i}" for i in range(length)]
    return CausalGraph.of(
        directed=[*pairwise(left), *pairwise(right)],
        bidirected=zip(left, right, strict=True),
    )


def tallied(graph: CausalGraph) -> Tally:
    links: Mapping[str, Links] = graph.links
    vars(graph)["links"] = tally = Tally(links)
    return tally


@pytest.mark.parametrize("length", [50, 500, 5_000])
def test_a_search_is_linear_and_does_not_recur(length: int) -> None:
    """Counted, not clocked: ancestors look once at a node, each search at most twice."""
    graph = ladder(length)
    tally = tallied(graph)

    found = minimal_separator(graph, "A0", f"B{length - 1}")

    assert found is not None
    assert tally.looked <= 5 * len(graph.nodes)


def test_the_first_separators_of_a_wide_graph_come_soon() -> None:
    """Thousands of nodes: a separator costs a few searches, not one for each node."""
    graph = ladder(1_000)
    tally = tallied(graph)

    few = list(islice(list_separators(graph, "A0", "B999"), 10))

    assert len(set(few)) == 10
    assert tally.looked <= 10 * 10 * len(graph.nodes)


NOTHING: Nodes = frozenset()


def augment(graph: CausalGraph) -> "nx.Graph[str]":
    """Join every two nodes among the members and causes of one district."""
    joined: nx.Graph[str] = nx.Graph()
    joined.add_nodes_from(graph.nodes)
    for district in graph.components():
        around = sorted(district | graph.parents(district))
        joined.add_edges_from((a, b) for a in around for b in around if a < b)
    return joined


def test_it_is_as_small_as_the_cut_that_networkx_finds() -> None:
    rng, compared = Random(1), 0
    for _ in range(400):
        graph = random_graph(rng, rng.choice([6, 9, 12]), arrows=0.2, arcs=0.08)
        x, y = rng.sample(sorted(graph.nodes), 2)
        graph = graph.induced(graph.ancestors([x, y]))
        joined = augment(graph)
        if joined.has_edge(x, y):
            continue
        usable = graph.nodes - {x, y}

        found = cut_vertices(graph, make_nodes(x), make_nodes(y), gone=NOTHING, usable=usable)

        assert len(found) == len(nx.minimum_node_cut(joined, x, y))
        joined.remove_nodes_from(found)
        assert not nx.has_path(joined, x, y)
        compared += bool(found)
    assert compared > 50


def test_what_is_given_already_costs_nothing_and_stays_a_hub() -> None:
    """A collider that is given joins its causes."""
    graph = CausalGraph.of(
        directed=[("X", "C"), ("A", "C"), ("A", "Y"), ("X", "B"), ("B", "Y")]
    )
    ends = make_nodes("X"), make_nodes("Y")

    found = cut_vertices(graph, *ends, gone=make_nodes("C"), usable=make_nodes("A", "B"))

    assert found == make_nodes("A", "B")


@pytest.mark.parametrize(("one", "other", "near"), [("X", "Y", "A"), ("Y", "X", "C")])
def test_of_equal_cuts_it_is_the_nearest(one: str, other: str, near: str) -> None:
    graph = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("B", "C"), ("C", "Y")])
    usable = make_nodes("A", "B", "C")

    found = cut_vertices(graph, make_nodes(one), make_nodes(other), gone=NOTHING, usable=usable)

    assert found == make_nodes(near)
