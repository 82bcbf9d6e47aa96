"""What a sum pays for its deviations: betting, Hoeffding, squares."""

from collections.abc import Callable
from itertools import product
from typing import TypeAlias

import numpy as np

from tests.bounds.claims.levels import Estimate
from tests.bounds.claims.logs import Floats

Payer: TypeAlias = Callable[[Estimate, float], Floats]
"""For every log, the mean over orders of ``exp(-penalty)`` of the last level."""


def lose_by_bet(u: Floats) -> Floats:
    """What a bet costs: ``u - log(1 + u)``."""
    return u - np.log1p(u)


def weigh_squares(s: Floats) -> Floats:
    """The factor of squares, ``-log(1 - s) - s``, infinite from 1 on."""
    return np.where(s < 1, -np.log1p(-np.minimum(s, 1 - 1e-12)) - s, np.inf)


def scale_cells(estimate: Estimate, place: int, factor: float) -> tuple[Floats, Floats]:
    """Find the rows and the scale ``factor * weight / rows`` of every seen cell of a level."""
    rows = np.broadcast_to(estimate.rows[place], estimate.weigh(place).shape)
    scale = factor * estimate.weigh(place)
    return rows, np.divide(scale, rows, out=np.zeros_like(scale), where=rows > 0)


def pay_hoeffding(estimate: Estimate, place: int, factor: float) -> Floats:
    """Pay for a level by its range alone."""
    rows, scale = scale_cells(estimate, place, factor)
    found: Floats = (rows * scale**2 / 8).reshape(len(rows), -1).sum(axis=1)
    return found


def pay_spread(estimate: Estimate, place: int, factor: float) -> Floats:
    """Pay for a level by the true spread of its value; infinite where a scale reaches 1."""
    rows, scale = scale_cells(estimate, place, factor)
    used = scale > 0
    cost = np.where(used, weigh_squares(scale), 0.0)
    spread = np.where(used, np.maximum(estimate.spread(place), 1e-300), 0.0)
    found: Floats = (rows * cost * spread).reshape(len(rows), -1).sum(axis=1)
    return found


def bet_in_cell(
    rows: Floats, hits: Floats, scale: Floats, guess: float, *, worth: float, renew: bool
) -> Floats:
    """Average ``exp(-cost)`` of bets on 0/1 rewards over all orders of a cell's rows.

    The guess is a first guess worth some rows and then the running mean, renewed at every row
    or, without ``renew``, whenever the rows seen have doubled.
    """
    found = np.ones_like(scale)
    cap = 0.9 / np.maximum(scale, 1e-12)
    for total in range(1, int(rows.max(initial=0)) + 1):
        here = np.flatnonzero((rows == total) & (scale > 0))
        if not here.size:
            continue
        sums, orders = np.zeros((total + 1, here.size)), np.zeros(total + 1)
        for order in product((0, 1), repeat=total):
            cost = np.zeros(here.size)
            seen = ones = 0
            for t, reward in enumerate(order):
                if renew or t & (t + 1) == 0:
                    seen, ones = t, sum(order[:t])
                mean = (worth * guess + ones) / (worth + seen) if worth + seen else guess
                y = np.minimum(mean, cap[here])
                cost += lose_by_bet(scale[here] * (reward - y))
            sums[sum(order)] += np.exp(-cost)
            orders[sum(order)] += 1
        k = hits[here].astype(int)
        found[here] = sums[k, np.arange(here.size)] / orders[k]
    return found


def bet(guess: float, *, worth: float = 2.0, renew: bool = True) -> Payer:
    """Make the betting payer with a first guess."""

    def pay(estimate: Estimate, factor: float) -> Floats:
        place = len(estimate.rows) - 1
        rows, scale = scale_cells(estimate, place, factor)
        flat = [
            np.broadcast_to(table, scale.shape).reshape(len(scale), -1)
            for table in (rows, estimate.hits[-1][:, 1], scale)
        ]
        found = np.ones(len(scale))
        for cell in range(flat[0].shape[1]):
            n, k, s = (table[:, cell] for table in flat)
            found *= bet_in_cell(n, k, s, guess, worth=worth, renew=renew)
        return found

    return pay


def add_squares(rows: Floats, total: Floats, squares: Floats, guess: Floats) -> Floats:
    """Average over all orders of a cell the sum of ``(reward - running mean)**2``.

    The running mean holds the guess as one row. By the moments of draws without replacement:
    before draw ``t`` the ``t - 1`` earlier ones have pairwise mean product ``r``.
    """
    n = np.maximum(rows, 1)
    one, two = total / n, squares / n
    pair = np.where(rows > 1, (total**2 - squares) / (n * np.maximum(n - 1, 1)), 0.0)
    found = np.zeros_like(rows)
    for t in range(1, int(rows.max(initial=0)) + 1):
        before = t - 1
        cross = (guess * one + before * pair) / t
        mean_square = (
            guess**2 + 2 * guess * before * one + before * two + before * (before - 1) * pair
        ) / t**2
        found += np.where(t <= rows, two - 2 * cross + mean_square, 0.0)
    return np.maximum(found, 0.0)


def pay_squares(estimate: Estimate, factor: float) -> Floats:
    """Pay by squares around running means; where a scale reaches 1, by Hoeffding.

    The first guess in a cell is the mean of all cells before it, 1/2 at the start.
    """
    rows, scale = scale_cells(estimate, len(estimate.rows) - 1, factor)
    rewards = np.array(estimate.form.rewards)
    hits = estimate.hits[-1]
    flat = [
        np.broadcast_to(table, scale.shape).reshape(len(scale), -1)
        for table in (
            rows,
            np.tensordot(hits, rewards, axes=(1, 0)),
            np.tensordot(hits, rewards**2, axes=(1, 0)),
            scale,
        )
    ]
    n, one, two, s = flat
    guess = (np.cumsum(one, axis=1) - one + 0.5) / (np.cumsum(n, axis=1) - n + 1)
    q = np.stack(
        [add_squares(n[:, i], one[:, i], two[:, i], guess[:, i]) for i in range(n.shape[1])],
        axis=1,
    )
    small = np.where(s < 0.95, s, 0.0)
    cost = np.where(s < 0.95, weigh_squares(small) * q, n * s**2 / 8)
    found: Floats = np.exp(-cost.sum(axis=1))
    return found


def pay_range(estimate: Estimate, factor: float) -> Floats:
    """Pay for the last level by its range alone."""
    return np.exp(-pay_hoeffding(estimate, len(estimate.rows) - 1, factor))
