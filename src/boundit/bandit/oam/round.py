"""One round of optimal allocation matching, on numbers alone (Algorithm 5), in machine code.

A round has the arms of one context, each with what is known of it. Arms that the bounds rule
out never come here (D-34).
"""

import math
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.dense import Numbers, dot, factor, solve_cholesky, solve_lower
from boundit.bandit.oam.allocation import NO_GAP

_OUTSIDE = 1e-3
_RIDGE = 1e-6  # of a squared feature: enough to invert with, too little to matter


class Branch(StrEnum):
    """Why an arm was pulled."""

    START = "start"  # nothing pulled so far tells anything of it (D-32)
    EXPLOIT = "exploit"
    WASTED = "wasted"  # exploration, though every arm here had its share
    FORCED = "forced"
    UNWASTED = "unwasted"


BRANCHES = tuple(Branch)
START, EXPLOIT, WASTED, FORCED, UNWASTED = range(len(BRANCHES))


class MatchingConstants(NamedTuple):
    """The constants of Algorithm 5; an ``epsilon`` that is no number is 1 / log log t."""

    horizon: float
    c: float
    sigma2: float
    epsilon: float
    smallest_gap: float


class ContextArms(NamedTuple):
    r"""The arms of one context, a number each.

    ``spreads`` are :math:`\lVert x \rVert^2_{G^{-1}}`, ``unseen`` the share of each vector that
    lies outside whatever was pulled, ``pulls`` :math:`N_a`, and ``needed`` the smaller one of
    :math:`T_a` and :math:`f_n / \Delta_{\min}^2`.
    """

    means: Numbers
    spreads: Numbers
    unseen: Numbers
    pulls: Numbers
    needed: Numbers
    lower: Numbers
    upper: Numbers


class MatchingChoice(NamedTuple):
    """The branch, the place of the arm to pull, and the scores that were compared.

    ``free`` are the scores as they would be without bounds.
    """

    branch: int
    place: int
    scores: Numbers
    free: Numbers


@compile_kernel
def compute_width(
    horizon: float, delta: float, n_features: int, c: float, sigma2: float
) -> float:
    r"""Compute how wide confidence is, :math:`f_{n,\delta}` times the noise's variance proxy.

    .. math:: f_{n,\delta} = 2 (1 + 1 / \log n) \log(1/\delta) + c d \log(d \log n)

    >>> round(compute_width(15_000.0, 1 / 15_000, 5, 0.0, 0.25), 3)
    5.308
    """
    log_n = math.log(max(horizon, 3.0))
    spent = c * n_features * math.log(n_features * log_n) if c else 0.0
    return sigma2 * (2.0 * (1.0 + 1.0 / log_n) * math.log(1.0 / delta) + spent)


