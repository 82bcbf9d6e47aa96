r"""The probability that each arm is the best: Thompson sampling without drawing.

Each arm's mean has a distribution, truncated to the prior bounds [L, U]: a mixture of at most two
parts, each a Beta in log odds or a normal on some increasing scale. With distribution functions
F_k,

    P(a) = \int \prod_{k \ne a} F_k \, dF_a

is the probability that a Thompson sampler (Thompson 1933) would play arm a. The integral is a sum
over about fifty intervals, in each of which F_a and the product of the others are parabolas
(Simpson's rule for a Stieltjes integral; a trapezoid sum overstates small probabilities by up to
7%). Products over the other arms go by prefixes and suffixes. A policy *draws its arm from P*, so
that P is its exact propensity whatever the error.
"""

import math

import numpy as np

from boundit.bandit.compiled import kernel, step
from boundit.bandit.ids import Floats, Ints

MEAN, SD, WINS, LOSSES, WEIGHT, MEAN2, SD2, WINS2, LOSSES2, LOWER, UPPER, P_BEST = range(12)
"""Columns of a table of beliefs. WEIGHT is the weight of the second part, P_BEST the probability
that the arm is the best. A part with WINS above 0 is a Beta, and MEAN and SD, of its log odds,
place nodes; else they are those of a normal."""
COLUMNS = 12
_LEAST_COUNT = 0.75
"""Below so many wins or losses a Beta is replaced by a normal in log odds."""

_END = 1e-9
"""Bounds so near an end of the range say nothing."""
_TOP = 6
"""Nodes follow the distributions of so many arms, those with the highest mean + sd."""
_Z = np.array([-3.8, -2.7, -1.8, -1.1, -0.5, 0.0, 0.5, 1.1, 1.8, 2.7, 3.8])
_LOWEST = 4.5
"""Nodes start where some arm is above for certain, so many sd below its mean."""
_EVEN, _EVEN_MIXED = 8, 18


@step
def cumulate(z: float) -> float:
    """Compute the standard normal distribution function within 1.5e-7.

    Abramowitz and Stegun 26.2.19: without branches or calls, so that a processor works out
    several at once, five times quicker than erfc.
    """
    x = abs(z)
    p = 0.0000380036 + x * (0.0000488906 + x * 0.0000053830)
    p = 1.0 + x * (0.0498673470 + x * (0.0211410061 + x * (0.0032776263 + x * p)))
    p = p * p
    p = p * p
    p = p * p
    tail = 0.5 / (p * p)
    return 1.0 - tail if z > 0.0 else tail


@step
def _write_normal(out: Floats, x: Floats, mean: float, sd: float, weight: float) -> None:
    """Write the distribution function of a normal at every node, or mix it into what is there."""
    scale = 1.0 / sd
    for j in range(x.size):
        out[j] += weight * (cumulate((x[j] - mean) * scale) - out[j])


@step
def _write_beta(out: Floats, odds: Floats, wins: float, losses: float, weight: float) -> None:
    """Write the same for a Beta, by the normal approximation of Peizer and Pratt (1968).

    It takes a root and two divisions a node.
    """
    s, t, n = wins - 0.5, losses - 0.5, wins + losses - 1.0
    level = s * math.log(s) + t * math.log(t) - n * math.log(n)
    by_wins, by_losses, by_n = 0.02 / wins, 0.02 / losses, 0.02 / (n + 1.0)
    scale = 1.0 / (1.0 + 1.0 / (6.0 * n))
    for j in range(odds.shape[1]):
        p, q = odds[0, j], odds[1, j]
        gap, variance = n * p - s, n * p * q
        deviance = 2.0 * max(level - s * odds[2, j] - t * odds[3, j], 0.0)
        near = gap * gap < 1e-6 * variance  # there both are 0: their ratio's limit
        ratio = (1.0 if near else deviance) / (variance if near else gap * gap)
        shift = (n + 1.0 / 3.0) * p - s - 1.0 / 6.0 - q * by_wins + p * by_losses
        shift -= (q - 0.5) * by_n
        out[j] += weight * (cumulate(shift * math.sqrt(ratio * scale)) - out[j])


