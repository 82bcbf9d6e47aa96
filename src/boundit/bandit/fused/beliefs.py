r"""What Fused expects of a pair of arm and context, and what a round teaches it, in compiled code.

A mean is \mu = \sum_w p_w x_w, weights p from a Dirichlet with N counts, x_w from Betas. Its variance is exactly

    \sum_w (p_w^2 + p_w (1-p_w)/(N+1)) var(x_w) + (\sum_w p_w x_w^2 - \mu^2)/(N+1)

and a chain of factors applies this backwards. All predictions are made before the round is counted.
"""

import math

import numpy as np

from boundit.bandit.best_arm import (
    COLUMNS,
    LOWER,
    MEAN,
    MEAN2,
    UPPER,
    WEIGHT,
    find_best_arm_probabilities,
    write_beta,
)
from boundit.bandit.compiled import kernel, step
from boundit.bandit.draws import Floats, Ints, pick_arm
from boundit.bandit.runs import register_choose, register_copy, register_learn
from boundit.bandit.ts import write_bounds
from boundit.bandit.fused.layout import (
    BIAS,
    GUESSED,
    GUESSED_LOSSES,
    GUESSED_WINS,
    LOG_WEIGHT,
    LOSSES,
    N_LEARNED,
    N_SEEN,
    OWN,
    SEEN,
    SEEN_LOSSES,
    SEEN_WINS,
    SHIFTS,
    TAU_WEIGHT,
    WINS,
    FusedArrays,
)

_NEGLIGIBLE = 1e-3
"""Parts of a mixture of less weight are left out (FUSED2: no difference)."""
_LEAST_COUNT = 0.02


@step
def weigh_edge(a: FusedArrays, c: int, k: int, tau: int, node: int, edge: int, own: bool) -> float:
    """The Dirichlet count of an edge: by its pool, or by the pair's own rounds alone."""
    if own:
        return 1.0 + a.own[c, k, edge]
    at = a.pools[c, k, node] + edge - a.starts[node]
    return a.weights[tau, at] + a.pool_counts[at, SEEN] + a.pool_counts[at, GUESSED]


@kernel
def find_moments(a: FusedArrays, c: int, k: int, tau: int, own: bool, scratch: Floats) -> tuple[float, float]:
    """Mean and variance of what a pair earns under one tau, from the leaves of its tree backwards.

    Rows of `scratch`: means, variances, counts of edges, counts of nodes, reach, slopes.
    """
    n_nodes = a.starts.size - 1
    for leaf in range(a.cells.shape[2]):
        at = a.cells[c, k, leaf]
        wins = a.wins[tau, at] + a.cell_counts[at, SEEN_WINS] + a.cell_counts[at, GUESSED_WINS]
        n = wins + a.losses[tau, at] + a.cell_counts[at, SEEN_LOSSES] + a.cell_counts[at, GUESSED_LOSSES]
        x = wins / n
        scratch[0, n_nodes + leaf], scratch[1, n_nodes + leaf] = x, x * (1.0 - x) / (n + 1.0)
    for node in range(n_nodes - 1, -1, -1):
        n = 0.0
        for e in range(a.starts[node], a.starts[node + 1]):
            scratch[2, e] = weigh_edge(a, c, k, tau, node, e, own)
            n += scratch[2, e]
        mean, square, inner = 0.0, 0.0, 0.0
        for e in range(a.starts[node], a.starts[node + 1]):
            p, x = scratch[2, e] / n, scratch[0, e + 1]
            mean += p * x
            square += p * x * x
            inner += (p * p + p * (1.0 - p) / (n + 1.0)) * scratch[1, e + 1]
        scratch[0, node], scratch[3, node] = mean, n
        scratch[1, node] = inner + max(square - mean * mean, 0.0) / (n + 1.0)
    variance = scratch[1, 0]
    if n_nodes > 0 and a.twins.size > 0:
        variance += _share_variance(a, c, k, own, scratch)
    return scratch[0, 0], variance


