r"""Weights that rounds do not show: several hundred *particles*, weighed by rewards alone.

A particle is one possible value of all distributions that a pair's mean depends on and the log does
not tell: uniform over distributions, spread evenly, with the corners where one value has it all;
or, where rows of the log tell them up to a tilt, one tilt for all. Given a particle and a tau, a
pair's mean has moments, and a Beta that has the same; rewards then weigh particles and taus and
move the Betas. That is exact in this approximate model: pairs with the same cells and
distributions are one *unit*, and units that share some of them count as independent.

The weights are a function of the rewards of each pair, whatever their order: a log likelihood is
rounded to a whole number of steps, and sums of whole numbers are exact. So nothing of this is
saved, and a policy goes on bit for bit when it is made again. A reward touches one unit and one
group; Betas of a unit are made when they are first read.
"""

import math
from collections.abc import Sequence
from itertools import islice, product
from typing import NamedTuple, TypeAlias

import numpy as np

from boundit.bandit.compiled import kernel, routine, step
from boundit.bandit.fused.layout import (
    LOG_PRIOR,
    LOSSES,
    N_LEARNED,
    N_SEEN,
    TAUS,
    WINS,
    FusedArrays,
    Unseen,
    draw_tilts,
    spread_points,
)
from boundit.bandit.ids import Floats, Ints
from boundit.results.fused_plan import FusedPlan

N_ON_A_LINE, N_PARTICLES = 200, 400
"""How many stand for one unknown number, and for more."""
_MOST_CORNERS = 64
FEW = 10
"""Particles decide as long as fewer than one in so many rounds showed all."""
_STEPS = 2.0**24
"""Steps of a log likelihood: sums of 1,500 units are right within 1e-4."""
_ENDLESS = 1e3
"""What stands for an infinite tau in a variance: the Beta is then as wide as it can be."""
_MADE = 2
GROUP = 2
_LEAST, _NO_WEIGHT = -690.0, 1e-9
"""The least log weight of a particle; what adds nothing to sums over all."""
_HALF_LOG_2_PI, _LOG_2, _PER_LOG_2 = 0.9189385332046727, math.log(2.0), 1.0 / math.log(2.0)
_ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)
"""The bits of sqrt(1/2)."""


class Tables(NamedTuple):
    """What the Betas of units are made of.

    values    tables x particles x values: distributions, or what a tilt multiplies shares by
    places    contexts x arms x nodes: the table of a node, -1 where rows of the log tell it
    shares    entries: what a table multiplies
    doubled   taus x entries: the relative variance that rows of the log leave in a tilt
    """

    values: Floats
    places: Ints
    shares: Floats
    doubled: Floats


_Unknown: TypeAlias = tuple[int, int, int]
"""A factor, how many values it has, and where its counts begin; -1 for the tilt of its pools."""


def spread_particles(plan: FusedPlan, a: FusedArrays) -> tuple[Unseen, Tables]:
    """Spread particles over all that a plan leaves unknown, none of them weighed yet."""
    factors, n_nodes = _list_factors(plan), a.starts.size - 1
    known = _find_known(plan)
    pairs = np.argwhere(a.places[:, :, 0] >= 0)
    rows, units = np.unique(a.places[pairs[:, 0], pairs[:, 1]], axis=0, return_inverse=True)
    groups = dict[tuple[_Unknown, ...], int]()
    tables = dict[tuple[tuple[tuple[int, bool], ...], int], int]()
    of_units, of_nodes = np.empty(len(rows), np.int64), np.full((len(rows), n_nodes), -1)
    for i, row in enumerate(rows[:, :n_nodes].tolist()):
        named = list[_Unknown | None]()
        for j, at in zip(factors, row, strict=True):
            size, tilted = len(plan.factors[j].cells), plan.factors[j].shares is not None
            hidden = tilted or not known[at]
            named.append((j, size, -1 if tilted else at) if hidden else None)
        group = tuple(dict.fromkeys(name for name in named if name is not None))
        of_units[i] = groups.setdefault(group, len(groups))
        sizes = tuple((size, at < 0) for _, size, at in group)
        for node, name in enumerate(named):
            if name is not None:
                key = sizes, group.index(name)
                of_nodes[i, node] = tables.setdefault(key, len(tables))
    shape = a.places.shape[:2]
    placed, of_pairs = np.full(shape, -1), np.full((*shape, n_nodes), -1)
    placed[pairs[:, 0], pairs[:, 1]] = units.reshape(-1)
    of_pairs[pairs[:, 0], pairs[:, 1]] = of_nodes[units.reshape(-1)]
    values = _tabulate(list(tables))
    n, n_taus, n_groups = values.shape[1], a.taus.shape[0], len(groups)
    members = np.argsort(units.reshape(-1), kind="stable")
    ends = np.searchsorted(units.reshape(-1)[members], np.arange(len(rows) + 1))
    unseen = Unseen(
        placed,
        pairs[members],
        np.stack([ends[:-1], ends[1:], of_units], axis=1),
        # Untouched pages of these take no memory.
        np.empty((len(rows), n_taus, 2, n), np.float32),
        np.zeros((len(rows), 3)),
        np.empty((len(rows), n_taus, n)),
        np.zeros((n_groups, n_taus, n)),
        np.zeros((n_groups, n_taus, n)),
        np.zeros((n_groups + 1, n_taus)),
        np.stack([a.taus[:, LOG_PRIOR], np.exp(a.taus[:, LOG_PRIOR])], axis=1),
    )
    return unseen, Tables(values, of_pairs, *_lay_out_shares(plan, n_taus))


