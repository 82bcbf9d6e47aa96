"""When rewards come, against a clock that goes through the rounds one by one."""

from itertools import product

import numpy as np
import pytest

from boundit.simulation.feedback.arrivals import Arrivals, schedule_rewards
from boundit.simulation.feedback.feedback import Feedback


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
                if feedback.default is not None:
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
    feedback = Feedback(delay, window=window, missing=missing, default=default, batch=batch)
    rng, rounds = np.random.default_rng(1), 41
    delays, losses = rng.random((2, rounds))
    made = schedule_rewards(feedback, delays, losses)
    late, lost = feedback.draw_delays(delays).tolist(), (losses < missing).tolist()

    came = 0
    for t, expected in enumerate(go_through(feedback, late, lost, rounds)):
        now = made.order[came : made.ends[t]].tolist()
        assert now == [s for s, _ in expected]
        assert [not np.isnan(made.defaults[s]) for s in now] == [late for _, late in expected]
        came = int(made.ends[t])
    assert came == len(made.order)


def test_no_delay_is_at_once() -> None:
    made, plain = schedule_rewards(Feedback(), np.zeros(9), np.zeros(9)), Arrivals.at_once(9)

    assert made.order.tolist() == plain.order[:-1].tolist()
    assert np.array_equal(made.ends[:-1], plain.ends[:-1])