@kernel
def _share_variance(a: FusedArrays, c: int, k: int, own: bool, scratch: Floats) -> float:
    """What a variance gains where two branches end in one cell or follow one distribution, and so vary together:
    by the slopes of the mean (delta method), all of one cell or distribution together less each by itself."""
    n_nodes, size = a.starts.size - 1, a.twins.shape[2]
    reach, slopes, more = scratch[4], scratch[5], 0.0
    reach[0] = 1.0
    slopes[:size] = 0.0
    for node in range(n_nodes):
        n, to = scratch[3, node], node if own else a.twins[c, k, node]
        mean, square = 0.0, 0.0
        for e in range(a.starts[node], a.starts[node + 1]):
            p, slope = scratch[2, e] / n, reach[node] * scratch[0, e + 1]
            reach[e + 1] = reach[node] * p
            slopes[a.starts[to] + e - a.starts[node]] += slope
            mean += p * slope
            square += p * slope * slope
        more -= (square - mean * mean) / (n + 1.0)
    for node in range(n_nodes):
        if own or a.twins[c, k, node] == node:
            n, mean, square = scratch[3, node], 0.0, 0.0
            for e in range(a.starts[node], a.starts[node + 1]):
                p = scratch[2, e] / n
                mean += p * slopes[e]
                square += p * slopes[e] * slopes[e]
            more += (square - mean * mean) / (n + 1.0)
    slopes[:size] = 0.0
    for leaf in range(n_nodes, size):
        slopes[a.twins[c, k, leaf]] += reach[leaf]
        more -= reach[leaf] * reach[leaf] * scratch[1, leaf]
    for leaf in range(n_nodes, size):
        more += slopes[leaf] * slopes[leaf] * scratch[1, leaf]
    return more


@step
def _average(evidence: Floats) -> float:
    """The log of the mean of numbers given by their logs."""
    top, total = evidence[0], 0.0
    for i in range(1, evidence.size):
        top = max(top, evidence[i])
    for i in range(evidence.size):
        total += math.exp(evidence[i] - top)
    return top + math.log(total / evidence.size)


@kernel
def find_doubts(a: FusedArrays, c: int, k: int, doubt: float) -> tuple[float, float]:
    """The probabilities that what is fused is wrong for a pair, alone or for its arm everywhere; and that its weights
    are its own. That a pair is wrong has two forms: its mean is anything, or higher by a shift."""
    if doubt <= 0.0:
        return 0.0, 0.0
    base, both = math.log(doubt / (1.0 - doubt)), np.empty(2)
    both[0], both[1] = a.evidence[c, k, BIAS], _average(a.shifts[c, k])
    alone = 1.0 / (1.0 + math.exp(-(base + _average(both))))
    whole = 1.0 / (1.0 + math.exp(-(base + _average(a.arm_shifts[k]))))
    own = 1.0 / (1.0 + math.exp(-(base + a.evidence[c, k, OWN]))) if a.starts.size > 1 else 0.0
    return alone + (1.0 - alone) * whole, own


@kernel
def believe(a: FusedArrays, c: int, columns: Ints) -> Floats:
    """Write the distribution of each arm's mean in log odds: what is fused, and with the weight of the doubt its own
    rewards alone. A pair without a plan has its own rewards alone, truncated to its bounds."""
    belief, scratch = np.empty((columns.size, COLUMNS)), np.empty((6, a.starts.size + a.cells.shape[2]))
    doubt, spread = a.numbers[0] / columns.size, a.numbers[1]
    for i in range(columns.size):
        k = columns[i]
        write_beta(belief, i, MEAN2, 1.0 + a.rewards[c, k, WINS], 1.0 + a.rewards[c, k, LOSSES])
        if a.cells[c, k, 0] < 0:
            write_beta(belief, i, MEAN, 1.0 + a.rewards[c, k, WINS], 1.0 + a.rewards[c, k, LOSSES])
            belief[i, WEIGHT] = 0.0
            write_bounds(belief, i, a.bounds[c, k, 0], a.bounds[c, k, 1], a.numbers[2], a.numbers[3])
            continue
        belief[i, LOWER], belief[i, UPPER] = -np.inf, np.inf
        belief[i, WEIGHT], own = find_doubts(a, c, k, doubt)
        total, first, second = 0.0, 0.0, 0.0
        for tau in range(a.taus.shape[0]):
            for part in range(2):
                weight = a.taus[tau, TAU_WEIGHT] * (own if part else 1.0 - own)
                if weight > _NEGLIGIBLE:
                    mean, variance = find_moments(a, c, k, tau, part == 1, scratch)
                    total += weight
                    first += weight * mean
                    second += weight * (mean * mean + variance)
        mean = first / total
        variance = max(second / total - mean * mean, 1e-12)
        n = max(mean * (1.0 - mean) / (spread * spread * variance) - 1.0, 1e-2)
        write_beta(belief, i, MEAN, mean * n, (1.0 - mean) * n)
    return belief