def _list_factors(plan: FusedPlan) -> list[int]:
    """List the factor of every node."""
    found, prefixes = list[int](), 1
    for j, factor in enumerate(plan.factors):
        found += [j] * prefixes
        prefixes *= len(factor.cells)
    return found


def _find_known(plan: FusedPlan) -> dict[int, bool]:
    """Find for each place where counts begin whether rows of the log are draws from it."""
    found, at = dict[int, bool](), 0
    for factor in plan.factors:
        for counts in factor.counts:
            found[at] = any(counts)
            at += len(factor.cells)
    return found


def _lay_out_shares(plan: FusedPlan, n_taus: int) -> tuple[Floats, Floats]:
    """What particles multiply, and how uncertain rows of the log leave it, relatively."""
    shares, doubled = [np.zeros(0)], [np.zeros((n_taus, 0))]
    sizes = np.array([min(tau, _ENDLESS) for tau in TAUS[:n_taus]])[:, None]
    for factor in plan.factors:
        counts = np.array(factor.counts, np.float64).ravel()
        if factor.shares is None:
            shares.append(np.ones_like(counts))
            doubled.append(np.zeros((n_taus, counts.size)))
        else:
            shares.append(np.array(factor.shares, np.float64).ravel() + 0.5)
            doubled.append(1.0 / shares[-1] + sizes**2 / 2.0)
    return np.concatenate(shares), np.concatenate(doubled, axis=1)


def _tabulate(tables: Sequence[tuple[tuple[tuple[int, bool], ...], int]]) -> Floats:
    """Tabulate distributions or tilts of particles: tables x particles x values.

    A group has some of them; its free distributions have corners unless they are one of two
    values, whose ends the others reach.
    """
    corners = dict[tuple[tuple[int, bool], ...], list[tuple[int, ...]]]()
    for sizes, _ in tables:
        free = [n for n, tilted in sizes if not tilted]
        found = islice(product(*map(range, free)), _MOST_CORNERS if sum(free) > 2 else 0)
        corners[sizes] = list(found)
    on_a_line = all(sum(size - 1 for size, _ in sizes) <= 1 for sizes, _ in tables)
    n = N_ON_A_LINE if on_a_line else N_PARTICLES
    n += max(map(len, corners.values()), default=0)
    width = max((sizes[i][0] for sizes, i in tables), default=0)
    made = np.zeros((len(tables), n, width))
    for table, (sizes, i) in enumerate(tables):
        points = spread_points(n, sum(size - 1 for size, _ in sizes))
        at, (size, tilted) = sum(size - 1 for size, _ in sizes[:i]), sizes[i]
        part = points[:, at : at + size - 1]
        made[table, :, :size] = draw_tilts(part) if tilted else break_sticks(part)
        if not tilted:
            before = sum(not other for _, other in sizes[:i])
            for j, corner in enumerate(corners[sizes]):
                made[table, j, :size] = np.arange(size) == corner[before]
    return made


