r"""What Fused expects of a pair of arm and context, and what a round teaches it, compiled.

A mean is :math:`\mu = \sum_w p_w x_w`, weights p from a Dirichlet with N counts, x_w from Betas.
Its variance is exactly

.. math:: \sum_w (p_w^2 + p_w (1-p_w)/(N+1)) var(x_w) + (\sum_w p_w x_w^2 - \mu^2)/(N+1),

and a chain of factors applies this backwards. All predictions are made before a round is counted.
"""

import math

import numpy as np

from boundit.bandit.best_arm import (
    LOWER,
    MEAN,
    MEAN2,
    P_BEST,
    UPPER,
    weigh_arms,
    write_beta,
    write_bounds,
)
from boundit.bandit.best_arm import (
    WEIGHT as SECOND,
)
from boundit.bandit.compiled import routine, step
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
    SHIFT,
    SHIFTS,
    WEIGHT,
    WINS,
    FusedArrays,
)
from boundit.bandit.fused.unobserved import (
    is_blind,
    predict_reward,
    predict_unit,
    sum_unit,
    weigh_unit,
)
from boundit.bandit.ids import Floats, Ints, pick_arm
from boundit.bandit.runs import register_runs

_SPREAD = 0.7
"""Arms are drawn from beliefs so much narrower than the posterior: ``kappa`` of an index."""
_NEGLIGIBLE = 1e-3
"""Parts of a mixture of less weight are left out."""
LEAST_COUNT = 0.02
_SHIFTS = np.array(SHIFTS)


@step
def _weigh_edge(
    a: FusedArrays, c: int, k: int, tau: int, node: int, edge: int, own: bool
) -> float:
    """The Dirichlet count of an edge: by its pool, or by the pair's own rounds alone."""
    at = a.places[c, k, node] + edge - a.starts[node]
    n = a.log_pools[tau, at] + a.pools[at, SEEN] + a.pools[at, GUESSED]
    return float(1.0 + a.own[c, k, edge] if own else n)


@routine
def find_moments(a: FusedArrays, c: int, k: int, tau: int, own: bool) -> tuple[float, float]:
    """Mean and variance of what a pair earns under one tau, from the leaves of its tree on.

    Rows of ``scratch``: means, variances, counts of edges, counts of nodes, reach, slopes.
    """
    n_nodes, scratch = a.starts.size - 1, a.scratch
    for element in range(n_nodes, a.places.shape[2]):
        at = a.places[c, k, element]
        wins = a.log_cells[tau, at, WINS] + a.cells[at, SEEN_WINS] + a.cells[at, GUESSED_WINS]
        losses = a.log_cells[tau, at, LOSSES] + a.cells[at, SEEN_LOSSES]
        n = wins + losses + a.cells[at, GUESSED_LOSSES]
        x = wins / n
        scratch[0, element], scratch[1, element] = x, x * (1.0 - x) / (n + 1.0)
    for node in range(n_nodes - 1, -1, -1):
        n, mean, square, inner = 0.0, 0.0, 0.0, 0.0
        for e in range(a.starts[node], a.starts[node + 1]):
            scratch[2, e] = _weigh_edge(a, c, k, tau, node, e, own)
            n += scratch[2, e]
        for e in range(a.starts[node], a.starts[node + 1]):
            p, x = scratch[2, e] / n, scratch[0, e + 1]
            mean += p * x
            square += p * x * x
            inner += (p * p + p * (1.0 - p) / (n + 1.0)) * scratch[1, e + 1]
        scratch[0, node], scratch[3, node] = mean, n
        scratch[1, node] = inner + max(square - mean * mean, 0.0) / (n + 1.0)
    if n_nodes > 0 and a.twins.size > 0:
        scratch[1, 0] += _share_variance(a, c, k, own)
    return scratch[0, 0], scratch[1, 0]


@routine
def _share_variance(a: FusedArrays, c: int, k: int, own: bool) -> float:
    """What a variance gains where two branches share a cell or distribution, and vary together.

    By the slopes of the mean (delta method): all of one cell or distribution together less each
    by itself. Own weights are never shared.
    """
    n_nodes, size, scratch = a.starts.size - 1, a.twins.shape[2], a.scratch
    reach, slopes, more = scratch[4], scratch[5], 0.0
    reach[0] = 1.0
    for element in range(size):
        slopes[element] = 0.0
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
    for element in range(size):
        slopes[element] = 0.0
    for leaf in range(n_nodes, size):
        slopes[a.twins[c, k, leaf]] += reach[leaf]
        more -= reach[leaf] * reach[leaf] * scratch[1, leaf]
    for leaf in range(n_nodes, size):
        more += slopes[leaf] * slopes[leaf] * scratch[1, leaf]
    return more


