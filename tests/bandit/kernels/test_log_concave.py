"""The one density of both beliefs, against SciPy's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from boundit.bandit.kernels.log_concave import (
    LogConcave,
    find_tangent_point,
    measure_curvature,
    measure_fall,
    measure_slope,
)

counts = st.one_of(st.just(0.0), st.floats(0.01, 5), st.floats(1, 1e4))


@given(counts, counts, st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_a_fall_is_the_difference_of_log_densities(
    wins: float, losses: float, top: float, at: float
) -> None:
    belief = stats.beta(1 + wins, 1 + losses)
    expected = float(belief.logpdf(top) - belief.logpdf(at))

    found = measure_fall(LogConcave(wins, losses, 0.0, top), at - top)

    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * (1 + wins + losses))
    normal = float(stats.norm.logpdf(top) - stats.norm.logpdf(at))
    assert measure_fall(LogConcave(0.0, 0.0, 1.0, top), at - top) == pytest.approx(
        normal, abs=1e-12
    )


def test_beyond_the_end_of_a_density_the_fall_is_endless() -> None:
    assert measure_fall(LogConcave(1.0, 0.0, 0.0, 0.5), -0.5) == math.inf
    assert measure_fall(LogConcave(0.0, 1.0, 0.0, 0.5), 0.5) == math.inf
    assert measure_fall(LogConcave(0.0, 0.0, 0.0, 0.5), 0.5) == 0.0
    assert measure_fall(LogConcave(0.0, 0.0, 1.0, 0.0), math.inf) == math.inf


@given(counts, counts, st.sampled_from([0.0, 1.0]), st.floats(0.1, 0.9))
def test_slope_and_curvature_are_derivatives(
    wins: float, losses: float, square: float, top: float
) -> None:
    peak, h = LogConcave(wins, losses, square, top), 1e-6

    slope = (measure_fall(peak, h) - measure_fall(peak, -h)) / (2 * h)
    curve = (measure_slope(peak, h) - measure_slope(peak, -h)) / (2 * h)

    assert measure_slope(peak, 0.0) == pytest.approx(slope, rel=1e-5, abs=1e-4)
    assert measure_curvature(peak) == pytest.approx(curve, rel=1e-5, abs=1e-4)


@given(st.floats(1, 1e4), st.floats(1, 1e4), st.floats(0.01, 0.99), st.booleans())
def test_a_tangent_point_is_where_the_density_fell_to_about_a_third(
    wins: float, losses: float, cut: float, right: bool
) -> None:
    """Between the highest place within a bound and its end, if it falls that much at all."""
    mode = wins / (wins + losses)
    top = max(mode, cut) if right else min(mode, cut)
    peak, end = LogConcave(wins, losses, 0.0, top), (1.0 if right else 0.0) - top
    if end == 0.0 or measure_fall(peak, end) <= 2.0:
        return

    off = find_tangent_point(peak, end)

    assert np.sign(off) == np.sign(end)
    assert abs(off) < abs(end)
    assert 0.5 <= measure_fall(peak, off) <= 2.0