@step
def _predict_reward(reward: float, wins: float, losses: float) -> float:
    """The mean of `p^y (1-p)^(1-y)` under a Beta: the probability of a reward of 0 or 1; fractions are allowed."""
    if reward == 1.0:
        return wins / (wins + losses)
    if reward == 0.0:
        return losses / (wins + losses)
    after = math.lgamma(wins + reward) + math.lgamma(losses + 1.0 - reward)
    return math.exp(after - math.lgamma(wins) - math.lgamma(losses)) / (wins + losses)


@kernel
def _predict(a: FusedArrays, c: int, k: int, reward: float, scratch: Floats, by_tau: Floats) -> float:
    """Predict a reward of a pair by cells and pools. Leaves in `scratch[1]` what each leaf adds, in `by_tau` each tau."""
    n_nodes, total = a.starts.size - 1, 0.0
    scratch[1] = 0.0
    for tau in range(a.taus.shape[0]):
        by_tau[tau], scratch[0, 0] = 0.0, 1.0
        for node in range(n_nodes):
            n = 0.0
            for e in range(a.starts[node], a.starts[node + 1]):
                scratch[0, e + 1] = weigh_edge(a, c, k, tau, node, e, False)
                n += scratch[0, e + 1]
            for e in range(a.starts[node], a.starts[node + 1]):
                scratch[0, e + 1] *= scratch[0, node] / n
        for leaf in range(a.cells.shape[2]):
            at = a.cells[c, k, leaf]
            wins = a.wins[tau, at] + a.cell_counts[at, SEEN_WINS] + a.cell_counts[at, GUESSED_WINS]
            losses = a.losses[tau, at] + a.cell_counts[at, SEEN_LOSSES] + a.cell_counts[at, GUESSED_LOSSES]
            part = scratch[0, n_nodes + leaf] * _predict_reward(reward, wins, losses)
            by_tau[tau] += part
            scratch[1, n_nodes + leaf] += a.taus[tau, TAU_WEIGHT] * part
        total += a.taus[tau, TAU_WEIGHT] * by_tau[tau]
    return total


@step
def _judge_shifts(evidence: Floats, reward: float, mean: float) -> None:
    """Weigh whether a pair or an arm earns more by each shift; if not, each factor averages to at most 1."""
    for i in range(evidence.size):
        evidence[i] += SHIFTS[i] * reward - math.log(1.0 - mean + mean * math.exp(SHIFTS[i]))


