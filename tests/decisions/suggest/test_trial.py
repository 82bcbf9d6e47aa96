"""How many rounds of a trial are enough."""

from math import log, sqrt

import numpy as np
import pytest

from boundit.decisions.suggest.trial import count_rounds, find_trial_width, suggest_trial
from boundit.simulation.environments import flipped_environment
from tests.decisions.suggest.problems import evaluate, fit


@pytest.mark.parametrize("mean", [0.0, 0.004, 0.2, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("rounds", [10, 1_000])
def test_intervals_are_no_wider_than_hoeffdings(mean: float, rounds: int) -> None:
    hoeffding = 2 * sqrt(log(2 / 0.05) / (2 * rounds))

    assert 0 < find_trial_width(mean, rounds, error=0.05) <= hoeffding + 1e-9


def test_near_one_half_they_are_hoeffdings() -> None:
    hoeffding = 2 * sqrt(log(2 / 0.05) / (2 * 10**6))

    assert find_trial_width(0.5, 10**6, error=0.05) == pytest.approx(hoeffding, rel=1e-3)


def test_intervals_about_drawn_means_hold_as_often_as_promised() -> None:
    rng = np.random.default_rng(0)
    budget = log(2 / 0.1) / 200
    held = 0
    for paid in rng.binomial(200, 0.05, size=500):
        mean = paid / 200
        inside = mean * log(mean / 0.05) if mean else 0.0
        inside += (1 - mean) * log((1 - mean) / 0.95)
        held += inside <= budget
    assert held >= 0.9 * 500


@pytest.mark.parametrize("mean", [0.004, 0.5])
def test_the_count_is_the_least_that_is_enough(mean: float) -> None:
    n = count_rounds(mean, 0.03, error=0.05)

    assert find_trial_width(mean, n, error=0.05) <= 0.03
    assert find_trial_width(mean, n - 1, error=0.05) > 0.03


def test_a_trial_is_never_wider_than_the_bounds_it_adds_to() -> None:
    evaluation = evaluate(flipped_environment())
    worlds = fit(evaluation, 1).environments
    (few,) = suggest_trial(evaluation, worlds, 5)
    (many,) = suggest_trial(evaluation, worlds, 2_000)

    assert many.width < few.width <= evaluation.width
    assert "to tell the highest mean from the next" in many.basis
    assert "16,000 rounds" in many.cost
