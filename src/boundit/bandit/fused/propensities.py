r"""The exact chance of every arm of a fused decision, in machine code.

Given the tau of a round the arms' indices are independent: each is drawn from the Beta law of
the arm's own rewards with the chance of its doubt, and otherwise one of two points, by its own
weights or by its pool's. With :math:`G_k(v) = P(I_k < v)`, :math:`T_k(v) = P(I_k = v)` and ties
broken evenly, arm :math:`a` wins with the chance

.. math::

   \sum_v T_a(v) \int_0^1 \prod_{k \ne a} (G_k(v) + u T_k(v)) \, du
   + b_a \int \prod_{k \ne a} G_k(x) \, dBeta_a(x).

The first integral is over a polynomial, which Gauss's points take exactly; the second is smooth
between points and is taken piece by piece. The densities at Gauss's points of a piece also give
the integrals up to them, so that no special function is needed. Taus are averaged last, as one
tau a round makes the arms hang together.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from boundit.bandit.fused.decide import (
    BETA_LOSSES,
    BETA_WINS,
    DOUBT_CHANCE,
    FIRST_INDEX,
    OWN_CHANCE,
)
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.compile import compile_kernel

_N = 8
"""How many of Gauss's points a piece has."""
_POINTS, _WEIGHTS = (np.polynomial.legendre.leggauss(_N) + np.array([[1.0], [0.0]])) / 2.0
_FAR = np.array([-16.0, -8.0, -5.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 16.0, 40.0])
"""Where pieces of the integral end, in deviations from the mean of a Beta law."""
_NEAR = np.array([1e-6, 1e-4, 1e-2, 1e-1])
"""The same next to 0 or 1, where a density rises like a root, as parts of the way there."""
_LIGHT = 1e-10
"""A tau or a place of less chance is left out."""


def _find_sums_up_to() -> Floats:
    """Find the weights that give the integral from a piece's start up to each of its points.

    They integrate the polynomial through the densities at all points. Called when the module is
    imported.
    """
    powers = np.arange(_N)
    given = _POINTS[:, None] ** powers
    integrals = _POINTS[:, None] ** (powers + 1) / (powers + 1)
    found: Floats = integrals @ np.linalg.inv(given)
    return found


_UP_TO = _find_sums_up_to()


class BetaGrid(NamedTuple):
    """Pieces between points, with the Beta laws of the arms there.

    ``ends`` are where pieces end. ``law`` is the place of each arm's Beta law. By piece and
    law, ``before`` is the chance below the piece's start, and by Gauss's point, ``below`` that
    below the point and ``masses`` the density there times the point's weight.
    """

    ends: Floats
    law: Places
    before: Floats
    below: Floats
    masses: Floats


def compute_propensities(table: Floats, weights: Floats) -> Floats:
    """Compute the chance of every arm, from what a decision kept of them.

    ``table`` is what ``tabulate_indices`` wrote, ``weights`` those of the taus.
    """
    return integrate_chances(table, weights, *_find_tie_rule(len(table)))


