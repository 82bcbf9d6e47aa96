"""Ridge models in compiled code: what a row is expected to earn, how sure, and learning it.

A model is a block of numbers in one flat array: its inverse, ``p`` rows of ``p`` numbers each,
its estimate, how many rows it has learned, then ``A`` and ``b``, the statistics that add up.
Rows are padded with zeros from ``d`` features to ``p``. Here ``m`` is where the block begins,
and ``at`` where the row in question does, in ``x``.
"""

import math

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.simd import LANES, subtract_outer, sum_rows


@inline_kernel
def locate_estimate(p: int) -> int:
    """Where in a block the estimate begins."""
    return p * p


@inline_kernel
def locate_version(p: int) -> int:
    """Where in a block the number of rows learned is."""
    return p * p + p


@inline_kernel
def locate_statistics(p: int) -> int:
    """Where in a block the statistics begin, ``A`` and then ``b``."""
    return p * p + p + LANES


@compile_kernel
def compute_block_size(p: int) -> int:
    """How many numbers a model is."""
    return 2 * (p * p + p) + LANES


@inline_kernel
def dot_padded(one: Floats, a: int, two: Floats, b: int, n: int) -> float:
    """Multiply and add ``n`` numbers, a multiple of four, in four sums that are then joined."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(0, n, 4):
        s0 += one[a + j] * two[b + j]
        s1 += one[a + j + 1] * two[b + j + 1]
        s2 += one[a + j + 2] * two[b + j + 2]
        s3 += one[a + j + 3] * two[b + j + 3]
    return (s0 + s1) + (s2 + s3)


@inline_kernel
def predict_mean(models: Floats, m: int, x: Floats, at: int, p: int) -> float:
    """``theta' x``."""
    return dot_padded(models, m + locate_estimate(p), x, at, p)


@inline_kernel
def compute_spread(
    models: Floats, m: int, x: Floats, at: int, d: int, scratch: Floats
) -> float:
    """``sqrt(x' inverse(A) x)``, from the half of the inverse above its diagonal blocks."""
    p = scratch.size
    for j in range(0, p, LANES):
        sum_rows(scratch, j, models, m + j, p, x, at, j, min(j + LANES, d))
    return math.sqrt(max(dot_padded(scratch, 0, x, at, p), 0.0))


@inline_kernel
def update_model(
    models: Floats, m: int, x: Floats, at: int, d: int, reward: float, scratch: Floats
) -> None:
    """Take in one row by Sherman and Morrison, the estimate by what it did not foresee."""
    p = scratch.size
    for j in range(0, p, LANES):
        sum_rows(scratch, j, models, m + j, p, x, at, 0, d)
    share = 1.0 / (1.0 + dot_padded(scratch, 0, x, at, p))
    surprise = (reward - predict_mean(models, m, x, at, p)) * share
    for i in range(d):
        models[m + locate_estimate(p) + i] += scratch[i] * surprise
    for i in range(d):
        for j in range(0, p, LANES):
            subtract_outer(models, m + i * p + j, scratch, i, j, share)
    models[m + locate_version(p)] += 1.0


@compile_kernel
def learn_row(models: Floats, m: int, x: Floats, at: int, d: int, reward: float) -> None:
    """Take in one row, with the statistics that add up: ``A += x x'`` and ``b += reward x``."""
    p = (d + LANES - 1) // LANES * LANES
    update_model(models, m, x, at, d, reward, np.empty(p))
    gram = m + locate_statistics(p)
    for i in range(d):
        models[gram + p * p + i] += reward * x[at + i]
        for j in range(d):
            models[gram + i * p + j] += x[at + i] * x[at + j]
