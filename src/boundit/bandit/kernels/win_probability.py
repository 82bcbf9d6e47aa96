r"""The chance that one of several independent draws is the highest, in machine code.

A draw has a density of ``log_concave``, cut to a bound. The chance that arm :math:`a` wins is
:math:`\int f_a \prod_{b \ne a} F_b`. It is worked out in one walk over the places where the
winner may be, in steps that are a small part of every law they meet, with Gauss's three points
in each: the densities there also give the integrals :math:`F_b` up to these points. That takes
no special function, and is right to five digits; where part of a success counts, and a density
rises like a root, to a few thousandths at worst.
"""

import math

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.log_concave import LogConcave, find_tangent_point, measure_fall
from boundit.bandit.kernels.score_table import (
    LIN_TS_MEAN,
    LIN_TS_SPREAD,
    LOWER,
    POSITION,
    TS_SUCCESSES,
    TS_TRIALS,
    UPPER,
)
from boundit.bandit.kernels.truncated_draws import FARTHEST
from boundit.bandit.kernels.ts import scale_to_unit

_STEPS = 48
"""In how many steps a law is crossed."""
_GONE = 30.0
"""A density that fell by so many powers of e is not missed."""
_LEAST = 1e-100
_MOST_TRIES = 200
_R = math.sqrt(15.0)
_POINTS = (0.5 - _R / 10, 0.5, 0.5 + _R / 10)
_WEIGHTS = (5 / 18, 4 / 9, 5 / 18)
_UP_TO = (
    (5 / 36, 2 / 9 - _R / 15, 5 / 36 - _R / 30),
    (5 / 36 + _R / 24, 2 / 9, 5 / 36 - _R / 24),
    (5 / 36 + _R / 30, 2 / 9 + _R / 15, 5 / 36),
)
"""Of each point the weights that give the integral up to it."""

# A law is a row of numbers: its peak, where that is in which units, from where to where it has
# any mass to speak of, and the place of its arm. One without units is a point.
_TOP, _UNIT, _FIRST, _LAST, _WHERE = range(4, 9)


@compile_kernel
def tabulate_beta_densities(score_table: Floats, low: float, high: float) -> Floats:
    """What Thompson sampling draws the arms of a score_table from, on the scale from 0 to 1."""
    laws = np.empty((score_table.shape[0], 9))
    for j in range(score_table.shape[0]):
        lower, upper = (
            scale_to_unit(score_table[j, LOWER], low, high),
            scale_to_unit(score_table[j, UPPER], low, high),
        )
        wins = _drop_tiny_count(score_table[j, TS_SUCCESSES])
        losses = _drop_tiny_count(score_table[j, TS_TRIALS] - score_table[j, TS_SUCCESSES])
        mode = wins / (wins + losses) if wins + losses > 0.0 else lower
        top = min(max(mode, lower), upper)
        _write_density(laws[j], LogConcave(wins, losses, 0.0, top), top, 1.0, lower, upper)
        laws[j, _WHERE] = score_table[j, POSITION]
    return laws


@inline_kernel
def _drop_tiny_count(n: float) -> float:
    """Take a count that is next to nothing for nothing, as it would put the top nowhere."""
    return n if n > _LEAST else 0.0


@compile_kernel
def tabulate_normal_densities(score_table: Floats) -> Floats:
    """What linear Thompson sampling draws the arms of a score_table from."""
    laws = np.empty((score_table.shape[0], 9))
    for j in range(score_table.shape[0]):
        mean, spread = score_table[j, LIN_TS_MEAN], score_table[j, LIN_TS_SPREAD]
        lower, upper = score_table[j, LOWER], score_table[j, UPPER]
        top = min(max(mean, lower), upper)
        if abs(top - mean) < FARTHEST * spread:
            peak = LogConcave(0.0, 0.0, 1.0, (top - mean) / spread)
            _write_density(laws[j], peak, top, spread, lower, upper)
        else:
            _write_density(laws[j], LogConcave(0.0, 0.0, 1.0, 0.0), top, 1.0, top, top)
        laws[j, _WHERE] = score_table[j, POSITION]
    return laws


@compile_kernel
def _write_density(
    law: Floats, peak: LogConcave, top: float, size: float, lower: float, upper: float
) -> None:
    """Write a law down, a point if it is too narrow for numbers to tell its places apart."""
    law[0], law[1], law[2], law[3] = peak.wins, peak.losses, peak.square, peak.top
    first = max(top + size * _find_reach(peak, (lower - top) / size), lower)
    last = min(top + size * _find_reach(peak, (upper - top) / size), upper)
    wide = last - first > 1e-13 * max(abs(first), abs(last))
    law[_TOP], law[_UNIT] = top, size if wide else 0.0
    law[_FIRST], law[_LAST] = (first, last) if wide else (top, top)


