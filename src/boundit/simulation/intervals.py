"""How sure a number is that was averaged over runs: means, medians, paired differences."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats: TypeAlias = NDArray[np.float64]
Correction: TypeAlias = Literal["none", "bonferroni", "holm"]
"""What several comparisons at once cost; see ``correct_p_values``."""

LEVEL = 0.95


def compute_half_width(sample: Floats, level: float = LEVEL) -> Floats:
    """Compute half the width of an interval for the mean of runs (axis 0), by Student's t.

    It is nan of one run.

    >>> float(compute_half_width(np.array([1.0, 2.0, 3.0])).round(3))
    2.484
    """
    n = len(sample)
    if n < 2:
        return np.full(np.shape(sample)[1:], np.nan)
    return np.asarray(stats.t.ppf((1 + level) / 2, n - 1) * stats.sem(sample, axis=0))


def bound_quantile(
    sample: Floats, share: float = 0.5, level: float = LEVEL
) -> tuple[float, float]:
    """Bound a quantile of final regrets, such as the median, by two of them; any law.

    The j-th lowest and the k-th highest value leave it out with the chance that fewer than j of
    n coins show heads, which come with chance ``share``, or fewer than k tails. A sample too
    small for the level (five runs for the median, 71 for the 95 % quantile, at 95 %) has no
    such interval: nan.

    >>> bound_quantile(np.arange(1.0, 101.0))
    (40.0, 61.0)
    >>> bound_quantile(np.arange(1.0, 101.0), 0.95)
    (90.0, 100.0)
    """
    # The interval does not hang on the value that is tested.
    low, high = stats.quantile_test(sample, q=0.0, p=share).confidence_interval(level)
    return (float("nan"),) * 2 if np.isnan(low + high) else (float(low), float(high))


def compute_paired_p(differences: Floats) -> float:
    """Compute the p-value of paired differences against a mean of 0, by Student's t.

    It is nan of one run.

    >>> clear, open_ = np.array([1.0, 1.1, 0.9, 1.0]), np.array([1.0, -1.0, 0.5])
    >>> compute_paired_p(clear) < 0.001 < compute_paired_p(open_)
    True
    """
    n = len(differences)
    if n < 2:
        return float("nan")
    mean, error = float(differences.mean()), float(stats.sem(differences))
    if error == 0:
        return float(mean == 0)
    # Not by ttest_1samp, which warns of differences that are nearly the same in all runs.
    return float(2 * stats.t.sf(abs(mean) / error, n - 1))


def correct_p_values(chances: Floats, correction: Correction) -> Floats:
    """Raise the p-values of several comparisons so that all may be read at once.

    Bonferroni multiplies by their number; Holm, which is never above it, by the number of those
    not yet rejected.

    >>> correct_p_values(np.array([0.01, 0.04, 0.03]), "holm").tolist()
    [0.03, 0.06, 0.06]
    >>> correct_p_values(np.array([0.01, 0.04, 0.03]), "bonferroni").tolist()
    [0.03, 0.12, 0.09]
    """
    n = len(chances)
    if correction == "none" or not n:
        return chances
    if correction == "bonferroni":
        return np.minimum(chances * n, 1.0)
    order = np.argsort(chances)
    stepped = np.maximum.accumulate(chances[order] * np.arange(n, 0, -1))
    found = np.empty(n)
    found[order] = np.minimum(stepped, 1.0)
    return found


def choose_level(n: int, correction: Correction) -> float:
    """Choose the confidence level at which each of ``n`` intervals is drawn.

    With a correction all hold at once, by Bonferroni: Holm's steps give p-values, not
    intervals.
    """
    return LEVEL if correction == "none" or n < 2 else 1 - (1 - LEVEL) / n
