"""How many standard errors an end lies from its estimate, so that all hold at once."""

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from boundit.counts.named_array import Floats

N_DRAWS = 4_000
SEED = 20_260_101
LEAST_FREEDOM = 12.0
"""With fewer degrees of freedom an end is not taken by this method."""


def find_bonferroni(error: float, n_claims: int) -> float:
    """Find the normal quantile at which one of so many one-sided claims may miss.

    >>> round(find_bonferroni(0.05, 2), 3)
    1.96
    """
    return float(-ndtri(error / max(n_claims, 1)))


def find_critical(error: float, covariance: Floats, n_claims: int) -> float:
    """Find what the greatest of correlated normal numbers exceeds with chance ``error``.

    It is drawn, always with the same seed, and is at most Bonferroni's number.
    """
    most = find_bonferroni(error, n_claims)
    spread = np.sqrt(np.diag(covariance).clip(min=0))  # rounding may leave less
    moving = spread > 0
    if moving.sum() < 2:
        return most
    scale = spread[moving]
    correlation = covariance[np.ix_(moving, moving)] / np.outer(scale, scale)
    sizes, directions = np.linalg.eigh(correlation)
    root = directions * np.sqrt(np.maximum(sizes, 0))
    drawn = np.random.default_rng(SEED).standard_normal((N_DRAWS, len(scale))) @ root.T
    return min(most, float(np.quantile(drawn.max(axis=1), 1 - error)))


def widen_for_freedom(critical: float, freedom: Floats) -> Floats:
    """Replace a normal quantile by Student's, for variances estimated from few rows.

    >>> widen_for_freedom(1.96, np.array([12.0, np.inf])).round(2)
    array([2.18, 1.96])
    """
    bounded = np.clip(freedom, LEAST_FREEDOM, 1e7)
    beyond = ndtr(-critical)
    return (
        np.asarray(-stdtrit(bounded, beyond)) if beyond > 0 else np.full_like(bounded, np.inf)
    )
