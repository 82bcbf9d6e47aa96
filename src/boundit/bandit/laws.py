"""What Thompson sampling draws from: a belief about a mean, cut to its bound.

A draw is a quantile: of the belief (``free``), or of the belief given that the mean lies
between ``lower`` and ``upper``. The same share gives both, so that a bound which cuts nothing
off changes no draw.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    log_ndtr,
    ndtri,
    ndtri_exp,
)

from boundit.terms.bound import Arm

Numbers: TypeAlias = NDArray[np.float64]
_POINTS = 256


class Law(Protocol):
    """A belief about one mean, cut to ``[lower, upper]``."""

    @property
    def lower(self) -> float:
        """The lower end."""
        ...

    @property
    def upper(self) -> float:
        """The upper end."""
        ...

    def free(self, share: Numbers) -> Numbers:
        """Quantiles of the belief before it is cut."""
        ...

    def quantile(self, share: Numbers) -> Numbers:
        """Quantiles of the belief cut to its bound."""
        ...

    def share_below(self, x: Numbers) -> Numbers:
        """The chance that a draw is at most ``x``."""
        ...


@final
@dataclass(frozen=True)
class CutBeta:
    """Beta(a, b) given that it lies in ``[lower, upper]``, inside ``[0, 1]``."""

    a: float
    b: float
    lower: float = 0.0
    upper: float = 1.0

    def free(self, share: Numbers) -> Numbers:
        """Quantiles of Beta(a, b)."""
        return np.asarray(betaincinv(self.a, self.b, share))

    def quantile(self, share: Numbers) -> Numbers:
        """Quantiles of what is left; where that has no mass, the end next to the mean."""
        upper_tail, (first, last) = self._tail()
        if first == last:
            middle = self.a / (self.a + self.b)
            return np.full_like(share, min(max(middle, self.lower), self.upper))
        inverse = betainccinv if upper_tail else betaincinv
        found = inverse(self.a, self.b, first + share * (last - first))
        return np.asarray(np.clip(found, self.lower, self.upper))

    def share_below(self, x: Numbers) -> Numbers:
        """The chance that a draw is at most ``x``."""
        upper_tail, (first, last) = self._tail()
        if first == last:
            return np.asarray(x >= self.quantile(x), dtype=np.float64)
        mass = betaincc if upper_tail else betainc
        inside = mass(self.a, self.b, np.clip(x, self.lower, self.upper))
        share = np.clip((inside - first) / (last - first), 0.0, 1.0)
        return np.where(x < self.lower, 0.0, share)

    def _tail(self) -> tuple[bool, Numbers]:
        """Whether the bound lies in the upper tail, and the mass of the tail at its ends."""
        ends = np.array([self.lower, self.upper])
        below = betainc(self.a, self.b, ends)
        # The smaller tail keeps its digits.
        if below[0] > 0.5:
            return True, betaincc(self.a, self.b, ends)
        return False, below


@final
@dataclass(frozen=True)
class CutNormal:
    """Normal(mean, spread) given that it lies in ``[lower, upper]``; ends may be infinite."""

    mean: float
    spread: float
    lower: float = -np.inf
    upper: float = np.inf

    def free(self, share: Numbers) -> Numbers:
        """Quantiles of Normal(mean, spread)."""
        return np.asarray(self.mean + self.spread * ndtri(share))

    def quantile(self, share: Numbers) -> Numbers:
        """Quantiles of what is left, precise far in a tail as well."""
        if self.spread <= 0 or self.lower == self.upper:
            return np.full_like(share, min(max(self.mean, self.lower), self.upper))
        if np.isinf([self.lower, self.upper]).all():
            return self.free(share)
        low, high, sign = self._standard()
        share = share if sign > 0 else 1 - share
        with np.errstate(divide="ignore"):
            mass = np.logaddexp(
                log_ndtr(low) + np.log1p(-share), log_ndtr(high) + np.log(share)
            )
        found = self.mean + sign * self.spread * ndtri_exp(mass)
        return np.asarray(np.clip(found, self.lower, self.upper))

    def share_below(self, x: Numbers) -> Numbers:
        """The chance that a draw is at most ``x``."""
        if self.spread <= 0 or self.lower == self.upper:
            return np.asarray(x >= self.quantile(x), dtype=np.float64)
        low, high, sign = self._standard()
        z = np.clip(
            sign * (np.clip(x, self.lower, self.upper) - self.mean) / self.spread, low, high
        )
        scale = log_ndtr(high)
        parts = (np.exp(log_ndtr(end) - scale) for end in (low, z, high))
        first, here, last = parts
        share = (here - first) / (last - first) if last > first else (z >= high) * 1.0
        share = share if sign > 0 else 1 - share
        return np.where(x < self.lower, 0.0, np.where(x >= self.upper, 1.0, share))

    def _standard(self) -> tuple[float, float, int]:
        """The ends in units of the spread, turned so that the bulk lies to their right."""
        low, high = ((end - self.mean) / self.spread for end in (self.lower, self.upper))
        return (-high, -low, -1) if low > 0 else (low, high, 1)


def win_chance(laws: Mapping[Arm, Law], winner: Arm) -> float:
    """The chance that an arm's draw is the highest, draws being independent.

    Ties, which only bounds without width can cause, go to the arm that comes first.

    >>> round(win_chance({("A",): CutBeta(2, 2), ("B",): CutBeta(2, 2)}, ("A",)), 4)
    0.5
    """
    shares = (np.arange(_POINTS) + 0.5) / _POINTS
    draws = laws[winner].quantile(shares)
    chance, earlier = np.ones(_POINTS), True
    for arm, law in laws.items():
        if arm == winner:
            earlier = False
            continue
        # An arm that comes earlier wins ties, so it must lie strictly below.
        chance *= law.share_below(np.nextafter(draws, -np.inf) if earlier else draws)
    return float(chance.mean())