@lru_cache(maxsize=16)
def _find_tie_rule(n_arms: int) -> tuple[Floats, Floats]:
    """Find points and weights that integrate over how a tie of so many arms is broken.

    From 0 to 1, exact for polynomials of that degree.
    """
    points, weights = np.polynomial.legendre.leggauss(max(n_arms // 2 + 1, _N))
    return (points + 1.0) / 2.0, weights / 2.0


@compile_kernel
def integrate_chances(
    table: Floats, weights: Floats, tie_points: Floats, tie_weights: Floats
) -> Floats:
    """Integrate each arm's chance to win, by points and by Beta laws, under every tau.

    ``tie_points`` and ``tie_weights`` are those of ties of many arms.
    """
    n_taus, found = weights.size, np.zeros(table.shape[0])
    doubted = table[:, DOUBT_CHANCE].max() > 0.0
    grid = _lay_out_grid(table, _list_ends(table, weights))
    for tau in range(n_taus):
        if weights[tau] <= _LIGHT:
            continue
        points, chances, arms = _list_points(table, n_taus, tau)
        _add_wins_by_points(
            points, chances, arms, table, grid, weights[tau], tie_points, tie_weights, found
        )
        if doubted:
            _add_wins_by_doubt(points, chances, arms, table, grid, weights[tau], found)
    found /= found.sum()
    return found


@compile_kernel
def _list_points(table: Floats, n_taus: int, tau: int) -> tuple[Floats, Floats, Places]:
    """List the points that indices may be under a tau in increasing order, those that count.

    With their chances and whose they are.
    """
    n_arms, n = table.shape[0], 0
    points, chances = np.empty(2 * n_arms), np.empty(2 * n_arms)
    arms = np.empty(2 * n_arms, np.int64)
    for arm in range(n_arms):
        fused, own = 1.0 - table[arm, DOUBT_CHANCE], table[arm, OWN_CHANCE]
        for part in range(2):
            chance = fused * own if part else fused * (1.0 - own)
            if chance > 0.0:
                points[n] = table[arm, FIRST_INDEX + part * n_taus + tau]
                chances[n], arms[n] = chance, arm
                n += 1
    order = np.argsort(points[:n])
    return points[order], chances[order], arms[order]


@compile_kernel
def _find_start(table: Floats, points: Floats, chances: Floats, arms: Places) -> float:
    """Find the place below which arms hardly ever win: too many have all points above it."""
    below, start, i = table[:, DOUBT_CHANCE].copy(), 0.0, 0
    while i < points.size and below.prod() < _LIGHT:
        start, place = max(start, points[i]), points[i]
        while i < points.size and points[i] == place:
            below[arms[i]] += chances[i]
            i += 1
    return start


@compile_kernel
def _list_ends(table: Floats, weights: Floats) -> Floats:
    """List where pieces of the integral end: at points, and where a Beta law is narrow.

    From where arms begin to win up to 1.
    """
    n_arms, n_taus, n, start = table.shape[0], weights.size, 0, 1.0
    found = np.empty(n_arms * (2 * n_taus + _FAR.size + 2 * _NEAR.size) + 2)
    for tau in range(n_taus):
        if weights[tau] > _LIGHT:
            points, chances, arms = _list_points(table, n_taus, tau)
            start = min(start, _find_start(table, points, chances, arms))
            found[n : n + points.size] = points
            n += points.size
    for arm in range(n_arms):
        if table[arm, DOUBT_CHANCE] > 0.0:
            a, b = table[arm, BETA_WINS], table[arm, BETA_LOSSES]
            mean = a / (a + b)
            deviation = math.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
            found[n : n + _FAR.size] = mean + deviation * _FAR
            n += _FAR.size
            if 1.0 < a < 2.0:
                found[n : n + _NEAR.size] = mean * _NEAR
                n += _NEAR.size
            if 1.0 < b < 2.0:
                found[n : n + _NEAR.size] = 1.0 - (1.0 - mean) * _NEAR
                n += _NEAR.size
    found[n], found[n + 1] = start, 1.0
    inside = found[: n + 2]
    return np.unique(inside[(inside >= start) & (inside <= 1.0)])


@compile_kernel
def _lay_out_grid(table: Floats, ends: Floats) -> BetaGrid:
    """Lay out the Beta laws of doubted arms on the pieces between some ends.

    What lies below the first end is what is missing to 1.
    """
    n_pieces = ends.size - 1
    law, firsts = _number_laws(table)
    n_laws = firsts.size
    masses, below = np.zeros((n_pieces, n_laws, _N)), np.zeros((n_pieces, n_laws, _N))
    before = np.zeros((n_pieces + 1, n_laws))
    for j in range(n_laws):
        a, b = table[firsts[j], BETA_WINS], table[firsts[j], BETA_LOSSES]
        size = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        total = 0.0
        for piece in range(n_pieces):
            before[piece, j] = total
            width = ends[piece + 1] - ends[piece]
            for i in range(_N):
                x = ends[piece] + width * _POINTS[i]
                logs = (a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x)
                masses[piece, j, i] = width * math.exp(size + logs)
            for i in range(_N):
                summed = total
                for k in range(_N):
                    summed += _UP_TO[i, k] * masses[piece, j, k]
                below[piece, j, i] = summed
            for i in range(_N):
                masses[piece, j, i] *= _WEIGHTS[i]
                total += masses[piece, j, i]
        before[n_pieces, j] = total
        missing = max(1.0 - total, 0.0)
        before[:, j] += missing
        below[:, j] += missing
    return BetaGrid(ends, law, before, below, masses)


@compile_kernel
def _number_laws(table: Floats) -> tuple[Places, Places]:
    """Number the Beta laws that differ: the law of each arm, and an arm that has it.

    Arms that were never played have the same.
    """
    n_arms, n = table.shape[0], 0
    law, firsts = np.empty(n_arms, np.int64), np.empty(n_arms, np.int64)
    for arm in range(n_arms):
        a, b = table[arm, BETA_WINS], table[arm, BETA_LOSSES]
        found = 0
        while found < n and not (
            table[firsts[found], BETA_WINS] == a and table[firsts[found], BETA_LOSSES] == b
        ):
            found += 1
        if found == n:
            firsts[n] = arm
            n += 1
        law[arm] = found
    return law, firsts[:n]


@compile_kernel
def _add_wins_by_doubt(
    points: Floats,
    chances: Floats,
    arms: Places,
    table: Floats,
    grid: BetaGrid,
    weight: float,
    found: Floats,
) -> None:
    """Add to each arm the chance that it is doubted and wins by its Beta law, under a tau."""
    n_arms, at = table.shape[0], 0
    fixed, lower, others = np.zeros(n_arms), np.empty(n_arms), np.empty(n_arms)
    doubts = table[:, DOUBT_CHANCE]
    for piece in range(grid.ends.size - 1):
        while at < points.size and points[at] <= grid.ends[piece]:
            fixed[arms[at]] += chances[at]
            at += 1
        if (fixed + doubts).prod() < _LIGHT:
            continue
        for i in range(_N):
            for k in range(n_arms):
                lower[k] = fixed[k] + doubts[k] * grid.below[piece, grid.law[k], i]
            _multiply_others(lower, others)
            for k in range(n_arms):
                mass = grid.masses[piece, grid.law[k], i]
                found[k] += weight * doubts[k] * mass * others[k]


@compile_kernel
def _add_wins_by_points(
    points: Floats,
    chances: Floats,
    arms: Places,
    table: Floats,
    grid: BetaGrid,
    weight: float,
    tie_points: Floats,
    tie_weights: Floats,
    found: Floats,
) -> None:
    """Add to each arm the chance that it wins by one of its two points, under a tau."""
    n_arms, first = table.shape[0], 0
    doubts = table[:, DOUBT_CHANCE]
    fixed, tied, below = np.zeros(n_arms), np.zeros(n_arms), np.empty(n_arms)
    while first < points.size:
        place, last = points[first], first
        tied[:] = 0.0
        while last < points.size and points[last] == place:
            tied[arms[last]] += chances[last]
            last += 1
        if (fixed + tied + doubts).prod() > _LIGHT:
            for k in range(n_arms):
                drawn = doubts[k] * _find_below(grid, grid.law[k], place)
                below[k] = fixed[k] + drawn
            if last - first < 2 * _N:
                _share_place(below, tied, weight, _POINTS, _WEIGHTS, found)
            else:
                _share_place(below, tied, weight, tie_points, tie_weights, found)
        fixed += tied
        first = last


@compile_kernel
def _find_below(grid: BetaGrid, law: int, place: float) -> float:
    """Find the chance of a Beta law below a place that is an end of pieces, or outside."""
    if place >= 1.0:
        return 1.0
    found: float = grid.before[np.searchsorted(grid.ends, max(place, grid.ends[0])), law]
    return found


@compile_kernel
def _share_place(
    below: Floats, tied: Floats, weight: float, points: Floats, weights: Floats, found: Floats
) -> None:
    """Add to each arm the chance that it wins at one place, evenly among those that tie there."""
    others = np.empty(below.size)
    for i in range(points.size):
        _multiply_others(below + points[i] * tied, others)
        for k in range(below.size):
            found[k] += weight * weights[i] * tied[k] * others[k]


@compile_kernel
def _multiply_others(chances: Floats, others: Floats) -> None:
    """Multiply the chances of all other arms, for every arm."""
    product = 1.0
    for k in range(chances.size):
        others[k] = product
        product *= chances[k]
    product = 1.0
    for k in range(chances.size - 1, -1, -1):
        others[k] *= product
        product *= chances[k]
