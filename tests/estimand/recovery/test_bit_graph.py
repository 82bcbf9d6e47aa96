"""Masks answer as graphs do."""

from random import Random

from boundit.estimand.recovery.bit_graph import BitGraph, list_bits
from boundit.graph.separation import open_walk
from tests.estimand.truth import random_cases


def test_connected_is_what_open_walks_reach_in_the_cut_graph() -> None:
    rng = Random(12)
    for case in random_cases(200, seed=12):
        graph, bits = case.graph, BitGraph(case.graph)
        given = frozenset(rng.sample(sorted(graph.nodes), 1)) | case.context
        cut = graph.without_edges_into(case.treatments).without_edges_out_of(case.context)
        (source, *_) = sorted(graph.nodes - given)

        reached = bits.connected(
            bits.places[source],
            bits.mask(given),
            bits.mask(case.treatments),
            bits.mask(case.context),
        )

        for node in graph.nodes - given - {source}:
            open_ = open_walk(cut, source, node, given=given) is not None
            assert bool(reached >> bits.places[node] & 1) == open_


def test_ancestors_are_those_of_the_cut_graph() -> None:
    for case in random_cases(100, seed=13):
        bits = BitGraph(case.graph)
        cut = case.graph.without_edges_into(case.treatments)
        found = bits.ancestors(bits.mask(case.outcomes), bits.mask(case.treatments))

        assert {bits.names[i] for i in list_bits(found)} == cut.ancestors(case.outcomes)


def test_the_selection_node_is_last_and_read_as_nothing() -> None:
    for case in random_cases(20, seed=14):
        bits = BitGraph(case.graph)

        assert bits.names[-1] == "S"
        assert bits.read(bits.everything) == case.graph.observed
