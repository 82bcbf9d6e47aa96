"""A plan as arrays: which cells and weights each pair of arm and context has, and what rows say.

The mean of a pair is a sum over a tree. Its first node is the first factor of the plan,
P(w_1 | do(x), c); every value leads to a node of the next factor, those of the last factor to
*leaves*, where rewards are. Nodes and leaves are numbered level by level, so that edge e leads to
element e + 1. A plan without factors is a single leaf.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from boundit.bandit.best_arm import COLUMNS
from boundit.bandit.errors import BadObservation
from boundit.bandit.ids import Floats, Ints
from boundit.bandit.spec import find_bin
from boundit.core.errors import OutsideDomain
from boundit.core.names import unwrap_scalar
from boundit.results.bound import Arm, Context, Value
from boundit.results.fused_plan import Factor, FusedPlan

TAUS = (0.0, 0.025, 0.05, 0.1, 0.2, math.inf)
"""The sizes that the bias of the log may have, one for the whole log."""
_PRIOR = (0.7, 0.06, 0.06, 0.06, 0.06, 0.06)
SHIFTS = (0.5, 1.0, 2.0)
"""By how much better a pair or an arm may be than the log says, in log odds: what looks too good
is played, and found out."""
_TILT_SCALE = 1.5
"""Scale of the logistic prior of a log tilt: how much selection prefers one w over another."""
NO_PLAN = FusedPlan((), (), (), (), ())

SEEN_WINS, SEEN_LOSSES, GUESSED_WINS, GUESSED_LOSSES = range(4)
SEEN, GUESSED = 0, 1
WINS, LOSSES, BIAS, OWN, SHIFT = range(5)
LOG_PRIOR, LOG_WEIGHT, WEIGHT = range(3)
N_LEARNED, N_SEEN = 0, 1


class Unseen(NamedTuple):
    """Particles for weights that no round shows (``unobserved``); without rows until needed.

    units          contexts x arms: pairs with the same cells and distributions are one unit; -1
    members        the pairs of all units, one unit after the other
    spans          units x (first member, end of members, group): units that depend on the same
                   unknown distributions are a group
    betas          units x taus x (wins, losses) x particles: a unit's mean before any reward
    counts         units x (wins, losses, whether ``betas`` are there)
    logs           units x taus x particles: the likelihood of a unit's rewards, whole numbers
    sums           groups x taus x particles: their sums, which no order changes
    weights        groups x taus x particles
    evidence       (groups, and one for their sum) x taus: log of the mean likelihood, whole
    taus           taus x (log weight, weight)
    """

    units: Ints
    members: Ints
    spans: Ints
    betas: NDArray[np.float32]
    counts: Floats
    logs: Floats
    sums: Floats
    weights: Floats
    evidence: Floats
    taus: Floats


class FusedArrays(NamedTuple):
    """What the compiled loops read, which the plan says, and write, which was learned.

    starts, parents  edges of each node; node of each edge
    places           contexts x arms x (nodes, leaves): where the counts of a node's distribution
                     begin, and the cell of each leaf; -1: no plan
    twins            the same: first element of the same distribution or cell; empty if none
    log_cells        taus x cells x (wins, losses): what rows of the log count for, prior included
    log_pools        taus x entries: the same for distributions of w
    bounds           contexts x arms x (lower, upper), used only where a pair has no plan
    numbers          (doubt, lowest reward, highest reward)

    pairs            contexts x arms x (wins, losses: all rewards on the scale from 0 to 1;
                     log Bayes factors: what is fused is wrong here, weights are own, SHIFTS)
    arm_shifts       arms x SHIFTS: the same for an arm in all contexts
    leaves           contexts x arms x leaves x (rounds, wins) that showed all
    own              contexts x arms x edges: values of w in these, which ``leaves`` tell
    cells            cells x (seen wins, seen losses, guessed wins, guessed losses)
    pools            entries x (seen, guessed)
    taus             taus x (log prior, log weight, weight)
    totals           (rounds learned, rounds that showed all of w)

    scratch          6 x (nodes, leaves): what is worked out
    belief           arms x columns of a belief: what the last decision went by
    """

    starts: Ints
    parents: Ints
    places: Ints
    twins: Ints
    log_cells: Floats
    log_pools: Floats
    bounds: Floats
    numbers: Floats
    pairs: Floats
    arm_shifts: Floats
    leaves: Floats
    own: Floats
    cells: Floats
    pools: Floats
    taus: Floats
    totals: Floats
    scratch: Floats
    belief: Floats
    unseen: Unseen


def lay_out(
    plan: FusedPlan | None,
    rows: Mapping[Context, int],
    columns: Mapping[Arm, int],
    bounds: Floats,
    numbers: Sequence[float],
    *,
    flip: bool,
) -> FusedArrays:
    """Put a plan into arrays by context and arm, with nothing learned.

    ``flip`` counts rewards from the other end of their range. Without doubt, ``numbers[0]``, the
    log has no bias.
    """
    trusting = plan is None or not numbers[0]
    taus, prior = ((0.0,), (1.0,)) if trusting else (TAUS, _PRIOR)
    plan, shape = plan or NO_PLAN, bounds.shape[:2]
    starts, parents = number_edges([len(factor.cells) for factor in plan.factors])
    n_nodes, n_leaves = starts.size - 1, plan.n_leaves
    offsets, log_pools = _lay_out_pools(plan.factors, taus)
    places = np.full((*shape, n_nodes + n_leaves), -1)
    for i, (arm, context) in enumerate(plan.pairs):
        c, k = rows.get(context), columns.get(arm)
        if c is not None and k is not None:
            pools = (
                pool * len(factor.cells) + offset
                for factor, offset in zip(plan.factors, offsets, strict=True)
                for pool in factor.pools[i]
            )
            places[c, k] = [*pools, *plan.cells[i]]
    n, wins = np.array(plan.n, np.float64), np.array(plan.sums, np.float64)
    wins = n - wins if flip else wins
    means = np.divide(wins, n, out=np.zeros_like(n), where=n > 0)
    counted = np.array([discount_rows(n, wins, tau) for tau in taus]).reshape(len(taus), n.size)
    log_prior = np.log(np.array(prior))
    return FusedArrays(
        starts,
        parents,
        places,
        _find_twins(places, n_nodes),
        1.0 + np.stack([means * counted, (1.0 - means) * counted], axis=2),
        log_pools,
        bounds,
        np.array(numbers, np.float64),
        np.zeros((*shape, SHIFT + len(SHIFTS))),
        np.zeros((shape[1], len(SHIFTS))),
        np.zeros((*shape, n_leaves, 2)),
        np.zeros((*shape, parents.size)),
        np.zeros((n.size, 4)),
        np.zeros((log_pools.shape[1], 2)),
        np.stack([log_prior, log_prior, np.exp(log_prior)], axis=1),
        np.zeros(2),
        np.empty((6, n_nodes + n_leaves)),
        np.empty((shape[1], COLUMNS)),
        make_no_particles(),
    )


def make_no_particles() -> Unseen:
    """Make empty arrays, for a policy whose rounds show what its plan asks for."""
    places, betas = np.zeros((0, 0), np.int64), np.zeros((0, 0, 0, 0), np.float32)
    two, three = np.zeros((0, 0)), np.zeros((0, 0, 0))
    return Unseen(places, places, places, betas, two, three, three, three, two, two)


def discount_rows(n: Floats, wins: Floats, tau: float) -> Floats:
    """Count how many draws the rows of a cell are worth if their mean may be off by about tau.

    ``1 / (1/n + tau^2 / (v (1 - v)))``, where v is their mean: never more than n.
    """
    if math.isinf(tau):
        return np.zeros_like(n)
    v = (wins + 0.5) / (n + 1.0)
    found: Floats = n / (1.0 + n * tau**2 / (v * (1.0 - v)))
    return found


def _discount_weights(counts: Floats, tau: float) -> Floats:
    """Do the same for distributions of w; with two values it is what ``discount_rows`` does."""
    if math.isinf(tau):
        return np.zeros_like(counts)
    n = counts.sum(axis=1, keepdims=True)
    shares = (counts + 0.5) / (n + 0.5 * counts.shape[1])
    spread = 1.0 - (shares**2).sum(axis=1, keepdims=True)
    found: Floats = counts / (1.0 + n * counts.shape[1] * tau**2 / spread)
    return found


def number_edges(sizes: Sequence[int]) -> tuple[Ints, Ints]:
    """Number the edges of the tree of factors of some sizes: where a node's begin, and whose."""
    widths, prefixes = list[int](), 1
    for size in sizes:
        widths += [size] * prefixes
        prefixes *= size
    starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    return starts, np.repeat(np.arange(len(widths), dtype=np.int64), widths)


