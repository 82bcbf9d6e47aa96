"""Ridge models in compiled code: what a row is expected to earn, how sure, and learning it.

A model is a block of numbers in one flat array: its inverse, ``p`` rows of ``p`` numbers each,
its estimate, how many rows it has learned, then ``A`` and ``b``, the statistics that add up.
Rows are padded with zeros from ``d`` features to ``p``. Here ``m`` is where the block begins,
and ``at`` where the row in question does, in ``x``.
"""

import math

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compiled, inlined
from boundit.bandit.kernels.simd import LANES, fold, sweep


@inlined
def estimate_at(p: int) -> int:
    """Where in a block the estimate begins."""
    return p * p


@inlined
def version_at(p: int) -> int:
    """Where in a block the number of rows learned is."""
    return p * p + p


@inlined
def sums_at(p: int) -> int:
    """Where in a block the statistics begin, ``A`` and then ``b``."""
    return p * p + p + LANES


@compiled
def block_size(p: int) -> int:
    """How many numbers a model is."""
    return 2 * (p * p + p) + LANES


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
def expected(models: Floats, m: int, x: Floats, at: int, p: int) -> float:
    """``theta' x``."""
    return dot(models, m + estimate_at(p), x, at, p)


@inlined
def spread(models: Floats, m: int, x: Floats, at: int, d: int, work: Floats) -> float:
    """``sqrt(x' inverse(A) x)``, from the half of the inverse above its diagonal blocks."""
    p = work.size
    for j in range(0, p, LANES):
        sweep(work, j, models, m + j, p, x, at, j, min(j + LANES, d))
    return math.sqrt(max(dot(work, 0, x, at, p), 0.0))


@inlined
def see(
    models: Floats, m: int, x: Floats, at: int, d: int, reward: float, work: Floats
) -> None:
    """Take in one row by Sherman and Morrison, the estimate by what it did not foresee."""
    p = work.size
    for j in range(0, p, LANES):
        sweep(work, j, models, m + j, p, x, at, 0, d)
    share = 1.0 / (1.0 + dot(work, 0, x, at, p))
    surprise = (reward - expected(models, m, x, at, p)) * share
    for i in range(d):
        models[m + estimate_at(p) + i] += work[i] * surprise
    for i in range(d):
        for j in range(0, p, LANES):
            fold(models, m + i * p + j, work, i, j, share)
    models[m + version_at(p)] += 1.0


@compiled
def learn_row(models: Floats, m: int, x: Floats, at: int, d: int, reward: float) -> None:
    """Take in one row, with the statistics that add up: ``A += x x'`` and ``b += reward x``."""
    p = (d + LANES - 1) // LANES * LANES
    see(models, m, x, at, d, reward, np.empty(p))
    gram = m + sums_at(p)
    for i in range(d):
        models[gram + p * p + i] += reward * x[at + i]
        for j in range(d):
            models[gram + i * p + j] += x[at + i] * x[at + j]
