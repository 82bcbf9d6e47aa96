r"""Optimal allocation matching, with prior bounds (Algorithm 5 of the paper, OAM-PCB).

All arms share one regression (Hao, Lattimore and Szepesvari 2020). A round starts where some
arm is not measured at all, exploits where every arm of the context is known well enough for its
gap, and otherwise explores: an arm short of its share of the allocation (unwasted), one that
was hardly ever pulled (forced), or where all have their share the most promising (wasted).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.compiled import kernel, step
from boundit.bandit.decision import FREE, INDEX, Decision
from boundit.bandit.features import FeatureEncoding, FeaturePolicy, Features
from boundit.bandit.ids import Floats, Ints
from boundit.bandit.oam.allocation import (
    NO_GAP,
    SMALLEST_GAP,
    add_scaled,
    allocate,
    dot,
    factor,
    solve_cholesky,
    solve_lower,
)
from boundit.bandit.options import CommonOptions
from boundit.bandit.runs import ARM, Rounds, register_runs
from boundit.bandit.ucb import is_ahead
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable

_EXPLORATIONS, _EVENTS, _DUE = 0, 1, 2
_OUTSIDE = 1e-3
_RIDGE = 1e-6  # of a squared feature: enough to invert with, too little to matter
_CAP = 100.0
_GROWTH = 1.05  # the allocation is worked out anew after 5 % more explorations


class Branch(StrEnum):
    """Why an arm was pulled."""

    START = "start"  # nothing pulled so far tells anything of some arm
    EXPLOIT = "exploit"
    WASTED = "wasted"  # exploration, though every arm here had its share
    FORCED = "forced"
    UNWASTED = "unwasted"


_START, _EXPLOIT, _WASTED, _FORCED, _UNWASTED = range(5)
_BRANCHES = tuple(Branch)
_EXPLORING = frozenset(_BRANCHES[_WASTED:])


class OAMArrays(NamedTuple):
    """What is learned, and what the rule reads.

    ``sums``: (d + 1) x d, ``sum x x'``, then ``sum reward x``. ``pulls`` and ``wanted``, the
    allocation: contexts x arms, -1 where as many as there are. ``rounds``: rewards of a context.
    ``progress``: explorations, rewards, explorations at which the allocation is next worked
    out. ``x``: contexts x arms x d. ``open``: the arms that the bounds leave. ``constants``:
    horizon (0: none), c, sigma2, epsilon (nan: 1 / log log t), smallest gap.
    """

    sums: Floats
    pulls: Floats
    wanted: Floats
    rounds: Floats
    progress: Floats
    bounds: Floats
    x: Floats
    open: NDArray[np.bool_]
    constants: Floats
    table: Floats


@kernel
def compute_width(horizon: float, delta: float, d: int, c: float, sigma2: float) -> float:
    r"""Compute how wide confidence is, :math:`f_{n,\delta}` times the noise's variance proxy.

    .. math:: f_{n,\delta} = 2 (1 + 1 / \log n) \log(1/\delta) + c d \log(d \log n)

    >>> round(compute_width(15_000.0, 1 / 15_000, 5, 0.0, 0.25), 3)
    5.308
    """
    log_n = math.log(max(horizon, 3.0))
    spent = c * d * math.log(d * log_n) if c else 0.0
    return sigma2 * (2.0 * (1.0 + 1.0 / log_n) * math.log(1.0 / delta) + spent)


@step
def _find_horizon(a: OAMArrays) -> float:
    """The horizon, or twice the rewards so far, up to a power of two and at least 1,024."""
    horizon: float = a.constants[0]
    if horizon == 0.0:
        horizon = 1024.0
        while horizon < 2.0 * (a.progress[_EVENTS] + 1.0):
            horizon *= 2.0
    return horizon


@kernel
def _estimate(x: Floats, sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Fit the regression that all arms share.

    Gives the coefficients ``theta``; for each row of ``x`` how uncertain its mean is (the
    spread ``x' inverse(G) x``), and the share of the row in directions that nothing measured.
    """
    (n, d), longest = x.shape, 0.0
    for i in range(n):
        longest = max(longest, dot(x[i], x[i]))
    ridge = _RIDGE * (longest if longest > 0.0 else 1.0)
    metric = sums[:d].copy()
    for k in range(d):
        metric[k, k] += ridge
    low = factor(metric)
    z = solve_lower(low, x)
    spreads, unseen = np.zeros(n), np.zeros(n)
    for k in range(d):
        for i in range(n):
            spreads[i] += z[k, i] * z[k, i]
    for i in range(n):
        square = dot(x[i], x[i])
        unseen[i] = ridge * spreads[i] / square if square > 0.0 else 0.0
    return solve_cholesky(low, sums[d]), spreads, unseen


