"""Environments that fit a log: they have its distribution, keep to its bounds, and differ."""

import json
from typing import Any

import numpy as np
import pytest

import boundit as bd
from boundit.bounds.derive import derive_bounds
from boundit.counts.log import Log
from boundit.simulation.environment import Environment
from boundit.simulation.environments import flipped_environment
from boundit.simulation.errors import InvalidSimulation, NoEnvironmentFits
from boundit.simulation.fit import (
    FIRM,
    Fitter,
    discretize_outcome,
    find_relevant,
    fit_environments,
)
from boundit.simulation.fitted import FittedEnvironments
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.simulation.scm import SCM

MINE = flipped_environment()
ASKED = (MINE.graph, MINE.query)
EXACT = fit_environments(*ASKED, MINE.exact_log(), n=8, confidence=None)


@pytest.mark.parametrize("seed", [4, 6, 15, 16, 21])
def test_environments_of_random_models_match_the_log_and_lie_in_its_bounds(seed: int) -> None:
    """Their truth lies within the plug-in bounds of their own log, and in those of the log."""
    rng = np.random.default_rng(seed)
    graph = draw_graph(4, rng, selection=bool(seed % 4), bidirected=0.35)
    order = [name for name in graph.order if name != "S"]
    query = bd.parse_query(f"{order[-1]} | do({order[0]})")
    truth = Environment(draw_model(graph, rng, binary=order[-1], levels=(2, 3)), query)
    exact = seed % 2 == 0
    log = truth.exact_log() if exact else truth.log(20_000, seed=1)
    fitted = fit_environments(graph, query, log, n=2, confidence=None if exact else 0.95)

    axes = [name for name in find_relevant(graph, query).order if name != "S"]
    counts = log.count([name for name in axes if name != order[-1]], reward=order[-1])
    assert len(fitted) == 2
    for found in fitted:
        paid = found.model.log().at({order[-1]: 1}).marginalize(counts.variables)
        gap = (
            paid.align(counts.variables)
            - counts.sum_rewards(counts.variables).align(counts.variables) / counts.rows
        )
        assert np.abs(gap).sum() / 2 <= found.distance <= fitted.tolerance
        own = derive_bounds(found.graph, query, found.exact_log(), confidence=None)
        for key, mean in found.means().items():
            assert own[key].lower - 1e-6 <= mean <= own[key].upper + 1e-6
            slack = 0.01 if exact else 0.0
            logged = fitted.bounds[key]
            assert logged.lower - slack <= mean <= logged.upper + slack


def test_environments_spread_over_the_bounds() -> None:
    assert EXACT.spread > 0.6
    assert len({found.selection_rate for found in EXACT}) == len(list(EXACT)) == 8
    key = ((0, 0), (0,))
    means = [found.means()[key] for found in EXACT]
    assert EXACT.reached[key] == (min(means), max(means))
    shares = [
        min((most - least) / (bound.upper_estimate - bound.lower_estimate), 1)
        for (least, most), bound in zip(
            EXACT.reached.values(), EXACT.bounds.bounds.values(), strict=True
        )
    ]
    assert EXACT.spread == pytest.approx(sum(shares) / len(shares))
    assert FittedEnvironments(EXACT.environments[:1], EXACT.bounds, 0.01).spread == 0


def test_text_and_record_say_how_near_and_what_was_left_out() -> None:
    found = FittedEnvironments(EXACT.environments[:2], EXACT.bounds, 0.02, too_far=3, outside=1)

    assert str(found).startswith("2 environments that fit the log: logged rows are within 0.0")
    assert str(found).endswith(
        "left out: 3 further from the log, 1 with a mean outside the bounds"
    )
    record = json.loads(json.dumps(found.record()))
    assert [each["name"] for each in record["environments"]] == [each.name for each in found]
    assert record["too_far"] == 3
    assert "selection rate" in found._repr_html_()


