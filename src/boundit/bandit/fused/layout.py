"""A plan as arrays: which cells and weights each pair of arm and context has, and what rows of the log count for.

The mean of a pair is a sum over a tree. Its first node is the first factor of the plan, P(w_1 | do(x), c); every value
leads to a node of the next factor, those of the last factor to *leaves*, where rewards are. Nodes and leaves are
numbered level by level, so that edge e leads to element e + 1. A plan without factors is a single leaf.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from boundit.terms.bound import Arm, Context
from boundit.terms.fused_plan import Factor, FusedPlan
from scipy.special import logit

from boundit.bandit.draws import Floats, Ints

TAUS = (0.0, 0.025, 0.05, 0.1, 0.2, math.inf)
"""The sizes that the bias of the log may have, one for the whole log."""
PRIOR = (0.7, 0.06, 0.06, 0.06, 0.06, 0.06)
SHIFTS = (0.5, 1.0, 2.0)
"""By how much better than fused a pair or an arm may be, in log odds: what looks too good is played, and found out."""
TILT_SCALE = 1.5
"""Scale of the logistic prior of a log tilt: how much the log prefers one value of w over another."""

SEEN_WINS, SEEN_LOSSES, GUESSED_WINS, GUESSED_LOSSES = range(4)
SEEN, GUESSED = 0, 1
WINS, LOSSES = 0, 1
BIAS, OWN = 0, 1
LOG_WEIGHT, TAU_WEIGHT = 0, 1
N_LEARNED, N_SEEN = 0, 1


class FusedArrays(NamedTuple):
    """What the compiled loops read (first what the plan says) and write (then what was learned).

    starts, parents        edges of each node; node of each edge
    pools                  contexts x arms x nodes: where the counts of a pair's distribution at a node begin; -1: no plan
    cells                  contexts x arms x leaves: the cell of rewards of each leaf; -1: no plan
    twins                  contexts x arms x (nodes + leaves): the first element of the same distribution or cell;
                           empty where no pair has two
    wins, losses           taus x cells: what rows of the log count for, and the uniform prior (1 and 1)
    weights                taus x entries: the same for the distributions of w
    log_prior, bounds      of tau; contexts x arms x (lower, upper), used only where a pair has no plan
    numbers                (doubt, spread, lowest reward, highest reward)

    rewards                contexts x arms x (wins, losses): all rewards of a pair, on the scale from 0 to 1
    leaves                 contexts x arms x leaves x (seen wins, seen losses, guessed wins, guessed losses)
    own                    contexts x arms x edges: values of w seen in a pair's own rounds
    evidence               contexts x arms x (log Bayes factor that what is fused is wrong here; that its weights are own)
    shifts, arm_shifts     the same, for being better by each of SHIFTS: contexts x arms x 3, arms x 3
    cell_counts            cells x 4, as leaves; pool_counts: entries x (seen, guessed)
    taus                   taus x (log weight, weight); totals: (rounds learned, rounds that showed all of w)
    """

    starts: Ints
    parents: Ints
    pools: Ints
    cells: Ints
    twins: Ints
    wins: Floats
    losses: Floats
    weights: Floats
    log_prior: Floats
    bounds: Floats
    numbers: Floats
    rewards: Floats
    leaves: Floats
    own: Floats
    evidence: Floats
    shifts: Floats
    arm_shifts: Floats
    cell_counts: Floats
    pool_counts: Floats
    taus: Floats
    totals: Floats


LEARNED = {
    "rewards": "ca",
    "leaves": "ca",
    "own": "ca",
    "evidence": "ca",
    "shifts": "ca",
    "arm_shifts": "a",
    "cell_counts": "",
    "pool_counts": "",
    "taus": "",
    "totals": "",
}


def lay_out(
    plan: FusedPlan | None,
    rows: Mapping[Context, int],
    columns: Mapping[Arm, int],
    bounds: Floats,
    numbers: Sequence[float],
    *,
    trusting: bool,
) -> FusedArrays:
    """Put a plan into arrays by context and arm, with nothing learned. Without a plan, every pair has its own rewards."""
    taus, prior = ((0.0,), (1.0,)) if trusting or plan is None else (TAUS, PRIOR)
    plan = plan or FusedPlan((), (), (), (), ())
    n_rows, n_arms = bounds.shape[:2]
    starts, parents = _number_edges([len(factor.cells) for factor in plan.factors])
    n_nodes, n_leaves = starts.size - 1, plan.n_leaves
    offsets, weights = _lay_out_weights(plan.factors, taus)
    pools, cells = np.full((n_rows, n_arms, n_nodes), -1), np.full((n_rows, n_arms, n_leaves), -1)
    for i, (arm, context) in enumerate(plan.pairs):
        c, k = rows.get(context), columns.get(arm)
        if c is None or k is None:
            continue
        cells[c, k] = plan.cells[i]
        found = [
            pool * len(factor.cells) + offset
            for factor, offset in zip(plan.factors, offsets, strict=True)
            for pool in factor.pools[i]
        ]
        pools[c, k] = found
    n, sums = np.array(plan.n, np.float64), np.array(plan.sums, np.float64)
    means = np.divide(sums, n, out=np.zeros_like(n), where=n > 0)
    counted = np.array([discount_rows(n, sums, tau) for tau in taus]).reshape(len(taus), n.size)
    log_prior, shape = np.log(np.array(prior)), (n_rows, n_arms)
    return FusedArrays(
        starts,
        parents,
        pools,
        cells,
        _find_twins(starts, pools, cells),
        1.0 + means * counted,
        1.0 + (1.0 - means) * counted,
        weights,
        log_prior,
        bounds,
        np.array(numbers, np.float64),
        np.zeros((*shape, 2)),
        np.zeros((*shape, n_leaves, 4)),
        np.zeros((*shape, parents.size)),
        np.zeros((*shape, 2)),
        np.zeros((*shape, len(SHIFTS))),
        np.zeros((n_arms, len(SHIFTS))),
        np.zeros((n.size, 4)),
        np.zeros((weights.shape[1], 2)),
        np.stack([log_prior, np.exp(log_prior)], axis=1),
        np.zeros(2),
    )


def discount_rows(n: Floats, sums: Floats, tau: float) -> Floats:
    """How many draws the rows of a cell are worth if their mean may be off by about tau: `1 / (1/n + tau^2/(v(1-v)))`."""
    if math.isinf(tau):
        return np.zeros_like(n)
    v = (sums + 0.5) / (n + 1.0)
    return n / (1.0 + n * tau**2 / (v * (1.0 - v)))


def _discount_weights(counts: Floats, tau: float) -> Floats:
    """The same for a distribution of w; with two values it is what `discount_rows` does."""
    if math.isinf(tau):
        return np.zeros_like(counts)
    n = counts.sum(axis=1, keepdims=True)
    shares = (counts + 0.5) / (n + 0.5 * counts.shape[1])
    spread = 1.0 - (shares**2).sum(axis=1, keepdims=True)
    return counts / (1.0 + n * counts.shape[1] * tau**2 / spread)


def _number_edges(sizes: Sequence[int]) -> tuple[Ints, Ints]:
    widths, prefixes = list[int](), 1
    for size in sizes:
        widths += [size] * prefixes
        prefixes *= size
    starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    return starts, np.repeat(np.arange(len(widths), dtype=np.int64), widths)


def _lay_out_weights(factors: Sequence[Factor], taus: Sequence[float]) -> tuple[list[int], Floats]:
    """Dirichlet counts of all distributions of all factors, under each tau, one after the other.

    Rows of the log count where they are draws of the factor (W2). Where they say it up to a tilt (W3), the prior is
    the average over tilts instead of a uniform one; else it is uniform.
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
        parts.append(np.array([(start + _discount_weights(counts, tau)).ravel() for tau in taus]))
    return offsets, np.concatenate(parts, axis=1)


