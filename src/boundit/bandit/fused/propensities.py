r"""The exact chance of every arm of a fused decision.

Given the tau of a round the arms' indices are independent: each is drawn from the Beta law of
the arm's own rewards with the chance of its doubt, and otherwise one of two points, by its own
weights or by its pool's. With :math:`G_k(v) = P(I_k < v)`, :math:`T_k(v) = P(I_k = v)` and ties
broken evenly, arm :math:`a` wins with the chance

.. math::

   \sum_v T_a(v) \int_0^1 \prod_{k \ne a} (G_k(v) + u T_k(v)) \, du
   + b_a \int \prod_{k \ne a} G_k(x) \, dBeta_a(x).

The first integral is over a polynomial, which Gauss's points take exactly; the second is smooth
between points and is taken piece by piece. Taus are averaged last, as one tau a round makes the
arms hang together.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import betainc, betaln, xlog1py, xlogy

from boundit.bandit.fused.decide import (
    BETA_LOSSES,
    BETA_WINS,
    DOUBT_CHANCE,
    FIRST_INDEX,
    OWN_CHANCE,
)
from boundit.bandit.kernels.arrays import Floats

_NODES, _GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(8)
_OFFSETS = np.array([-16.0, -6.0, -3.0, -1.5, 0.0, 1.5, 3.0, 6.0, 16.0, 40.0])
"""Where pieces of the integral end, in deviations from the mean of a Beta law."""
_LIGHT = 1e-10
"""A tau or a place of less chance is left out."""


@final
@dataclass(frozen=True, eq=False)
class PointLaws:
    """The points that the indices of some arms may be under one tau, arms x 2, and chances.

    ``chances`` are those of the points; what is missing to 1, ``doubts``, is the Beta law's.
    """

    points: Floats
    chances: Floats
    doubts: Floats

    def sum_below(self, x: Floats) -> Floats:
        """Sum the chances of points strictly below each place; gives places x arms.

        Called by ``_win_by_points`` and ``_win_by_doubt``.
        """
        below = self.points[None] < x[:, None, None]
        found: Floats = (below * self.chances[None]).sum(axis=2)
        return found

    def find_start(self) -> float:
        """Find the place below which arms hardly ever win: too many have all points above it.

        Called by ``compute_propensities``.
        """
        places = np.unique(self.points)
        chances = np.prod(self.sum_below(places) + self.doubts, axis=1)
        light = np.flatnonzero(chances < _LIGHT)
        return float(places[light[-1]]) if light.size else 0.0


@final
@dataclass(frozen=True, eq=False)
class BetaGrid:
    """Places in pieces between points, with the Beta laws of all arms there.

    ``x`` are the places and ``weights`` what they count in an integral; ``below`` is the chance
    of each arm's Beta law below each place and ``densities`` its density there.
    """

    x: Floats
    weights: Floats
    below: Floats
    densities: Floats


def compute_propensities(table: Floats, weights: Floats) -> Floats:
    """Compute the chance of every arm, from what a decision kept of them.

    ``table`` is what ``tabulate_indices`` wrote, ``weights`` those of the taus. Called by
    ``Fused._make_scores`` when a propensity is read.
    """
    n_arms, n_taus, doubts = len(table), len(weights), table[:, DOUBT_CHANCE]
    own, at = table[:, OWN_CHANCE], FIRST_INDEX
    laws = [
        PointLaws(
            table[:, [at + tau, at + n_taus + tau]],
            np.stack([(1.0 - doubts) * (1.0 - own), (1.0 - doubts) * own], axis=1),
            doubts,
        )
        for tau in range(n_taus)
    ]
    heavy = [tau for tau in range(n_taus) if weights[tau] > _LIGHT]
    found = np.zeros(n_arms)
    grid = None
    if (doubts > 0.0).any():
        start = min(laws[tau].find_start() for tau in heavy)
        points = np.concatenate([laws[tau].points.ravel() for tau in heavy])
        grid = _lay_out_grid(table[:, BETA_WINS], table[:, BETA_LOSSES], points, start)
    for tau in heavy:
        found += weights[tau] * _win_by_points(laws[tau], table)
        if grid is not None:
            found += weights[tau] * _win_by_doubt(laws[tau], grid)
    found /= found.sum()
    return found


def _lay_out_grid(wins: Floats, losses: Floats, points: Floats, start: float) -> BetaGrid:
    """Lay out places between ``start`` and 1: pieces end at points and where laws are narrow.

    Called by ``compute_propensities`` once for all taus.
    """
    laws, place = np.unique(np.stack([wins, losses], axis=1), axis=0, return_inverse=True)
    a, b = laws[:, :1], laws[:, 1:]
    means = a / (a + b)
    deviations = np.sqrt(means * (1.0 - means) / (a + b + 1.0))
    ends = np.concatenate([points, (means + _OFFSETS * deviations).ravel()])
    ends = np.unique(np.concatenate([[start, 1.0], ends[(ends > start) & (ends < 1.0)]]))
    half = np.diff(ends)[:, None] / 2.0
    x = (ends[:-1, None] + half * (1.0 + _NODES)).ravel()
    logs = xlogy(a.T - 1.0, x[:, None]) + xlog1py(b.T - 1.0, -x[:, None]) - betaln(a, b).T
    return BetaGrid(
        x,
        (half * _GAUSS_WEIGHTS).ravel(),
        betainc(a.T, b.T, x[:, None])[:, place.ravel()],
        np.exp(logs)[:, place.ravel()],
    )


def _win_by_doubt(laws: PointLaws, grid: BetaGrid) -> Floats:
    """Compute for each arm the chance that it is doubted and wins by its Beta law.

    Called by ``compute_propensities`` for every tau.
    """
    below = laws.sum_below(grid.x) + laws.doubts * grid.below
    others = _multiply_others(below)
    found: Floats = laws.doubts * (grid.weights @ (grid.densities * others))
    return found


def _win_by_points(laws: PointLaws, table: Floats) -> Floats:
    """Compute for each arm the chance that it wins by one of its two points.

    Called by ``compute_propensities`` for every tau.
    """
    places = np.unique(laws.points[laws.chances > 0.0])
    below = laws.sum_below(places)
    at = ((laws.points[None] == places[:, None, None]) * laws.chances[None]).sum(axis=2)
    likely = np.prod(below + at + laws.doubts, axis=1) > _LIGHT
    places, below, at = places[likely], below[likely], at[likely]
    inside = np.clip(places, 0.0, 1.0)[:, None]
    beta = betainc(table[:, BETA_WINS], table[:, BETA_LOSSES], inside)
    below = below + np.where(laws.doubts > 0.0, laws.doubts * beta, 0.0)
    found = np.zeros(len(table))
    for i in range(len(places)):
        n_tied = int((at[i] > 0.0).sum())
        nodes, weights = np.polynomial.legendre.leggauss(n_tied // 2 + 1)
        chances = below[i] + (nodes[:, None] + 1.0) / 2.0 * at[i]
        found += at[i] * (weights / 2.0 @ _multiply_others(chances))
    return found


def _multiply_others(chances: Floats) -> Floats:
    """Multiply in each row the chances of all other arms, for every arm.

    Called by ``_win_by_points`` and ``_win_by_doubt``.

    >>> _multiply_others(np.array([[2.0, 3.0, 0.0]])).tolist()
    [[0.0, 0.0, 6.0]]
    """
    before, after = np.ones_like(chances), np.ones_like(chances)
    np.cumprod(chances[:, :-1], axis=1, out=before[:, 1:])
    after[:, :-1] = np.cumprod(chances[:, :0:-1], axis=1)[:, ::-1]
    return before * after
