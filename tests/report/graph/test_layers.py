import random

from boundit.graph.text import parse
from boundit.report.graph.layers import assign_layers
from tests.strategies import random_graph


def test_every_cause_stands_above_its_effects_in_rows_that_fit() -> None:
    rng = random.Random(0)
    for n in range(1, 41):
        graph = random_graph(rng, n, arrows=3 / n, arcs=0.1, selection=n % 2 == 0)
        rows = assign_layers(graph, dict.fromkeys(graph.nodes, 10.0), most=75)
        at = {node: i for i, row in enumerate(rows) for node in row}
        assert sorted(at) == sorted(graph.nodes)
        assert sum(map(len, rows)) == len(graph.nodes)
        assert all(at[a] < at[b] for a, b in graph.directed)
        assert all(10 * len(row) <= 80 for row in rows)


def test_a_cause_of_one_late_effect_stands_right_above_it() -> None:
    rows = assign_layers(parse("A -> B -> C -> D; E -> D"), dict.fromkeys("ABCDE", 1.0), most=9)

    assert rows[2] == ("C", "E")


def test_a_node_wider_than_a_row_has_one_of_its_own() -> None:
    assert assign_layers(parse("A; B"), {"A": 50.0, "B": 50.0}, most=20) == (("A",), ("B",))
