"""Densities whose logarithm is concave, around their highest place, in machine code.

Both beliefs of Thompson sampling are such, cut to a bound or not. A density is taken relative
to its highest value, so that nothing underflows far in a tail.
"""

import math
from typing import NamedTuple

from boundit.bandit.kernels.compile import compile_kernel

_MOST_STEPS = 200


class LogConcave(NamedTuple):
    """A density ``x^wins (1 - x)^losses exp(-square x^2 / 2)``, highest at ``top`` in a bound.

    Without the square it is Beta's; with nothing but the square, and 1, the normal one.
    """

    wins: float
    losses: float
    square: float
    top: float


@compile_kernel
def measure_fall(peak: LogConcave, off: float) -> float:
    """Measure how much less a density's logarithm is at ``top + off`` than at its top.

    The density is what Thompson sampling believes of an arm.
    """
    fallen, rest = 0.0, 1.0 - peak.top
    if peak.square > 0.0:
        fallen += peak.square * off * (peak.top + 0.5 * off)
    if peak.wins > 0.0:
        fallen -= peak.wins * math.log1p(off / peak.top) if off > -peak.top else -math.inf
    if peak.losses > 0.0:
        fallen -= peak.losses * math.log1p(-off / rest) if off < rest else -math.inf
    return fallen


@compile_kernel
def measure_slope(peak: LogConcave, off: float) -> float:
    """Measure how fast a density's logarithm falls at ``top + off``, going right."""
    at = peak.top + off
    gained = peak.wins / at if peak.wins > 0.0 else 0.0
    lost = peak.losses / (1.0 - at) if peak.losses > 0.0 else 0.0
    return peak.square * at + lost - gained


@compile_kernel
def measure_curvature(peak: LogConcave) -> float:
    """Measure minus the second derivative of a density's logarithm at its top.

    The density is what Thompson sampling believes of an arm.
    """
    gained = peak.wins / peak.top**2 if peak.wins > 0.0 else 0.0
    lost = peak.losses / (1.0 - peak.top) ** 2 if peak.losses > 0.0 else 0.0
    return peak.square + lost + gained


@compile_kernel
def find_tangent_point(peak: LogConcave, end: float) -> float:
    """Find an offset towards ``end`` where the density has fallen to about a third.

    Any will do, so the search stops early. A parabola gives the first guess, and Newton's steps
    improve it where they stay between what is too near and what is too far.
    """
    steep = abs(measure_slope(peak, 0.0))
    guess = 2.0 / (steep + math.sqrt(steep**2 + 2.0 * measure_curvature(peak)))
    near, far = 0.0, abs(end)
    off = guess if guess < far else 0.5 * far
    for _ in range(_MOST_STEPS):
        fallen = measure_fall(peak, math.copysign(off, end))
        if 0.5 <= fallen <= 2.0:
            break
        if fallen > 1.0:
            far = off
        else:
            near = off
        newton = off - (fallen - 1.0) / abs(measure_slope(peak, math.copysign(off, end)))
        off = newton if fallen < 8.0 and near < newton < far else 0.5 * (near + far)
    return math.copysign(off, end)
