"""One round of optimal allocation matching, on numbers alone (Algorithm 5).

The round is a visit: the arms that one context offers, each with what is known of it. Arms that
the bounds rule out never come here (D-34).
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from boundit.bandit.allocation import SMALLEST_GAP, Numbers

_NO_GAP = 1e-9  # what rounding leaves of a gap of zero
_OUTSIDE = 1e-3


class Branch(StrEnum):
    """Why an arm was pulled."""

    START = "start"  # nothing pulled so far tells anything of it (D-32)
    EXPLOIT = "exploit"
    WASTED = "wasted"  # exploration, though every arm here had its share
    FORCED = "forced"
    UNWASTED = "unwasted"


@dataclass(frozen=True, eq=False)
class Visit:
    r"""The arms of one context, a number each.

    ``spreads`` are :math:`\lVert x \rVert^2_{G^{-1}}`, ``unseen`` the share of each vector that
    lies outside whatever was pulled, ``pulls`` :math:`N_a`, and ``needed`` the smaller one of
    :math:`T_a` and :math:`f_n / \Delta_{\min}^2`.
    """

    means: Numbers
    spreads: Numbers
    unseen: Numbers
    pulls: Numbers
    needed: Numbers
    lower: Numbers
    upper: Numbers


@dataclass(frozen=True, eq=False)
class Choice:
    """The place of the arm to pull, the branch, and the index that was compared.

    ``free`` is the index as it would be without bounds.
    """

    branch: Branch
    place: int
    index: Numbers
    free: Numbers


def width(
    horizon: int, delta: float, n_features: int, *, c: float = 0.0, sigma2: float = 0.25
) -> float:
    r"""How wide confidence is, :math:`f_{n,\delta}` times the noise's variance proxy.

    .. math:: f_{n,\delta} = 2 (1 + 1 / \log n) \log(1/\delta) + c d \log(d \log n)

    >>> round(width(15_000, 1 / 15_000, 5), 3)
    5.308
    """
    log_n = math.log(max(horizon, 3))
    spent = c * n_features * math.log(n_features * log_n) if c else 0.0
    return sigma2 * (2 * (1 + 1 / log_n) * math.log(1 / delta) + spent)


def least_gap(gaps: Numbers, smallest: float = SMALLEST_GAP) -> float:
    """Find the smallest positive gap, but none below ``smallest``."""
    positive = gaps[gaps > _NO_GAP]
    return max(float(positive.min()), smallest) if positive.size else smallest


def choose(
    visit: Visit, *, gap: float, width: float, index_width: float, quota: float
) -> Choice:
    r"""Pull one arm (lines 4 to 25).

    ``gap`` is the smallest estimated gap anywhere, ``width`` :math:`f_n`, ``index_width``
    :math:`f_{n,1/s^2}`, ``quota`` :math:`\epsilon_t s(t-1)`.
    """
    if visit.unseen.max() > _OUTSIDE:
        return _largest(Branch.START, visit.spreads, visit.spreads)
    gaps = np.maximum(visit.means.max() - visit.means, gap)
    if (visit.spreads <= gaps**2 / width).all():
        clipped = np.maximum(np.minimum(visit.upper, visit.means), visit.lower)
        return _largest(Branch.EXPLOIT, clipped, visit.means)
    if (visit.pulls >= visit.needed).all():
        hopes = visit.means + np.sqrt(index_width * visit.spreads)
        return _largest(Branch.WASTED, np.minimum(hopes, visit.upper), hopes)
    if visit.pulls.min() <= quota:
        return _largest(Branch.FORCED, -visit.pulls, visit.means)
    served = np.divide(
        visit.pulls, visit.needed, out=np.full_like(visit.pulls, np.inf), where=visit.needed > 0
    )
    return _largest(Branch.UNWASTED, -served, visit.means)


def _largest(branch: Branch, index: Numbers, free: Numbers) -> Choice:
    """Take the highest index; among equals the higher free one, then the first."""
    place = int(np.lexsort((-np.arange(len(index)), free, index))[-1])
    return Choice(branch, place, index, free)