@kernel
def _find_least_gap(a: OAMArrays, theta: Floats, least: float) -> float:
    """Find the smallest positive gap between an arm's mean and the best of a context met.

    Not above ``least``, never below the smallest one that counts.
    """
    (n, n_arms), means = a.pulls.shape, np.empty(a.pulls.shape[1])
    for c in range(n):
        if a.rounds[c] == 0.0:
            continue
        best = -math.inf
        for k in range(n_arms):
            if a.open[c, k]:
                means[k] = dot(a.x[c, k], theta)
                best = max(best, means[k])
        for k in range(n_arms):
            if a.open[c, k] and best - means[k] > NO_GAP:
                least = min(least, best - means[k])
    smallest: float = a.constants[4]
    return max(least, smallest) if least < math.inf else smallest


@kernel
def _find_branch(
    a: OAMArrays,
    c: int,
    columns: Ints,
    theta: Floats,
    means: Floats,
    spreads: Floats,
    needed: Floats,
) -> int:
    r"""Find which branch pulls, once all arms were measured (Algorithm 5, lines 4, 13 and 17).

    Exploit where all are known well enough for their gaps, wasted exploration where all have the
    pulls they need, forced where one has hardly any, else unwasted. Writes what an arm needs,
    :math:`\min(T_a, f_n / \Delta_{\min}^2)`.
    """
    best, least, fewest, known, served = means.max(), math.inf, math.inf, True, True
    for mean in means:
        if best - mean > NO_GAP:
            least = min(least, best - mean)
    gap, horizon = _find_least_gap(a, theta, least), _find_horizon(a)
    width = compute_width(horizon, 1.0 / horizon, theta.size, a.constants[1], a.constants[2])
    for i in range(columns.size):
        pulls, wanted = a.pulls[c, columns[i]], a.wanted[c, columns[i]]
        needed[i] = width / gap**2
        if wanted >= 0.0:
            needed[i] = min(wanted, needed[i])
        known = known and spreads[i] <= max(best - means[i], gap) ** 2 / width
        served = served and pulls >= needed[i]
        fewest = min(fewest, pulls)
    if known:
        return _EXPLOIT
    if served:
        return _WASTED
    share = a.constants[3]
    if math.isnan(share):
        events = a.progress[_EVENTS] + 1.0
        share = 1.0 / max(math.log(math.log(max(events, 16.0))), 1.0)
    return _FORCED if fewest <= share * a.progress[_EXPLORATIONS] else _UNWASTED


