"""Living bounds: weights learned online, valid at all times."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import betaln

from boundit.bandit.kernels.narrowing import (
    MOVED,
    REFUTED,
    SAME,
    NarrowedEnds,
    NarrowingPlan,
    bound_chance,
    find_extreme_mean,
    learn_round,
    narrow_all,
)


@given(st.integers(1, 400), st.floats(0, 1), st.floats(1e-4, 0.5))
@settings(deadline=None, max_examples=200)
def test_the_ends_are_where_the_averaged_ratio_reaches_one_over_the_error(
    n: int, share: float, error: float
) -> None:
    k = round(share * n)
    low, high = bound_chance(float(k), float(n), error)

    def log_ratio(p: float) -> float:
        return float(betaln(k + 1, n - k + 1)) - (
            (k * math.log(p) if k else 0) + ((n - k) * math.log1p(-p) if k < n else 0)
        )

    assert low <= k / n <= high
    for end in (low, high):
        if 1e-9 < end < 1 - 1e-9:
            assert log_ratio(end) == pytest.approx(-math.log(error), abs=1e-5)


@pytest.mark.parametrize("p", [0.03, 0.5, 0.8])
def test_an_interval_ever_misses_with_at_most_its_error(p: float) -> None:
    rng, error, runs = np.random.default_rng(3), 0.2, 1000
    heads = (rng.random((runs, 400)) < p).cumsum(axis=1)

    missed = 0
    for row in heads:
        ends = (bound_chance(float(row[n - 1]), float(n), error) for n in range(1, 401))
        missed += any(not low <= p <= high for low, high in ends)

    assert missed / runs <= error


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_the_worst_mean_is_that_of_the_linear_program(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 5))
    weights = np.array(data.draw(st.lists(st.floats(0.01, 1), min_size=size, max_size=size)))
    law = weights / weights.sum()
    slack = np.array(data.draw(st.lists(st.floats(0, 0.4), min_size=size, max_size=size)))
    low, high = (law - slack).clip(0, 1), (law + slack).clip(0, 1)
    ends = np.array(data.draw(st.lists(st.floats(0, 1), min_size=size, max_size=size)))
    # The numbers of a pair and of a pool start somewhere.
    ends, low, high = (np.concatenate([[9.0, 9.0], part]) for part in (ends, low, high))

    for sign in (1, -1):
        order = np.empty(size, np.int64)
        best = linprog(
            sign * ends[2:],
            A_eq=np.ones((1, size)),
            b_eq=[1],
            bounds=list(zip(low[2:], high[2:], strict=True)),
        )
        assert find_extreme_mean(ends, 2, float(sign), low, high, 2, order) == pytest.approx(
            sign * best.fun, abs=1e-7
        )


ONE = np.array([0], np.int64)


def make_pool(
    least: list[float], most: list[float], error: float, *, level: float = 0.0, rows: int = 0
) -> tuple[NarrowedEnds, NarrowingPlan]:
    """One pair with its cells, and the conditioning bound as its table."""
    n = len(least)
    one, ends = np.array([0], np.int64), np.array([0, 1], np.int64)
    claims = NarrowingPlan(
        pool_starts=np.array([0, n], np.int64),
        pool_level=np.array([error]),
        rows=np.zeros(n, np.int64),
        cell_level=np.full(n, level),
        cell_rows=np.full(n, rows, np.int64),
        cell_sums=np.full(n, 0.5 * rows),
        pair=one,
        first=one,
        stop=one + 1,
        sizes=np.array([n], np.int64),
        pools_at=one,
        pools=one,
        leaves_at=one,
        leaves=np.arange(n),
        pool_users_at=ends,
        pool_users=one,
        cell_users_at=np.arange(n + 1),
        cell_users=np.zeros(n, np.int64),
        lowest=0.0,
        width=1.0,
    )
    found = NarrowedEnds(
        counts=np.zeros(n, np.int64),
        low=np.zeros(n),
        high=np.ones(n),
        n=np.zeros(n, np.int64),
        sums=np.zeros(n),
        least=np.array(least),
        most=np.array(most),
        lower=np.array([min(least)]),
        upper=np.array([max(most)]),
    )
    return found, claims


def test_nothing_seen_moves_nothing() -> None:
    found, claims = make_pool([0.1, 0.6], [0.2, 0.8], 0.05)

    assert narrow_all(found, claims, ONE, np.arange(2), ONE) == MOVED
    assert (found.lower.tolist(), found.upper.tolist()) == ([0.1], [0.8])


def test_ends_close_in_on_the_mean_and_never_widen() -> None:
    rng = np.random.default_rng(0)
    found, claims = make_pool([0.1, 0.6], [0.2, 0.8], 0.05)
    for _ in range(3000):
        before = float(found.lower[0]), float(found.upper[0])
        came = learn_round(found, claims, 0, int(rng.random() < 0.3), 0.0)
        after = float(found.lower[0]), float(found.upper[0])
        assert came == (SAME if before == after else MOVED)
        assert before[0] <= after[0]
        assert after[1] <= before[1]

    assert found.lower[0] <= 0.7 * 0.1 + 0.3 * 0.6 < found.lower[0] + 0.05
    assert found.upper[0] >= 0.7 * 0.2 + 0.3 * 0.8 > found.upper[0] - 0.05


def test_a_law_that_changes_is_refuted() -> None:
    found, claims = make_pool([0.0, 0.0], [1.0, 1.0], 0.01)
    came = [learn_round(found, claims, 0, cell, 0.0) for cell in [0] * 60 + [1] * 600]

    assert came[59] != REFUTED
    assert REFUTED in came[60:]


def test_cells_whose_means_contradict_the_table_are_refuted() -> None:
    found, claims = make_pool([0.1, 0.6], [0.2, 0.8], 0.05)
    found.upper[0] = 0.3
    came = [learn_round(found, claims, 0, 1, 0.0) for _ in range(60)]

    assert came[0] != REFUTED
    assert came[-1] == REFUTED


def test_rounding_refutes_nothing() -> None:
    """Three cells of one mean: the ends are a point, whatever the weights."""
    rng = np.random.default_rng(1)
    found, claims = make_pool([0.1 + 0.2] * 3, [0.3] * 3, 0.05)

    assert all(
        learn_round(found, claims, 0, int(rng.integers(3)), 0.0) != REFUTED for _ in range(2000)
    )
    assert found.lower[0] <= found.upper[0]


def test_rows_and_rounds_narrow_the_mean_of_a_cell_together() -> None:
    """As 100 rows of mean 1/2 would, with 50 rounds after them; also halves of a reward."""
    found, claims = make_pool([0.0, 0.0], [1.0, 1.0], 0.05, level=0.01, rows=100)
    came = [learn_round(found, claims, 0, 1, reward) for reward in [1.0, 0.0, 0.5, 0.5] * 25]

    assert REFUTED not in came
    assert (found.n.tolist(), found.sums.tolist()) == ([0, 100], [0.0, 50.0])
    low, high = bound_chance(100.0, 200.0, 0.01)
    assert found.least[1] >= low
    assert found.most[1] <= high
    assert (found.least[0], found.most[0]) == (0.0, 1.0)


def test_rewards_that_no_mean_of_the_cell_fits_are_refuted() -> None:
    found, claims = make_pool([0.0, 0.4], [1.0, 0.6], 0.05, level=0.01, rows=100)
    came = [learn_round(found, claims, 0, 1, 1.0) for _ in range(200)]

    assert came[0] != REFUTED
    assert came[-1] == REFUTED


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_the_mean_of_fractional_rewards_is_ever_missed_with_at_most_the_error(p: float) -> None:
    rng, error, runs = np.random.default_rng(5), 0.2, 400
    sums = rng.beta(0.5 * p, 0.5 * (1 - p), (runs, 300)).cumsum(axis=1)

    missed = 0
    for row in sums:
        ends = (bound_chance(float(row[n - 1]), float(n), error) for n in range(1, 301))
        missed += any(not low <= p <= high for low, high in ends)

    assert missed / runs <= error
