"""Delays and their distributions, and arrivals against a clock that goes round by round."""

from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from scipy import stats

from boundit.simulation.errors import InvalidSimulation
from boundit.simulation.feedback import Feedback, schedule_rewards

UNIFORMS = np.random.default_rng(0).random(200_000)


@pytest.mark.parametrize("mean", [0.0, 0.3, 4, 250.0])
def test_a_geometric_delay_has_its_mean_and_its_law(mean: float) -> None:
    delays = Feedback(delay=mean, distribution="geometric").draw_delays(UNIFORMS)

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
    with pytest.raises(
        InvalidSimulation, match=r"^delay=.* Use a function that returns a whole"
    ) as no:
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
        ({"delay": {0: 1.0}, "distribution": "geometric"}, "delay"),
        ({"delay": float("inf"), "distribution": "geometric"}, "delay"),
        ({"distribution": "normal"}, "distribution"),
        ({"window": -1}, "window"),
        ({"window": 2.5}, "window"),
        ({"missing": 1.1}, "missing"),
        ({"missing": float("nan")}, "missing"),
        ({"default_reward": "2", "window": 9}, "default_reward"),
        ({"default_reward": 0.0}, "window"),
        ({"batch": 0}, "batch"),
    ],
    ids=repr,
)
def test_what_makes_no_sense_is_one_line(wrong: dict[str, Any], option: str) -> None:
    with pytest.raises(InvalidSimulation) as no:
        Feedback(**wrong)
    assert no.value.option == option
    assert "\n" not in str(no.value)


def test_the_record_is_plain() -> None:
    record = Feedback({3: 0.25, 0: 0.75}, window=9, default_reward=0.5).to_record()

    assert record == {
        "delay": {"0": 0.75, "3": 0.25},
        "distribution": "fixed",
        "window": 9,
        "missing": 0.0,
        "default_reward": 0.5,
        "batch": 1,
    }
    assert "function" in str(Feedback(delay=stats.poisson(3).ppf).to_record()["delay"])


def go_through(
    feedback: Feedback, delays: list[int], lost: list[bool], rounds: int
) -> list[list[tuple[int, bool]]]:
    """List what is learned after each round: which round's reward, and whether a default."""
    open_, box, heard = dict[int, int](), list[tuple[int, bool]](), []
    for t in range(rounds):
        open_[t] = -1
        for s in sorted(open_):
            open_[s] += 1
            ends = feedback.window is not None and open_[s] == feedback.window
            if open_[s] == delays[s] and not lost[s]:
                box.append((s, False))
                del open_[s]
            elif ends:
                if feedback.default_reward is not None:
                    box.append((s, True))
                del open_[s]
        hands_on = (t + 1) % feedback.batch == 0 and t + 1 < rounds
        heard.append(box if hands_on else [])
        box = [] if hands_on else box
    return heard


@pytest.mark.parametrize(
    ("delay", "window", "missing", "default", "batch"),
    [
        case
        for case in product(
            (0, 3, {0: 0.4, 1: 0.2, 9: 0.4}), (None, 0, 2, 7), (0.0, 0.3), (None, 0.5), (1, 4)
        )
        if case[1] is not None or case[3] is None
    ],
)
def test_rewards_come_as_by_a_clock(
    delay: int | dict[int, float],
    window: int | None,
    missing: float,
    default: float | None,
    batch: int,
) -> None:
    feedback = Feedback(
        delay, window=window, missing=missing, default_reward=default, batch=batch
    )
    rng, rounds = np.random.default_rng(1), 41
    delays, losses = rng.random((2, rounds))
    made = schedule_rewards(feedback, delays[None], losses[None])
    late, lost = feedback.draw_delays(delays).tolist(), (losses < missing).tolist()

    came = 0
    for t, expected in enumerate(go_through(feedback, late, lost, rounds)):
        now = made.order[0, came : made.ends[0, t]].tolist()
        assert now == [s for s, _ in expected]
        assert [not np.isnan(made.defaults[0, s]) for s in now] == [
            late for _, late in expected
        ]
        came = int(made.ends[0, t])
    assert came == made.ends[0, -1]


def test_no_delay_is_at_once() -> None:
    made = schedule_rewards(Feedback(), np.zeros((1, 9)), np.zeros((1, 9)))

    assert made.order[0, :8].tolist() == list(range(8))
    assert made.ends[0].tolist() == [*range(1, 9), 8]
    assert np.isnan(made.defaults).all()
