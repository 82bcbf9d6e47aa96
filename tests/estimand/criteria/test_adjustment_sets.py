"""What is found and listed is compared with every pair, judged one by one."""

from collections.abc import Iterator
from itertools import chain, combinations, islice, pairwise
from random import Random

import pytest

from boundit.estimand.criteria.adjustment import Adjustment, adjusts
from boundit.estimand.criteria.adjustment_sets import find_adjustment, list_adjustments
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.terms.errors import OverlappingRoles, UnknownNode
from boundit.terms.names import Nodes
from tests.nodes import make_nodes


def subsets(names: Nodes) -> Iterator[Nodes]:
    sizes = (combinations(sorted(names), k) for k in range(len(names) + 1))
    return map(frozenset, chain.from_iterable(sizes))


def admissible(
    graph: CausalGraph, treatments: Nodes, outcomes: Nodes, external: Nodes, within: Nodes
) -> set[Adjustment]:
    roles = {"treatments": treatments, "outcomes": outcomes}
    return {
        Adjustment(z, zt)
        for z in subsets(within - treatments - outcomes)
        for zt in subsets(z & external if graph.selection else make_nodes())
        if adjusts(graph, covariates=z, external=zt, **roles)
    }


def random_searches(n: int, seed: int) -> Iterator[tuple[CausalGraph, dict[str, Nodes]]]:
    rng = Random(seed)
    for _ in range(n):
        names = [f"V{i}" for i in range(rng.randint(3, 6))]
        selection = rng.random() < 0.8
        order = [*names, "S"] if selection else names
        pairs = list(combinations(order, 2))
        graph = CausalGraph.of(
            order,
            directed=[p for p in pairs if rng.random() < 0.35],
            bidirected=[p for p in pairs if rng.random() < 0.12],
            selection="S" if selection else None,
        )
        rng.shuffle(names)
        cut = rng.choice([1, 1, 2]) if len(names) > 3 else 1
        sets = {"treatments": frozenset(names[:cut]), "outcomes": make_nodes(names[cut])}
        sets["external"] = frozenset(v for v in names if rng.random() < 0.6)
        sets["within"] = frozenset(v for v in names if rng.random() < 0.9)
        yield graph, sets


def test_the_list_holds_every_admissible_pair_once() -> None:
    """GACT3: covariates first, then Z^T among them, each guarded by the existence of a pair."""
    for graph, sets in random_searches(700, seed=1):
        listed = list(list_adjustments(graph, **sets))

        assert len(listed) == len(set(listed))
        assert set(listed) == admissible(graph, **sets), str(graph)


def test_of_the_pair_found_nothing_can_be_spared() -> None:
    for graph, sets in random_searches(900, seed=2):
        found, every = find_adjustment(graph, **sets), admissible(graph, **sets)

        assert (found is not None) == bool(every), str(graph)
        if found is not None:
            assert found in every
            assert not [p for p in every if p.covariates < found.covariates]
            assert not [
                p
                for p in every
                if p.covariates == found.covariates and p.external < found.external
            ]


def test_a_pair_is_found_where_selection_needs_a_measured_variable() -> None:
    graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]; U -> Y")
    roles = {"treatments": "X", "outcomes": "Y"}

    assert find_adjustment(graph, **roles) is None
    assert find_adjustment(graph, **roles, external="Z") == (make_nodes("Z"), make_nodes("Z"))
    assert find_adjustment(graph, **roles, external="Z", within="U") is None


def test_a_covariate_that_another_choice_of_external_variables_spares_is_dropped() -> None:
    """A, nearest to Y, settles selection; but B is needed anyway and settles it as well."""
    graph = parse("B -> A -> Y; B -> [S]; B -> X -> Y; B -> K -> L -> X; Q -> K; Q -> Y")

    found = find_adjustment(
        graph, treatments="X", outcomes="Y", external=["A", "B"], within=["A", "B", "L"]
    )

    assert found == (make_nodes("B", "L"), make_nodes("B"))


def test_long_graphs_are_no_trouble() -> None:
    """A few searches, each linear; no recursion."""
    names = [f"V{i}" for i in range(3_000)]
    graph = CausalGraph.of(
        directed=[*pairwise(names), ("V0", "X"), ("X", "Y"), ("V2999", "Y"), ("V7", "S")],
        selection="S",
    )
    roles = {"treatments": "X", "outcomes": "Y", "external": names}

    found = find_adjustment(graph, **roles)

    assert found is not None
    assert adjusts(graph, **found._asdict(), treatments="X", outcomes="Y")
    assert len(set(islice(list_adjustments(graph, **roles), 5))) == 5


@pytest.mark.parametrize("search", [find_adjustment, list_adjustments])
def test_senseless_questions_are_refused_at_once(search) -> None:  # type: ignore[no-untyped-def]
    graph = parse("Z -> X -> Y; Z -> [S]")

    with pytest.raises(UnknownNode, match="no node 'Q'"):
        search(graph, treatments="X", outcomes="Y", external="Q")
    with pytest.raises(OverlappingRoles, match="'S' is the selection node and allowed"):
        search(graph, treatments="X", outcomes="Y", within=["Z", "S"])
    with pytest.raises(OverlappingRoles, match="'X' is a treatment and an outcome"):
        search(graph, treatments="X", outcomes="X")
