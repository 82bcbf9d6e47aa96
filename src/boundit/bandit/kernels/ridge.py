"""Ridge models in compiled code: what a row is expected to earn, how sure, and learning it.

A model is a block of numbers in one flat array: its inverse, ``p`` rows of ``p`` numbers each,
its estimate, how many rows it has learned, then ``A`` and ``b``, the statistics that add up.
Rows are padded with zeros from ``d`` features to ``p``. Here ``model`` is where the
block begins, and ``row`` where the row in question does, in ``x``.
"""

import math

import numpy as np

from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.simd import LANES, subtract_outer, sum_rows


@inline_kernel
def locate_estimate(p: int) -> int:
    """Give where the estimate ``theta`` lies in a ridge model's block of numbers.

    As an offset; the model has ``p`` columns.
    """
    return p * p


@inline_kernel
def locate_version(p: int) -> int:
    """Give the offset, in a model's block of numbers, of how many rows it has learned.

    A score is of one such version of a model.
    """
    return p * p + p


@inline_kernel
def locate_statistics(p: int) -> int:
    """Give where the sums ``A`` and ``b`` lie in a ridge model's block of numbers.

    As an offset; the model has ``p`` columns.
    """
    return p * p + p + LANES


@compile_kernel
def compute_block_size(p: int) -> int:
    """Compute how many numbers the block of a ridge model with ``p`` columns has."""
    return 2 * (p * p + p) + LANES


@inline_kernel
def dot_padded(one: Floats, a: int, two: Floats, b: int, n: int) -> float:
    """Compute the dot product of two rows of ``n`` numbers, ``n`` a multiple of eight.

    In four sums, which is quicker.
    """
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(0, n, 4):
        s0 += one[a + j] * two[b + j]
        s1 += one[a + j + 1] * two[b + j + 1]
        s2 += one[a + j + 2] * two[b + j + 2]
        s3 += one[a + j + 3] * two[b + j + 3]
    return (s0 + s1) + (s2 + s3)


@inline_kernel
def predict_mean(models: Floats, model: int, x: Floats, row: int, p: int) -> float:
    """Predict the mean reward of one row of features, ``theta' x``."""
    return dot_padded(models, model + locate_estimate(p), x, row, p)


@inline_kernel
def compute_spread(
    models: Floats, model: int, x: Floats, row: int, d: int, scratch: Floats
) -> float:
    """Compute how uncertain a ridge model is of one row: ``sqrt(x' inverse(A) x)``.

    From half of the inverse, which is symmetric.
    """
    p = scratch.size
    for j in range(0, p, LANES):
        sum_rows(scratch, j, models, model + j, p, x, row, j, min(j + LANES, d))
    return math.sqrt(max(dot_padded(scratch, 0, x, row, p), 0.0))


@inline_kernel
def update_model(
    models: Floats, model: int, x: Floats, row: int, d: int, reward: float, scratch: Floats
) -> None:
    """Update a model's inverse (Sherman and Morrison) and its estimate by one row and reward."""
    p = scratch.size
    for j in range(0, p, LANES):
        sum_rows(scratch, j, models, model + j, p, x, row, 0, d)
    share = 1.0 / (1.0 + dot_padded(scratch, 0, x, row, p))
    surprise = (reward - predict_mean(models, model, x, row, p)) * share
    for i in range(d):
        models[model + locate_estimate(p) + i] += scratch[i] * surprise
    for i in range(d):
        for j in range(0, p, LANES):
            subtract_outer(models, model + i * p + j, scratch, i, j, share)
    models[model + locate_version(p)] += 1.0


@compile_kernel
def learn_row(models: Floats, model: int, x: Floats, row: int, d: int, reward: float) -> None:
    """Let a ridge model learn one row of features and its reward.

    Inverse, estimate and the sums ``A += x x'``, ``b += reward x`` (Algorithm 4 of the paper,
    LinUCB, line 14).
    """
    p = (d + LANES - 1) // LANES * LANES
    update_model(models, model, x, row, d, reward, np.empty(p))
    gram = model + locate_statistics(p)
    for i in range(d):
        models[gram + p * p + i] += reward * x[row + i]
        for j in range(d):
            models[gram + i * p + j] += x[row + i] * x[row + j]


@compile_kernel
def learn_rows(
    models: Floats, slots: Places, x: Floats, places: Places, d: int, rewards: Floats
) -> None:
    """Let ridge models learn several rewards in their order.

    The reward's place says which of the rows in ``x`` it is, and in which slot its model lies.
    """
    p = (d + LANES - 1) // LANES * LANES
    for i in range(rewards.size):
        learn_row(models, slots[places[i]], x, places[i] * p, d, rewards[i])
