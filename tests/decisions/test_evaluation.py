"""Off-policy evaluation: values that are covered, endpoints that hold, and what is refused."""

import json
from typing import get_args

import numpy as np
import pytest

import boundit as bd
from boundit.bounds.evidence import OutsideRange
from boundit.bounds.request import NoConfidence, NotABanditQuestion
from boundit.core.errors import OptionError
from boundit.decisions import evaluation
from boundit.decisions.evaluation import (
    Estimator,
    InvalidPropensity,
    bound_mean_below,
    evaluate_policy,
)
from boundit.decisions.policies import InvalidPolicy, Measured

QUERY = "Y | do(X), C"
PROPENSITIES = {0: {0: 0.8, 1: 0.2}, 1: {0: 0.4, 1: 0.6}}
MEANS = np.array([[0.2, 0.5], [0.6, 0.3]])
NEW = {0: 1, 1: {0: 0.7, 1: 0.3}}
VALUE = 0.5 * 0.5 + 0.5 * (0.7 * 0.6 + 0.3 * 0.3)


def draw_log(rng: np.random.Generator, n: int) -> dict[str, list[float]]:
    c = rng.integers(2, size=n)
    chance = np.where(c == 0, 0.2, 0.6)
    x = (rng.random(n) < chance).astype(int)
    y = (rng.random(n) < MEANS[c, x]).astype(int)
    p = np.where(x == 1, chance, 1 - chance)
    columns = {"C": c, "X": x, "Y": y, "p": p}
    return {name: column.tolist() for name, column in columns.items()}


@pytest.mark.parametrize("estimator", get_args(Estimator))
def test_intervals_cover_the_value_as_often_as_they_say(estimator: Estimator) -> None:
    rng = np.random.default_rng(0)
    held, widths = 0, []
    for i in range(60):
        found = evaluate_policy(
            QUERY,
            draw_log(rng, 800),
            NEW,
            propensity="p",
            estimator=estimator,
            min_propensity=0.2,
            confidence=0.9,
            seed=i,
        )
        held += VALUE in found.interval
        widths.append(found.interval.width)
    assert held >= 50
    assert np.mean(widths) < 0.35


def test_the_doubly_robust_interval_is_narrower_on_large_logs() -> None:
    log = draw_log(np.random.default_rng(1), 40_000)
    log["Y"] = [0.5 + 0.1 * y for y in log["Y"]]
    options = {"propensity": PROPENSITIES, "outcome_range": (0, 1)}
    plain = evaluate_policy(QUERY, log, NEW, **options)  # type: ignore[arg-type]
    robust = evaluate_policy(QUERY, log, NEW, estimator="dr", **options)  # type: ignore[arg-type]
    assert robust.interval.width < 0.5 * plain.interval.width
    assert 0.5 + 0.1 * VALUE in robust.interval


def test_propensities_as_a_column_and_as_chances_are_one() -> None:
    log = draw_log(np.random.default_rng(2), 500)
    column = evaluate_policy(QUERY, log, NEW, propensity="p")
    chances = evaluate_policy(QUERY, log, NEW, propensity=PROPENSITIES)
    assert column.value == pytest.approx(chances.value)
    assert column.interval.lower == pytest.approx(chances.interval.lower)


