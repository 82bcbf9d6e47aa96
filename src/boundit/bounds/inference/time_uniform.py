r"""Intervals that hold however the rows of a cell came to be so many.

A policy that learns tries an arm again because it earned, or no more because it did not. Given
how often it was tried, its successes are then not binomial: an arm that is dropped after bad
luck keeps its bad luck. What still holds is that each next reward of the cell is fair, whatever
was seen before. So for a cell of true mean :math:`m` and any :math:`q`, the product over its
rewards of

.. math:: (q/m)^Y ((1-q)/(1-m))^{1-Y}

never grows on average: for a reward of 0 or 1 each factor has mean 1; for one between it is a
convex function of :math:`Y`, so that it lies below its chord from 0 to 1, whose mean is 1. The
mean of that product over :math:`q` uniform above :math:`m` (the mixture, an *e-value*) has
the same property, and depends on the rewards by their number and sum alone, not their order. It
is :math:`1/\alpha` or more with probability :math:`\alpha` at most (Ville 1939), at the end of the
log as at any row before, whoever stopped it and why. An :math:`m` at which the e-value is as
large is therefore excluded, and the lower end is the least that is not; the upper end is the
same of failures. Both have half of the error, so that one end alone may be used.

Where rewards spread little, sums of squares tell more. For a guess :math:`g` of the mean and a
scale :math:`0 < s < 1`, :math:`1 + u \ge \exp(u - \psi(s) (u/s)^2)` for :math:`u \ge -s` with
:math:`\psi(s) = -\log(1-s) - s` (Fan, Grama and Liu 2015), so that
:math:`\exp(s(Y-m) - \psi(s)(Y-g)^2)` has mean at most
:math:`(1 + s(m-g)) \exp(-s(m-g)) \le 1`. Products over the rewards, averaged over a fixed grid
of :math:`s` and :math:`g`, are an e-value of the number, the sum and the sum of squares. The
mean of both e-values is one.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import betaincc, betaln, logsumexp, xlogy

from boundit.counts.named_array import Floats

EndPair = tuple[Floats, Floats]
"""The lower ends and the upper ends of some numbers."""
_HALVINGS = 60
_SCALES = 0.8 / 2.0 ** np.arange(12)
_GUESSES = np.linspace(0.05, 0.95, 10)


def bound_share_adaptively(k: Floats, n: Floats, alpha: float) -> EndPair:
    """Compute an interval of a share from ``k`` successes of ``n`` that a policy chose to have.

    It is 0 to 1 where ``n`` is 0; ``alpha`` is the probability of missing, half on each side.

    >>> low, high = bound_share_adaptively(np.array([0.0, 5.0]), np.array([10.0, 10.0]), 0.05)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.113]), array([0.405, 0.887]))
    """
    k = np.clip(np.rint(k), 0, n)

    def find_lower(successes: Floats) -> Floats:
        return _find_lower(
            lambda m: weigh_share(successes, n, m), successes / (n + 1), np.log(2 / alpha)
        )

    return find_lower(k), 1 - find_lower(n - k)


def bound_mean_adaptively(sums: Floats, squares: Floats, n: Floats, alpha: float) -> EndPair:
    """Compute an interval of a mean in [0, 1] from the rewards that a policy chose to have.

    They are given by their number, sum and sum of squares; ``alpha`` is as above.
    """
    sums = np.clip(sums, 0, n)

    def find_lower(total: Floats, squared: Floats) -> Floats:
        spread = weigh_spread(total, squared, n)
        return _find_lower(
            lambda m: weigh_mean(total, n, spread, m), total / (n + 1), np.log(2 / alpha)
        )

    return find_lower(sums, squares), 1 - find_lower(n - sums, n - 2 * sums + squares)


def weigh_share(k: Floats, n: Floats, m: Floats) -> Floats:
    """Compute the logarithm of the e-value against means of at most ``m``.

    ``k`` is the sum of ``n`` rewards, or the number of successes. It falls in ``m`` up to ``k /
    (n + 1)``, and from there on it is at most 1.
    """
    with np.errstate(divide="ignore"):
        above = np.log(betaincc(k + 1, n - k + 1, m)) + betaln(k + 1, n - k + 1)
    found: Floats = above - xlogy(k, m) - (n - k + 1) * np.log1p(-m)
    return found


def weigh_mean(sums: Floats, n: Floats, spread: Floats, m: Floats) -> Floats:
    """Compute the logarithm of the e-value against means of at most ``m`` that knows squares.

    ``spread`` is what ``weigh_spread`` made of them. It falls in ``m`` as that of a share does.
    """
    narrow = logsumexp(spread - _SCALES * (n * m)[..., None], axis=-1)
    found: Floats = np.logaddexp(weigh_share(sums, n, m), narrow) - np.log(2)
    return found


def weigh_spread(sums: Floats, squares: Floats, n: Floats) -> Floats:
    """Compute what the e-values by squares are, but for the mean, at each scale of the grid.

    The last axis is the scale; guesses of the mean are averaged over, and so are the scales
    once all are added up.
    """
    sums, squares, n = sums[..., None], squares[..., None], n[..., None]
    distance = np.clip(squares - 2 * _GUESSES * sums + _GUESSES**2 * n, 0, None)
    psi = -np.log1p(-_SCALES) - _SCALES
    of_guesses = logsumexp(-psi[:, None] * distance[..., None, :], axis=-1)
    found: Floats = of_guesses + _SCALES * sums - np.log(_SCALES.size * _GUESSES.size)
    return found


def _find_lower(
    weigh: Callable[[Floats], Floats], most: Floats, enough: float | Floats
) -> Floats:
    """Find up to where the logarithm of an e-value that falls in the mean stays ``enough``.

    It is looked for between 0 and ``most`` by halving, and found from below, so that whatever
    is less is excluded.
    """
    low, high = np.zeros(most.shape), most.astype(np.float64)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        excluded = weigh(middle) >= enough
        low, high = np.where(excluded, middle, low), np.where(excluded, high, middle)
    return low
