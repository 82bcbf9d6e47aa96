"""What the fused policy learns from a round, in compiled code.

All predictions are made before the round is counted. A round that shows the variables of the
plan counts in its cell and in its pools. Of one that does not, every leaf takes the share that
it probably has: these guesses are kept apart, and no evidence is made of them.
"""

import math

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.fused.arrays import (
    BIAS_EVIDENCE,
    GUESSED,
    GUESSED_LOSSES,
    GUESSED_WINS,
    LOG_WEIGHT,
    LOSSES,
    N_LEARNED,
    N_SEEN,
    OWN_EVIDENCE,
    SEEN,
    SEEN_LOSSES,
    SEEN_WINS,
    SHIFTS,
    WEIGHT,
    WINS,
    FusedCounts,
    FusedLayout,
)
from boundit.bandit.fused.indices import weigh_edge
from boundit.bandit.fused.particles import LEAST_WEIGHT, ParticleCounts, ParticleLaws
from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel


@inline_kernel
def predict_reward(reward: float, wins: float, losses: float) -> float:
    """Predict a reward from 0 to 1 by a Beta law: the mean of ``p^y (1-p)^(1-y)``."""
    if reward == 1.0:
        return wins / (wins + losses)
    if reward == 0.0:
        return losses / (wins + losses)
    after = math.lgamma(wins + reward) + math.lgamma(losses + 1.0 - reward)
    before = math.lgamma(wins) + math.lgamma(losses)
    return math.exp(after - before) / (wins + losses)


@inline_kernel
def sum_chances(
    layout: FusedLayout, counts: FusedCounts, pair: int, tau: int, chances: Floats
) -> None:
    """Write the chance of every node and leaf of a pair's tree, from the first node on."""
    chances[0] = 1.0
    for node in range(layout.starts.size - 1):
        n = 0.0
        for e in range(layout.starts[node], layout.starts[node + 1]):
            chances[e + 1] = weigh_edge(layout, counts, pair, tau, node, e, own=False)
            n += chances[e + 1]
        for e in range(layout.starts[node], layout.starts[node + 1]):
            chances[e + 1] *= chances[node] / n


@compile_kernel
def predict_by_cells(
    layout: FusedLayout, counts: FusedCounts, pair: int, reward: float, scratch: Floats
) -> float:
    """Predict the reward of a pair by its cells and pools, over all taus.

    Leaves in ``scratch[1]`` how much each leaf adds to it.
    """
    n_nodes, total = layout.starts.size - 1, 0.0
    scratch[1] = 0.0
    for tau in range(counts.taus.shape[0]):
        sum_chances(layout, counts, pair, tau, scratch[0])
        for leaf in range(layout.cells.shape[1]):
            c = layout.cells[pair, leaf]
            wins = counts.cells[c, SEEN_WINS] + counts.cells[c, GUESSED_WINS]
            losses = counts.cells[c, SEEN_LOSSES] + counts.cells[c, GUESSED_LOSSES]
            chance = predict_reward(
                reward, layout.wins[tau, c] + wins, layout.losses[tau, c] + losses
            )
            part = counts.taus[tau, WEIGHT] * scratch[0, n_nodes + leaf] * chance
            scratch[1, n_nodes + leaf] += part
            total += part
    return total


@compile_kernel
def expect_by_cells(
    layout: FusedLayout, counts: FusedCounts, pair: int, reward: float, scratch: Floats
) -> tuple[float, float]:
    """Predict the reward of a pair by its cells and pools, and give the mean they expect.

    Leaves in ``scratch[1]`` how much each leaf adds to the first.
    """
    mean = -1.0
    if 0.0 < reward < 1.0:
        mean = predict_by_cells(layout, counts, pair, 1.0, scratch)
    chance = predict_by_cells(layout, counts, pair, reward, scratch)
    if mean < 0.0:
        mean = chance if reward == 1.0 else 1.0 - chance
    return chance, mean


@inline_kernel
def judge_shifts(evidence: Floats, reward: float, mean: float) -> None:
    """Weigh whether what a pair or an arm earns is higher by each shift, by one reward.

    ``mean`` is what was expected of it. If that is right, each number averages to a factor of
    at most 1, whatever the law of the reward.
    """
    for i in range(evidence.size):
        odds = math.exp(SHIFTS[i])
        evidence[i] += SHIFTS[i] * reward - math.log(1.0 - mean + mean * odds)