@kernel
def match(a: OAMArrays, x: Floats, c: int, columns: Ints, table: Floats) -> tuple[int, int]:
    """Choose the branch of Algorithm 5, then the arm it pulls (lines 3 to 25): place and branch.

    ``x`` has the features of all arms in the context; ``table`` takes the scores, if it has
    rows.
    """
    n, d = columns.size, a.sums.shape[1]
    rows, means, needed, branch = np.empty((n, d)), np.empty(n), np.empty(n), _START
    for i in range(n):
        rows[i] = x[columns[i]]
    theta, spreads, unseen = _estimate(rows, a.sums)
    for i in range(n):
        means[i] = dot(rows[i], theta)
    if unseen.max() <= _OUTSIDE:
        branch = _find_branch(a, c, columns, theta, means, spreads, needed)
    delta = (a.progress[_EXPLORATIONS] + 1.0) ** -2
    width = compute_width(_find_horizon(a), delta, d, a.constants[1], a.constants[2])
    place, best, best_free = 0, -math.inf, -math.inf
    for i in range(n):
        k, free, index = columns[i], means[i], -a.pulls[c, columns[i]]
        lower, upper = a.bounds[c, k, 0], a.bounds[c, k, 1]
        if branch == _START:
            free = index = spreads[i]
        elif branch == _EXPLOIT:
            index = max(min(upper, free), lower)
        elif branch == _WASTED:
            free += math.sqrt(width * spreads[i])
            index = min(free, upper)
        elif branch == _UNWASTED:
            index = index / needed[i] if needed[i] > 0.0 else -math.inf
        if i == 0 or is_ahead(index, free, k, best, best_free, columns[place]):
            place, best, best_free = i, index, free
        if table.size > 0:
            table[i, INDEX] = index
            table[i, FREE] = free if branch in (_EXPLOIT, _WASTED) else index
    return place, branch


@kernel
def learn_oam(a: OAMArrays, c: int, k: int, x: Floats, reward: float, explored: int) -> None:
    """Add a reward to regression and counts; work out the allocation anew when that is due.

    A round that explored brings the allocation closer (line 11): ``explored``.
    """
    d, events = x.size, a.progress[_EVENTS]
    add_scaled(a.sums[d], reward, x)
    for i in range(d):
        add_scaled(a.sums[i], x[i], x)
    a.pulls[c, k] += 1.0
    a.rounds[c] += 1.0
    if explored:
        a.progress[_EXPLORATIONS] += 1.0
        explorations = a.progress[_EXPLORATIONS]
        if explorations >= a.progress[_DUE]:
            a.progress[_DUE] = max(explorations + 1.0, math.floor(_GROWTH * explorations))
            _work_out_allocation(a)
    a.progress[_EVENTS] = events + 1.0


@kernel
def _work_out_allocation(a: OAMArrays) -> None:
    """Solve for how often to pull every arm that the bounds leave, in every context met."""
    (n, n_arms), d, count = a.pulls.shape, a.sums.shape[1], 0
    x, blocks = np.empty((n * n_arms, d)), np.zeros(n + 1, np.int64)
    for c in range(n):
        for k in range(n_arms):
            if a.rounds[c] > 0.0 and a.open[c, k]:
                x[count] = a.x[c, k]
                count += 1
        blocks[c + 1] = count
    pairs, gaps = x[:count], np.empty(count)
    theta = _estimate(pairs, a.sums)[0]
    for c in range(n):
        best = -math.inf
        for i in range(blocks[c], blocks[c + 1]):
            gaps[i] = dot(pairs[i], theta)
            best = max(best, gaps[i])
        for i in range(blocks[c], blocks[c + 1]):
            gaps[i] = best - gaps[i]
    horizon, tested = _find_horizon(a), np.ones(count, np.bool_)
    width = compute_width(horizon, 1.0 / horizon, d, a.constants[1], a.constants[2])
    pulls = allocate(pairs, gaps, tested, width, _CAP, a.constants[4]).pulls
    a.wanted[:] = -1.0
    for c in range(n):
        i = blocks[c]
        for k in range(n_arms):
            if a.rounds[c] > 0.0 and a.open[c, k]:
                a.wanted[c, k] = pulls[i] if pulls[i] < math.inf else -1.0
                i += 1


@kernel
def _choose(
    arrays: OAMArrays,
    c: int,
    columns: Ints,
    start: int,
    stop: int,
    uniform: float,
) -> int:
    own = columns[start:stop]
    place, branch = match(arrays, arrays.x[c], c, own, arrays.table)
    choice: int = own[place] | (branch << 32)  # the note of a late reward's round
    return choice