def break_sticks(points: Floats) -> Floats:
    """Turn points of a cube into distributions of one more value, uniform over all.

    >>> break_sticks(np.array([[0.25]])).tolist()
    [[0.75, 0.25]]
    """
    n, size = len(points), points.shape[1] + 1
    found, left = np.empty((n, size)), np.ones(n)
    for k in range(size - 1, 0, -1):
        # What is left of a stick after the largest of k points, each uniform on it.
        part = left * (1.0 - (1.0 - points[:, k - 1]) ** (1.0 / k))
        found[:, k] = part
        left = left - part
    found[:, 0] = left
    return found


@step
def is_blind(a: FusedArrays) -> bool:
    """Whether so few rounds showed what the plan asks for that particles decide."""
    return a.unseen.counts.size > 0 and a.totals[N_SEEN] * FEW < a.totals[N_LEARNED]


@step
def _find_log(x: float) -> float:
    """The natural logarithm within 1e-15, from the bits of a number above 0.

    It has no branches or calls, so that a processor works out several at once.
    """
    bits = np.float64(x).view(np.int64)
    exponent = (bits - _ROOT_HALF) >> 52
    m = np.int64(bits - (exponent << 52)).view(np.float64)  # from sqrt(1/2) to sqrt(2)
    s = (m - 1.0) / (m + 1.0)  # log m = 2 artanh(s)
    z = s * s
    p = 1.0 / 9.0 + z * (1.0 / 11.0 + z * (1.0 / 13.0 + z / 15.0))
    p = z * (1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * p)))
    return float(exponent) * _LOG_2 + 2.0 * s * (1.0 + p)


@step
def _find_exp(x: float) -> float:
    """The exponential of a number from -700 to 0 within 1e-13, likewise."""
    exponent = math.floor(x * _PER_LOG_2 + 0.5)
    r = x - exponent * _LOG_2
    p = 1.0 / 720.0 + r * (1.0 / 5040.0 + r * (1.0 / 40320.0 + r / 362880.0))
    p = 1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r * p))))
    return (1.0 + r * p) * np.int64((int(exponent) + 1023) << 52).view(np.float64)


@step
def _find_log_gamma(x: float) -> float:
    """The log of the gamma function for 8 or more within 1e-9 (Stirling), less a constant."""
    y = 1.0 / (x * x)
    return (x - 0.5) * _find_log(x) - x + (1.0 / 12.0 - y * (1.0 / 360.0 - y / 1260.0)) / x


@step
def _rise(x: float) -> float:
    """Gamma(x + 8) / Gamma(x)."""
    four = (x + 4.0) * (x + 5.0) * (x + 6.0) * (x + 7.0)
    return x * (x + 1.0) * (x + 2.0) * (x + 3.0) * four


@kernel
def make_units(a: FusedArrays, tables: Tables, c: int) -> None:
    """Make the units of a context that are not there yet."""
    for k in range(a.unseen.units.shape[1]):
        unit = a.unseen.units[c, k]
        if unit >= 0 and a.unseen.counts[unit, _MADE] == 0.0:
            _make_unit(a, tables, c, k)


@kernel
def _make_unit(a: FusedArrays, tables: Tables, c: int, k: int) -> None:
    """Make the Betas of the unit of a pair: its moments by rows of the log and each particle.

    Rows of ``scratch``: means, their spreads (counts of nodes), reach, probabilities, slopes.
    """
    u, n_nodes, size = a.unseen, a.starts.size - 1, a.places.shape[2]
    unit, scratch, twins = u.units[c, k], np.ones((5, size)), np.arange(size)
    if a.twins.size > 0:
        twins = a.twins[c, k]
    for tau in range(a.taus.shape[0]):
        for leaf in range(n_nodes, size):
            wins = a.log_cells[tau, a.places[c, k, leaf], WINS]
            n = wins + a.log_cells[tau, a.places[c, k, leaf], LOSSES]
            x = wins / n
            scratch[0, leaf], scratch[1, leaf] = x, x * (1.0 - x) / (n + 1.0)
        for j in range(tables.values.shape[1]):
            for node in range(n_nodes - 1, -1, -1):
                _sum_node(a, tables, c, k, tau, j, node, scratch)
            mean, variance = scratch[0, 0], _sum_slopes(a, tables, c, k, tau, twins, scratch)
            n = max(mean * (1.0 - mean) / max(variance, 1e-12) - 1.0, 2.0)
            wins, losses = np.float32(mean * n), np.float32((1.0 - mean) * n)
            u.betas[unit, tau, WINS, j], u.betas[unit, tau, LOSSES, j] = wins, losses
            u.logs[unit, tau, j] = _find_likelihood(np.float64(wins), np.float64(losses))
    u.counts[unit, _MADE] = 1.0
    group = u.spans[unit, GROUP]
    if u.weights[group, 0, 0] == 0.0:
        u.weights[group] = 1.0 / u.weights.shape[2]