def average_tilts(shares: Floats, n: int = 400) -> Floats:
    """Dirichlets with the mean and the total variance of `shares e^tilt`, tilts logistic: what selection may have done.

    Pools x values in, the same out.
    """
    k = shares.shape[1]
    tilt = np.concatenate([np.zeros((n, 1)), TILT_SCALE * logit(spread_points(n, k - 1))], axis=1)
    made = np.empty_like(shares)
    for at in range(0, len(shares), 1024):  # a part at a time, to save memory
        raised = np.log(shares[at : at + 1024, None, :] + 0.5) + tilt
        found = np.exp(raised - raised.max(axis=2, keepdims=True))
        found /= found.sum(axis=2, keepdims=True)
        mean = found.mean(axis=1)
        concentration = (1.0 - (mean**2).sum(axis=1)) / found.var(axis=1).sum(axis=1) - 1.0
        made[at : at + 1024] = concentration[:, None] * mean
    return made


def spread_points(n: int, d: int) -> Floats:
    """Points spread evenly in a cube (an additive recurrence, Roberts 2018); on a line, equally far from each other."""
    if d <= 1:
        return ((np.arange(n) + 0.5) / n)[:, None][:, :d]
    ratio = 2.0
    for _ in range(64):
        ratio = (1.0 + ratio) ** (1.0 / (d + 1))
    found: Floats = (0.5 + np.outer(np.arange(1, n + 1), ratio ** -np.arange(1.0, d + 1))) % 1.0
    return np.clip(found, 1e-6, 1.0 - 1e-6)


