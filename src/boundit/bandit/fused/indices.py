r"""The index of an arm given one tau, in compiled code: by cells and pools, or by particles.

An arm's mean is :math:`\mu = \sum_w p_w x_w`, with weights :math:`p` from a Dirichlet law of
:math:`N` rounds and rows and :math:`x` from Beta laws. Given independent parts its variance is
exactly

.. math:: \sum_w (p_w^2 + p_w (1-p_w)/(N+1)) \, var(x_w) + (\sum_w p_w x_w^2 - \mu^2)/(N+1),

and a chain of weights applies this backwards. Where two branches end in the same cell or go by
the same law, they vary together: what this adds is taken from the slopes of the mean, summed up
for every cell and law.
"""

import math

from boundit.bandit.fused.arrays import (
    BIAS_EVIDENCE,
    GUESSED,
    GUESSED_LOSSES,
    GUESSED_WINS,
    LOSSES,
    OWN_EVIDENCE,
    SEEN,
    SEEN_LOSSES,
    SEEN_WINS,
    WINS,
    FusedCounts,
    FusedLayout,
)
from boundit.bandit.fused.particles import ParticleCounts, ParticleLaws
from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel

NEGLIGIBLE = 1e-6
"""Particles of less weight are left out of an index."""


@inline_kernel
def compute_chance(base: float, evidence: float) -> float:
    """Compute the chance of what had the log odds ``base`` before the evidence."""
    return 1.0 / (1.0 + math.exp(-(base + evidence)))


@inline_kernel
def weigh_edge(
    layout: FusedLayout,
    counts: FusedCounts,
    pair: int,
    tau: int,
    node: int,
    edge: int,
    own: bool,  # noqa: FBT001
) -> float:
    """Give the Dirichlet count of one edge of a pair's tree: by its pool, or by itself alone."""
    if own:
        return float(1.0 + counts.own[pair, edge])
    place = layout.pools[pair, node] + edge - layout.starts[node]
    found = counts.pools[place, SEEN] + counts.pools[place, GUESSED]
    return float(layout.weights[tau, place] + found)


@compile_kernel
def sum_up(
    layout: FusedLayout,
    counts: FusedCounts,
    pair: int,
    tau: int,
    own: bool,  # noqa: FBT001
    scratch: Floats,
) -> tuple[float, float]:
    """Sum up mean and variance of what a pair earns, from the leaves of its tree backwards.

    ``scratch`` has rows for means, variances, counts of edges and of nodes, reach and slopes.
    """
    n_nodes, cells = layout.starts.size - 1, counts.cells
    for leaf in range(layout.cells.shape[1]):
        c = layout.cells[pair, leaf]
        wins = layout.wins[tau, c] + cells[c, SEEN_WINS] + cells[c, GUESSED_WINS]
        n = wins + layout.losses[tau, c] + cells[c, SEEN_LOSSES] + cells[c, GUESSED_LOSSES]
        x = wins / n
        scratch[0, n_nodes + leaf], scratch[1, n_nodes + leaf] = x, x * (1.0 - x) / (n + 1.0)
    for node in range(n_nodes - 1, -1, -1):
        first, last, n = layout.starts[node], layout.starts[node + 1], 0.0
        for e in range(first, last):
            scratch[2, e] = weigh_edge(layout, counts, pair, tau, node, e, own)
            n += scratch[2, e]
        mean, square, inner = 0.0, 0.0, 0.0
        for e in range(first, last):
            p, x, v = scratch[2, e] / n, scratch[0, e + 1], scratch[1, e + 1]
            mean += p * x
            square += p * x * x
            inner += (p * p + p * (1.0 - p) / (n + 1.0)) * v
        scratch[0, node], scratch[3, node] = mean, n
        scratch[1, node] = inner + max(square - mean * mean, 0.0) / (n + 1.0)
    if n_nodes > 0 and layout.tied[pair, 0]:
        return scratch[0, 0], scratch[1, 0] + sum_shared(layout, pair, own, scratch)
    return scratch[0, 0], scratch[1, 0]