def _lay_out_pools(
    factors: Sequence[Factor], taus: Sequence[float]
) -> tuple[list[int], Floats]:
    """Dirichlet counts of all distributions of all factors, under each tau, one after the other.

    Rows of the log count where they are draws of the factor. Where they tell it up to a tilt, the
    prior is the average over tilts; else it is uniform.
    """
    offsets, size, parts = list[int](), 0, [np.zeros((len(taus), 0))]
    for factor in factors:
        counts = np.array(factor.counts, np.float64).reshape(-1, len(factor.cells))
        start = np.ones_like(counts)
        if factor.shares is not None:
            unknown = ~counts.any(axis=1)
            start[unknown] = average_tilts(np.array(factor.shares, np.float64)[unknown])
        offsets.append(size)
        size += counts.size
        parts.append(np.array([(start + _discount_weights(counts, t)).ravel() for t in taus]))
    return offsets, np.concatenate(parts, axis=1)


def average_tilts(shares: Floats, n: int = 400) -> Floats:
    """Dirichlets with mean and total variance of what selection may have left of ``shares``.

    Pools x values in, the same out. If w affects selection and arm and context affect it through
    w alone, the log's shares are those of w times 1 / P(selected | w), the same in all pools.
    """
    tilts = draw_tilts(spread_points(n, shares.shape[1] - 1))
    made = np.empty_like(shares)
    for at in range(0, len(shares), 1024):  # a part at a time, to save memory
        found = (shares[at : at + 1024, None, :] + 0.5) * tilts
        found /= found.sum(axis=2, keepdims=True)
        mean = found.mean(axis=1)
        size = (1.0 - (mean**2).sum(axis=1)) / found.var(axis=1).sum(axis=1) - 1.0
        made[at : at + 1024] = size[:, None] * mean
    return made