@step
def _average(evidence: Floats, start: int) -> float:
    """The log of the mean of numbers given by their logs, from ``start`` on."""
    top, total = evidence[start], 0.0
    for i in range(start + 1, evidence.size):
        top = max(top, evidence[i])
    for i in range(start, evidence.size):
        total += math.exp(evidence[i] - top)
    return float(top + math.log(total / (evidence.size - start)))


@routine
def find_doubts(a: FusedArrays, c: int, k: int, doubt: float) -> tuple[float, float]:
    """The probabilities that what is fused is wrong for a pair, and that its weights are its own.

    It may be wrong for the pair alone, or for its arm everywhere; and that a pair is wrong has two
    forms: its mean is anything, or higher by a shift.
    """
    if doubt <= 0.0:
        return 0.0, 0.0
    base, pair = math.log(doubt / (1.0 - doubt)), a.pairs[c, k]
    one, two = pair[BIAS], _average(pair, SHIFT)
    either = max(one, two) + math.log(0.5 + 0.5 * math.exp(-abs(one - two)))
    alone = 1.0 / (1.0 + math.exp(-(base + either)))
    whole = 1.0 / (1.0 + math.exp(-(base + _average(a.arm_shifts[k], 0))))
    own = 1.0 / (1.0 + math.exp(-(base + pair[OWN]))) if a.starts.size > 1 else 0.0
    return alone + (1.0 - alone) * whole, own


@routine
def _fuse(a: FusedArrays, c: int, k: int, own: float, blind: bool) -> tuple[float, float]:
    """Mean and variance of a pair over all taus, by pool and with the weight ``own`` by itself."""
    taus, at = (a.unseen.taus, 1) if blind else (a.taus, WEIGHT)
    total, first, second = 0.0, 0.0, 0.0
    for tau in range(taus.shape[0]):
        for part in range(2):
            weight = taus[tau, at] * (own if part else 1.0 - own)
            if weight > _NEGLIGIBLE:
                if blind:
                    mean, variance = sum_unit(a.unseen, a.unseen.units[c, k], tau)
                else:
                    mean, variance = find_moments(a, c, k, tau, part == 1)
                total += weight
                first += weight * mean
                second += weight * (mean * mean + variance)
    mean = first / total
    return mean, second / total - mean * mean


@routine
def score_fused(a: FusedArrays, c: int, columns: Ints, start: int, stop: int) -> None:
    """Write the distribution of each arm's mean: what is fused and, if in doubt, its own rewards.

    A pair without a plan has its own rewards alone, truncated to its bounds. And the probability
    that an arm is the best.
    """
    belief, doubt, blind = a.belief, a.numbers[0] / (stop - start), is_blind(a)
    for i in range(stop - start):
        k = columns[start + i]
        wins, losses = 1.0 + a.pairs[c, k, WINS], 1.0 + a.pairs[c, k, LOSSES]
        if a.places[c, k, 0] >= 0:
            belief[i, SECOND], own = find_doubts(a, c, k, doubt)
            mean, variance = _fuse(a, c, k, 0.0 if blind else own, blind)
            belief[i, LOWER], belief[i, UPPER] = -np.inf, np.inf
            write_beta(belief, i, MEAN2, wins, losses)
        else:
            mean = wins / (wins + losses)
            variance = mean * (1.0 - mean) / (wins + losses + 1.0)
            belief[i, SECOND] = 0.0
            bounds = a.bounds[c, k]
            write_bounds(belief, i, bounds[0], bounds[1], a.numbers[1], a.numbers[2])
        n = mean * (1.0 - mean) / (_SPREAD * _SPREAD * max(variance, 1e-12)) - 1.0
        n = max(n, 1e-2)
        write_beta(belief, i, MEAN, mean * n, (1.0 - mean) * n)
    weigh_arms(belief[: stop - start])