@kernel
def _learn(arrays: OAMArrays, c: int, k: int, reward: float, leaf: int) -> None:
    arm = k & ARM
    learn_oam(arrays, c, arm, arrays.x[c, arm], reward, int((k >> 32) >= _WASTED))


register_runs(OAMArrays, choose=_choose, learn=_learn)


class OAM(FeaturePolicy):
    """Optimal allocation matching: pull arms as often as tells them apart at the least regret.

    One linear regression is shared by all arms. With a prior, means are truncated to [L, U],
    indices to U, and arms whose U lies below another's L are never chosen: OAM-PCB.

    Parameters
    ----------
    prior : BoundTable, optional
        Bounds to start from.
    horizon : int, optional
        Number of rounds. Default: twice the rewards learned so far, up to the next power of
        two and at least 1,024.
    c : float
        Scale of the term of the dimension in the width of confidence.
    sigma2 : float, optional
        Variance proxy of the noise. Default: a quarter of the squared range of rewards, which
        holds for every reward in it.
    epsilon : float or None
        Share of exploration that is forced. None: 1 / log log t, the choice of the theory,
        which explores for very long.
    features : callable, optional
        Features of a context and an arm. Default: ``[1, context, treatments]``.
    **common
        Options of every policy, see `Policy`.

    Examples
    --------
    >>> OAM(arms=["A", "B"], horizon=100).decide().branch
    'start'
    """

    axes: Mapping[str, str] = {
        "sums": "",
        "pulls": "ca",
        "wanted": "ca",
        "rounds": "c",
        "progress": "",
    }
    additive = ("sums", "pulls", "rounds", "progress")
    _stale = True

    def __init__(
        self,
        prior: BoundTable | None = None,
        *,
        horizon: int | None = None,
        c: float = 0.0,
        sigma2: float | None = None,
        epsilon: float | None = 0.01,
        features: Features | None = None,
        **common: Unpack[CommonOptions],
    ) -> None:
        own = {"horizon": horizon, "c": c, "sigma2": sigma2, "epsilon": epsilon}
        super().__init__(prior, {**own, "features": features}, common)

    def make_arrays(self) -> OAMArrays:
        """Make the arrays of nothing learned."""
        low, high = self.spec.reward_range
        horizon, c, sigma2, epsilon, _ = self.options.values()
        noise = (high - low) ** 2 / 4 if sigma2 is None else sigma2
        share, least = math.nan if epsilon is None else epsilon, SMALLEST_GAP * (high - low)
        shape, d = self.prior.bounds.shape[:2], self.d
        return OAMArrays(
            np.zeros((d + 1, d)),
            np.zeros(shape),
            np.full(shape, -1.0),
            np.zeros(shape[0]),
            np.array([0.0, 0.0, 1.0]),
            self.prior.bounds,
            np.zeros((*shape, d)),
            np.zeros(shape, np.bool_),
            np.array([horizon or 0.0, c, noise, share, least]),
            np.empty((0, 2)),
        )

    def find_open(self, context: Context, row: int, columns: Ints) -> Ints:
        """Also without those whose upper bound lies below another's lower bound."""
        found = super().find_open(context, row, columns)
        bounds = self.prior.bounds[row, found]
        return found if not found.size else found[bounds[:, 1] >= bounds[:, 0].max()]

    def score(self, context: Context, row: int, columns: Ints) -> tuple[int, None, Floats]:
        """Match pulls to the allocation."""
        self._list_pairs()
        x, table = self._find_features(context, row, columns), np.empty((columns.size, 2))
        place, branch = match(self.arrays, x, row, columns, table)
        self.branch = _BRANCHES[branch].value
        return place, None, table

    def read_observed(
        self, observed: Mapping[str, object] | None, decision: Decision | None = None
    ) -> bool:
        """Whether a decision was made to explore, by its own account."""
        return decision is not None and decision.branch in _EXPLORING

    def take(
        self, context: Context, row: int, column: int, reward: float, explored: Any
    ) -> None:
        """Learn one reward; features that are refused are so before anything is learned."""
        self._list_pairs()
        if not self.arrays.pulls[row, column]:
            self._list_row(row, column)
        x = self._find_features(context, row, np.array([column]))[column]
        learn_oam(self.arrays, row, column, x, reward, int(explored))

    # -- features, and the arms that may be pulled in the contexts met --------------------------

    def _find_features(self, context: Context, row: int, columns: Ints) -> Floats:
        """The features of some arms, at their columns; kept for contexts that have a row."""
        known, wanted = self._known.get(row), columns.tolist()
        if known is None or not known.issuperset(wanted):
            found = [self._encode(context, self._arms[k]) for k in wanted]
            self.arrays.x[row, wanted] = found
            if row:
                self._known.setdefault(row, set()).update(wanted)
        return self.arrays.x[row]  # type: ignore[no-any-return]

    def _encode(self, context: Context, arm: Arm) -> Floats:
        x = self.encoding.encode(context, arm)
        self.require_size(x.size, arm)
        return x

    def _list_pairs(self) -> None:
        """Note which arms the bounds leave in every context met, if bounds or arrays changed."""
        if self._stale:
            for row in np.flatnonzero(self.arrays.rounds).tolist():
                self._list_row(row)
            self._stale = False

    def _list_row(self, row: int, column: int = -1) -> None:
        """Note which arms are left in a context, of those held, ever played there, or given."""
        held, context = set(self._held.tolist()), self._contexts[row - 1]
        played = held | set(np.flatnonzero(self.arrays.pulls[row]).tolist()) | {column}
        gone = self.spec.retired
        listed = [k for k, arm in enumerate(self._arms) if k in played and arm not in gone]
        open_ = self.find_open(context, row, np.array(listed, np.int64))
        self._find_features(context, row, open_)
        self.arrays.open[row] = False
        self.arrays.open[row, open_] = True

    def _lay_out_prior(self) -> None:
        super()._lay_out_prior()
        self._stale = True

    def rebuild(self) -> None:
        """Forget features; those of further levels have not been seen: the regression grows."""
        encoding = FeatureEncoding.of(replace(self.spec, bins=()), self.options["features"])
        old, self.encoding = getattr(self, "encoding", encoding), encoding
        if self.d and encoding.size and encoding != old:
            known, turn = self.arrays, old.map_into(encoding, self.d)
            self.d = len(turn)
            sums = np.vstack([turn @ known.sums[:-1] @ turn.T, turn @ known.sums[-1]])
            learned = {name: getattr(known, name) for name in self.axes}
            self.arrays = self.make_arrays()._replace(**learned | {"sums": sums})
            self.derive()
        self.match_size(encoding.size)
        self._known: dict[int, set[int]] = {}
        self._stale = True

    def derive(self) -> None:
        """The allocation is worked out at the next exploration."""
        self.arrays.progress[_DUE] = self.arrays.progress[_EXPLORATIONS] + 1.0

    def record_arrays(self, places: Mapping[str, slice]) -> dict[str, Any]:
        """Write the arrays, and the number of features."""
        return {"d": self.d, **super().record_arrays(places)}

    def restore_arrays(self, record: Mapping[str, Any], rows: Ints, columns: Ints) -> None:
        """Read the arrays; the policy may not know the number of features yet."""
        self.match_size(int(record["d"]))
        super().restore_arrays(record, rows, columns)

    def lay_out_runs(
        self, rows: Ints, columns: Ints, contexts: Sequence[Context], rounds: Rounds
    ) -> OAMArrays:
        """Lay out nothing learned, with the features and the arms that the bounds leave."""
        x = np.array([[self._encode(c, arm) for arm in self._arms] for c in contexts])
        open_ = np.zeros(x.shape[:2], np.bool_)
        for c, (start, stop) in enumerate(pairwise(rounds.starts.tolist())):
            open_[c, rounds.open[start:stop]] = True
        made: OAMArrays = super().lay_out_runs(rows, columns, contexts, rounds)
        return made._replace(x=x, open=open_)