@step
def _write_odds(odds: Floats, x: Floats) -> None:
    """Write the probabilities p and q whose log odds are x and -x, and the logs of both."""
    for j in range(x.size):
        rest = math.exp(-abs(x[j]))
        big, log_big = 1.0 / (1.0 + rest), -math.log(1.0 + rest)
        up = x[j] > 0.0
        odds[0, j], odds[1, j] = big if up else rest * big, rest * big if up else big
        odds[2, j] = log_big if up else log_big + x[j]
        odds[3, j] = log_big - x[j] if up else log_big


@step
def _write_mixture(out: Floats, x: Floats, odds: Floats, belief: Floats) -> None:
    """Write the distribution function of an arm's mean at every node."""
    out[:] = 0.0
    for part in range(2 if belief[WEIGHT] > 0.0 else 1):
        at, weight = (MEAN2, belief[WEIGHT]) if part else (MEAN, 1.0)
        wins, losses = belief[at + WINS - MEAN], belief[at + LOSSES - MEAN]
        if min(wins, losses) >= _LEAST_COUNT:
            _write_beta(out, odds, wins, losses, weight)
        else:
            _write_normal(out, x, belief[at], belief[at + SD - MEAN], weight)


@step
def _truncate(
    out: Floats, x: Floats, lower: float, upper: float, below: float, above: float
) -> None:
    """Truncate a distribution function to [lower, upper].

    One that lies far outside is a point at the nearer end.
    """
    inside = above - below
    for j in range(x.size):
        if x[j] >= upper:
            out[j] = 1.0
        elif x[j] < lower:
            out[j] = 0.0
        elif inside < 1e-7:
            out[j] = 1.0 if below > 0.5 else 0.0
        else:
            out[j] = min(max((out[j] - below) / inside, 0.0), 1.0)


@kernel
def weigh_arms(belief: Floats) -> None:
    """Write for every arm the probability that its mean is the highest, by quadrature."""
    n, start = belief.shape[0], -np.inf
    for k in range(
        n
    ):  # some arm earns at least the highest lower bound: below it, nothing is decided
        start = max(start, belief[k, LOWER])
    x = _place_nodes(belief, start)
    reached, odds = np.empty((n, x.size)), np.empty((4, x.size))
    ends, odds_of_ends, at_ends = np.empty(2), np.empty((4, 2)), np.empty(2)
    if belief[0, WINS] > 0.0:
        _write_odds(odds, x)
    for k in range(n):
        lower, upper = belief[k, LOWER], belief[k, UPPER]
        _write_mixture(reached[k], x, odds, belief[k])
        if lower > -np.inf or upper < np.inf:
            ends[0], ends[1] = lower, upper
            if belief[k, WINS] > 0.0:
                _write_odds(odds_of_ends, ends)
            _write_mixture(at_ends, ends, odds_of_ends, belief[k])
            below = at_ends[0] if lower > -np.inf else 0.0
            above = at_ends[1] if upper < np.inf else 1.0
            _truncate(reached[k], x, lower, upper, below, above)
    _integrate(reached, belief)


@kernel
def _integrate(reached: Floats, belief: Floats) -> None:
    """Sum over intervals of three points each.

    Products of the other arms' F go by prefixes, which are kept, and suffixes.
    """
    n, m = reached.shape
    before, after, total = np.ones((n, m)), np.ones(m), 0.0
    for k in range(n - 1):
        for j in range(m):
            before[k + 1, j] = before[k, j] * reached[k, j]
    for k in range(n - 1, -1, -1):
        others = before[k]
        for j in range(m):
            others[j] *= after[j]
            after[j] *= reached[k, j]
        found = 0.0
        for j in range(0, m - 2, 2):
            first, middle, last = reached[k, j], reached[k, j + 1], reached[k, j + 2]
            rise, bend = 0.5 * (last - first), 0.5 * (first + last) - middle
            first, middle, last = others[j], others[j + 1], others[j + 2]
            slope, curve = 0.5 * (last - first), 0.5 * (first + last) - middle
            found += 2.0 * rise * (middle + curve / 3.0) + 4.0 / 3.0 * slope * bend
        belief[k, P_BEST] = max(found, 0.0)
        total += belief[k, P_BEST]
    for k in range(n):
        belief[k, P_BEST] = belief[k, P_BEST] / total if total > 0.0 else 1.0 / n