@kernel
def learn_fused(a: FusedArrays, c: int, k: int, reward: float, leaf: int, open_leaves: Floats) -> None:
    """Learn one round: its reward from 0 to 1, and its leaf, -1 where that was not seen; then `open_leaves` are
    those (1, else 0) that it may have ended in."""
    if a.cells[c, k, 0] >= 0:
        scratch, by_tau = np.empty((6, a.starts.size + a.cells.shape[2])), np.empty(a.taus.shape[0])
        mean = _predict(a, c, k, 1.0, scratch, by_tau) if 0.0 < reward < 1.0 else -1.0
        predicted = _predict(a, c, k, reward, scratch, by_tau)
        if mean < 0.0:
            mean = predicted if reward == 1.0 else 1.0 - predicted
        plain = _predict_reward(reward, 1.0 + a.rewards[c, k, WINS], 1.0 + a.rewards[c, k, LOSSES])
        a.evidence[c, k, BIAS] += math.log(plain) - math.log(predicted)
        _judge_shifts(a.shifts[c, k], reward, mean)
        _judge_shifts(a.arm_shifts[k], reward, mean)
        if leaf >= 0 or a.starts.size == 1:
            _learn_seen(a, c, k, reward, max(leaf, 0), by_tau)
        else:
            _learn_guessed(a, c, k, reward, open_leaves, scratch)
        _weigh_taus(a.taus, by_tau)
    a.rewards[c, k, WINS] += reward
    a.rewards[c, k, LOSSES] += 1.0 - reward
    a.totals[N_LEARNED] += 1.0
    a.totals[N_SEEN] += 1.0 if leaf >= 0 else 0.0


@step
def _weigh_taus(taus: Floats, by_tau: Floats) -> None:
    top, total = -np.inf, 0.0
    for tau in range(by_tau.size):
        taus[tau, LOG_WEIGHT] += math.log(by_tau[tau])
        top = max(top, taus[tau, LOG_WEIGHT])
    for tau in range(by_tau.size):
        taus[tau, LOG_WEIGHT] -= top
        taus[tau, TAU_WEIGHT] = math.exp(taus[tau, LOG_WEIGHT])
        total += taus[tau, TAU_WEIGHT]
    for tau in range(by_tau.size):
        taus[tau, TAU_WEIGHT] /= total


@kernel
def _learn_seen(a: FusedArrays, c: int, k: int, reward: float, leaf: int, by_tau: Floats) -> None:
    """Count a round that showed its leaf; writes how likely leaf and reward were under each tau, by seen counts."""
    n_nodes, at, by_pool, by_own = a.starts.size - 1, a.cells[c, k, leaf], 0.0, 1.0
    for tau in range(by_tau.size):
        path, element, by_own = 1.0, n_nodes + leaf, 1.0
        while element > 0:
            edge, node, n, n_own = element - 1, a.parents[element - 1], 0.0, 0.0
            first = a.pools[c, k, node] - a.starts[node]
            for e in range(a.starts[node], a.starts[node + 1]):
                n += a.weights[tau, first + e] + a.pool_counts[first + e, SEEN]
                n_own += 1.0 + a.own[c, k, e]
            path *= (a.weights[tau, first + edge] + a.pool_counts[first + edge, SEEN]) / n
            by_own *= (1.0 + a.own[c, k, edge]) / n_own
            element = node
        by_pool += a.taus[tau, TAU_WEIGHT] * path
        wins, losses = a.wins[tau, at] + a.cell_counts[at, SEEN_WINS], a.losses[tau, at] + a.cell_counts[at, SEEN_LOSSES]
        by_tau[tau] = path * _predict_reward(reward, wins, losses)
    a.evidence[c, k, OWN] += math.log(by_own) - math.log(by_pool)
    element = n_nodes + leaf
    while element > 0:
        edge, node = element - 1, a.parents[element - 1]
        a.pool_counts[a.pools[c, k, node] + edge - a.starts[node], SEEN] += 1.0
        a.own[c, k, edge] += 1.0
        element = node
    a.cell_counts[at, SEEN_WINS] += reward
    a.cell_counts[at, SEEN_LOSSES] += 1.0 - reward
    a.leaves[c, k, leaf, SEEN_WINS] += reward
    a.leaves[c, k, leaf, SEEN_LOSSES] += 1.0 - reward


