"""Worlds that fit a log: they match its law, keep to its bounds, and differ."""

import numpy as np
import pytest

import boundit as bd
from boundit.bandit.errors import BadOption
from boundit.bounds.derive import derive_bounds
from boundit.bounds.request import read_request
from boundit.simulation.errors import NoWorldFits, RewardNotBinary
from boundit.simulation.fitted.fit_worlds import (
    count_relevant,
    find_relevant,
    fit_to_counts,
    fit_worlds,
)
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.simulation.world import World
from boundit.simulation.worlds import flipped_world
from boundit.terms.errors import BounditError
from boundit.terms.long_work import FOR_EVER

MINE = flipped_world()


@pytest.mark.parametrize("seed", [4, 6, 15, 16, 21])
def test_worlds_of_random_models_match_the_log_and_lie_in_its_bounds(seed: int) -> None:
    """Their truth lies within the plug-in bounds of their own law, and in those of the log."""
    rng = np.random.default_rng(seed)
    graph = draw_graph(4, rng, selection=bool(seed % 4), bidirected=0.35)
    order = [name for name in graph.order if name != "S"]
    query = bd.parse_query(f"{order[-1]} | do({order[0]})")
    truth = World(draw_model(graph, rng, binary=order[-1], levels=(2, 3)), query)
    exact = seed % 2 == 0
    log = truth.exact_log() if exact else truth.log(20_000, seed=1)
    worlds = fit_worlds(graph, query, log, n=2, confidence=None if exact else 0.95)

    axes = [name for name in find_relevant(graph, query).order if name != "S"]
    counts = log.count([name for name in axes if name != order[-1]], reward=order[-1])
    assert len(worlds) == 2
    for world in worlds:
        paid = world.model.log().at({order[-1]: 1}).marginalize(counts.variables)
        gap = (
            paid.align(counts.variables)
            - counts.sum_rewards(counts.variables).align(counts.variables) / counts.rows
        )
        assert np.abs(gap).sum() / 2 <= world.distance <= worlds.tolerance
        own = derive_bounds(world.graph, query, world.exact_log(), confidence=None)
        for key, mean in world.means().items():
            assert own[key].lower - 1e-6 <= mean <= own[key].upper + 1e-6
            slack = 0.01 if exact else 0.0
            logged = worlds.bounds[key]
            assert logged.lower - slack <= mean <= logged.upper + slack


def test_worlds_spread_over_the_bounds() -> None:
    worlds = fit_worlds(MINE.graph, MINE.query, MINE.exact_log(), n=8, confidence=None)

    assert worlds.spread > 0.6
    assert len({world.selection_rate for world in worlds}) == 8


def test_worlds_have_the_levels_of_the_log_so_that_policies_of_its_bounds_can_play() -> None:
    rows = MINE.model.sample_log(3_000, np.random.default_rng(0))
    columns = {name: of.tolist() for name, of in rows.items()}
    columns["X1"] = [("plain", "rich")[value] for value in columns["X1"]]
    columns["U"] = [("new", "old")[value] for value in columns["U"]]
    worlds = fit_worlds(MINE.graph, MINE.query, bd.read_log(columns), n=1)
    (world,) = worlds

    assert {arm[0] for arm in world.environment.arms} == {"plain", "rich"}
    assert world.mean(("rich", 1), "new") == world.means()[("rich", 1), ("new",)]
    policies: dict[str, bd.Policy] = {
        "UCB": bd.UCB(prior=worlds.bounds),
        "LinUCB": bd.LinUCB(),
    }
    assert bd.simulate(world, policies, rounds=5, runs=1).rounds == 5


def test_the_same_seed_gives_the_same_worlds() -> None:
    log = MINE.log(3_000, seed=1)
    one, other = (fit_worlds(MINE.graph, MINE.query, log, n=1, seed=5) for _ in range(2))

    assert one[0].means() == other[0].means()


def test_what_does_not_bear_on_the_question_is_left_out() -> None:
    graph = bd.parse_graph("U -> X -> Y; Y -> Late; Other; X -> [S]")

    assert find_relevant(graph, bd.parse_query("Y | do(X)")).nodes == {"U", "X", "Y", "S"}


def test_a_graph_that_the_log_contradicts_has_no_worlds() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(2, size=4_000)
    rows = {"X": x.tolist(), "W": x.tolist(), "Y": rng.integers(2, size=4_000).tolist()}
    graph = bd.parse_graph("X -> Y; W -> Y")

    with pytest.raises(NoWorldFits, match="check") as caught:
        fit_worlds(graph, "Y | do(X), W", rows, n=1)
    assert caught.value.nearest > 0.3


def test_models_that_no_known_rate_fits_are_counted() -> None:
    with pytest.raises(NoWorldFits, match="selection_rate"):
        fit_worlds(
            MINE.graph, MINE.query, MINE.exact_log(), n=1, confidence=None, selection_rate=1.0
        )


def test_a_time_limit_gives_the_worlds_that_are_done() -> None:
    worlds = fit_worlds(MINE.graph, MINE.query, MINE.log(3_000, seed=1), n=50, time_limit=0.0)

    assert len(worlds) == 1


def test_other_rewards_than_0_and_1_are_refused() -> None:
    rows = {"X": [0, 1, 0, 1], "Y": [0.0, 2.0, 1.0, 2.0]}
    with pytest.raises(BounditError, match="write it as 0/1 in the log") as found:
        fit_worlds(bd.parse_graph("X -> Y"), "Y | do(X)", rows)
    assert "outcome_range" not in str(found.value)  # which fit_worlds does not take
    graph, query = bd.parse_graph("X -> Y"), "Y | do(X)"
    request = read_request(graph, query, rows, outcome_range=(0, 2))
    counts = count_relevant(request)
    bounds = derive_bounds(graph, query, rows, outcome_range=(0, 2))
    with pytest.raises(RewardNotBinary, match="other values"):
        fit_to_counts(request, counts, bounds, n=1, seed=0, budget=FOR_EVER)


@pytest.mark.parametrize("tolerance", [0, -1, 2, True, "near"])
def test_a_tolerance_that_is_none_is_refused(tolerance: object) -> None:
    with pytest.raises(BadOption, match="tolerance"):
        fit_worlds(MINE.graph, MINE.query, MINE.log(500, seed=1), tolerance=tolerance)  # type: ignore[arg-type]


def test_progress_is_told() -> None:
    heard: list[tuple[str, int, int]] = []
    log = MINE.log(2_000, seed=1)
    fit_worlds(MINE.graph, MINE.query, log, n=1, progress=lambda *step: heard.append(step))

    assert heard[-1] == ("fit 1 worlds", 1, 1)


def test_fewer_worlds_than_asked_for_are_told(caplog: pytest.LogCaptureFixture) -> None:
    log = MINE.log(4000, seed=1)
    worlds = fit_worlds(MINE.graph, MINE.query, log, n=3, seed=1, time_limit=0)

    assert len(worlds) == 1
    assert "1 of 3 worlds fit the log" in caplog.text
