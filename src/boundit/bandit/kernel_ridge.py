"""Ridge models in compiled code: what a row is expected to earn, how sure, and learning it.

Models lie one after another in flat arrays, each padded to ``p`` numbers a row: model ``m`` has
its inverse at ``inverse[m p p:]`` and its estimate at ``theta[m p:]``. The row in question is
at ``x[at:at+p]``, of which the first ``d`` numbers are features and the rest zero.
"""

import math

import numpy as np

from boundit.bandit.compiled import compiled, inlined
from boundit.bandit.lanes import LANES, fold, sweep
from boundit.bandit.stage import Floats, Places


@inlined
def dot(one: Floats, a: int, two: Floats, b: int, n: int) -> float:
    """Multiply and add ``n`` numbers, a multiple of four, in four sums that are then joined."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(0, n, 4):
        s0 += one[a + j] * two[b + j]
        s1 += one[a + j + 1] * two[b + j + 1]
        s2 += one[a + j + 2] * two[b + j + 2]
        s3 += one[a + j + 3] * two[b + j + 3]
    return (s0 + s1) + (s2 + s3)


@inlined
def spread(inverse: Floats, m: int, x: Floats, at: int, d: int, work: Floats) -> float:
    """``sqrt(x' inverse(A) x)``, from the half of the inverse above its diagonal blocks."""
    p = work.size
    for j in range(0, p, LANES):
        sweep(work, j, inverse, m * p * p + j, p, x, at, j, min(j + LANES, d))
    return math.sqrt(max(dot(work, 0, x, at, p), 0.0))


@inlined
def see(
    inverse: Floats,
    theta: Floats,
    m: int,
    x: Floats,
    at: int,
    d: int,
    reward: float,
    work: Floats,
) -> None:
    """Take in one row by Sherman and Morrison, the estimate by what it did not foresee."""
    p = work.size
    for j in range(0, p, LANES):
        sweep(work, j, inverse, m * p * p + j, p, x, at, 0, d)
    share = 1.0 / (1.0 + dot(work, 0, x, at, p))
    surprise = (reward - dot(theta, m * p, x, at, p)) * share
    for i in range(d):
        theta[m * p + i] += work[i] * surprise
    for i in range(d):
        for j in range(0, p, LANES):
            fold(inverse, m * p * p + i * p + j, work, i, j, share)


@compiled
def learn_row(
    gram: Floats,
    moment: Floats,
    inverse: Floats,
    theta: Floats,
    version: Places,
    m: int,
    x: Floats,
    reward: float,
) -> None:
    """Take in one row, with the statistics that add up: ``A += x x'`` and ``b += reward x``.

    Here ``x`` has the features alone.
    """
    d = x.size
    p = (d + LANES - 1) // LANES * LANES
    row, work = np.zeros(p), np.empty(p)
    for i in range(d):
        row[i] = x[i]
    see(inverse, theta, m, row, 0, d, reward, work)
    for i in range(d):
        moment[m * p + i] += reward * x[i]
        for j in range(d):
            gram[m * p * p + i * p + j] += x[i] * x[j]
    version[m] += 1
