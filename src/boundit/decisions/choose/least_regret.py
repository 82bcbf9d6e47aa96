r"""The lottery over arms that falls least short of the best arm, whatever is true.

A lottery ``pi`` regrets :math:`\sum_b \pi_b (\mu_a - \mu_b)` where ``a`` is the best arm. All
weights above 0 are then on one arm, so in a closed set of means the most it regrets is
:math:`h_a(\pi) = \sum_b \pi_b D_{ab}`, and the lottery that regrets least solves the matrix
game of the leads ``D``: the least over ``pi`` of the greatest ``h_a``. What is promised of a
lottery is computed from the leads and its chances alone, so that it holds whether or not a
solver found the best one.

Two arms have Manski's closed form. In a box ``h_a = U_a - pi_a (U_a - L_a) - pi L``, so only
the level that all ``U_a - pi_a (U_a - L_a)`` stay below is to be searched for. Any other game
is a linear program.
"""

import math

import numpy as np

from boundit.bounds.linear_program import Program, SparseMatrix
from boundit.core.rounding import ROUNDING
from boundit.counts.named_array import Floats
from boundit.decisions.choose.mean_set import MeanSet

_EPS = float(np.finfo(np.float64).eps)


def find_least_regret(means: MeanSet) -> Floats:
    """Find the chances of the lottery with the least worst-case regret, in the order of arms.

    Arms that another surely beats have none, and one arm is preferred to a lottery that is no
    better.

    >>> means = MeanSet.close((("a",), ("b",)), [0.1, 0.3], [0.5, 0.9], {})
    >>> find_least_regret(means).round(3)
    array([0.2, 0.8])
    """
    leads = means.find_leads()
    kept = np.flatnonzero(~(leads < 0).any(axis=1))
    kept = kept if len(kept) else np.arange(len(leads))
    alone = find_single(leads, means)
    game = leads[np.ix_(kept, kept)]
    if len(kept) == 1 or not np.isfinite(game).all():
        return alone
    if len(kept) == 2:
        found = _mix_two(game)
    elif means.leads is None:
        found = _search_level(means.lowers[kept], means.uppers[kept])
    else:
        found = _solve_game(game)
    chances = np.zeros(len(leads))
    chances[kept] = np.where(found > ROUNDING, found, 0.0)
    total = chances.sum()
    if not total > 0:  # a solver that gave up
        return alone
    chances /= total
    room = ROUNDING * float(np.abs(game).max())
    least, _ = bound_regret(leads, chances)
    sure, _ = bound_regret(leads, alone)
    return alone if sure <= least + room else chances


def find_single(leads: Floats, means: MeanSet) -> Floats:
    """Find the single arm that regrets least at worst, as a lottery of that arm alone.

    Of arms that do equally well it is the one with the greatest lower end, then with the
    greatest upper end, then the first.
    """
    regrets = leads.max(axis=0)
    order = np.lexsort((np.arange(len(regrets)), -means.uppers, -means.lowers, regrets))
    chances = np.zeros(len(regrets))
    chances[order[0]] = 1.0
    return chances


def bound_regret(leads: Floats, chances: Floats) -> tuple[float, int]:
    """Bound what a lottery regrets at worst, rounded up, and find the arm that is best then.

    ``leads`` has in row ``a`` and column ``b`` how much more ``a`` may earn than ``b``.
    """
    used = np.flatnonzero(chances)
    if len(used) == 1:
        column = leads[:, used[0]]
        worst = int(column.argmax())
        return float(column[worst]), worst
    parts = leads[:, used] * chances[used]
    slack = 4 * _EPS * (len(used) + 2) * np.abs(parts).sum(axis=1)
    regrets = parts.sum(axis=1) + slack
    worst = int(regrets.argmax())
    return max(float(regrets[worst]), 0.0), worst


def certify_regret(leads: Floats) -> float | None:
    r"""Find a worst-case regret that no lottery is below: the proof that one is the best.

    For any shares ``q`` of cases in which each arm is the best, a lottery regrets at least the
    least over its arms of :math:`\sum_a q_a D_{ab}`: the game seen from the other side. It is
    computed from ``q`` and rounded down, so that it holds whatever a solver found. None where
    leads may be infinite.

    >>> certify_regret(np.array([[0.0, 0.2], [0.6, 0.0]])).__round__(9)
    0.15
    """
    if not np.isfinite(leads).all():
        return None
    # A constant more in every entry moves the value of a game and none of its strategies.
    shares = np.maximum(_solve_game(leads.max() - leads.T), 0.0)
    total = shares.sum()
    if not total > 0:
        return None
    parts = leads * (shares / total)[:, None]
    slack = 4 * _EPS * (len(leads) + 2) * np.abs(parts).sum(axis=0)
    return max(float((parts.sum(axis=0) - slack).min()), 0.0)


def _mix_two(leads: Floats) -> Floats:
    """Mix two arms by how much each may earn more than the other (Manski)."""
    first, second = max(leads[0, 1], 0.0), max(leads[1, 0], 0.0)
    if first + second == 0:
        return np.array([1.0, 0.0])
    return np.array([first / (first + second), second / (first + second)])


def _search_level(lowers: Floats, uppers: Floats) -> Floats:
    """Find the lottery of least worst-case regret where arms have intervals and no more.

    At a level ``t`` each arm needs the chance ``(U - t) / (U - L)`` if that is above 0, and the
    arm with the greatest lower end gets the rest. The regret is convex in ``t`` and bends where
    ``t`` is an upper end, so its least is there or at the lowest level that chances suffice
    for.
    """
    widths = uppers - lowers
    open_ = widths > 0
    order = np.argsort(-uppers[open_])
    share = 1 / widths[open_][order]
    lowest = ((uppers[open_][order] * share).cumsum() - 1) / share.cumsum()
    least = max(lowest.max(initial=-math.inf), uppers[~open_].max(initial=-math.inf))
    levels = np.append(uppers[uppers > least], least)
    needed = np.zeros((len(levels), len(uppers)))
    needed[:, open_] = np.maximum(uppers[open_] - levels[:, None], 0.0) / widths[open_]
    needed[:, int(lowers.argmax())] += 1 - needed.sum(axis=1)
    best = int((levels - needed @ lowers).argmin())
    found: Floats = np.maximum(needed[best], 0.0)
    return found


def _solve_game(leads: Floats) -> Floats:
    """Find the lottery of least worst-case regret by a linear program, or zeros if it gives up.

    Its variables are the chances and the regret, all of them in units of the largest lead.
    """
    n, unit = len(leads), float(np.abs(leads).max())
    if unit == 0:
        return np.full(n, 1 / n)
    rows = np.zeros((n + 1, n + 1))
    rows[:n, :n], rows[:n, n], rows[n, :n] = leads / unit, -1.0, 1.0
    program = Program(
        SparseMatrix.from_dense(rows),
        lower=np.append(np.full(n, -np.inf), 1.0),
        upper=np.append(np.zeros(n), 1.0),
        highest=np.ones(n + 1),
    )
    return np.nan_to_num(program.minimise(np.append(np.zeros(n), 1.0)).point[:n], nan=0.0)
