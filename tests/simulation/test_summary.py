"""Intervals against SciPy and their coverage; corrections against their definitions."""

import numpy as np
import pytest
from scipy import stats

from boundit.simulation.summary import (
    bound_quantile,
    compute_half_width,
    compute_paired_p,
    correct_p_values,
    format_lines,
    summarize_curves,
    summarize_final,
)


def test_the_mean_has_students_interval() -> None:
    sample = np.random.default_rng(0).exponential(size=(40, 3))
    low, high = stats.t.interval(0.9, 39, sample.mean(axis=0), stats.sem(sample))

    assert compute_half_width(sample, 0.9) == pytest.approx((high - low) / 2, rel=1e-12)
    assert np.isnan(compute_half_width(sample[:1])).all()


@pytest.mark.parametrize("n", [6, 7, 20, 33, 400])
def test_the_ends_of_the_median_are_the_narrowest_that_do(n: int) -> None:
    low, high = bound_quantile(np.arange(1.0, n + 1))
    k = int(low)

    # By order statistics: the k-th from either side.
    assert high == n + 1 - k
    assert 2 * stats.binom.cdf(k - 1, n, 0.5) <= 0.05 < 2 * stats.binom.cdf(k, n, 0.5)


def test_the_paired_test_is_students() -> None:
    gaps = np.random.default_rng(2).normal(0.3, 1, 50)

    assert compute_paired_p(gaps) == pytest.approx(stats.ttest_1samp(gaps, 0).pvalue, rel=1e-12)
    assert compute_paired_p(np.zeros(5)) == 1
    assert compute_paired_p(np.ones(5)) == 0
    assert np.isnan(compute_paired_p(np.ones(1)))


def test_corrected_chances_reject_what_the_procedures_reject() -> None:
    """Holm: the k-th lowest of n is held against level / (n - k), until one passes."""
    chances = np.random.default_rng(3).random(9) ** 4
    holm, bonferroni = (correct_p_values(chances, how) for how in ("holm", "bonferroni"))
    for level in np.linspace(0.001, 0.9, 200):
        rejected = set[int]()
        for k, i in enumerate(np.argsort(chances)):
            if chances[i] > level / (9 - k):
                break
            rejected.add(int(i))
        assert set(np.flatnonzero(holm <= level)) == rejected
        assert np.array_equal(bonferroni <= level, chances <= level / 9)
    assert correct_p_values(chances, "none") is chances


def test_any_quantile_lies_between_with_at_least_the_stated_chance() -> None:
    rng, held = np.random.default_rng(4), 0
    for _ in range(600):
        low, high = bound_quantile(rng.exponential(size=80), 0.95)
        held += low <= np.log(20) <= high

    assert held / 600 > 0.93
    assert np.isnan(bound_quantile(np.arange(71.0), 0.95)).all()
    assert np.isfinite(bound_quantile(np.arange(72.0), 0.95)).all()


FINAL = np.random.default_rng(0).exponential(5.0, (3, 30))


def test_a_band_is_a_line_at_each_round() -> None:
    curves = np.stack([FINAL, 2 * FINAL], axis=2)
    found = summarize_curves(("a", "b", "c"), np.array([10, 20]), curves)

    for band, line in zip(found, summarize_final(("a", "b", "c"), 2 * FINAL), strict=True):
        ends = band.lower[1], band.upper[1], band.less_lower[1], band.less_upper[1]
        assert ends == pytest.approx(
            (line.mean_lower, line.mean_upper, line.less_lower, line.less_upper)
        )
        assert (band.median[1], band.q95[1]) == (line.median, line.q95)


def test_a_table_has_a_row_for_each_line() -> None:
    text = format_lines("head", summarize_final(("long name", "b"), FINAL[:2])).splitlines()

    assert text[0] == "head"
    assert text[1].endswith("less than long name")
    assert len({row.index(".") for row in text[2:]}) == 1
    assert (
        format_lines("h", summarize_final(("a",), FINAL[:1])).splitlines()[1].split()[-1]
        == "q95"
    )