def draw_tilts(points: Floats) -> Floats:
    """Turn points of a cube into tilts of one more value, logistic in their logs, the first 1."""
    tilts: Floats = np.exp(_TILT_SCALE * logit(points))
    return np.concatenate([np.ones((len(points), 1)), tilts], axis=1)


def spread_points(n: int, d: int) -> Floats:
    """Spread points evenly in a cube by an additive recurrence (Roberts 2018).

    On a line they are equally far from each other.

    >>> spread_points(4, 1).ravel().tolist(), spread_points(3, 2).shape
    ([0.125, 0.375, 0.625, 0.875], (3, 2))
    """
    if d <= 1:
        return ((np.arange(n) + 0.5) / n)[:, None][:, :d]
    ratio = 2.0
    for _ in range(64):
        ratio = (1.0 + ratio) ** (1.0 / (d + 1))
    steps = ratio ** -np.arange(1.0, d + 1)
    found: Floats = (0.5 + np.outer(np.arange(1, n + 1), steps)) % 1.0
    return np.clip(found, 1e-6, 1.0 - 1e-6)


def _find_twins(places: Ints, n_nodes: int) -> Ints:
    """Find for every element the first of the same distribution or cell; none if all differ."""
    names = places.copy()
    names[:, :, :n_nodes] = -2 - names[:, :, :n_nodes]
    size = names.shape[2]
    found = np.broadcast_to(np.arange(size), names.shape).copy()
    for i in range(size):
        for j in range(i):
            same = (names[:, :, i] == names[:, :, j]) & (found[:, :, i] == i)
            found[:, :, i][same] = found[:, :, j][same]
    known = places[:, :, -1] >= 0
    return found if (found != np.arange(size))[known].any() else np.zeros((0, 0, 0), np.int64)


class LeafReader:
    """Finds the leaf of what a round showed of the plan's variables.

    ``leaves`` has the place of each combination of their values; ``bins`` has the edges of what
    was cut into bins.
    """

    def __init__(
        self, plan: FusedPlan | None, bins: Mapping[str, tuple[float, ...]] | None = None
    ) -> None:
        self.plan, self.variables = plan, plan.variables if plan else ()
        self._edges = [(bins or {}).get(name, ()) for name in self.variables]
        cells = product(*(factor.cells for factor in (plan.factors if plan else ())))
        joined = (tuple(value for cell in path for value in cell) for path in cells)
        self.leaves: dict[tuple[Value, ...], int] = {path: i for i, path in enumerate(joined)}
        self._levels = [
            tuple(dict.fromkeys(path[i] for path in self.leaves))
            for i in range(len(self.variables))
        ]
        self.anything = np.ones(len(self.leaves))

    def read(self, observed: Mapping[str, object] | None) -> tuple[int, Floats]:
        """Find the leaf, -1 where that is not all known; and 1 for leaves that remain open."""
        if observed is None or not self.variables:
            return (-1 if self.variables else 0), self.anything
        if not isinstance(observed, Mapping):
            raise BadObservation(observed)
        try:  # most rounds show all, as the log names it
            if len(observed) == len(self.variables):
                return self.leaves[tuple([observed[n] for n in self.variables])], self.anything
        except (KeyError, TypeError):
            pass
        for name in observed:
            if name not in self.variables:
                raise BadObservation(name, self.variables)
        seen: dict[int, Value] = {
            i: find_bin(self._edges[i], unwrap_scalar(observed[name]))
            for i, name in enumerate(self.variables)
            if observed.get(name) is not None
        }
        for i, value in seen.items():
            if value not in self._levels[i]:
                raise OutsideDomain(self.variables[i], value, self._levels[i])
        if len(seen) == len(self.variables):
            leaf = self.leaves.get(tuple(seen.values()), -1)
            if leaf >= 0:
                return leaf, self.anything
        fits = [all(path[i] == value for i, value in seen.items()) for path in self.leaves]
        return -1, np.array(fits, np.float64)