def test_environments_have_the_values_of_the_log_so_that_its_bounds_can_be_used() -> None:
    rows = MINE.model.sample_log(3_000, np.random.default_rng(0))
    columns: dict[str, list[Any]] = {name: of.tolist() for name, of in rows.items()}
    columns["X1"] = [("plain", "rich")[value] for value in columns["X1"]]
    columns["U"] = [("new", "old")[value] for value in columns["U"]]
    fitted = fit_environments(*ASKED, bd.read_log(columns), n=1)
    (found,) = fitted

    assert {arm[0] for arm in found.finite.arms} == {"plain", "rich"}
    assert found.mean(("rich", 1), "new") == found.means()[("rich", 1), ("new",)]
    policies = {"UCB": bd.UCB(prior=fitted.bounds), "LinUCB": bd.LinUCB()}
    assert bd.simulate(fitted, policies, rounds=5, runs=1).rounds == 5


NUMERIC = SCM.of(
    {
        "C": ([], 0.5),
        "Z": ([], [0.3, 0.4, 0.3]),
        "X": (["Z", "C"], lambda z, c: 0.2 + 0.2 * z + 0.2 * c),
        "Y": (
            ["X", "Z", "C"],
            lambda x, z, c: np.array([4 - x - c, 2, 2 + z, 1 + 2 * x]) / (9 + x + z - c),
        ),
        "S": (["Z"], [0.2, 0.5, 0.9]),
    },
    hidden="C",
    selection="S",
)
COSTS = {"Y": (0.0, 12.5, 40.0, 100.0)}


@pytest.mark.parametrize("exact", [True, False])
def test_numeric_outcomes_are_fitted_too(exact: bool) -> None:
    """Means of cells and of arms, in units of the outcome, agree with log and bounds."""
    truth = Environment(NUMERIC, "Y | do(X), Z", levels=COSTS)
    log = truth.exact_log() if exact else truth.log(20_000, seed=1)
    confidence = None if exact else 0.95
    fitted = fit_environments(
        truth.graph, truth.query, log, n=3, confidence=confidence, outcome_range=(0, 100)
    )

    counts = log.count(["X", "Z"], reward="Y")
    logged = counts.sum_rewards(("X", "Z")).values / counts.marginalize(("X", "Z")).values
    assert len(fitted) == 3
    for found in fitted:
        assert list(found.outcome_range) == [0, 100]
        own = found.exact_log().count(["X", "Z"], reward="Y")
        cells = own.sum_rewards(("X", "Z")).values / own.marginalize(("X", "Z")).values
        assert cells == pytest.approx(logged, abs=1.5 if exact else 6)
        for key, mean in found.means().items():
            slack = 1.0 if exact else 0.0
            assert fitted.bounds[key].lower - slack <= mean <= fitted.bounds[key].upper + slack
    policies = {"UCB": bd.UCB(prior=fitted.bounds), "TS": bd.TS()}
    assert bd.simulate(fitted, policies, rounds=20, runs=2).runs == 6
    assert fitted.spread > 0.2


def test_a_discretized_outcome_keeps_means_and_variances_of_cells() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(3, size=6_000)
    y = np.clip(rng.normal(20 + 5 * x, 6), 5, 45)
    log = bd.read_log({"X": x.tolist(), "Y": y.tolist()})
    values, cells = discretize_outcome(log.count(["X"], reward="Y"), (0.0, 100.0))

    assert (values[0], values[-1]) == (0, 100)
    assert cells.min() >= 0
    for i in range(3):
        rewards, shares = y[x == i], cells[i] / cells[i].sum()
        assert cells[i].sum() == pytest.approx(len(rewards))
        assert shares @ values == pytest.approx(rewards.mean())
        assert shares @ values**2 == pytest.approx((rewards**2).mean(), rel=0.02)
    two = bd.read_log({"X": [0, 0, 1, 1], "Y": [2, 6, 2, 2]}).count(["X"], reward="Y")
    values, cells = discretize_outcome(two, (2, 6))
    assert (values.tolist(), cells.tolist()) == ([2, 6], [[1, 1], [2, 0]])


