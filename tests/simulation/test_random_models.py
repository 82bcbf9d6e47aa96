"""Random graphs and models: valid, repeatable, positive."""

from collections import Counter

import numpy as np
import pytest

from boundit.simulation.random_models import draw_graph, draw_model


def test_edges_come_as_often_as_asked() -> None:
    """3,000 pairs each; within four standard errors."""
    rng = np.random.default_rng(5)
    graphs = [draw_graph(5, rng, directed=0.3, bidirected=0.15) for _ in range(300)]

    assert sum(len(g.directed) for g in graphs) / 3000 == pytest.approx(0.3, abs=0.034)
    assert sum(len(g.bidirected) for g in graphs) / 3000 == pytest.approx(0.15, abs=0.026)
    assert all(g.selection is None and len(g.nodes) == 5 for g in graphs)


def test_selection_always_depends_on_something_and_may_share_hidden_causes() -> None:
    rng = np.random.default_rng(6)
    graphs = [draw_graph(3, rng, directed=0.2, selection=True) for _ in range(100)]
    ways = Counter(bool(g.links["S"].siblings) for g in graphs)

    assert all(g.links["S"].parents or g.links["S"].siblings for g in graphs)
    assert min(ways[True], ways[False]) > 10


def test_every_level_has_a_chance_unless_zeros_are_asked_for() -> None:
    rng = np.random.default_rng(8)
    graph = draw_graph(4, rng, bidirected=0.5, selection=True)

    positive = draw_model(graph, rng)
    holed = draw_model(graph, rng, zeros=0.4)

    assert all((table.values >= 0.02 - 1e-12).all() for table in positive.tables.values())
    assert (positive.log().values > 0).all()
    assert any((table.values == 0).any() for table in holed.tables.values())
    assert holed.distribution().values.sum() == pytest.approx(1)
