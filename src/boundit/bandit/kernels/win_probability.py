r"""The chance of each of several independent draws to be the highest, in machine code.

A draw has a density of ``log_concave``, cut to a bound. The chance that arm :math:`a` wins is
:math:`\int f_a \prod_{b \ne a} F_b`. It is worked out for all in one walk over the places where
a winner may be, in steps that are a small part of every density they meet, with Gauss's three
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
_SELDOM = 1e-15
"""The chance of an arm that may win, though none of its density is where it would."""
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
# to where it has any mass to speak of, the position of its arm, and the ends of its bound.
# Without units it is a point.
_TOP, _UNIT, _FIRST, _LAST, _ARM_POSITION, _LEAST_DRAW, _MOST = range(4, 11)


@compile_kernel
def tabulate_beta_densities(score_table: Floats, low: float, high: float) -> Floats:
    """Tabulate the Beta density that Thompson sampling draws each arm from, cut to its bound.

    On the scale from 0 to 1.
    """
    densities = np.empty((score_table.shape[0], 11))
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

    The highest place of a Beta density could not be told otherwise.
    """
    return n if n > _LEAST else 0.0


@compile_kernel
def tabulate_normal_densities(score_table: Floats) -> Floats:
    """Tabulate the normal density that LinTS draws each arm from, cut to its bound."""
    densities = np.empty((score_table.shape[0], 11))
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
    """Write one arm's density into the table, as a point if it is too narrow for floats."""
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
    density[_LEAST_DRAW], density[_MOST] = (lower, upper) if wide else (top, top)


@compile_kernel
def _find_reach(peak: LogConcave, end: float) -> float:
    """Find the offset towards ``end`` beyond which an arm's density is negligible."""
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
    """Evaluate an arm's density at one place, in units of its highest value."""
    peak = LogConcave(densities[j, 0], densities[j, 1], densities[j, 2], densities[j, 3])
    return math.exp(-measure_fall(peak, (x - densities[j, _TOP]) / densities[j, _UNIT]))


@compile_kernel
def _integrate_density(densities: Floats, j: int, first: float, last: float) -> float:
    """Integrate the density of an arm's draw between two places."""
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
def compute_win_probabilities(densities: Floats) -> Floats:
    """Compute for every arm the chance that its draw is the highest: all propensities.

    They add up to 1. Draws without spread may tie; the first arm then wins. An arm whose draw
    may win, however seldom, has a chance above 0.
    """
    n, whole, below = (
        densities.shape[0],
        np.ones(densities.shape[0]),
        np.ones(densities.shape[0]),
    )
    chances, at, last = np.zeros(n), densities[:, _FIRST].max(), densities[:, _LAST].max()
    point = _find_best_point(densities)
    if point >= 0:
        chances[point] = _compute_point_win_probability(densities, point)
    for j in range(n):
        if densities[j, _LAST] > at:
            before = _integrate_density(densities, j, -math.inf, at)
            whole[j] = before + _integrate_density(densities, j, at, math.inf)
            below[j] = before / whole[j]
    parts, lower, above = np.empty((n, 3)), np.empty((n, 3)), np.empty((n + 1, 3))
    while at < last:
        to = last
        for j in range(n):
            if densities[j, _LAST] > at:
                step = (densities[j, _LAST] - densities[j, _FIRST]) / _STEPS
                to = min(to, at + step, densities[j, _LAST])
        if not to > at:
            break
        _integrate_step(densities, at, to, whole, below, parts, lower, above, chances)
        at = to
    for j in range(n):
        if densities[j, _UNIT] and densities[j, _MOST] > densities[:, _LEAST_DRAW].max():
            chances[j] = max(chances[j], _SELDOM)
    found: Floats = chances / chances.sum()
    return found


@compile_kernel
def _find_best_point(densities: Floats) -> int:
    """Find the highest arm whose draw has no spread, the first among equals; -1 if none."""
    best = -1
    for j in range(densities.shape[0]):
        if densities[j, _UNIT]:
            continue
        ahead = best < 0 or densities[j, _TOP] > densities[best, _TOP]
        ties = best >= 0 and densities[j, _TOP] == densities[best, _TOP]
        if ahead or (ties and densities[j, _ARM_POSITION] < densities[best, _ARM_POSITION]):
            best = j
    return best


@compile_kernel
def _integrate_step(
    densities: Floats,
    at: float,
    to: float,
    whole: Floats,
    below: Floats,
    parts: Floats,
    lower: Floats,
    above: Floats,
    chances: Floats,
) -> None:
    """Add to each arm's chance that it wins with a draw inside one step of the integral.

    ``below``, the chances to lie lower, are brought to the step's end; ``parts``, ``lower`` and
    ``above`` are room to work in.
    """
    n = densities.shape[0]
    for j in range(n):
        if densities[j, _LAST] <= at:
            parts[j], lower[j] = 0.0, 1.0
            continue
        size = (to - at) / whole[j]
        for k in range(3):
            parts[j, k] = size * _evaluate_density(densities, j, at + _POINTS[k] * (to - at))
        for k in range(3):
            lower[j, k] = (
                below[j]
                + _UP_TO[k][0] * parts[j, 0]
                + _UP_TO[k][1] * parts[j, 1]
                + _UP_TO[k][2] * parts[j, 2]
            )
        for k in range(3):
            below[j] += _WEIGHTS[k] * parts[j, k]
    # That all others lie lower, without dividing: products of those before and after.
    above[n] = 1.0
    for j in range(n - 1, -1, -1):
        for k in range(3):
            above[j, k] = above[j + 1, k] * lower[j, k]
    for k in range(3):
        earlier = _WEIGHTS[k]
        for j in range(n):
            chances[j] += earlier * parts[j, k] * above[j + 1, k]
            earlier *= lower[j, k]


@compile_kernel
def _compute_point_win_probability(densities: Floats, winner: int) -> float:
    """Compute the chance that an arm wins whose draw is always the same point.

    All others must lie below it, or on it and come later.
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
