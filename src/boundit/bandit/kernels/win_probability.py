r"""The chance that one of several independent draws is the highest, in machine code.

A draw has a density of ``log_concave``, cut to a bound. The chance that arm :math:`a` wins is
:math:`\int f_a \prod_{b \ne a} F_b`. It is worked out in one walk over the places where the
winner may be, in steps that are a small part of every density they meet, with Gauss's three
points in each: the densities there also give the integrals :math:`F_b` up to these points. That
takes no special function, and is right to five digits; where part of a success counts, and a
density rises like a root, to a few thousandths at worst.
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
"""In how many steps a density is crossed."""
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

# A density is a row of numbers: its ``LogConcave``, where its top is in which units, from where
# to where it has any mass to speak of, and the position of its arm. Without units it is a
# point.
_TOP, _UNIT, _FIRST, _LAST, _ARM_POSITION = range(4, 9)


@compile_kernel
def tabulate_beta_densities(score_table: Floats, low: float, high: float) -> Floats:
    """Tabulate the Beta density that Thompson sampling draws each arm from, cut to its bound.

    On the scale from 0 to 1. Called by ``TS._compute_propensity`` when the propensity of a
    decision is read.
    """
    densities = np.empty((score_table.shape[0], 9))
    for j in range(score_table.shape[0]):
        lower, upper = (
            scale_to_unit(score_table[j, LOWER], low, high),
            scale_to_unit(score_table[j, UPPER], low, high),
        )
        wins = _drop_tiny_count(score_table[j, TS_SUCCESSES])
        losses = _drop_tiny_count(score_table[j, TS_TRIALS] - score_table[j, TS_SUCCESSES])
        mode = wins / (wins + losses) if wins + losses > 0.0 else lower
        top = min(max(mode, lower), upper)
        _write_density(densities[j], LogConcave(wins, losses, 0.0, top), top, 1.0, lower, upper)
        densities[j, _ARM_POSITION] = score_table[j, POSITION]
    return densities


@inline_kernel
def _drop_tiny_count(n: float) -> float:
    """Round a count of successes or failures that is next to 0 down to 0.

    The highest place of a Beta density could not be told otherwise. Called by
    ``tabulate_beta_densities``.
    """
    return n if n > _LEAST else 0.0


@compile_kernel
def tabulate_normal_densities(score_table: Floats) -> Floats:
    """Tabulate the normal density that LinTS draws each arm from, cut to its bound.

    Called by ``_integrate_propensity`` when a propensity is read.
    """
    densities = np.empty((score_table.shape[0], 9))
    for j in range(score_table.shape[0]):
        mean, spread = score_table[j, LIN_TS_MEAN], score_table[j, LIN_TS_SPREAD]
        lower, upper = score_table[j, LOWER], score_table[j, UPPER]
        top = min(max(mean, lower), upper)
        if abs(top - mean) < FARTHEST * spread:
            peak = LogConcave(0.0, 0.0, 1.0, (top - mean) / spread)
            _write_density(densities[j], peak, top, spread, lower, upper)
        else:
            _write_density(densities[j], LogConcave(0.0, 0.0, 1.0, 0.0), top, 1.0, top, top)
        densities[j, _ARM_POSITION] = score_table[j, POSITION]
    return densities


@compile_kernel
def _write_density(
    density: Floats, peak: LogConcave, top: float, size: float, lower: float, upper: float
) -> None:
    """Write one arm's density into the table, as a point if it is too narrow for floats.

    Called by ``tabulate_beta_densities`` and ``tabulate_normal_densities`` for every arm.
    """
    density[0], density[1], density[2], density[3] = (
        peak.wins,
        peak.losses,
        peak.square,
        peak.top,
    )
    first = max(top + size * _find_reach(peak, (lower - top) / size), lower)
    last = min(top + size * _find_reach(peak, (upper - top) / size), upper)
    wide = last - first > 1e-13 * max(abs(first), abs(last))
    density[_TOP], density[_UNIT] = top, size if wide else 0.0
    density[_FIRST], density[_LAST] = (first, last) if wide else (top, top)


@compile_kernel
def _find_reach(peak: LogConcave, end: float) -> float:
    """Find the offset towards ``end`` beyond which an arm's density is negligible.

    Called by ``_write_density`` for both sides.
    """
    if end == 0.0 or measure_fall(peak, end) <= _GONE:
        return end
    off = find_tangent_point(peak, end)
    for _ in range(_MOST_TRIES):
        if measure_fall(peak, off) >= _GONE:
            break
        off *= 1.2
    return off


@inline_kernel
def _evaluate_density(densities: Floats, j: int, x: float) -> float:
    """Evaluate an arm's density at one place, in units of its highest value.

    Called by ``_integrate_density`` and ``_integrate_step`` at Gauss's points.
    """
    peak = LogConcave(densities[j, 0], densities[j, 1], densities[j, 2], densities[j, 3])
    return math.exp(-measure_fall(peak, (x - densities[j, _TOP]) / densities[j, _UNIT]))


@compile_kernel
def _integrate_density(densities: Floats, j: int, first: float, last: float) -> float:
    """Integrate the density of an arm's draw between two places.

    Called by ``compute_win_probability`` for the part below its first place, and by
    ``_compute_point_win_probability``.
    """
    first, last = max(first, densities[j, _FIRST]), min(last, densities[j, _LAST])
    if first >= last:
        return 0.0
    n = math.ceil(_STEPS * (last - first) / (densities[j, _LAST] - densities[j, _FIRST]))
    step, total = float((last - first) / n), 0.0
    for i in range(n):
        for k in range(3):
            total += _WEIGHTS[k] * _evaluate_density(
                densities, j, first + (i + _POINTS[k]) * step
            )
    return total * step


@compile_kernel
def compute_win_probability(densities: Floats, winner: int) -> float:
    """Compute the chance that an arm's draw is the highest of all: its propensity.

    Draws without spread may tie; the first arm then wins. Called by ``TS._compute_propensity``
    and ``_integrate_propensity`` when a propensity is read.
    """
    n, whole, below = (
        densities.shape[0],
        np.ones(densities.shape[0]),
        np.ones(densities.shape[0]),
    )
    if not densities[winner, _UNIT]:
        return _compute_point_win_probability(densities, winner)
    at = densities[:, _FIRST].max()
    if at == densities[winner, _FIRST] and (at >= densities[:, _LAST]).sum() == n - 1:
        return 1.0
    for j in range(n):
        if densities[j, _LAST] > at:
            before = _integrate_density(densities, j, -math.inf, at)
            whole[j] = before + _integrate_density(densities, j, at, math.inf)
            below[j] = before / whole[j]
    chance = 0.0
    while at < densities[winner, _LAST]:
        to = densities[winner, _LAST]
        for j in range(n):
            if densities[j, _LAST] > at:
                step = (densities[j, _LAST] - densities[j, _FIRST]) / _STEPS
                to = min(to, at + step, densities[j, _LAST])
        chance += _integrate_step(densities, winner, at, to, whole, below)
        at = to
    return min(chance, 1.0)


@compile_kernel
def _integrate_step(
    densities: Floats, winner: int, at: float, to: float, whole: Floats, below: Floats
) -> float:
    """Compute the chance that an arm wins with a draw inside one step of the integral.

    ``below``, the chances that the others lie lower, is brought to the step's end. Called by
    ``compute_win_probability`` for each of its steps.
    """
    r0, r1, r2 = _WEIGHTS
    for j in range(densities.shape[0]):
        if densities[j, _LAST] <= at:
            continue
        size = (to - at) / whole[j]
        d0 = size * _evaluate_density(densities, j, at + _POINTS[0] * (to - at))
        d1 = size * _evaluate_density(densities, j, at + _POINTS[1] * (to - at))
        d2 = size * _evaluate_density(densities, j, at + _POINTS[2] * (to - at))
        if j == winner:
            r0, r1, r2 = r0 * d0, r1 * d1, r2 * d2
            continue
        r0 *= below[j] + _UP_TO[0][0] * d0 + _UP_TO[0][1] * d1 + _UP_TO[0][2] * d2
        r1 *= below[j] + _UP_TO[1][0] * d0 + _UP_TO[1][1] * d1 + _UP_TO[1][2] * d2
        r2 *= below[j] + _UP_TO[2][0] * d0 + _UP_TO[2][1] * d1 + _UP_TO[2][2] * d2
        below[j] += _WEIGHTS[0] * d0 + _WEIGHTS[1] * d1 + _WEIGHTS[2] * d2
    return r0 + r1 + r2


@compile_kernel
def _compute_point_win_probability(densities: Floats, winner: int) -> float:
    """Compute the chance that an arm wins whose draw is always the same point.

    All others must lie below it, or on it and come later. Called by
    ``compute_win_probability``.
    """
    at, chance = densities[winner, _TOP], 1.0
    for j in range(densities.shape[0]):
        if j == winner:
            continue
        earlier = densities[j, _ARM_POSITION] < densities[winner, _ARM_POSITION]
        if densities[j, _UNIT]:
            before = _integrate_density(densities, j, -math.inf, at)
            chance *= before / (before + _integrate_density(densities, j, at, math.inf))
        elif densities[j, _TOP] > at or (densities[j, _TOP] == at and earlier):
            return 0.0
    return chance
