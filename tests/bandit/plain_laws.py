"""What Thompson sampling draws from, by SciPy: a belief about a mean, cut to its bound."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, log_ndtr

Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class CutBeta:
    """Beta(a, b) given that it lies in ``[lower, upper]``, inside ``[0, 1]``."""

    a: float
    b: float
    lower: float = 0.0
    upper: float = 1.0

    def share_below(self, x: Numbers) -> Numbers:
        """The chance that a draw is at most ``x``."""
        # The smaller tail keeps its digits.
        mass = betaincc if betainc(self.a, self.b, self.lower) > 0.5 else betainc
        first, last = (mass(self.a, self.b, end) for end in (self.lower, self.upper))
        inside = mass(self.a, self.b, np.clip(x, self.lower, self.upper))
        return np.asarray(np.clip((inside - first) / (last - first), 0.0, 1.0))


@dataclass(frozen=True)
class CutNormal:
    """Normal(mean, spread) given that it lies in ``[lower, upper]``; ends may be infinite."""

    mean: float
    spread: float
    lower: float = -np.inf
    upper: float = np.inf

    def share_below(self, x: Numbers) -> Numbers:
        """The chance that a draw is at most ``x``, by logarithms, as tails may be far."""
        low, high = ((end - self.mean) / self.spread for end in (self.lower, self.upper))
        # Turned so that the bulk lies to the right of both ends.
        low, high, sign = (-high, -low, -1) if low > 0 else (low, high, 1)
        inside = np.clip(x, self.lower, self.upper)
        z = np.clip(sign * (inside - self.mean) / self.spread, low, high)
        first, here, last = (np.exp(log_ndtr(at) - log_ndtr(high)) for at in (low, z, high))
        share = (here - first) / (last - first)
        return np.asarray(share if sign > 0 else 1 - share)


def chances(laws: Sequence[CutBeta | CutNormal], places: Numbers) -> list[float]:
    """The chance of each to be the highest, added up over places in order.

    Right if the places are fine where any of the laws has its mass.
    """
    below = np.array([law.share_below(places) for law in laws])
    found = []
    for i in range(len(laws)):
        others = np.delete(below, i, axis=0).prod(axis=0)
        found.append(float(np.sum((others[1:] + others[:-1]) / 2 * np.diff(below[i]))))
    return found