@step
def _sum_node(
    a: FusedArrays, tables: Tables, c: int, k: int, tau: int, j: int, node: int, scratch: Floats
) -> None:
    """Write the probabilities of a node's edges by one particle or by rows, and its mean."""
    table, n, mean = tables.places[c, k, node], 0.0, 0.0
    first = a.places[c, k, node] - a.starts[node]
    for e in range(a.starts[node], a.starts[node + 1]):
        if table < 0:
            scratch[3, e + 1] = a.log_pools[tau, first + e]
        else:
            scratch[3, e + 1] = (
                tables.shares[first + e] * tables.values[table, j, e - a.starts[node]]
            )
        n += scratch[3, e + 1]
    for e in range(a.starts[node], a.starts[node + 1]):
        scratch[3, e + 1] /= n
        mean += scratch[3, e + 1] * scratch[0, e + 1]
    scratch[0, node], scratch[1, node] = mean, n


@step
def _sum_slopes(
    a: FusedArrays, tables: Tables, c: int, k: int, tau: int, twins: Ints, scratch: Floats
) -> float:
    """The variance by slopes (delta method): all that goes by one cell or node's distribution.

    Rows of the log leave a Dirichlet or, up to a tilt, the error of its shares.
    """
    n_nodes, size, variance, slopes = a.starts.size - 1, scratch.shape[1], 0.0, scratch[4]
    slopes[:] = 0.0
    for node in range(n_nodes):
        to = a.starts[twins[node]] - a.starts[node] + 1
        for e in range(a.starts[node], a.starts[node + 1]):
            scratch[2, e + 1] = scratch[2, node] * scratch[3, e + 1]
            slopes[to + e] += scratch[2, node] * scratch[0, e + 1]
    for node in range(n_nodes):
        if twins[node] == node:
            mean, first = 0.0, a.places[c, k, node] - a.starts[node]
            for e in range(a.starts[node], a.starts[node + 1]):
                mean += scratch[3, e + 1] * slopes[e + 1]
            for e in range(a.starts[node], a.starts[node + 1]):
                p, gap = scratch[3, e + 1], slopes[e + 1] - mean
                if tables.places[c, k, node] < 0:
                    variance += p * gap * gap / (scratch[1, node] + 1.0)
                else:
                    variance += p * p * gap * gap * tables.doubled[tau, first + e]
    slopes[:] = 0.0
    for leaf in range(n_nodes, size):
        slopes[twins[leaf]] += scratch[2, leaf]
    for leaf in range(n_nodes, size):
        variance += slopes[leaf] * slopes[leaf] * scratch[1, leaf]
    return variance


@step
def _find_likelihood(wins: float, losses: float) -> float:
    """The log of a Beta function in whole steps; differences are log likelihoods of rewards."""
    n = wins + losses
    both = _find_log_gamma(wins + 8.0) + _find_log_gamma(losses + 8.0)
    both += _HALF_LOG_2_PI - _find_log_gamma(n + 8.0)
    both -= _find_log(_rise(wins) * (_rise(losses) / _rise(n)))
    return math.floor(both * _STEPS + 0.5)


@step
def _count_unit(a: FusedArrays, unit: int) -> bool:
    """Add up the rewards of a unit's pairs, in their order; whether they have changed."""
    u, won, lost = a.unseen, 0.0, 0.0
    for i in range(u.spans[unit, 0], u.spans[unit, 1]):
        won += a.pairs[u.members[i, 0], u.members[i, 1], WINS]
        lost += a.pairs[u.members[i, 0], u.members[i, 1], LOSSES]
    changed = bool(won != u.counts[unit, WINS] or lost != u.counts[unit, LOSSES])
    u.counts[unit, WINS], u.counts[unit, LOSSES] = won, lost
    return changed


@routine
def _weigh_rewards(u: Unseen, unit: int) -> None:
    """Write how likely the rewards of a unit are by each particle and tau."""
    sums = u.sums[u.spans[unit, GROUP]]
    won, lost = u.counts[unit, WINS], u.counts[unit, LOSSES]
    for tau in range(u.betas.shape[1]):
        for j in range(u.betas.shape[3]):
            wins = np.float64(u.betas[unit, tau, WINS, j]) + won
            losses = np.float64(u.betas[unit, tau, LOSSES, j]) + lost
            found = _find_likelihood(wins, losses)
            sums[tau, j] += found - u.logs[unit, tau, j]
            u.logs[unit, tau, j] = found


