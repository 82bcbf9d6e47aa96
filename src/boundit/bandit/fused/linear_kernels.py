r"""Ridge models of a plan's cells in compiled code: Beta laws for a visitor, and learning.

With rewards from 0 to 1, and one half as what is expected at first, a model says that the mean
of a cell is :math:`x = 1/2 + \theta' \phi`, with the variance
:math:`\phi' A^{-1} \phi / 4`: no reward from 0 to 1 has a larger one. A Beta law with these
moments stands for the cell, so that all else goes as it does with counts.
"""

import math

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.fused.arrays import FusedCounts, FusedLayout
from boundit.bandit.fused.learn import count_round, expect_by_cells
from boundit.bandit.fused.linear_layout import LinearLayout
from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit.bandit.kernels.dense import dot, factor, solve_cholesky

LEAST_TRIALS = 2.0
"""A Beta law of a cell is never wider than the one of nothing known."""


@compile_kernel
def predict_linear(
    linear: LinearLayout, moments: Floats, model: int, tau: int, n_kinds: int, x: Floats
) -> tuple[float, float]:
    """Predict the mean reward at a row of features, and say how far the model is from sure.

    Gives ``theta' x + 1/2`` and ``x' inverse(A) x``, by rounds that showed all and, with two
    kinds, by guesses too.
    """
    d, mask, n_leaves = x.size, linear.masks[model], moments.shape[2]
    gram, total = linear.grams[tau, model].copy(), linear.sums[tau, model].copy()
    for m in range(linear.starts[model], linear.starts[model + 1]):
        arm, leaf = linear.members[m] // n_leaves, linear.members[m] % n_leaves
        for kind in range(n_kinds):
            for i in range(d):
                for j in range(d):
                    gram[i, j] += mask[i] * mask[j] * moments[kind, arm, leaf, i, j]
                total[i] += mask[i] * moments[kind, arm, leaf, i, d]
    low, at = factor(gram), x * mask
    turned = solve_cholesky(low, at)
    return 0.5 + dot(turned, total), dot(turned, at)


@inline_kernel
def match_beta(mean: float, spread: float) -> tuple[float, float]:
    """Give the Beta law with the mean of a model and a quarter of its spread as variance.

    A mean at 0 or 1 is moved inside as far as so many rows without a reward, or with one each,
    would leave it.
    """
    least = spread / (1.0 + 2.0 * spread)
    mean = min(max(mean, least), 1.0 - least)
    trials = max(4.0 * mean * (1.0 - mean) / spread - 1.0, LEAST_TRIALS)
    return mean * trials, (1.0 - mean) * trials


@compile_kernel
def write_cells(
    layout: FusedLayout, linear: LinearLayout, moments: Floats, pairs: Floats, x: Floats
) -> None:
    """Write the Beta laws of the cells of some pairs, under each tau, for a visitor.

    ``x`` are the features of the visitor's context.
    """
    for row in range(pairs.size):
        pair = int(pairs[row])
        if pair < 0 or pair >= linear.models.shape[0]:
            continue
        for leaf in range(linear.models.shape[1]):
            cell = layout.cells[pair, leaf]
            for tau in range(layout.wins.shape[0]):
                found = predict_linear(linear, moments, linear.models[pair, leaf], tau, 2, x)
                wins, losses = match_beta(found[0], found[1])
                layout.wins[tau, cell], layout.losses[tau, cell] = wins, losses


@compile_kernel
def weigh_reward(
    linear: LinearLayout, moments: Floats, model: int, reward: float, x: Floats, chances: Floats
) -> None:
    """Write how likely a model finds a reward under each tau, by what rounds showed alone.

    By normal laws of variance 1/4, which no mean of rewards from 0 to 1 escapes oftener: so
    their product is the same in any order, and can be had from sums.
    """
    for tau in range(chances.size):
        mean, spread = predict_linear(linear, moments, model, tau, 1, x)
        gap = reward - mean
        chances[tau] = math.exp(-2.0 * gap * gap / (1.0 + spread)) / math.sqrt(1.0 + spread)


@inline_kernel
def add_row(found: Floats, share: float, reward: float, x: Floats) -> None:
    """Add a share of a round to the moments of an arm and leaf."""
    for i in range(x.size):
        for j in range(x.size):
            found[i, j] += share * x[i] * x[j]
        found[i, x.size] += share * (reward - 0.5) * x[i]


@inline_kernel
def share_row(
    found: Floats, may_be: NDArray[np.bool_], parts: Floats, reward: float, x: Floats
) -> None:
    """Share a round among the leaves that it may have ended in, by how likely each is.

    ``parts`` has that for every leaf.
    """
    total = 0.0
    for leaf in range(may_be.size):
        total += parts[leaf] if may_be[leaf] else 0.0
    for leaf in range(may_be.size):
        if may_be[leaf]:
            add_row(found[leaf], parts[leaf] / total, reward, x)


@compile_kernel
def learn_linear(
    layout: FusedLayout,
    counts: FusedCounts,
    shown: FusedLayout,
    shown_counts: FusedCounts,
    linear: LinearLayout,
    moments: Floats,
    pair: int,
    reward: float,
    leaf: int,
    may_be: NDArray[np.bool_],
    predicted: tuple[float, float],
    x: Floats,
    scratch: Floats,
) -> None:
    """Learn one round as ``learn_round`` does, with models of the cells.

    ``shown`` has the Beta laws for the round's context.
    """
    chances = np.ones(counts.taus.shape[0])
    if pair < linear.models.shape[0]:
        by_cells = expect_by_cells(shown, shown_counts, pair, reward, scratch)
        predicted = predicted if predicted[0] >= 0.0 else by_cells
        if leaf >= 0:
            model = linear.models[pair, leaf]
            weigh_reward(linear, moments, model, reward, x, chances)
            add_row(moments[0, linear.arms[pair], leaf], 1.0, reward, x)
        else:
            parts = scratch[1, layout.starts.size - 1 :]
            share_row(moments[1, linear.arms[pair]], may_be, parts, reward, x)
    count_round(layout, counts, pair, reward, leaf, may_be, predicted, chances, scratch[1])