def test_the_same_seed_gives_the_same_environments() -> None:
    log = MINE.log(3_000, seed=1)
    one, other = (fit_environments(*ASKED, log, n=1, seed=5) for _ in range(2))

    assert one[0].means() == other[0].means()


def test_what_does_not_affect_the_query_is_left_out() -> None:
    graph = bd.parse_graph("U -> X -> Y; Y -> Late; Other; X -> [S]")

    assert find_relevant(graph, bd.parse_query("Y | do(X)")).nodes == {"U", "X", "Y", "S"}


def test_a_graph_that_the_log_contradicts_has_no_environments() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(2, size=4_000)
    rows = {"X": x.tolist(), "W": x.tolist(), "Y": rng.integers(2, size=4_000).tolist()}

    with pytest.raises(NoEnvironmentFits, match="check") as caught:
        fit_environments("X -> Y; W -> Y", "Y | do(X), W", rows, n=1)
    assert caught.value.nearest > 0.3


def test_a_selection_rate_is_met_or_refused() -> None:
    log = MINE.exact_log()
    found = fit_environments(*ASKED, log, n=1, confidence=None, selection_rate=(0.05, 0.06))

    assert 0.05 <= found[0].selection_rate <= 0.06
    assert found[0].selection_rate == pytest.approx(found[0].model.selection_rate())
    with pytest.raises(NoEnvironmentFits, match="selection_rate"):
        fit_environments(*ASKED, log, n=1, confidence=None, selection_rate=1.0)


def test_a_time_limit_gives_the_environments_that_are_done(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[tuple[str, int, int]] = []
    log = MINE.log(3_000, seed=1)
    fitted = fit_environments(
        *ASKED, log, n=3, time_limit=0.0, progress=lambda *step: heard.append(step)
    )

    assert len(fitted) == 1
    assert "1 of 3 environments fit the log" in caplog.text
    assert heard[-1] == ("fit 3 environments", 1, 3)


@pytest.mark.parametrize(
    "wrong", [{"tolerance": 0}, {"tolerance": 2}, {"tolerance": "near"}, {"n": 0}, {"seed": -1}]
)
def test_what_cannot_be_asked_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidSimulation, match=next(iter(wrong))):
        fit_environments(*ASKED, MINE.log(500, seed=1), **wrong)


def make_fitter(log: Log, confidence: float | None) -> Fitter:
    bounds = derive_bounds(*ASKED, log, confidence=confidence)
    counts = log.count(sorted(MINE.graph.observed - {"Y"}), reward="Y")
    return Fitter.of(*ASKED, counts, bounds)


def test_the_model_of_an_exact_log_has_its_distribution_of_logged_rows() -> None:
    fitter = make_fitter(MINE.exact_log(), None)
    found = fitter.fit(np.random.default_rng(0), "mine")

    rows = found.model.log().align(fitter.design.observed)
    assert rows == pytest.approx(MINE.model.log().align(fitter.design.observed), abs=1e-3)
    assert found.distance == pytest.approx(np.abs(rows - fitter.target).sum() / 2)
    assert fitter.tolerance == FIRM


def test_the_tolerance_is_twice_the_sampling_error_and_a_hundredth() -> None:
    """Mean total variation between a log of n rows and its distribution, by drawing logs."""
    fitter = make_fitter(MINE.log(20_000, seed=1), 0.95)
    rng = np.random.default_rng(2)
    law = fitter.target.ravel()
    drawn = rng.multinomial(int(fitter.rows), law, size=400) / fitter.rows

    error = np.abs(drawn - law).sum(axis=1).mean() / 2
    assert fitter.tolerance == pytest.approx(FIRM + 2 * error, rel=0.05)