@routine
def _weigh_group(a: FusedArrays, group: int) -> None:
    """Weigh the particles of a group, and the taus by all groups."""
    u, best, all_ = a.unseen, -np.inf, a.unseen.evidence.shape[0] - 1
    for tau in range(u.taus.shape[0]):
        sums, weights, total = u.sums[group, tau], u.weights[group, tau], 0.0
        top = sums[0]
        for j in range(1, sums.size):
            top = max(top, sums[j])
        for j in range(sums.size):
            weights[j] = _find_exp(max((sums[j] - top) / _STEPS, _LEAST))
        for j in range(sums.size):
            total += weights[j]
        for j in range(sums.size):
            weights[j] /= total
        found = top + math.floor(math.log(total / sums.size) * _STEPS + 0.5)
        u.evidence[all_, tau] += found - u.evidence[group, tau]
        u.evidence[group, tau] = found
        u.taus[tau, 0] = a.taus[tau, LOG_PRIOR] + u.evidence[all_, tau] / _STEPS
        best = max(best, u.taus[tau, 0])
    total = 0.0
    for tau in range(u.taus.shape[0]):
        u.taus[tau, 1] = math.exp(u.taus[tau, 0] - best)
        total += u.taus[tau, 1]
    for tau in range(u.taus.shape[0]):
        u.taus[tau, 1] /= total


@routine
def weigh_unit(a: FusedArrays, c: int, k: int, is_last: bool) -> None:
    """Weigh particles by what a pair has earned since, and its group if it comes last."""
    unit = a.unseen.units[c, k]
    if _count_unit(a, unit):
        _weigh_rewards(a.unseen, unit)
    if is_last:
        _weigh_group(a, a.unseen.spans[unit, GROUP])


@step
def sum_unit(u: Unseen, unit: int, tau: int) -> tuple[float, float]:
    """Mean and variance of what a unit earns under one tau, over all particles."""
    weights = u.weights[u.spans[unit, GROUP], tau]
    won, lost, first, second = u.counts[unit, WINS], u.counts[unit, LOSSES], 0.0, 0.0
    for j in range(weights.size):
        if weights[j] > _NO_WEIGHT:
            wins = u.betas[unit, tau, WINS, j] + won
            n = wins + u.betas[unit, tau, LOSSES, j] + lost
            part = weights[j] * wins / (n * (n + 1.0))
            first += part * (n + 1.0)
            second += part * (wins + 1.0)
    return first, max(second - first * first, 0.0)


@routine
def predict_unit(u: Unseen, unit: int, reward: float) -> tuple[float, float]:
    """How likely a reward of a unit is, and the mean that is expected, over all taus."""
    likelihood, mean, won, lost = 0.0, 0.0, u.counts[unit, 0], u.counts[unit, 1]
    for tau in range(u.taus.shape[0]):
        weights, by_tau, expected = u.weights[u.spans[unit, GROUP], tau], 0.0, 0.0
        for j in range(weights.size):
            if weights[j] > _NO_WEIGHT:
                wins = u.betas[unit, tau, WINS, j] + won
                losses = u.betas[unit, tau, LOSSES, j] + lost
                expected += weights[j] * wins / (wins + losses)
                if 0.0 < reward < 1.0:
                    by_tau += weights[j] * predict_reward(reward, wins, losses)
        if reward == 1.0:
            by_tau = expected
        elif reward == 0.0:
            by_tau = 1.0 - expected
        likelihood += u.taus[tau, 1] * by_tau
        mean += u.taus[tau, 1] * expected
    return likelihood, mean


@step
def predict_reward(reward: float, wins: float, losses: float) -> float:
    """The mean of ``p^y (1-p)^(1-y)`` under a Beta; for 0 or 1 the reward's probability."""
    if reward == 1.0:
        return wins / (wins + losses)
    if reward == 0.0:
        return losses / (wins + losses)
    after = math.lgamma(wins + reward) + math.lgamma(losses + 1.0 - reward)
    return math.exp(after - math.lgamma(wins) - math.lgamma(losses)) / (wins + losses)