@kernel
def _learn_guessed(a: FusedArrays, c: int, k: int, reward: float, open_leaves: Floats, scratch: Floats) -> None:
    """Learn a round that did not show its leaf. The exact posterior of each distribution is a mixture over the leaves
    that it may have ended in; it is replaced by the Dirichlet of the same mean and total variance (assumed-density
    filtering: Maybeck 1982, Minka 2001). To count a guess as if it were seen would claim far too much."""
    n_nodes, size = a.starts.size - 1, a.starts.size - 1 + a.cells.shape[2]
    share, total = scratch[1], 0.0
    for leaf in range(a.cells.shape[2]):
        share[n_nodes + leaf] *= open_leaves[leaf]
        total += share[n_nodes + leaf]
    for element in range(size - 1, -1, -1):
        if element >= n_nodes:
            share[element] /= total
        else:
            share[element] = 0.0
            for e in range(a.starts[element], a.starts[element + 1]):
                share[element] += share[e + 1]
    for leaf in range(a.cells.shape[2]):
        at, q = a.cells[c, k, leaf], share[n_nodes + leaf]
        a.cell_counts[at, GUESSED_WINS] += q * reward
        a.cell_counts[at, GUESSED_LOSSES] += q * (1.0 - reward)
        a.leaves[c, k, leaf, GUESSED_WINS] += q * reward
        a.leaves[c, k, leaf, GUESSED_LOSSES] += q * (1.0 - reward)
    for node in range(n_nodes):
        _match_node(a, c, k, node, share, scratch)


@step
def _match_node(a: FusedArrays, c: int, k: int, node: int, share: Floats, scratch: Floats) -> None:
    first, n, rest = a.pools[c, k, node] - a.starts[node], 0.0, 1.0 - share[node]
    for e in range(a.starts[node], a.starts[node + 1]):
        scratch[2, e] = a.pool_counts[first + e, SEEN] + a.pool_counts[first + e, GUESSED]
        for tau in range(a.taus.shape[0]):
            scratch[2, e] += a.taus[tau, TAU_WEIGHT] * a.weights[tau, first + e]
        n += scratch[2, e]
    squares, spread = 0.0, 0.0
    for e in range(a.starts[node], a.starts[node + 1]):
        count, q = scratch[2, e], share[e + 1]
        mean = rest * count / n + ((1.0 - rest) * count + q) / (n + 1.0)
        second = rest * count * (count + 1.0) / (n * (n + 1.0))
        second += ((1.0 - rest) * count * (count + 1.0) + 2.0 * q * (count + 1.0)) / ((n + 1.0) * (n + 2.0))
        scratch[3, e] = mean
        squares += mean * mean
        spread += second - mean * mean
    new = (1.0 - squares) / max(spread, 1e-300) - 1.0
    for e in range(a.starts[node], a.starts[node + 1]):
        change, least = new * scratch[3, e] - scratch[2, e], -np.inf
        for tau in range(a.taus.shape[0]):
            least = max(least, _LEAST_COUNT - a.weights[tau, first + e] - a.pool_counts[first + e, SEEN])
        a.pool_counts[first + e, GUESSED] = max(a.pool_counts[first + e, GUESSED] + change, least)


@kernel
def _choose(arrays: FusedArrays, c: int, columns: Ints, start: int, stop: int, uniform: float) -> int:
    found = find_best_arm_probabilities(believe(arrays, c, columns[start:stop]))
    return columns[start + pick_arm(found, uniform, 0.0)]


@kernel
def _learn(arrays: FusedArrays, c: int, k: int, reward: float, leaf: int) -> None:
    low, high = arrays.numbers[2], arrays.numbers[3]
    learn_fused(arrays, c, k, (reward - low) / (high - low), leaf, np.ones(arrays.cells.shape[2]))


@kernel
def _copy(arrays: FusedArrays) -> FusedArrays:
    a = arrays
    return FusedArrays(
        a.starts,
        a.parents,
        a.pools,
        a.cells,
        a.twins,
        a.wins,
        a.losses,
        a.weights,
        a.log_prior,
        a.bounds,
        a.numbers,
        a.rewards.copy(),
        a.leaves.copy(),
        a.own.copy(),
        a.evidence.copy(),
        a.shifts.copy(),
        a.arm_shifts.copy(),
        a.cell_counts.copy(),
        a.pool_counts.copy(),
        a.taus.copy(),
        a.totals.copy(),
    )


register_choose(FusedArrays, _choose)
register_learn(FusedArrays, _learn)
register_copy(FusedArrays, _copy)