@compile_kernel
def learn_seen(
    layout: FusedLayout,
    counts: FusedCounts,
    pair: int,
    reward: float,
    leaf: int,
    chances: Floats,
) -> None:
    """Count a round that showed its leaf, and judge taus and pool by it.

    By seen counts alone; ``chances`` are those of its reward under each tau.
    """
    n_nodes, taus, c = layout.starts.size - 1, counts.taus, layout.cells[pair, leaf]
    by_pool, by_own, top = 0.0, 1.0, -np.inf
    for tau in range(taus.shape[0]):
        path, element, by_own = 1.0, n_nodes + leaf, 1.0
        while element > 0:
            edge, node = element - 1, layout.parents[element - 1]
            first, n, n_own = layout.starts[node], 0.0, 0.0
            at = layout.pools[pair, node]
            for e in range(first, layout.starts[node + 1]):
                n += layout.weights[tau, at + e - first] + counts.pools[at + e - first, SEEN]
                n_own += 1.0 + counts.own[pair, e]
            place = at + edge - first
            path *= (layout.weights[tau, place] + counts.pools[place, SEEN]) / n
            by_own *= (1.0 + counts.own[pair, edge]) / n_own
            element = node
        by_pool += taus[tau, WEIGHT] * path
        taus[tau, LOG_WEIGHT] += math.log(path * chances[tau])
        top = max(top, taus[tau, LOG_WEIGHT])
    counts.pairs[pair, OWN_EVIDENCE] += math.log(by_own) - math.log(by_pool)
    normalize_weights(taus, top)
    element = n_nodes + leaf
    while element > 0:
        edge, node = element - 1, layout.parents[element - 1]
        counts.pools[layout.pools[pair, node] + edge - layout.starts[node], SEEN] += 1.0
        counts.own[pair, edge] += 1.0
        element = node
    counts.cells[c, SEEN_WINS] += reward
    counts.cells[c, SEEN_LOSSES] += 1.0 - reward
    counts.leaves[pair, leaf, SEEN_WINS] += reward
    counts.leaves[pair, leaf, SEEN_LOSSES] += 1.0 - reward


@inline_kernel
def normalize_weights(taus: Floats, top: float) -> None:
    """Make weights that add up to one of log weights, of which ``top`` is the highest."""
    total = 0.0
    for tau in range(taus.shape[0]):
        taus[tau, LOG_WEIGHT] -= top
        taus[tau, WEIGHT] = math.exp(taus[tau, LOG_WEIGHT])
        total += taus[tau, WEIGHT]
    for tau in range(taus.shape[0]):
        taus[tau, WEIGHT] /= total


@compile_kernel
def learn_guessed(
    layout: FusedLayout,
    counts: FusedCounts,
    pair: int,
    reward: float,
    may_be: NDArray[np.bool_],
    parts: Floats,
) -> None:
    """Share a round among the leaves that it may have ended in, by how likely each is.

    ``parts`` has that for every element of the tree.
    """
    n_nodes, total = layout.starts.size - 1, 0.0
    for leaf in range(may_be.size):
        total += parts[n_nodes + leaf] if may_be[leaf] else 0.0
    for leaf in range(may_be.size):
        if not may_be[leaf]:
            continue
        share, c, element = parts[n_nodes + leaf] / total, layout.cells[pair, leaf], 0
        counts.cells[c, GUESSED_WINS] += share * reward
        counts.cells[c, GUESSED_LOSSES] += share * (1.0 - reward)
        counts.leaves[pair, leaf, GUESSED_WINS] += share * reward
        counts.leaves[pair, leaf, GUESSED_LOSSES] += share * (1.0 - reward)
        element = n_nodes + leaf
        while element > 0:
            edge, node = element - 1, layout.parents[element - 1]
            place = layout.pools[pair, node] + edge - layout.starts[node]
            counts.pools[place, GUESSED] += share
            element = node


@compile_kernel
def learn_round(
    layout: FusedLayout,
    counts: FusedCounts,
    pair: int,
    reward: float,
    leaf: int,
    may_be: NDArray[np.bool_],
    predicted: tuple[float, float],
    scratch: Floats,
) -> None:
    """Learn one round: its reward from 0 to 1, and its leaf, -1 where that was not seen.

    ``may_be`` are the leaves that it may have ended in. ``predicted`` is how likely particles
    found the reward and the mean they expected, negative where cells and pools decide.
    """
    chances = np.ones(counts.taus.shape[0])
    if pair < layout.cells.shape[0]:
        by_cells = expect_by_cells(layout, counts, pair, reward, scratch)
        predicted = predicted if predicted[0] >= 0.0 else by_cells
        if leaf >= 0:
            c = layout.cells[pair, leaf]
            for tau in range(chances.size):
                wins = layout.wins[tau, c] + counts.cells[c, SEEN_WINS]
                losses = layout.losses[tau, c] + counts.cells[c, SEEN_LOSSES]
                chances[tau] = predict_reward(reward, wins, losses)
    count_round(layout, counts, pair, reward, leaf, may_be, predicted, chances, scratch[1])


@compile_kernel
def count_round(
    layout: FusedLayout,
    counts: FusedCounts,
    pair: int,
    reward: float,
    leaf: int,
    may_be: NDArray[np.bool_],
    predicted: tuple[float, float],
    chances: Floats,
    parts: Floats,
) -> None:
    """Count one round, of which all was predicted, and judge by it what is fused.

    ``predicted`` is how likely its reward was and the mean that was expected, ``chances`` are
    those of the reward under each tau where its leaf was seen, ``parts`` how much each leaf
    adds to what was predicted.
    """
    pairs = counts.pairs
    if pair < layout.cells.shape[0]:
        plain = predict_reward(reward, 1.0 + pairs[pair, WINS], 1.0 + pairs[pair, LOSSES])
        pairs[pair, BIAS_EVIDENCE] += math.log(plain) - math.log(predicted[0])
        judge_shifts(counts.shifts[pair], reward, predicted[1])
        judge_shifts(counts.shifts[layout.arms[pair]], reward, predicted[1])
        if leaf >= 0:
            learn_seen(layout, counts, pair, reward, leaf, chances)
        else:
            learn_guessed(layout, counts, pair, reward, may_be, parts)
    pairs[pair, WINS] += reward
    pairs[pair, LOSSES] += 1.0 - reward
    counts.totals[N_LEARNED] += 1.0
    counts.totals[N_SEEN] += 1.0 if leaf >= 0 else 0.0