@kernel
def _place_nodes(belief: Floats, start: float) -> Floats:
    """Place nodes where the likely arms have their probability, and evenly over the range."""
    n, top = belief.shape[0], min(belief.shape[0], _TOP)
    order, low, high, even = _find_highest(belief, top), start, -np.inf, _EVEN
    for j in range(top):
        high = max(high, belief[order[j], MEAN] + belief[order[j], SD] * _Z[_Z.size - 1])
    for k in range(n):
        lowest = min(belief[k, MEAN], belief[k, UPPER]) - _LOWEST * belief[k, SD]
        if belief[k, WEIGHT] > 1e-4:
            high, even = max(high, belief[k, MEAN2] + 3.5 * belief[k, SD2]), _EVEN_MIXED
            lowest = min(
                lowest, min(belief[k, MEAN2], belief[k, UPPER]) - _LOWEST * belief[k, SD2]
            )
        low = max(low, lowest)
    high = max(high, low + 1e-9)
    size = top * (_Z.size + 1) + even + 1
    one, two = np.empty(size), np.empty(size)
    for i in range(even + 1):
        one[i] = low + (high - low) * i / even
    m, added = even + 1, np.empty(_Z.size + 1)
    for j in range(top):  # merge sorted lists; a node below the start counts nothing
        mean, sd, upper = belief[order[j], MEAN], belief[order[j], SD], belief[order[j], UPPER]
        size = 0
        for z in _Z:
            x = mean + sd * z
            if low < upper <= x and (size == 0 or added[size - 1] < upper):
                added[size] = upper
                size += 1
            if low < x < upper:
                added[size] = x
                size += 1
        i, at = 0, 0
        for place in range(m + size):
            if at == size or (i < m and one[i] <= added[at]):
                two[place] = one[i]
                i += 1
            else:
                two[place] = added[at]
                at += 1
        one, two, m = two, one, m + size
    found = np.empty(2 * m - 1)  # nodes, and the middle of each interval
    for i in range(m):
        found[2 * i] = one[i]
        if i + 1 < m:
            found[2 * i + 1] = 0.5 * (one[i] + one[i + 1])
    return found


@kernel
def _find_highest(belief: Floats, top: int) -> Ints:
    """Find the arms with the highest mean + sd, by insertion: a full sort takes longer."""
    found, scores = np.zeros(top, np.int64), np.full(top, -np.inf)
    for k in range(belief.shape[0]):
        score = min(belief[k, MEAN] + belief[k, SD], belief[k, UPPER])
        if score > scores[top - 1] or k < top:
            place = min(k, top - 1)
            while place > 0 and scores[place - 1] < score:
                scores[place], found[place] = scores[place - 1], found[place - 1]
                place -= 1
            scores[place], found[place] = score, k
    return found


@step
def write_beta(belief: Floats, k: int, at: int, wins: float, losses: float) -> None:
    """Write a Beta as a part of an arm's belief, with mean and sd of its log odds.

    Digamma and trigamma by two terms each.
    """
    belief[k, at] = math.log(wins) - 0.5 / wins - math.log(losses) + 0.5 / losses
    variance = 1.0 / wins + 0.5 / (wins * wins) + 1.0 / losses + 0.5 / (losses * losses)
    belief[k, at + SD - MEAN] = math.sqrt(variance)
    belief[k, at + WINS - MEAN], belief[k, at + LOSSES - MEAN] = wins, losses


@step
def write_bounds(
    belief: Floats, i: int, lower: float, upper: float, low: float, high: float
) -> None:
    """Write bounds of a mean on the scale of log odds; infinite where they say nothing."""
    one, two = (lower - low) / (high - low), (upper - low) / (high - low)
    belief[i, LOWER], belief[i, UPPER] = -np.inf, np.inf
    if one > _END:
        one = min(one, 1.0 - _END)
        belief[i, LOWER] = math.log(one / (1.0 - one))
    if two < 1.0 - _END:
        two = max(two, _END)
        belief[i, UPPER] = math.log(two / (1.0 - two))