@compile_kernel
def estimate(x: Numbers, gram: Numbers, moment: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Fit the regression that all arms share to what was learned so far.

    Gives the coefficients ``theta``; for each row of ``x`` how uncertain its mean is (the
    spread ``x' inverse(G) x``), and the share of the row in directions that no pull has
    measured.
    """
    (n, size), longest = x.shape, 0.0
    for i in range(n):
        longest = max(longest, dot(x[i], x[i]))
    ridge = _RIDGE * (longest if longest > 0.0 else 1.0)
    metric = gram.copy()
    for k in range(size):
        metric[k, k] += ridge
    low = factor(metric)
    z = solve_lower(low, x)
    spreads, unseen = np.zeros(n), np.zeros(n)
    for k in range(size):
        for i in range(n):
            spreads[i] += z[k, i] * z[k, i]
    for i in range(n):
        square = dot(x[i], x[i])
        unseen[i] = ridge * spreads[i] / square if square > 0.0 else 0.0
    return solve_cholesky(low, moment), spreads, unseen


@compile_kernel
def set_horizon(constants: MatchingConstants, n_learned: int) -> MatchingConstants:
    """Set a horizon where none was given: twice the rounds so far, up to a power of two.

    At least 1,024. So a policy may play for any time.
    """
    if constants.horizon > 0.0:
        return constants
    horizon = 1024.0
    while horizon < 2.0 * (n_learned + 1):
        horizon *= 2.0
    return MatchingConstants(
        horizon, constants.c, constants.sigma2, constants.epsilon, constants.smallest_gap
    )


@compile_kernel
def compute_gaps(x: Numbers, blocks: Places, theta: Numbers) -> Numbers:
    """Compute how far the estimated mean of each pair lies below the best of its context.

    A pair is a context and an arm, a row of ``x`` each.
    """
    gaps = np.empty(x.shape[0])
    for b in range(blocks.size - 1):
        best = -math.inf
        for i in range(blocks[b], blocks[b + 1]):
            gaps[i] = dot(x[i], theta)
            best = max(best, gaps[i])
        for i in range(blocks[b], blocks[b + 1]):
            gaps[i] = best - gaps[i]
    return gaps


@compile_kernel
def find_least_gap(gaps: Numbers, most: float, smallest: float) -> float:
    """Find the smallest positive gap between an arm's mean and the best one.

    Never above ``most`` or below ``smallest``.
    """
    least = most
    for gap in gaps:
        if gap > NO_GAP:
            least = min(least, gap)
    return max(least, smallest) if least < math.inf else smallest


@compile_kernel
def choose_for_visitor(
    constants: MatchingConstants,
    gram: Numbers,
    moment: Numbers,
    x: Numbers,
    arms: tuple[Numbers, Numbers, Numbers, Numbers],
    pairs: Numbers,
    blocks: Places,
    explorations: int,
    events: int,
) -> MatchingChoice:
    """Choose an arm for one visitor by OAM (Algorithm 5), from all that was learned.

    Gives the arm's place, the branch (exploit, or which kind of exploration) and the scores.
    ``arms`` has the pulls, the allocation, the lower and the upper ends of the arms at hand,
    ``x`` their features; ``pairs`` the features of every pair known, in the blocks of their
    contexts.
    """
    pulls, allocation, lower, upper = arms
    theta, spreads, unseen = estimate(x, gram, moment)
    n, size = x.shape
    means, needed, here, best = np.empty(n), np.empty(n), np.empty(n), -math.inf
    for i in range(n):
        means[i] = dot(x[i], theta)
        best = max(best, means[i])
    for i in range(n):
        here[i] = best - means[i]
    gap = find_least_gap(compute_gaps(pairs, blocks, theta), math.inf, 0.0)
    gap = find_least_gap(here, gap if gap > 0.0 else math.inf, constants.smallest_gap)
    f = compute_width(
        constants.horizon, 1.0 / constants.horizon, size, constants.c, constants.sigma2
    )
    for i in range(n):
        needed[i] = min(allocation[i], f / gap**2)
    visit = ContextArms(means, spreads, unseen, pulls, needed, lower, upper)
    delta = float(explorations + 1) ** -2
    index_width = compute_width(constants.horizon, delta, size, constants.c, constants.sigma2)
    return choose(
        visit, gap, f, index_width, _compute_forced_share(constants, events) * explorations
    )


@compile_kernel
def _compute_forced_share(constants: MatchingConstants, events: int) -> float:
    """Give the share of OAM's explorations that must go to the arm pulled least.

    The option ``epsilon``, or 1 / log log t after ``events`` rewards.
    """
    if not math.isnan(constants.epsilon):
        return constants.epsilon
    return 1.0 / max(math.log(math.log(max(events + 1.0, 16.0))), 1.0)


@compile_kernel
def choose(
    visit: ContextArms, gap: float, width: float, index_width: float, quota: float
) -> MatchingChoice:
    r"""Choose the branch of Algorithm 5, then the arm it pulls (lines 4 to 25).

    Gives the branch, the arm's place and the scores. ``gap`` is the smallest estimated gap
    anywhere, ``width`` :math:`f_n`, ``index_width`` :math:`f_{n,1/s^2}`, ``quota``
    :math:`\epsilon_t s(t-1)`, the pulls below which an arm is forced.
    """
    n, means, pulls = visit.means.size, visit.means, visit.pulls
    index, free = np.empty(n), np.empty(n)
    branch = _find_branch(visit, gap, width, quota)
    for i in range(n):
        free[i] = means[i]
        if branch == START:
            free[i] = index[i] = visit.spreads[i]
        elif branch == EXPLOIT:
            index[i] = max(min(visit.upper[i], means[i]), visit.lower[i])
        elif branch == WASTED:
            free[i] += math.sqrt(index_width * visit.spreads[i])
            index[i] = min(free[i], visit.upper[i])
        elif branch == FORCED:
            index[i] = -pulls[i]
        else:
            index[i] = -pulls[i] / visit.needed[i] if visit.needed[i] > 0.0 else -math.inf
    return MatchingChoice(branch, _find_largest(index, free), index, free)


@compile_kernel
def _find_branch(visit: ContextArms, gap: float, width: float, quota: float) -> int:
    """Find which branch of OAM pulls (Algorithm 5, lines 4, 13 and 17; D-32).

    Start where some arm is not measured at all, exploit where all are known well enough for
    their gaps, wasted exploration where all have the pulls they need, forced where one has no
    more than ``quota``, else unwasted.
    """
    best, known, served, fewest = -math.inf, True, True, math.inf
    for i in range(visit.means.size):
        if visit.unseen[i] > _OUTSIDE:
            return START
        best = max(best, visit.means[i])
    for i in range(visit.means.size):
        enough = max(best - visit.means[i], gap) ** 2 / width
        known = known and visit.spreads[i] <= enough
        served = served and visit.pulls[i] >= visit.needed[i]
        fewest = min(fewest, visit.pulls[i])
    if known:
        return EXPLOIT
    if served:
        return WASTED
    return FORCED if fewest <= quota else UNWASTED


@compile_kernel
def _find_largest(index: Numbers, free: Numbers) -> int:
    """Find the arm with the highest index; among equals the higher free one, then the first."""
    place = 0
    for i in range(1, index.size):
        higher = index[i] > index[place]
        if higher or (index[i] == index[place] and free[i] > free[place]):
            place = i
    return place
