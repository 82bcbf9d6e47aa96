r"""Exact draws from beliefs cut to bounds, in machine code.

A belief is drawn freely first. A draw inside its bound stays, so that a bound which cuts
nothing off changes no draw; any other is drawn again, this time inside. The logarithm :math:`h`
of both densities is concave: with :math:`m` its highest place within the bound and :math:`r` on
one side of it, the density lies below :math:`e^{h(m)}` and, there, below the tangent of
:math:`h` at :math:`r`. Where :math:`h` has fallen by about 1 at :math:`r`, most of what lies
below this envelope lies below the density too (Devroye 1986, VII.2). It takes no integral, and
is as quick where the bound holds 1e-300 of the belief as where it holds half.
"""

import math

import numpy as np

from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.log_concave import (
    LogConcave,
    find_tangent_point,
    measure_fall,
    measure_slope,
)
from boundit.bandit.kernels.rng import draw_uniform

_TURN = 2.0 * math.pi
_LOG4, _LOG_E5 = math.log(4.0), 1.0 + math.log(5.0)
FARTHEST = 1e100  # spreads; beyond, a cut belief is a point
_MOST_TRIES = 10_000  # one in two or three succeeds


@compile_kernel
def draw_normal_pair(stream: np.uint64) -> tuple[float, float, np.uint64]:
    """Draw two standard normal numbers (Box and Muller); gives the stream's next state too."""
    one, stream = draw_uniform(stream)
    two, stream = draw_uniform(stream)
    radius = math.sqrt(-2.0 * math.log(one))
    return radius * math.cos(_TURN * two), radius * math.sin(_TURN * two), stream


@compile_kernel
def draw_beta(wins: float, losses: float, stream: np.uint64) -> tuple[float, np.uint64]:
    """Draw from Beta(1 + wins, 1 + losses), by Cheng's rejection (1978, BB)."""
    if wins + losses == 0.0:
        return draw_uniform(stream)
    small, large = 1.0 + min(wins, losses), 1.0 + max(wins, losses)
    total = small + large
    # The plain form of the root loses its digits where both are near 1.
    root = math.sqrt((wins + losses) / (wins + losses + 2.0 * wins * losses))
    slope = small + 1.0 / root
    while True:
        one, stream = draw_uniform(stream)
        two, stream = draw_uniform(stream)
        v = root * math.log(one / (1.0 - one))
        odds = small * math.exp(v)
        z, r = one * one * two, slope * v - _LOG4
        s = small + r - odds
        if s + _LOG_E5 >= 5.0 * z:
            break
        if r + total * math.log(total / (large + odds)) >= math.log(z):
            break
    share = odds / (large + odds) if odds < math.inf else 1.0
    return (share if wins <= losses else large / (large + odds)), stream


@compile_kernel
def draw_truncated_beta(
    wins: float, losses: float, lower: float, upper: float, stream: np.uint64
) -> tuple[float, float]:
    """Draw from Beta(1 + wins, 1 + losses) inside ``[lower, upper]``.

    Gives the draw, and what it would be without the bound.
    """
    free, stream = draw_beta(wins, losses, stream)
    if lower <= free <= upper:
        return free, free
    if lower >= upper:
        return lower, free
    mode = wins / (wins + losses) if wins + losses > 0.0 else lower
    top = min(max(mode, lower), upper)
    off = _draw_offset(LogConcave(wins, losses, 0.0, top), lower - top, upper - top, stream)
    return min(max(top + off, lower), upper), free


@compile_kernel
def truncate_normal_draw(
    mean: float, spread: float, free: float, lower: float, upper: float, stream: np.uint64
) -> float:
    """Give a draw from a normal law inside ``[lower, upper]``.

    That is the ``free`` draw, made without the bound, if it lies inside, else a new one.
    """
    if lower <= free <= upper:
        return free
    top = min(max(mean, lower), upper)
    if lower >= upper or not abs(top - mean) < FARTHEST * spread:
        return top
    peak = LogConcave(0.0, 0.0, 1.0, (top - mean) / spread)
    off = _draw_offset(peak, (lower - top) / spread, (upper - top) / spread, stream)
    return min(max(top + spread * off, lower), upper)


@compile_kernel
def _build_envelope_side(peak: LogConcave, end: float) -> tuple[float, float, float]:
    """Build one side of the curve above a density that rejection sampling draws below.

    Gives where its slope begins, how steep it is and the area below. Where the density hardly
    falls the envelope is flat to the end.
    """
    if end == 0.0 or measure_fall(peak, end) <= 2.0:
        return end, 1.0, 0.0
    at = find_tangent_point(peak, end)
    steep = abs(measure_slope(peak, at))
    begin = max(abs(at) - measure_fall(peak, at) / steep, 0.0)
    area = -math.expm1(-steep * (abs(end) - begin)) / steep
    return math.copysign(begin, end), steep, area


@compile_kernel
def _draw_offset(peak: LogConcave, left: float, right: float, stream: np.uint64) -> float:
    """Draw from a log-concave density between ``top + left`` and ``top + right``.

    By rejection; gives the offset from ``top``, its highest place.
    """
    from_left, steep_left, area_left = _build_envelope_side(peak, left)
    from_right, steep_right, area_right = _build_envelope_side(peak, right)
    flat = from_right - from_left
    whole = area_left + flat + area_right
    for _ in range(_MOST_TRIES):
        one, stream = draw_uniform(stream)
        two, stream = draw_uniform(stream)
        at = one * whole
        if at < flat:
            off, envelope = from_left + at, 0.0
        elif at < flat + area_right:
            envelope = -math.log1p(-steep_right * (at - flat))
            off = from_right + envelope / steep_right
        else:
            envelope = -math.log1p(-steep_left * (at - flat - area_right))
            off = from_left - envelope / steep_left
        if left <= off <= right and measure_fall(peak, off) <= envelope - math.log(two):
            return off
    return 0.0
