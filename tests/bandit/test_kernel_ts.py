"""Thompson sampling's kernel, against a plain loop that draws every arm."""

import numpy as np
import pytest

from boundit.bandit.kernel_draws import beta_draw
from boundit.bandit.kernel_ts import decide_ts, unit
from boundit.bandit.stream import branched, stream

WORD = np.uint64(99)


def test_a_decision_is_that_of_drawing_every_arm() -> None:
    """3.10: arms by decreasing cap until none can win; the same winner, the same draws."""
    rng, skipped, capped = np.random.default_rng(0), 0, 0
    for events in range(300):
        n, (low, high) = int(rng.integers(1, 7)), ((0.0, 1.0), (-3.0, 5.0))[events % 2]
        count = rng.integers(0, 30, n).astype(float)
        total = np.array([low * c + (high - low) * rng.random() * c for c in count])
        ends = low + (high - low) * np.sort(rng.random((2, n)), axis=0)
        order = np.argsort(-ends[1], kind="stable")
        lower, upper = ends[0][order], ends[1][order]
        draws, free = np.full(n, np.nan), np.full(n, np.nan)

        winner, looked = decide_ts(
            WORD, events, WORD, count, total, order, lower, upper, order, low, high, draws, free
        )

        every = []
        for arm in range(n):
            mean = total[arm] / count[arm] if count[arm] else low
            wins = count[arm] * unit(mean, low, high)
            word = np.uint64(branched(np.uint64(stream(WORD, events, WORD)), arm))
            lowest, highest = (unit(end, low, high) for end in ends[:, arm])
            every.append(beta_draw(wins, count[arm] - wins, lowest, highest, word))
        assert order[winner] == np.argmax([draw for draw, _ in every])
        for i in range(looked):
            draw, loose = every[order[i]]
            assert draws[i] == pytest.approx(low + (high - low) * draw)
            assert (free[i] > draws[i]) == (loose > draw)
            capped += free[i] > upper[i]
        skipped += n - looked
        assert np.isnan(draws[looked:]).all()
    assert min(skipped, capped) > 50


def test_ties_of_points_go_to_the_first_arm() -> None:
    same, order = np.full(3, 0.5), np.array([2, 0, 1])
    none = np.zeros(3)

    winner, looked = decide_ts(
        WORD, 0, WORD, none, none, order, same, same, order, 0.0, 1.0, np.empty(3), np.empty(3)
    )

    assert (order[winner], looked) == (0, 3)