@compile_kernel
def sum_shared(layout: FusedLayout, pair: int, own: bool, scratch: Floats) -> float:  # noqa: FBT001
    """Sum up what a pair's variance gains as some cells and laws come twice in its tree.

    By the slopes of the mean, all of one cell or law together less each by itself; own weights
    are never shared.
    """
    n_nodes, size = layout.starts.size - 1, layout.twins.shape[1]
    reach, slopes, more = scratch[4], scratch[5], 0.0
    reach[0], slopes[:size] = 1.0, 0.0
    for node in range(n_nodes):
        n, to = scratch[3, node], node if own else layout.twins[pair, node]
        first, last, shift = layout.starts[node], layout.starts[node + 1], layout.starts[to]
        mean, square = 0.0, 0.0
        for e in range(first, last):
            p, slope = scratch[2, e] / n, reach[node] * scratch[0, e + 1]
            reach[e + 1] = reach[node] * p
            slopes[shift + e - first] += slope
            mean += p * slope
            square += p * slope * slope
        more -= (square - mean * mean) / (n + 1.0)
    for node in range(n_nodes):
        if own or layout.twins[pair, node] == node:
            n, mean, square = scratch[3, node], 0.0, 0.0
            for e in range(layout.starts[node], layout.starts[node + 1]):
                p = scratch[2, e] / n
                mean += p * slopes[e]
                square += p * slopes[e] * slopes[e]
            more += (square - mean * mean) / (n + 1.0)
    slopes[:size] = 0.0
    for leaf in range(n_nodes, size):
        slopes[layout.twins[pair, leaf]] += reach[leaf]
        more -= reach[leaf] * reach[leaf] * scratch[1, leaf]
    for leaf in range(n_nodes, size):
        more += slopes[leaf] * slopes[leaf] * scratch[1, leaf]
    return more


@inline_kernel
def score_pair(
    layout: FusedLayout,
    counts: FusedCounts,
    pair: int,
    tau: int,
    own: bool,  # noqa: FBT001
    reach: float,
    scratch: Floats,
) -> float:
    """Give the index of a pair under one tau: its mean and ``reach`` deviations more.

    A pair that the plan does not know has its own rewards alone.
    """
    if pair < layout.cells.shape[0] and pair >= 0:
        mean, variance = sum_up(layout, counts, pair, tau, own, scratch)
        return mean + reach * math.sqrt(variance)
    wins, n = 1.0, 2.0
    if pair >= 0:
        wins += counts.pairs[pair, WINS]
        n += counts.pairs[pair, WINS] + counts.pairs[pair, LOSSES]
    x = wins / n
    return x + reach * math.sqrt(x * (1.0 - x) / (n + 1.0))


@inline_kernel
def average_logs(one: float, two: float) -> float:
    """Give the log of the mean of two numbers from their logs."""
    top = max(one, two)
    return top + math.log(0.5 * (math.exp(one - top) + math.exp(two - top)))


@inline_kernel
def weigh_shifts(evidence: Floats) -> float:
    """Give the log of the evidence for some shift, all of which are as likely at first."""
    top, total = evidence.max(), 0.0
    for i in range(evidence.size):
        total += math.exp(evidence[i] - top)
    return float(top + math.log(total / evidence.size))


@inline_kernel
def write_doubts(
    layout: FusedLayout, counts: FusedCounts, pair: int, log_odds: float
) -> tuple[float, float]:
    """Give the chances that what is fused is wrong for a pair, and that its weights are own.

    Both are 0 for a pair that the plan does not know; ``log_odds`` are those at first. What is
    fused may be wrong for the pair alone, or for its arm in all contexts.
    """
    if pair < 0 or pair >= layout.cells.shape[0]:
        return 0.0, 0.0
    alone, whole = counts.shifts[pair], counts.shifts[layout.arms[pair]]
    # That a pair is wrong has two forms: its mean is anything, or higher by a shift.
    evidence = average_logs(counts.pairs[pair, BIAS_EVIDENCE], weigh_shifts(alone))
    doubt = compute_chance(log_odds, evidence)
    doubt += (1.0 - doubt) * compute_chance(log_odds, weigh_shifts(whole))
    own = compute_chance(log_odds, counts.pairs[pair, OWN_EVIDENCE])
    return doubt, own if layout.starts.size > 1 else 0.0


@inline_kernel
def score_by_particles(
    laws: ParticleLaws, learned: ParticleCounts, pair: int, tau: int, reach: float
) -> float:
    """Give the index of a pair under one tau, by particles: of their mixture."""
    unit = laws.units[pair]
    group, won, lost = laws.groups[unit], learned.units[unit, 0], learned.units[unit, 1]
    mean, square, total = 0.0, 0.0, 0.0
    for j in range(laws.wins.shape[2]):
        weight = learned.weights[tau, group, j]
        if weight > NEGLIGIBLE:
            n = laws.trials[tau, unit, j] + won + lost
            x = (laws.wins[tau, unit, j] + won) / n
            total += weight
            mean += weight * x
            square += weight * (x * x + x * (1.0 - x) / (n + 1.0))
    mean /= total
    return mean + reach * math.sqrt(max(square / total - mean * mean, 0.0))


@inline_kernel
def score_fused(
    layout: FusedLayout,
    counts: FusedCounts,
    laws: ParticleLaws,
    learned: ParticleCounts,
    by_particles: bool,  # noqa: FBT001
    pair: int,
    tau: int,
    own: bool,  # noqa: FBT001
    reach: float,
    scratch: Floats,
) -> float:
    """Give the index of a pair under one tau: by cells and pools, or by particles."""
    if by_particles and 0 <= pair < layout.cells.shape[0]:
        return score_by_particles(laws, learned, pair, tau, reach)
    return score_pair(layout, counts, pair, tau, own, reach, scratch)
