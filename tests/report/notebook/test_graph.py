import boundit as bd
from boundit.report.notebook.graph import MOST_NODES, show_graph


def test_a_graph_is_drawn_with_a_title_and_its_text() -> None:
    shown = bd.parse_graph('"<b>" -> Y; Y -> [S]')._repr_html_()

    assert shown.count('class="node"') == 3
    assert "<title>The causal graph</title>" in shown
    assert "&lt;b&gt;" in shown
    assert "3 nodes, 2 edges, as text" in shown


def test_a_graph_beyond_drawing_is_text_of_some_length() -> None:
    n = 40 * MOST_NODES
    graph = bd.CausalGraph.of(directed=[(f"N{i}", f"N{i + 1}") for i in range(n)])
    shown = show_graph(graph)

    assert "<svg" not in shown
    assert f"{n + 1:,} nodes" in shown
    assert len(shown) < 12_000
    assert len(repr(graph)) < 250
