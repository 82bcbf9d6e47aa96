"""The pharmacy of the examples."""

from boundit.graph.read import parse_graph
from boundit.simulation.pharmacy import COLUMNS, GRAPH, PATIENTS, draw_kept_rows


def test_the_same_rows_are_drawn_every_time() -> None:
    rows = list(draw_kept_rows())

    assert rows == list(draw_kept_rows())
    assert 0.4 * PATIENTS < len(rows) < 0.9 * PATIENTS


def test_every_column_is_a_node_of_the_graph() -> None:
    assert parse_graph(GRAPH).observed == set(COLUMNS)