@inline_kernel
def predict_by_particles(
    laws_wins: Floats,
    laws_trials: Floats,
    weights: Floats,
    won: float,
    lost: float,
    reward: float,
    parts: Floats,
) -> None:
    """Write what each particle adds to the mean that is expected, and to a reward's chance.

    Particle by particle, with nothing added up: so the processor divides for several at once,
    which is most of what learning takes.
    """
    if reward == 1.0:
        for j in range(weights.size):
            wins, n = laws_wins[j] + won, laws_trials[j] + won + lost
            parts[0, j] = weights[j] * wins / n
            parts[1, j] = weights[j] * (wins / (wins + (n - wins)))
    elif reward == 0.0:
        for j in range(weights.size):
            wins, n = laws_wins[j] + won, laws_trials[j] + won + lost
            parts[0, j] = weights[j] * wins / n
            parts[1, j] = weights[j] * ((n - wins) / (wins + (n - wins)))
    else:
        for j in range(weights.size):
            wins, n = laws_wins[j] + won, laws_trials[j] + won + lost
            parts[0, j] = weights[j] * wins / n
            parts[1, j] = weights[j] * predict_reward(reward, wins, n - wins)


@compile_kernel
def learn_particles(
    laws: ParticleLaws, learned: ParticleCounts, pair: int, reward: float
) -> tuple[float, float]:
    """Weigh particles and taus by a reward from 0 to 1.

    Gives how likely it was before, and the mean that was expected.
    """
    unit, taus, top, predicted = laws.units[pair], learned.taus, -np.inf, 0.0
    expected, parts = 0.0, np.empty((2, laws.wins.shape[2]))
    group, won, lost = laws.groups[unit], learned.units[unit, 0], learned.units[unit, 1]
    for tau in range(taus.shape[0]):
        weights, chance, mean, whole = learned.weights[tau, group], 0.0, 0.0, 0.0
        predict_by_particles(
            laws.wins[tau, unit], laws.trials[tau, unit], weights, won, lost, reward, parts
        )
        for j in range(weights.size):
            mean += parts[0, j]
            whole += weights[j]
            chance += parts[1, j]
        for j in range(weights.size):
            weights[j] = max(parts[1, j] / chance, LEAST_WEIGHT)
        predicted += taus[tau, WEIGHT] * chance
        expected += taus[tau, WEIGHT] * mean / whole
        taus[tau, LOG_WEIGHT] += math.log(chance)
        top = max(top, taus[tau, LOG_WEIGHT])
    normalize_weights(taus, top)
    learned.units[unit, 0] += reward
    learned.units[unit, 1] += 1.0 - reward
    return predicted, expected


@compile_kernel
def weigh_particles(
    laws: ParticleLaws, learned: ParticleCounts, pairs: Floats, log_prior: Floats
) -> None:
    """Weigh particles and taus by all rewards of all pairs at once, whatever was there before."""
    learned.units[:] = 0.0
    for pair in range(laws.units.size):
        learned.units[laws.units[pair], 0] += pairs[pair, WINS]
        learned.units[laws.units[pair], 1] += pairs[pair, LOSSES]
    taus, size, best = learned.taus, laws.wins.shape[2], -np.inf
    for tau in range(taus.shape[0]):
        logs = learned.weights[tau]
        logs[:] = 0.0
        for unit in range(laws.groups.size):
            won, lost = learned.units[unit, 0], learned.units[unit, 1]
            if won + lost == 0.0:
                continue
            for j in range(size):
                wins, n = laws.wins[tau, unit, j], laws.trials[tau, unit, j]
                logs[laws.groups[unit], j] += (
                    math.lgamma(wins + won)
                    - math.lgamma(wins)
                    + math.lgamma(n - wins + lost)
                    - math.lgamma(n - wins)
                    - math.lgamma(n + won + lost)
                    + math.lgamma(n)
                )
        taus[tau, LOG_WEIGHT] = log_prior[tau]
        for group in range(logs.shape[0]):
            top, total = logs[group].max(), 0.0
            for j in range(size):
                logs[group, j] = math.exp(logs[group, j] - top)
                total += logs[group, j]
            for j in range(size):
                logs[group, j] = max(logs[group, j] / total, LEAST_WEIGHT)
            taus[tau, LOG_WEIGHT] += top + math.log(total / size)
        best = max(best, taus[tau, LOG_WEIGHT])
    normalize_weights(taus, best)
