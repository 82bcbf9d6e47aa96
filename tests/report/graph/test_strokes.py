import re
from itertools import pairwise

from boundit.report.graph.layout import EdgeRoute
from boundit.report.graph.strokes import draw_edge, make_curves


def test_an_arrow_is_solid_and_a_hidden_cause_dashed_with_two_heads() -> None:
    points = ((10.0, 0.0), (10.0, 60.0))
    arrow = draw_edge(EdgeRoute(("X", "Y"), False, points))
    hidden = draw_edge(EdgeRoute(("X", "Y"), True, points, side=1))

    assert "dasharray" not in arrow
    assert arrow.count("Z") == 1
    assert "dasharray" in hidden
    assert hidden.count("Z") == 2
    assert "<title>X &lt;-&gt; Y</title>" in hidden


def test_pieces_of_a_way_meet_smoothly() -> None:
    points = ((0.0, 0.0), (30.0, 50.0), (32.0, 84.0), (90.0, 140.0))
    curves = make_curves(EdgeRoute(("X", "Y"), False, points))

    for one, next_one in pairwise(curves):
        assert one[3] == next_one[0]
        into = (one[3][0] - one[2][0]) / (one[3][1] - one[2][1])
        out = (next_one[1][0] - next_one[0][0]) / (next_one[1][1] - next_one[0][1])
        assert abs(into - out) < 1e-9


def test_the_line_stops_before_its_head() -> None:
    drawn = draw_edge(EdgeRoute(("X", "Y"), False, ((0.0, 0.0), (0.0, 60.0))))
    line_end = float(re.findall(r"([\d.]+)\"", drawn)[0])

    assert 50 < line_end < 55
    assert "M0.0 60.0L" in drawn


def test_an_arc_rises_above_its_row() -> None:
    way = EdgeRoute(("X", "Y"), True, ((0.0, 50.0), (300.0, 50.0)), arc=True)
    ((_, first, second, _),) = make_curves(way)

    assert first[1] == second[1] < 50
