import random
from itertools import combinations

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.implications import implications, list_apart, state_independence
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from tests.strategies import random_graph

Elementary = tuple[frozenset[str], frozenset[str]]


def separations(graph: CausalGraph) -> set[Elementary]:
    """Every pair and set that, together with S, separates it."""
    selected = {graph.selection} - {None}
    found = set()
    for a, b in combinations(sorted(graph.observed), 2):
        rest = sorted(graph.observed - {a, b})
        for given in (
            frozenset(c) for r in range(len(rest) + 1) for c in combinations(rest, r)
        ):
            if open_walk(graph, a, b, given=given | selected) is None:  # type: ignore[operator]
                found.add((frozenset({a, b}), given))
    return found


def closure(known: set[Elementary], nodes: list[str]) -> set[Elementary]:
    """Close elementary statements under the axioms of a compositional graphoid.

    Of the four statements about a and b, a and c with c or b known beside C, any two that an
    axiom (contraction with symmetry, composition, intersection) names give the other two.
    """
    known, grown = set(known), True
    while grown:
        grown = False
        for a in nodes:
            for b, c in combinations([n for n in nodes if n != a], 2):
                rest = [n for n in nodes if n not in {a, b, c}]
                for r in range(len(rest) + 1):
                    for given in map(frozenset, combinations(rest, r)):
                        ab, ac = (frozenset({a, b}), given), (frozenset({a, c}), given)
                        ab_c, ac_b = (ab[0], given | {c}), (ac[0], given | {b})
                        rules = ((ab, ac_b), (ac, ab_c), (ab, ac), (ab_c, ac_b))
                        if any(p in known and q in known for p, q in rules):
                            new = {ab, ac, ab_c, ac_b} - known
                            known |= new
                            grown |= bool(new)
    return known


def test_the_list_generates_every_separation_and_nothing_in_it_is_superfluous() -> None:
    rng = random.Random(8)
    listed = 0
    for _ in range(250):
        graph = random_graph(
            rng,
            rng.randint(3, 5),
            arrows=rng.choice([0.2, 0.35]),
            arcs=rng.choice([0.0, 0.15]),
            selection=rng.random() < 0.6,
        )
        true, nodes = separations(graph), sorted(graph.observed)
        generating = {(frozenset({i.one, i.other}), i.given) for i in implications(graph)}
        listed += len(generating)

        assert closure(generating, nodes) == true
        for one in generating:
            assert closure(generating - {one}, nodes) != true
    assert listed > 300


def test_statements_of_large_graphs_are_true_and_spare_no_node_in_vain() -> None:
    """Each is a separation given S; without any one of its nodes it is none."""
    rng = random.Random(3)
    for n in (12, 25, 40):
        for selection in (False, True):
            graph = random_graph(rng, n, arrows=2.5 / n, arcs=0.3 / n, selection=selection)
            selected = {graph.selection} if graph.selection else set()
            for one in implications(graph):
                known = one.given | selected
                assert open_walk(graph, one.one, one.other, given=known) is None
                for spared in one.given:
                    assert open_walk(graph, one.one, one.other, given=known - {spared})


def test_few_variables_are_given_where_either_end_has_few() -> None:
    """The separator nearest to the first end has two nodes, that nearest to the other one."""
    graph = parse("X -> A -> M; X -> B -> M; M -> Y")

    assert "X _||_ Y | M" in list(map(str, implications(graph)))


def test_statements_keep_to_the_nodes_allowed() -> None:
    graph = parse("X -> A -> B -> Y; A -> [S]")

    assert str(state_independence(graph, "X", "Y", within="B")) == "X _||_ Y | B, S = 1"
    assert state_independence(graph, "X", "A") is None
    assert ("A", "B") not in list(list_apart(graph))


def test_the_papers_graph_has_eight() -> None:
    """Figure 2: Y is never separated from X1 once only the selected rows are seen."""
    graph = parse("U1 -> X1 -> I1 -> Y; U1 -> Y; U2 -> X2 -> Y; I1 <-> Y; I1 -> [S]")
    found = list(map(str, implications(graph)))

    assert len(found) == 8
    assert "I1 _||_ U1 | X1, S = 1" in found
    assert not any("X1" in line and "Y" in line for line in found)


def test_selection_destroys_implications() -> None:
    assert list(map(str, implications(parse("X -> S <- Y")))) == ["X _||_ Y"]
    assert implications(parse("X -> [S] <- Y")) == ()


def test_names_are_spelled_as_text_reads_them() -> None:
    (only,) = implications(parse('"a b" -> M -> Y'))

    assert str(only) == 'Y _||_ "a b" | M'
