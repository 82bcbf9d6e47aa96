"""Exact draws: against the laws of SciPy, inside their bounds, far in the tails."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from boundit.bandit.kernels import truncated_draws as kernel
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.log_concave import LogConcave
from boundit.bandit.kernels.rng import branch_stream
from boundit.bandit.kernels.truncated_draws import (
    draw_beta,
    draw_normal_pair,
    draw_truncated_beta,
    truncate_normal_draw,
)
from tests.bandit.plain_laws import CutBeta, CutNormal

Draws = NDArray[np.float64]
N = 20_000
ALMOST_NEVER = 1e-4


@compile_kernel
def draw_betas(wins: float, losses: float, lower: float, upper: float, n: int) -> Draws:
    found = np.empty((2, n))
    for i in range(n):
        stream = branch_stream(np.uint64(7), i)
        found[0, i], found[1, i] = draw_truncated_beta(wins, losses, lower, upper, stream)
    return found


@compile_kernel
def draw_normals(mean: float, spread: float, lower: float, upper: float, n: int) -> Draws:
    found = np.empty((2, n))
    for i in range(n):
        z, _, stream = draw_normal_pair(branch_stream(np.uint64(8), i))
        found[1, i] = mean + spread * z
        found[0, i] = truncate_normal_draw(mean, spread, found[1, i], lower, upper, stream)
    return found


@pytest.mark.parametrize(("wins", "losses"), [
    (0.0, 0.0), (0.0, 5.0), (5.0, 0.0), (3.5, 2.25), (0.01, 0.02), (1e-12, 1e-12),
    (1000.0, 3000.0), (2.0, 1e6),
])  # fmt: skip
def test_a_free_draw_has_the_law_of_beta(wins: float, losses: float) -> None:
    free = draw_betas(wins, losses, 0.0, 1.0, N)[1]

    assert stats.kstest(free, stats.beta(1 + wins, 1 + losses).cdf).pvalue > ALMOST_NEVER


CUTS = [
    (0.0, 0.0, 0.2, 0.3), (2.0, 4.0, 0.2, 0.5), (90.0, 10.0, 0.1, 0.5), (10.0, 90.0, 0.5, 0.9),
    (3000.0, 3000.0, 0.5001, 1.0), (3000.0, 3000.0, 0.0, 0.5), (3.0, 0.0, 0.2, 0.5),
    (0.0, 30.0, 0.2, 0.9), (50.0, 50.0, 0.45, 0.47), (50.0, 50.0, 0.3, 0.56),
    (0.5, 0.25, 0.01, 0.9), (900.0, 100.0, 0.1, 0.5),
]  # fmt: skip


@pytest.mark.parametrize(("wins", "losses", "lower", "upper"), CUTS)
def test_a_cut_draw_has_the_law_of_rejection(
    wins: float, losses: float, lower: float, upper: float
) -> None:
    """B-TS (Zhang and Bareinboim 2017); the last one has a share of 1e-183 inside."""
    draws = draw_betas(wins, losses, lower, upper, N)[0]

    law = CutBeta(1 + wins, 1 + losses, lower, upper)
    assert stats.kstest(draws, law.share_below).pvalue > ALMOST_NEVER


@pytest.mark.parametrize(("wins", "losses", "end", "upper"), [
    (1e5, 1e5, 0.45, True), (1e6, 3.0, 0.01, True), (1e5, 1e5, 0.55, False),
])  # fmt: skip
def test_where_nothing_is_left_the_tail_is_an_exponential(
    wins: float, losses: float, end: float, upper: bool
) -> None:
    """Shares below 1e-320, which no distribution function has: the slope at the end rules."""
    cut = (0.0, end) if upper else (end, 1.0)
    draws = draw_betas(wins, losses, *cut, N)[0]

    slope = abs(wins / end - losses / (1 - end))
    assert stats.kstest(np.abs(draws - end) * slope, "expon").pvalue > ALMOST_NEVER


@compile_kernel
def draw_offsets(wins: float, losses: float, square: float, ends: Draws, n: int) -> Draws:
    peak, found = LogConcave(wins, losses, square, ends[1]), np.empty(n)
    for i in range(n):
        stream = branch_stream(np.uint64(9), i)
        found[i] = kernel._draw_offset(peak, ends[0] - ends[1], ends[2] - ends[1], stream)
    return found


def test_with_slopes_on_both_sides_the_law_is_right_too() -> None:
    """Such a bound holds nearly all of the belief, so a free draw hardly ever leaves it."""
    ends = np.array([0.2, 0.5, 0.85])
    draws = 0.5 + draw_offsets(50.0, 50.0, 0.0, ends, N)
    assert stats.kstest(draws, CutBeta(51, 51, 0.2, 0.85).share_below).pvalue > ALMOST_NEVER

    draws = draw_offsets(0.0, 0.0, 1.0, np.array([-5.0, 0.0, 4.0]), N)
    assert stats.kstest(draws, CutNormal(0, 1, -5, 4).share_below).pvalue > ALMOST_NEVER


@given(st.floats(0, 1e4), st.floats(1e-9, 1e4))
def test_chengs_envelope_lies_above_the_density(wins: float, losses: float) -> None:
    """The ratio it accepts with is at most 1, also where one count is zero."""
    small, large = 1 + min(wins, losses), 1 + max(wins, losses)
    root = math.sqrt((wins + losses) / (wins + losses + 2 * wins * losses))
    one = np.concatenate([np.logspace(-300, -2, 500), np.linspace(0.01, 0.9999, 2000)])
    v = root * np.log(one / (1 - one))
    r = (small + 1 / root) * v - math.log(4)
    total = small + large
    ratio = r + total * np.log(total / (large + small * np.exp(v))) - 2 * np.log(one)

    assert ratio.max() < 1e-8


NORMALS = [
    (0.0, 1.0, -math.inf, math.inf), (0.0, 1.0, 0.0, math.inf), (0.0, 1.0, 3.0, 4.0),
    (0.0, 1.0, 30.0, 40.0), (0.0, 1.0, -40.0, -30.0), (9.0, 0.5, 0.0, 1.0),
    (0.3, 0.2, 0.25, 1.0), (0.5, 1e-6, 0.2, 0.4), (0.5, 3.0, 0.4, 0.6), (0.0, 1.0, -0.1, 9.0),
]  # fmt: skip


@pytest.mark.parametrize(("mean", "spread", "lower", "upper"), NORMALS)
def test_a_normal_draw_has_the_law_of_rejection(
    mean: float, spread: float, lower: float, upper: float
) -> None:
    draws, free = draw_normals(mean, spread, lower, upper, N)

    assert stats.kstest(free, stats.norm(mean, spread).cdf).pvalue > ALMOST_NEVER
    law = CutNormal(mean, spread, lower, upper)
    assert stats.kstest(draws, law.share_below).pvalue > ALMOST_NEVER


def test_a_pair_of_normal_draws_is_independent() -> None:
    pairs = np.array([draw_normal_pair(np.uint64(i))[:2] for i in range(4000)])

    assert stats.kstest(pairs[:, 1], "norm").pvalue > ALMOST_NEVER
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 4 / math.sqrt(4000)


def test_a_bound_that_cuts_nothing_off_changes_no_draw() -> None:
    free = draw_betas(3.0, 5.0, 0.0, 1.0, 500)[1]
    cut, kept_free = draw_betas(3.0, 5.0, 0.2, 0.6, 500)

    np.testing.assert_array_equal(kept_free, free)
    inside = (free >= 0.2) & (free <= 0.6)
    np.testing.assert_array_equal(cut[inside], free[inside])
    assert 0 < inside.sum() < 500


def test_a_free_draw_is_the_same_drawn_alone() -> None:
    assert (
        draw_beta(3.0, 5.0, np.uint64(4))[0]
        == draw_truncated_beta(3.0, 5.0, 0.0, 1.0, np.uint64(4))[1]
    )


ends = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted)
counts = st.one_of(st.floats(0, 5), st.floats(0, 1e12), st.sampled_from([0.0, 1e-300, 5e-324]))


@given(counts, counts, ends, st.integers(0, 2**64 - 1))
def test_a_beta_draw_never_leaves_its_bound(
    wins: float, losses: float, cut: list[float], stream: int
) -> None:
    """Also where the bound contradicts what was seen; and it always comes to an end."""
    draw, free = draw_truncated_beta(wins, losses, cut[0], cut[1], np.uint64(stream))

    assert cut[0] <= draw <= cut[1]
    assert 0 <= free <= 1


@given(
    st.floats(-1e6, 1e6), st.floats(0, 1e3), ends, st.floats(-9, 9), st.integers(0, 2**64 - 1)
)
def test_a_normal_draw_never_leaves_its_bound(
    mean: float, spread: float, cut: list[float], z: float, stream: int
) -> None:
    free = mean + spread * z
    draw = truncate_normal_draw(mean, spread, free, cut[0], cut[1], np.uint64(stream))

    assert cut[0] <= draw <= cut[1]
    assert draw == free or not cut[0] <= free <= cut[1]


def test_without_width_there_is_one_value() -> None:
    assert draw_truncated_beta(3.0, 4.0, 0.3, 0.3, np.uint64(1))[0] == 0.3
    assert truncate_normal_draw(9.0, 1.0, 9.5, 0.3, 0.3, np.uint64(1)) == 0.3
    assert truncate_normal_draw(0.3, 0.0, 0.3, 0.1, 0.9, np.uint64(1)) == 0.3
    assert truncate_normal_draw(9.0, 0.0, 9.0, 0.1, 0.9, np.uint64(1)) == 0.9