@routine
def _predict(a: FusedArrays, c: int, k: int, reward: float) -> float:
    """Predict a reward of a pair by cells and pools.

    Leaves in ``scratch[1]`` what each leaf adds.
    """
    n_nodes, total, size, scratch = a.starts.size - 1, 0.0, a.places.shape[2], a.scratch
    for leaf in range(n_nodes, size):
        scratch[1, leaf] = 0.0
    for tau in range(a.taus.shape[0]):
        by_tau, scratch[0, 0] = 0.0, 1.0
        for node in range(n_nodes):
            n = 0.0
            for e in range(a.starts[node], a.starts[node + 1]):
                scratch[0, e + 1] = _weigh_edge(a, c, k, tau, node, e, False)
                n += scratch[0, e + 1]
            for e in range(a.starts[node], a.starts[node + 1]):
                scratch[0, e + 1] *= scratch[0, node] / n
        for element in range(n_nodes, size):
            at = a.places[c, k, element]
            won = a.cells[at, SEEN_WINS] + a.cells[at, GUESSED_WINS]
            lost = a.cells[at, SEEN_LOSSES] + a.cells[at, GUESSED_LOSSES]
            rows = a.log_cells[tau, at]
            likelihood = predict_reward(reward, rows[WINS] + won, rows[LOSSES] + lost)
            part = scratch[0, element] * likelihood
            by_tau += part
            scratch[1, element] += a.taus[tau, WEIGHT] * part
        total += a.taus[tau, WEIGHT] * by_tau
    return total


@step
def _judge_shifts(evidence: Floats, start: int, reward: float, mean: float) -> None:
    """Weigh whether a mean is higher by each shift; if not, each factor averages to at most 1."""
    for i in range(_SHIFTS.size):
        odds = 1.0 - mean + mean * math.exp(_SHIFTS[i])
        evidence[start + i] += _SHIFTS[i] * reward - math.log(odds)


@routine
def learn_fused(
    a: FusedArrays, c: int, k: int, reward: float, leaf: int, open_leaves: Floats
) -> None:
    """Learn one round: its reward, and its leaf, -1 where that was not seen.

    Then ``open_leaves`` are those (1, else 0) that it may have ended in.
    """
    pair, seen, blind = a.pairs[c, k], leaf >= 0 or a.starts.size == 1, is_blind(a)
    reward = (reward - a.numbers[1]) / (a.numbers[2] - a.numbers[1])
    if a.places[c, k, 0] >= 0:
        if blind:
            predicted, mean = predict_unit(a.unseen, a.unseen.units[c, k], reward)
        else:
            mean = _predict(a, c, k, 1.0)
            predicted = mean if reward == 1.0 else 1.0 - mean
            if 0.0 < reward < 1.0 or (reward < 1.0 and not seen):
                predicted = _predict(a, c, k, reward)
        plain = predict_reward(reward, 1.0 + pair[WINS], 1.0 + pair[LOSSES])
        pair[BIAS] += math.log(plain) - math.log(predicted)
        _judge_shifts(pair, SHIFT, reward, mean)
        _judge_shifts(a.arm_shifts[k], 0, reward, mean)
        if seen:
            _learn_seen(a, c, k, reward, max(leaf, 0))
        elif not blind:
            _learn_guessed(a, c, k, reward, open_leaves)
    pair[WINS] += reward
    pair[LOSSES] += 1.0 - reward
    a.totals[N_LEARNED] += 1.0
    a.totals[N_SEEN] += 1.0 if seen else 0.0
    if a.unseen.counts.size > 0 and a.unseen.units[c, k] >= 0:
        weigh_unit(a, c, k, True)


@routine
def _learn_seen(a: FusedArrays, c: int, k: int, reward: float, leaf: int) -> None:
    """Count a round that showed its leaf, and weigh taus and pool by it, by seen counts alone."""
    n_nodes, by_pool, by_own, top, total = a.starts.size - 1, 0.0, 1.0, -np.inf, 0.0
    at, taus = a.places[c, k, n_nodes + leaf], a.taus
    for tau in range(taus.shape[0]):
        path, element, by_own = 1.0, n_nodes + leaf, 1.0
        while element > 0:
            edge, node, n, n_own = element - 1, a.parents[element - 1], 0.0, 0.0
            first = a.places[c, k, node] - a.starts[node]
            for e in range(a.starts[node], a.starts[node + 1]):
                n += a.log_pools[tau, first + e] + a.pools[first + e, SEEN]
                n_own += 1.0 + a.own[c, k, e]
            path *= (a.log_pools[tau, first + edge] + a.pools[first + edge, SEEN]) / n
            by_own *= (1.0 + a.own[c, k, edge]) / n_own
            element = node
        by_pool += taus[tau, WEIGHT] * path
        wins = a.log_cells[tau, at, WINS] + a.cells[at, SEEN_WINS]
        losses = a.log_cells[tau, at, LOSSES] + a.cells[at, SEEN_LOSSES]
        taus[tau, LOG_WEIGHT] += math.log(path * predict_reward(reward, wins, losses))
        top = max(top, taus[tau, LOG_WEIGHT])
    a.pairs[c, k, OWN] += math.log(by_own) - math.log(by_pool)
    for tau in range(taus.shape[0]):
        taus[tau, LOG_WEIGHT] -= top
        taus[tau, WEIGHT] = math.exp(taus[tau, LOG_WEIGHT])
        total += taus[tau, WEIGHT]
    for tau in range(taus.shape[0]):
        taus[tau, WEIGHT] /= total
    element = n_nodes + leaf
    while element > 0:
        edge, node = element - 1, a.parents[element - 1]
        a.pools[a.places[c, k, node] + edge - a.starts[node], SEEN] += 1.0
        a.own[c, k, edge] += 1.0
        element = node
    a.cells[at, SEEN_WINS] += reward
    a.cells[at, SEEN_LOSSES] += 1.0 - reward
    a.leaves[c, k, leaf, 0] += 1.0
    a.leaves[c, k, leaf, 1] += reward


