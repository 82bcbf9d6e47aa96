"""Thompson sampling's kernel, against a plain loop that draws every arm."""

import numpy as np
import pytest

from boundit.bandit.kernels.rng import branch_stream, open_stream
from boundit.bandit.kernels.score_table import FREE_SCORE, SCORE, TS_SUCCESSES, TS_TRIALS
from boundit.bandit.kernels.truncated_draws import draw_truncated_beta
from boundit.bandit.kernels.ts import decide_ts, scale_to_unit
from tests.bandit.score_tables import make_score_table

SEED = 99


def test_a_decision_is_that_of_drawing_every_arm() -> None:
    """3.10: arms by decreasing cap until none can win; the same winner, the same draws."""
    rng, skipped, capped = np.random.default_rng(0), 0, 0
    for number in range(300):
        n, (low, high) = int(rng.integers(1, 7)), ((0.0, 1.0), (-3.0, 5.0))[number % 2]
        count = rng.integers(0, 30, n).astype(float)
        total = np.array([low * c + (high - low) * rng.random() * c for c in count])
        ends = low + (high - low) * np.sort(rng.random((2, n)), axis=0)
        order = np.argsort(-ends[1], kind="stable")
        count_rows, upper = np.column_stack([count, total]), ends[1][order]
        table = make_score_table(order, order, ends[0][order], upper)

        winner, left = decide_ts(SEED, number, count_rows, table, low, high)

        looked, draws, free = n - left, table[:, SCORE], table[:, FREE_SCORE]
        every, beliefs, whole = [], [], np.uint64(open_stream(SEED, number))
        for arm in range(n):
            mean = total[arm] / count[arm] if count[arm] else low
            wins = count[arm] * scale_to_unit(mean, low, high)
            stream = np.uint64(branch_stream(whole, arm))
            lowest, highest = (scale_to_unit(end, low, high) for end in ends[:, arm])
            every.append(draw_truncated_beta(wins, count[arm] - wins, lowest, highest, stream))
            beliefs.append([wins, count[arm]])
        assert order[winner] == np.argmax([draw for draw, _ in every])
        for i in range(looked):
            draw, loose = every[order[i]]
            assert draws[i] == pytest.approx(low + (high - low) * draw)
            assert (free[i] > draws[i]) == (loose > draw)
            capped += free[i] > upper[i]
        assert table[:, [TS_SUCCESSES, TS_TRIALS]].tolist() == [beliefs[i] for i in order]
        skipped += left
        assert np.isnan(draws[looked:]).all()
    assert min(skipped, capped) > 50


def test_ties_of_points_go_to_the_first_arm() -> None:
    order = np.array([2, 0, 1])
    table = make_score_table(order, order, 0.5, 0.5)

    winner, skipped = decide_ts(SEED, 9, np.zeros((3, 2)), table, 0.0, 1.0)

    assert (order[winner], skipped) == (0, 0)
