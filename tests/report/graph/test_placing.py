import random
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from boundit.report.graph.layers import assign_layers
from boundit.report.graph.ordering import order_rows
from boundit.report.graph.placing import place_slots, spread_apart
from tests.strategies import random_graph


def test_standing_apart_is_isotonic_regression_of_the_wishes() -> None:
    """With the room taken off, keeping apart is keeping order; scipy solves that too."""
    rng = np.random.default_rng(0)
    for n, wide in product((1, 2, 3, 8, 30), (0.1, 1, 5)):
        wishes, weights, rooms = (
            rng.normal(0, 9, n),
            rng.uniform(0.1, 3, n),
            rng.uniform(0, wide, n),
        )
        shifts = np.concatenate([[0], rooms[:-1].cumsum()])
        expected = isotonic_regression(wishes - shifts, weights=weights).x + shifts

        found = spread_apart(list(zip(wishes, weights, strict=True)), list(rooms[:-1]))

        assert found == pytest.approx(expected)


def test_slots_keep_their_order_and_their_room() -> None:
    rng = random.Random(1)
    for n in (1, 6, 25):
        graph = random_graph(rng, n, arrows=2 / n, arcs=1 / n, selection=True)
        drawing = order_rows(
            graph, assign_layers(graph, dict.fromkeys(graph.nodes, 1.0), most=6)
        )
        slots = [slot for row in drawing.rows for slot in row]
        widths = {s: 40.0 if s.lane is None else 2.0 for s in slots}

        x = place_slots(drawing, widths, dict.fromkeys(slots, 10.0))

        for row in drawing.rows:
            for a, b in pairwise(row):
                assert x[b] - x[a] >= (widths[a] + widths[b]) / 2 + 10 - 1e-9
        assert min(x[s] - widths[s] / 2 for s in slots) == pytest.approx(0)


def test_a_chain_stands_straight() -> None:
    graph = random_graph(random.Random(0), 2, arrows=1, arcs=0)
    drawing = order_rows(graph, [["V0"], ["V1"]])
    slots = [slot for row in drawing.rows for slot in row]

    x = place_slots(drawing, dict.fromkeys(slots, 10.0), dict.fromkeys(slots, 5.0))

    assert len(set(x.values())) == 1