def _find_twins(starts: Ints, pools: Ints, cells: Ints) -> Ints:
    """Find for every node and leaf of a pair the first one of the same distribution or cell; empty if all differ."""
    names = np.concatenate([-2 - pools, cells], axis=2)
    n_rows, n_arms, size = names.shape
    found = np.broadcast_to(np.arange(size), names.shape).copy()
    for i in range(size):
        for j in range(i):
            same = (names[:, :, i] == names[:, :, j]) & (found[:, :, i] == i)
            found[:, :, i][same] = found[:, :, j][same]
    known = cells[:, :, 0] >= 0
    return found if (found != np.arange(size))[known].any() else np.zeros((0, 0, 0), np.int64)


class LeafReader:
    """Finds the leaf of what a round showed of the plan's variables."""

    def __init__(self, plan: FusedPlan | None) -> None:
        factors = plan.factors if plan else ()
        self.variables = plan.variables if plan else ()
        paths: list[tuple[Any, ...]] = [()]
        for factor in factors:
            paths = [(*path, *cell) for path in paths for cell in factor.cells]
        self.leaves = {path: i for i, path in enumerate(paths)}
        self.levels = [{path[i] for path in paths} for i in range(len(self.variables))]
        self.anything = np.ones(len(paths), np.bool_)

    def read(self, observed: Mapping[str, object]) -> tuple[int, Any]:
        """The leaf, -1 where that is not all known; and which leaves remain possible."""
        from boundit.terms.scalars import unwrap_scalar

        from boundit.bandit.errors import BadObservation

        if not isinstance(observed, Mapping):
            raise BadObservation(f"found {observed!r:.60}")
        if unknown := [name for name in observed if name not in self.variables]:
            raise BadObservation(f"{unknown[0]!r} is not a variable of the plan, which has {self.variables}")
        if not self.variables:
            return 0, self.anything
        seen = {i: unwrap_scalar(observed[name]) for i, name in enumerate(self.variables) if observed.get(name) is not None}
        for i, value in seen.items():
            if value not in self.levels[i]:
                raise BadObservation(f"{self.variables[i]} is {value!r}, and its levels are {sorted(self.levels[i], key=str)}")
        open_ = np.array([all(path[i] == value for i, value in seen.items()) for path in self.leaves])
        found = np.flatnonzero(open_)
        return (int(found[0]) if found.size == 1 else -1), open_
