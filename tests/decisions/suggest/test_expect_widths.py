"""How wide bounds will be, held against logs that are drawn."""

import json

import numpy as np
import pytest

import boundit as bd
from boundit.decisions.suggest.evaluation import measure_width
from boundit.decisions.suggest.rough_model import draw_rough_model, read_shares
from boundit.simulation.errors import RewardNotBinary
from boundit.terms.errors import UnknownNode

GRAPH = bd.parse_graph("U -> X -> I -> Y; U -> Y; I <-> Y; I -> [S]")
QUERY = "Y | do(X), U"
RATES = {"Y": 0.1, "X": 0.3}


def draw_logged(model: bd.Model, rows: int, seed: int) -> bd.Log:
    """Draw people until so many are logged."""
    drawn = model.sample_log(round(2.2 * rows), np.random.default_rng(seed))
    return bd.read_log({name: column[:rows].tolist() for name, column in drawn.items()})


def test_widths_are_close_to_those_of_drawn_logs() -> None:
    plan = bd.expect_widths(GRAPH, QUERY, rates=RATES, rows=[10_000], models=2)
    shares = read_shares(GRAPH, RATES, {}, None)
    found = [
        measure_width(bd.derive_bounds(GRAPH, QUERY, draw_logged(model, 10_000, seed)))
        for i in range(2)
        for model in [draw_rough_model(GRAPH, shares, np.random.default_rng([0, i]))]
        for seed in range(2)
    ]

    assert plan.sizes[0].width == pytest.approx(np.mean(found), rel=0.05)


def test_more_rows_are_never_wider_and_end_in_what_the_graph_leaves_open() -> None:
    plan = bd.expect_widths(GRAPH, QUERY, rates=RATES, rows=[10**9, 10**4, 10**6], models=1)
    widths = [each.width for each in plan.sizes]

    assert [each.rows for each in plan.sizes] == [10**4, 10**6, 10**9, None]
    assert widths == sorted(widths, reverse=True)
    assert widths[2] == pytest.approx(widths[3], abs=1e-3)


def test_rare_rewards_are_warned_of_in_advance() -> None:
    graph = bd.parse_graph("Ad -> Click; Ad <-> Click")
    plan = bd.expect_widths(
        graph, "Click | do(Ad)", rates={"Click": 0.004}, rows=[10**5], models=1
    )

    times = plan.sizes[0].width / 0.004
    assert plan.warnings[0] == (
        f"at a rate of 0.004 intervals at 100,000 rows are {times:.3g} times the rate"
    )
    assert "however many rows" in plan.warnings[1]
    assert plan.warnings[0] in str(plan)


def test_records_and_rows_are_plain() -> None:
    plan = bd.expect_widths(GRAPH, QUERY, rows=[1_000], models=1)

    record = json.loads(json.dumps(plan.record()))
    assert record["sizes"][0]["rows"] == 1_000
    assert record["warnings"] == list(plan.warnings)
    assert plan.rows()[1]["rows"] is None
    assert "endless" in str(plan)


def test_a_time_limit_says_what_was_not_reached() -> None:
    plan = bd.expect_widths(GRAPH, QUERY, rows=[1_000], models=1, time_limit=0.0)

    assert plan.sizes == ()
    assert plan.notes == ("the time limit left no time for 1,000, endless rows",)
    assert plan.warnings == ()


def test_rewards_of_more_levels_and_unknown_names_are_refused() -> None:
    with pytest.raises(RewardNotBinary):
        bd.expect_widths(GRAPH, QUERY, levels={"Y": 3})
    with pytest.raises(UnknownNode):
        bd.expect_widths(GRAPH, QUERY, rates={"Z": 0.1})
