"""Intervals of single cells: as often right as they say, at every number of rows."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from boundit.bounds.inference.cells import (
    CellIntervals,
    bound_mean,
    clopper_pearson,
    find_two_values,
    guess_from_others,
)
from tests.bounds.inference.problems import pose


@pytest.mark.parametrize(
    ("k", "n"), [(3, 10), (0, 7), (7, 7), (4e8, 1e9), (12, 3e9), (2e9, 3e9)]
)
def test_clopper_pearson_has_its_tails_even_at_huge_counts(k: float, n: float) -> None:
    low, high = (float(end) for end in clopper_pearson(np.array(k), np.array(n), 0.05))

    assert low <= k / n <= high
    if k > 0:
        assert binom.sf(k - 1, n, low) == pytest.approx(0.025, rel=1e-4)
    if k < n:
        assert binom.cdf(k, n, high) == pytest.approx(0.025, rel=1e-4)


VALUES = np.array([0.0, 0.3, 1.0])
CHANCES = [
    (0.9, 0.05, 0.05),
    (0.2, 0.5, 0.3),
    (0.02, 0.96, 0.02),
    (0.0, 0.5, 0.5),
    (0.99, 0, 0.01),
]


@pytest.mark.parametrize("chances", CHANCES)
@pytest.mark.parametrize("n", [1, 4, 9, 25])
@pytest.mark.parametrize("alpha", [0.4, 0.05])
def test_a_mean_misses_no_more_often_than_it_says_by_all_logs(
    chances: tuple[float, ...], n: int, alpha: float
) -> None:
    """Every log of n values, each endpoint with half of alpha; with and without a guess."""
    counts = np.array([c for c in product(range(n + 1), repeat=3) if sum(c) == n], dtype=float)
    ways = np.array([comb(n, int(a)) * comb(n - int(a), int(b)) for a, b, _ in counts])
    chance = ways * (np.array(chances) ** counts).prod(axis=1)
    sums, squares, truth = (
        counts @ VALUES,
        counts @ VALUES**2,
        float(VALUES @ np.array(chances)),
    )
    least = np.where(counts > 0, VALUES, 1.0).min(axis=1)
    most = np.where(counts > 0, VALUES, 0.0).max(axis=1)
    for guess in (None, (np.array(0.1), np.array(0.2)), (np.array(0.9), np.array(0.01))):
        low, high = bound_mean(
            np.full(len(sums), n), sums, squares, alpha, (least, most), guess
        )
        assert chance[low > truth + 1e-12].sum() <= alpha / 2 + 1e-12
        assert chance[high < truth - 1e-12].sum() <= alpha / 2 + 1e-12


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=12),
    st.floats(0.01, 20),
    st.floats(0, 1),
)
@settings(max_examples=200, deadline=None)
def test_no_values_with_these_moments_earn_less_than_two(
    values: list[float], scale: float, mean: float
) -> None:
    y, m = np.array(values), min(mean, 0.999 / scale)
    least, above, part = find_two_values(
        np.asarray(y.mean()), np.asarray((y**2).mean()), np.asarray(y.min())
    )
    worst = (1 - part) * np.log1p(scale * (least - m)) + part * np.log1p(scale * (above - m))

    assert worst <= np.log1p(scale * (y - m)).mean() + 1e-9


def test_a_guess_comes_from_other_cells_alone() -> None:
    rows, sums, squares = np.array([10.0, 20.0]), np.array([1.0, 8.0]), np.array([0.5, 4.0])
    moved = sums + np.array([3.0, 0.0])

    one, other = (guess_from_others(rows, s, squares) for s in (sums, moved))

    assert one[0][0] == pytest.approx(other[0][0]) == pytest.approx(0.4)
    assert one[1][0] == pytest.approx(other[1][0])


def test_intervals_of_all_terms_share_one_error() -> None:
    rng = np.random.default_rng(0)
    z, x, y = rng.integers(2, size=(3, 400))
    rules, evidence = pose("Z -> X; Z -> Y; X -> Y", "Y | do(X)", {"Z": z, "X": x, "Y": y})
    cells = CellIntervals(evidence, rules, 0.9)

    assert sum(cells._error.values()) == pytest.approx(0.1)
    assert all(cells.covers(rule.terms) for rule in rules)
