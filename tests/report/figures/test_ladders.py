from dataclasses import replace

import boundit as bd
from boundit.decisions.sensitivity import Sensitivity
from boundit.report.figures.ladders import make_ladders

TABLE = bd.BoundTable.from_rows(
    [{"Ad": "A", "Dose": 1, "lower": 0.1, "upper": 0.6}],
    outcome="Click",
    treatments=["Ad"],
    context=["Dose"],
    outcome_range=(0, 1),
)


def test_a_ladder_has_the_ends_at_every_limit() -> None:
    (found,) = make_ladders(Sensitivity("selection", (1.5, 3.0), (TABLE, TABLE)))

    assert (found.name, found.limits, found.edge) == ("A | Dose=1", (1.5, 3.0), "")
    assert (found.lower, found.upper) == ((0.1, 0.1), (0.6, 0.6))


def test_the_edge_whose_limit_varies_is_named() -> None:
    fixed = {"A <-> B": 1.5}
    tables = [replace(TABLE, confounding_limit=fixed | {"X <-> Y": g}) for g in (1.5, 3.0)]

    (found,) = make_ladders(Sensitivity("selection", (1.5, 3.0), tuple(tables)))
    assert found.edge == "X <-> Y"
    assert make_ladders(Sensitivity("selection", (), ())) == ()