def test_the_log_of_a_policy_that_learned_has_wider_intervals_that_hold() -> None:
    """Arms are drawn half by what earned more so far; propensities know the past."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(30):
        wins, tries = np.ones(2), np.full(2, 2.0)
        rows: dict[str, list[float]] = {"X": [], "Y": [], "p": []}
        for _ in range(300):
            best = int(np.argmax(wins / tries))
            x = best if rng.random() < 0.6 else int(rng.integers(2))
            y = int(rng.random() < (0.3, 0.5)[x])
            wins[x], tries[x] = wins[x] + y, tries[x] + 1
            rows["X"].append(x)
            rows["Y"].append(y)
            rows["p"].append(0.8 if x == best else 0.2)
        log = bd.read_log(rows, adaptive=True)
        found = evaluate_policy("Y | do(X)", log, 1, propensity="p", confidence=0.9)
        held += 0.5 in found.interval
    assert held >= 25


def test_rows_of_a_policy_that_learned_teach_nothing_of_others() -> None:
    log = bd.read_log(draw_log(np.random.default_rng(7), 50), adaptive=True)
    with pytest.raises(InvalidPropensity, match="depend on each other"):
        evaluate_policy(QUERY, log, NEW, propensity=PROPENSITIES, estimator="dr")


def test_an_exact_law_gives_the_value_itself() -> None:
    c, x, y = (at.ravel() for at in np.indices((2, 2, 2)))
    p = np.array([[0.8, 0.2], [0.4, 0.6]])[c, x]
    share = 0.5 * p * np.where(y == 1, MEANS[c, x], 1 - MEANS[c, x])
    columns = {"C": c, "X": x, "Y": y, "p": p, "w": share}
    rows = {name: column.tolist() for name, column in columns.items()}
    law = bd.read_log(rows, weight="w", exact=True)
    found = evaluate_policy(QUERY, law, NEW, propensity="p", confidence=None)
    assert found.value == pytest.approx(VALUE)
    assert found.interval.width == pytest.approx(0, abs=1e-9)
    rows["p"] = [0.5] * 8
    wrong = bd.read_log(rows, weight="w", exact=True)
    with pytest.raises(InvalidPropensity, match="contradicts its propensities"):
        evaluate_policy(QUERY, wrong, NEW, propensity="p", confidence=None)


def test_wrong_propensities_are_found_out_by_weights_that_are_not_1_on_average() -> None:
    log = draw_log(np.random.default_rng(4), 5_000)
    log["p"] = [0.1] * 5_000
    with pytest.raises(InvalidPropensity, match="contradicts its propensities"):
        evaluate_policy(QUERY, log, NEW, propensity="p")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"policy": bd.LOGGED}, "no probabilities of arms"),
        ({"policy": Measured(0.3)}, "no probabilities of arms"),
        ({"estimator": "sn"}, "Use one of ips, dr"),
        ({"estimator": "dr"}, "min_propensity=0.01"),
        ({"estimator": "dr", "min_propensity": 0.5}, "at most every propensity"),
        ({"confidence": None}, "confidence=0.95"),
        ({"confidence": 2}, "must be a chance"),
        ({"propensity": bd.LOGGED}, "a column of the log"),
        ({"propensity": 0.5}, "a column of the log"),
        (
            {"estimator": "dr", "policy": 1, "propensity": {0: 0, 1: {0: 0.5, 1: 0.5}}},
            "rule out",
        ),
    ],
)
def test_what_makes_no_estimate_is_refused(options: dict[str, object], said: str) -> None:
    log = draw_log(np.random.default_rng(5), 50)
    given = {"policy": NEW, "propensity": "p"} | options
    with pytest.raises(
        (InvalidPolicy, InvalidPropensity, OptionError, NoConfidence), match=said
    ):
        evaluate_policy(QUERY, log, **given)  # type: ignore[arg-type]


def test_a_question_without_arms_is_refused() -> None:
    with pytest.raises(NotABanditQuestion, match=r"one outcome and treatments"):
        evaluate_policy("Y", {"Y": [0, 1]}, 1, propensity="p")


def test_an_arm_that_the_log_never_chose_cannot_be_weighed_robustly() -> None:
    log = {"X": [0] * 20, "Y": [0, 1] * 10}
    rows = {name: [*column, 1] for name, column in log.items()}
    with pytest.raises(InvalidPropensity, match="rule out"):
        evaluate_policy("Y | do(X)", rows, 1, propensity={0: 1.0}, estimator="dr")


def test_estimates_are_written_for_people_and_programs() -> None:
    found = evaluate_policy(QUERY, draw_log(np.random.default_rng(6), 50), 1, propensity="p")
    assert "Estimated from 50 rows by inverse propensity scoring" in str(found)
    assert json.loads(json.dumps(found.record()))["n"] == 50
    assert found.max_weight == pytest.approx(5)


@pytest.mark.parametrize("estimator", get_args(Estimator))
@pytest.mark.parametrize("outcome_range", [(0, 1), (-0.1, 0.2)])
def test_estimates_and_intervals_stay_within_the_range_of_the_reward(
    estimator: Estimator, outcome_range: tuple[float, float]
) -> None:
    low, high = outcome_range
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, p, mean = 60, float(rng.choice([0.05, 0.2, 0.5])), float(rng.choice([0.02, 0.98]))
        x = np.append(rng.random(n - 2) < p, [False, True])
        y = np.where(rng.random(n) < mean, high, low)
        log = {
            "X": x.astype(int).tolist(),
            "Y": y.tolist(),
            "p": np.where(x, p, 1 - p).tolist(),
        }
        found = evaluate_policy(
            "Y | do(X)",
            log,
            1,
            propensity="p",
            estimator=estimator,
            min_propensity=p if estimator == "dr" else None,
            outcome_range=outcome_range,
        )
        assert low <= found.interval.lower <= found.interval.upper <= high
        assert low <= found.value <= high


def test_an_interval_outside_the_range_gives_the_whole_range_and_says_so() -> None:
    """Propensities that know the reward keep weights near 1, and take the estimate below 0."""
    rng = np.random.default_rng(0)
    y = (rng.random(800) < 0.2).astype(int)
    log = {"X": rng.integers(2, size=800).tolist(), "Y": y.tolist()}
    log["p"] = np.where(y, 0.9, 0.2).tolist()
    found = evaluate_policy(
        "Y | do(X)", log, 1, propensity="p", estimator="dr", min_propensity=0.2
    )
    assert (found.interval.lower, found.interval.upper) == (0, 1)
    assert "outside the range of the outcome" in found.notes[-1]


def spread(n: int, error: float, *, adaptive: bool) -> tuple[np.ndarray, np.ndarray]:
    """Bets where no pilot sample tells which suits."""
    suiting = np.sqrt(2 * np.log(1 / error) / n)
    bets = np.minimum(0.98, suiting * evaluation._SPREAD)
    bets = evaluation._ANY_LENGTH if adaptive else bets
    return bets, np.full(len(bets), 1 / len(bets))


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize(
    ("numbers", "shares"),
    [
        ([0.0, 1.0], [0.7, 0.3]),
        ([0.0, 40.0], [0.99, 0.01]),
        ([0.9, 1.1], [0.5, 0.5]),
        ([0.0, 1.0, 500.0], [0.5, 0.499, 0.001]),
    ],
)
def test_lower_endpoints_are_wrong_no_more_often_than_they_say(
    numbers: list[float], shares: list[float], *, adaptive: bool
) -> None:
    rng = np.random.default_rng(5)
    x, p = np.array(numbers), np.array(shares)
    bets = spread(300, 0.1, adaptive=adaptive)
    missed = sum(
        bound_mean_below(x, rng.multinomial(300, p).astype(float), 0.1, *bets) > x @ p
        for _ in range(100)
    )
    assert missed <= 20  # of 10 at most on average


def test_the_lower_endpoint_is_where_the_e_value_is_large_enough() -> None:
    x, n = np.array([0.0, 0.5, 3.0]), np.array([50.0, 30.0, 20.0])
    bets, stakes = spread(100, 0.05, adaptive=False)
    low = bound_mean_below(x, n, 0.05, bets, stakes)
    won = np.array([(n * np.log(1 - s + s * x / low)).sum() for s in bets])
    assert np.log(np.exp(won).mean()) == pytest.approx(np.log(20))
    assert bound_mean_below(np.zeros(2), np.ones(2), 0.05, bets, stakes) == 0


def test_a_pilot_sample_narrows_intervals() -> None:
    """Near 1.96 standard errors, where bets without a pilot are wider."""
    log = {"X": [0, 1] * 50_000, "Y": [0, 0, 1, 1] * 25_000, "p": [0.5] * 100_000}
    found = evaluate_policy("Y | do(X)", log, {0: 0.5, 1: 0.5}, propensity="p")
    radius = 1.96 * 0.5 / np.sqrt(100_000)
    assert 1.3 < (0.5 - found.interval.lower) / radius < 1.7


@pytest.mark.parametrize(
    ("rows", "propensity", "error", "said"),
    [
        ({"p": [0.5, 0.0]}, "p", InvalidPropensity, "has 0. A propensity"),
        ({"p": [0.5, 1.5]}, "p", InvalidPropensity, "has 1.5"),
        ({"p": ["x", "y"]}, "p", InvalidPropensity, "no numbers"),
        ({}, {"a": 1.0}, InvalidPropensity, "rule out"),
        ({"Y": [0, 50], "p": [0.5, 0.5]}, "p", OutsideRange, "50"),
        ({}, "Y", OptionError, "variable of the query"),
    ],
)
def test_propensities_and_outcomes_that_cannot_be_are_refused(
    rows: dict[str, object], propensity: object, error: type[Exception], said: str
) -> None:
    log = {"X": ["a", "b"], "Y": [0, 5]} | rows
    with pytest.raises(error, match=said):
        evaluate_policy("Y | do(X)", log, "a", propensity=propensity, outcome_range=(0, 10))
