"""Laws of delays, and options that are refused in one line."""

import json
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from scipy import stats

from boundit.bandit.errors import BadOption
from boundit.simulation.feedback.feedback import Feedback

UNIFORMS = np.random.default_rng(0).random(200_000)


def test_a_fixed_delay_is_the_same_in_every_round() -> None:
    assert set(Feedback(delay=7).draw_delays(UNIFORMS[:9]).tolist()) == {7}
    assert set(Feedback().draw_delays(UNIFORMS[:9]).tolist()) == {0}


@pytest.mark.parametrize("mean", [0.0, 0.3, 4, 250.0])
def test_a_geometric_delay_has_its_mean_and_its_law(mean: float) -> None:
    delays = Feedback(delay=mean, law="geometric").draw_delays(UNIFORMS)

    assert delays.min() == 0
    assert delays.mean() == pytest.approx(mean, rel=0.02)
    for rounds in (0, 1, 2, 10, 300):
        assert np.mean(delays <= rounds) == pytest.approx(
            1 - (mean / (1 + mean)) ** (rounds + 1), abs=0.004
        )


def test_a_table_gives_each_delay_its_chance() -> None:
    table = {40: 0.2, 0: 0.5, 3: 0.3}
    delays = Feedback(delay=MappingProxyType(table)).draw_delays(UNIFORMS)

    for rounds, chance in table.items():
        assert np.mean(delays == rounds) == pytest.approx(chance, abs=0.005)


def test_a_quantile_function_is_a_law() -> None:
    law = stats.poisson(20)
    delays = Feedback(delay=law.ppf).draw_delays(UNIFORMS)

    assert delays.dtype == np.int64
    assert delays.mean() == pytest.approx(20, rel=0.01)


@pytest.mark.parametrize(
    "law",
    [
        lambda u: u,
        lambda u: -np.ones(len(u)),
        lambda u: np.full(len(u), np.inf),
        lambda _: 3,
        lambda u: np.zeros(len(u) - 1, int),
        lambda u: ["late"] * len(u),
    ],
)
def test_a_function_that_gives_no_delays_is_refused(law: Any) -> None:
    with pytest.raises(BadOption, match=r"^delay must be a function that gives a whole") as no:
        Feedback(delay=law).draw_delays(UNIFORMS[:5])
    assert "\n" not in str(no.value)


@pytest.mark.parametrize(
    ("wrong", "option"),
    [
        ({"delay": -1}, "delay"),
        ({"delay": 1.5}, "delay"),
        ({"delay": True}, "delay"),
        ({"delay": "soon"}, "delay"),
        ({"delay": {0: 0.5, 3: 0.4}}, "delay"),
        ({"delay": {0: 1.5, 3: -0.5}}, "delay"),
        ({"delay": {0.5: 1.0}}, "delay"),
        ({"delay": {}}, "delay"),
        ({"delay": {0: 1.0}, "law": "geometric"}, "delay"),
        ({"delay": float("inf"), "law": "geometric"}, "delay"),
        ({"law": "normal"}, "law"),
        ({"window": -1}, "window"),
        ({"window": 2.0}, "window"),
        ({"missing": 1.1}, "missing"),
        ({"missing": float("nan")}, "missing"),
        ({"default": 2, "window": 9}, "default"),
        ({"default": 0.0}, "window"),
        ({"batch": 0}, "batch"),
    ],
    ids=repr,
)
def test_what_makes_no_sense_is_one_line(wrong: dict[str, Any], option: str) -> None:
    with pytest.raises(BadOption) as no:
        Feedback(**wrong)
    assert no.value.option == option
    assert "\n" not in str(no.value)


def test_the_record_is_plain() -> None:
    record = Feedback(delay={3: 0.25, 0: 0.75}, window=9, default=0.5).to_record()

    assert record == {
        "delay": {"0": 0.75, "3": 0.25},
        "law": "fixed",
        "window": 9,
        "missing": 0.0,
        "default": 0.5,
        "batch": 1,
    }
    assert "function" in str(Feedback(delay=stats.poisson(3).ppf).to_record()["delay"])


def test_numbers_of_numpy_are_read_as_plain_ones() -> None:
    numbers: dict[str, Any] = {
        "delay": {np.int64(0): np.float32(0.5), np.int64(7): 0.5},
        "window": np.int64(9),
        "missing": np.float32(0.25),
        "default": np.float64(0.5),
        "batch": np.int64(3),
    }
    four: Any = np.int64(4)
    given = Feedback(**numbers)

    assert given == Feedback({0: 0.5, 7: 0.5}, "fixed", 9, 0.25, 0.5, 3)
    assert Feedback(delay=four) == Feedback(delay=4)
    assert json.loads(json.dumps(given.to_record())) == given.to_record()
    with pytest.raises(BadOption, match="delay must be the mean"):
        Feedback(delay=True, law="geometric")