@compile_kernel
def _find_reach(peak: LogConcave, end: float) -> float:
    """Find the offset towards ``end`` from which on the density is not missed."""
    if end == 0.0 or measure_fall(peak, end) <= _GONE:
        return end
    off = find_tangent_point(peak, end)
    for _ in range(_MOST_TRIES):
        if measure_fall(peak, off) >= _GONE:
            break
        off *= 1.2
    return off


@inline_kernel
def _evaluate_density(laws: Floats, j: int, x: float) -> float:
    """How high a law is somewhere, in units of its highest value."""
    peak = LogConcave(laws[j, 0], laws[j, 1], laws[j, 2], laws[j, 3])
    return math.exp(-measure_fall(peak, (x - laws[j, _TOP]) / laws[j, _UNIT]))


@compile_kernel
def _integrate_density(laws: Floats, j: int, first: float, last: float) -> float:
    """The integral of a law between two places."""
    first, last = max(first, laws[j, _FIRST]), min(last, laws[j, _LAST])
    if first >= last:
        return 0.0
    n = math.ceil(_STEPS * (last - first) / (laws[j, _LAST] - laws[j, _FIRST]))
    step, total = float((last - first) / n), 0.0
    for i in range(n):
        for k in range(3):
            total += _WEIGHTS[k] * _evaluate_density(laws, j, first + (i + _POINTS[k]) * step)
    return total * step


@compile_kernel
def compute_win_probability(laws: Floats, winner: int) -> float:
    """The chance that an arm's draw is the highest; ties of points go to the first arm."""
    n, whole, below = laws.shape[0], np.ones(laws.shape[0]), np.ones(laws.shape[0])
    if not laws[winner, _UNIT]:
        return _compute_point_win_probability(laws, winner)
    at = laws[:, _FIRST].max()
    if at == laws[winner, _FIRST] and (at >= laws[:, _LAST]).sum() == n - 1:
        return 1.0
    for j in range(n):
        if laws[j, _LAST] > at:
            before = _integrate_density(laws, j, -math.inf, at)
            whole[j] = before + _integrate_density(laws, j, at, math.inf)
            below[j] = before / whole[j]
    chance = 0.0
    while at < laws[winner, _LAST]:
        to = laws[winner, _LAST]
        for j in range(n):
            if laws[j, _LAST] > at:
                step = (laws[j, _LAST] - laws[j, _FIRST]) / _STEPS
                to = min(to, at + step, laws[j, _LAST])
        chance += _integrate_step(laws, winner, at, to, whole, below)
        at = to
    return min(chance, 1.0)


@compile_kernel
def _integrate_step(
    laws: Floats, winner: int, at: float, to: float, whole: Floats, below: Floats
) -> float:
    """The chance to win with a draw of one step; brings ``below`` from its start to its end."""
    r0, r1, r2 = _WEIGHTS
    for j in range(laws.shape[0]):
        if laws[j, _LAST] <= at:
            continue
        size = (to - at) / whole[j]
        d0 = size * _evaluate_density(laws, j, at + _POINTS[0] * (to - at))
        d1 = size * _evaluate_density(laws, j, at + _POINTS[1] * (to - at))
        d2 = size * _evaluate_density(laws, j, at + _POINTS[2] * (to - at))
        if j == winner:
            r0, r1, r2 = r0 * d0, r1 * d1, r2 * d2
            continue
        r0 *= below[j] + _UP_TO[0][0] * d0 + _UP_TO[0][1] * d1 + _UP_TO[0][2] * d2
        r1 *= below[j] + _UP_TO[1][0] * d0 + _UP_TO[1][1] * d1 + _UP_TO[1][2] * d2
        r2 *= below[j] + _UP_TO[2][0] * d0 + _UP_TO[2][1] * d1 + _UP_TO[2][2] * d2
        below[j] += _WEIGHTS[0] * d0 + _WEIGHTS[1] * d1 + _WEIGHTS[2] * d2
    return r0 + r1 + r2


@compile_kernel
def _compute_point_win_probability(laws: Floats, winner: int) -> float:
    """The chance that all others lie below a point, or on it and come later."""
    at, chance = laws[winner, _TOP], 1.0
    for j in range(laws.shape[0]):
        if j == winner:
            continue
        earlier = laws[j, _WHERE] < laws[winner, _WHERE]
        if laws[j, _UNIT]:
            before = _integrate_density(laws, j, -math.inf, at)
            chance *= before / (before + _integrate_density(laws, j, at, math.inf))
        elif laws[j, _TOP] > at or (laws[j, _TOP] == at and earlier):
            return 0.0
    return chance