@routine
def _learn_guessed(a: FusedArrays, c: int, k: int, reward: float, open_leaves: Floats) -> None:
    """Learn a round that did not show its leaf.

    The exact posterior of each distribution is a mixture over the leaves that it may have ended
    in; it is replaced by the Dirichlet of the same mean and total variance (assumed-density
    filtering: Maybeck 1982, Minka 2001). To count a guess as if it were seen would claim far too
    much.
    """
    n_nodes, size, share, total = a.starts.size - 1, a.places.shape[2], a.scratch[1], 0.0
    for element in range(n_nodes, size):
        share[element] *= open_leaves[element - n_nodes]
        total += share[element]
    for element in range(size - 1, -1, -1):
        if element >= n_nodes:
            share[element] /= total
            at = a.places[c, k, element]
            a.cells[at, GUESSED_WINS] += share[element] * reward
            a.cells[at, GUESSED_LOSSES] += share[element] * (1.0 - reward)
        else:
            share[element] = 0.0
            for e in range(a.starts[element], a.starts[element + 1]):
                share[element] += share[e + 1]
    for node in range(n_nodes):
        _match_node(a, c, k, node, share)


@routine
def _match_node(a: FusedArrays, c: int, k: int, node: int, share: Floats) -> None:
    """Move the guessed counts of a node's distribution to the moments of the mixture."""
    first, n, rest = a.places[c, k, node] - a.starts[node], 0.0, 1.0 - share[node]
    scratch = a.scratch
    for e in range(a.starts[node], a.starts[node + 1]):
        scratch[2, e] = a.pools[first + e, SEEN] + a.pools[first + e, GUESSED]
        for tau in range(a.taus.shape[0]):
            scratch[2, e] += a.taus[tau, WEIGHT] * a.log_pools[tau, first + e]
        n += scratch[2, e]
    squares, spread = 0.0, 0.0
    for e in range(a.starts[node], a.starts[node + 1]):
        count, q = scratch[2, e], share[e + 1]
        mean = rest * count / n + ((1.0 - rest) * count + q) / (n + 1.0)
        second = ((1.0 - rest) * count + 2.0 * q) * (count + 1.0) / ((n + 1.0) * (n + 2.0))
        second += rest * count * (count + 1.0) / (n * (n + 1.0))
        scratch[3, e] = mean
        squares += mean * mean
        spread += second - mean * mean
    new = (1.0 - squares) / max(spread, 1e-300) - 1.0
    for e in range(a.starts[node], a.starts[node + 1]):
        least = -np.inf
        for tau in range(a.taus.shape[0]):
            least = max(least, LEAST_COUNT - a.log_pools[tau, first + e])
        guessed = a.pools[first + e, GUESSED] + new * scratch[3, e] - scratch[2, e]
        a.pools[first + e, GUESSED] = max(guessed, least - a.pools[first + e, SEEN])


@step
def _choose(
    arrays: FusedArrays, c: int, columns: Ints, start: int, stop: int, uniform: float
) -> int:
    score_fused(arrays, c, columns, start, stop)
    return int(columns[start + pick_arm(arrays.belief[: stop - start, P_BEST], uniform)])


@step
def _learn(arrays: FusedArrays, c: int, k: int, reward: float, leaf: int) -> None:
    open_leaves = arrays.scratch[5]
    for i in range(arrays.leaves.shape[2]):
        open_leaves[i] = 1.0
    learn_fused(arrays, c, k, reward, leaf, open_leaves)


register_runs(FusedArrays, choose=_choose, learn=_learn)
