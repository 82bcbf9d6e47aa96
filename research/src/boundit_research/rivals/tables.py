"""Rivals that keep numbers of each context and arm: GLUE, MIN-UCB, VirUCB, B-TS, ARRoW-CB, EXP3-IX.

B-TS (Zhang and Bareinboim 2017) truncates Thompson sampling's beliefs at the bounds: ``TS`` with
a prior. That, and that arms below the best lower bound are out, is from memory.

GLUE (Sharma, Basu, Shanmugam and Shakkottai, "Bandits with Mean Bounds"): a mean near 0 or 1
leaves a reward from 0 to 1 little room to vary, so that bounds on means also bound how fast an
arm must be explored. From the paper's abstract is that bounds give such factors and that GLUE
explores by them without being optimistic for every arm; its formulas are from memory.

MIN-UCB (Cheung and Lyu 2024) takes the lower of two indices: by rewards alone, and by rewards
and rows of the log together, raised by the share of rows times a bound on their bias, which has
to be given; here it comes from our bounds. That the two are compared, and that a bound on the
bias is needed, is from the paper's abstract; the radius is from memory.

VirUCB (Li, Xie, Lin and Lui 2021) lets UCB ask the log first: as long as it has a row of the
context with the arm that UCB would play, the row is played and used up. That log and rounds
share one algorithm is from the paper's abstract, the rest from memory; it takes a log to be
unconfounded given the context and not selected.

ARRoW-CB (Zhang, Agarwal, Daume, Langford and Negahban 2019) fits a model for each of several
weights between log and rounds; the one whose choices would have cost least in the rounds so far,
by inverse propensities, is played, and a share of rounds explores. Weights, costs, their order
and the share were checked against the authors' code, Vowpal Wabbit's ``warm_cb`` and the scripts
of their experiments (``warmcb_scripts``): 8 weights from 0, the log alone, which is played first,
to 1, rounds alone, halving towards both from ``e / (1 + e)`` for a share e; theirs is .05 unless
told, and .0125 to .1 in experiments. Models here are means of each arm and context, in which
every round counts once and one row of reward 1/2 is there from the start; the authors' weights
are scaled by how much was learned, which is nothing to a mean. In the paper a row of the log
tells the cost of every arm; a row of ours tells that of one.

EXP3-IX (Neu 2015), in each context by itself, needs no law of rewards at all. An arm's chance
falls exponentially in its estimated losses; an estimate divides a loss by the chance and a little
more, the implicit exploration of the paper's title. That estimate, ``gamma = eta / 2`` and the
rate for an unknown horizon, ``eta = sqrt(log K / (K t))``, agree with public implementations.

The option ``scale``, 1 unless tuned, multiplies what an index adds to the mean; of B-TS the
deviation of a belief, of ARRoW-CB the share of rounds that explore, of EXP3-IX both rates.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn, Unpack

import numpy as np

from boundit.bandit.best_arm import P_BEST
from boundit.bandit.compiled import kernel, step
from boundit.bandit.decision import FREE, INDEX
from boundit.bandit.errors import BadOption, CannotMerge
from boundit.bandit.ids import Floats, Ints, draw_uniform, pick_arm
from boundit.bandit.options import CommonOptions
from boundit.bandit.policy import Policy
from boundit.bandit.runs import register_runs
from boundit.bandit.ts import score_ts
from boundit.bandit.ucb import TOTAL, N, is_ahead, learn_ucb
from boundit.results.bound import Context
from boundit.results.bound_table import BoundTable

KINDS = ("GLUE", "MIN-UCB", "VirUCB", "B-TS", "ARRoW-CB", "EXP3-IX")
_GLUE, _MIN_UCB, _VIR_UCB, _B_TS, _ARROW, _EXP3_IX = range(6)
_CHANCE = 2
"""The column of a table, beside ``FREE`` and ``INDEX``, with what an arm is drawn by."""
_ROWS, _ROWS_TOTAL, _BIAS, _NUMBER = range(4)
"""What the log tells of an arm in a context: rows, their sum, how far their mean can be from the
true one as long as the bounds hold, and a number of the pair's own."""
_WEIGHTS = 8
_MIDDLE = _WEIGHTS // 2
_EXPLORE = 0.05
_HALF, _NEAR = 0.5, 1e-6
"""So near to 1/2 a mean is taken for 1/2, where the factor's formula is 0 / 0."""


class RivalArrays(NamedTuple):
    """``log``: contexts x arms x 4, of VirUCB what is left of it. ``noise``: sub-Gaussian factors.

    ``losses``: of EXP3-IX, contexts x arms. ``costs``: of ARRoW-CB's weights.
    """

    counts: Floats
    rounds: Floats
    log: Floats
    noise: Floats
    losses: Floats
    costs: Floats
    bounds: Floats
    kind: int
    scale: float


@step
def _find_winner(columns: Ints, start: int, table: Floats) -> int:
    """Find the row of the highest index, among equals before truncation; nan is out."""
    best = -1
    for i in range(table.shape[0]):
        if not math.isnan(table[i, INDEX]) and (
            best < 0
            or is_ahead(
                table[i, INDEX],
                table[i, FREE],
                columns[start + i],
                table[best, INDEX],
                table[best, FREE],
                columns[start + best],
            )
        ):
            best = i
    return best


@step
def _score_glue(a: RivalArrays, c: int, columns: Ints, start: int, table: Floats) -> None:
    """Arms that bounds rule out are out; the others have UCB's index with their own noise."""
    t, least = a.rounds[c] + 1.0, -np.inf
    surprise = 2.0 * math.log(1.0 + t * math.log(t) ** 2)
    for i in range(table.shape[0]):
        least = max(least, a.bounds[c, columns[start + i], 0])
    for i in range(table.shape[0]):
        k, free = columns[start + i], np.inf
        n, upper = a.counts[c, k, N], a.bounds[c, k, 1]
        if n > 0.0:
            free = a.counts[c, k, TOTAL] / n + a.scale * a.noise[c, k] * math.sqrt(surprise / n)
        table[i, FREE], table[i, INDEX] = free, np.nan if upper < least else min(free, upper)


@step
def _score_min_ucb(a: RivalArrays, c: int, columns: Ints, start: int, table: Floats) -> None:
    """The radius of n samples is ``sqrt(2 log(2 t / d) / n)``, ``d = 1 / (2 K t^2)``, K arms."""
    surprise = 2.0 * math.log(4.0 * table.shape[0] * (a.rounds[c] + 1.0) ** 3)
    for i in range(table.shape[0]):
        k, online, pooled = columns[start + i], np.inf, np.inf
        n, rows = a.counts[c, k, N], a.log[c, k, _ROWS]
        if n > 0.0:
            online = a.counts[c, k, TOTAL] / n + a.scale * math.sqrt(surprise / n)
        if n + rows > 0.0:
            mean = (a.counts[c, k, TOTAL] + a.log[c, k, _ROWS_TOTAL]) / (n + rows)
            radius = a.scale * math.sqrt(surprise / (n + rows))
            pooled = mean + radius + rows / (n + rows) * a.log[c, k, _BIAS]
        table[i, FREE] = table[i, INDEX] = min(online, pooled)


@step
def _score_ucb(a: RivalArrays, c: int, columns: Ints, start: int, table: Floats) -> None:
    """UCB's index as VirUCB has it, ``mean + sqrt(2 log t / n)``."""
    surprise = 2.0 * math.log(a.rounds[c] + 1.0)
    for i in range(table.shape[0]):
        k, index = columns[start + i], np.inf
        n = a.counts[c, k, N]
        if n > 0.0:
            index = a.counts[c, k, TOTAL] / n + a.scale * math.sqrt(surprise / n)
        table[i, FREE] = table[i, INDEX] = index


@kernel
def _play_log_rows(a: RivalArrays, c: int) -> None:
    """Play rows of the log in a context, as long as it has one of the arm that UCB wants.

    Which of the pair's rows comes next is drawn, the same way for whoever has this log.
    """
    columns, table = np.arange(a.counts.shape[1]), np.empty((a.counts.shape[1], 3))
    while table.shape[0] > 0:
        _score_ucb(a, c, columns, 0, table)
        k = _find_winner(columns, 0, table)
        rows = a.log[c, k, _ROWS]
        if rows < 1.0:
            return
        uniform = draw_uniform(int(a.log[c, k, _NUMBER]), int(rows))
        reward = 1.0 if uniform * rows < a.log[c, k, _ROWS_TOTAL] else 0.0
        a.log[c, k, _ROWS] -= 1.0
        a.log[c, k, _ROWS_TOTAL] -= reward
        learn_ucb(a.counts, a.rounds, c, k, reward)


@kernel
def _score_b_ts(a: RivalArrays, c: int, columns: Ints, start: int, table: Floats) -> None:
    """Write the probability of each arm to be best, by beliefs narrower or wider by the scale."""
    counts, bounds = a.counts[c : c + 1] / (a.scale * a.scale), a.bounds[c : c + 1]
    span, own = np.array([0.0, 1.0]), columns[start : start + table.shape[0]]
    found = score_ts(counts, bounds, span, 0, own)[:, P_BEST]
    for i in range(table.shape[0]):
        table[i, FREE] = table[i, INDEX] = table[i, _CHANCE] = found[i]


@step
def _weigh(place: int, explore: float) -> float:
    """How much rounds weigh against rows of the log at one place of ARRoW-CB's list."""
    middle = explore / (1.0 + explore)
    if place == 0:
        return 0.0
    if place == _WEIGHTS - 1:
        return 1.0
    if place <= _MIDDLE:
        return middle / 2.0 ** (_MIDDLE - place)
    return 1.0 - (1.0 - middle) / 2.0 ** (place - _MIDDLE)


@step
def _find_greedy(
    a: RivalArrays, c: int, columns: Ints, start: int, weight: float, table: Floats
) -> int:
    """Find the arm that looks best when rounds weigh so much."""
    for i in range(table.shape[0]):
        k = columns[start + i]
        n = (1.0 - weight) * a.log[c, k, _ROWS] + weight * a.counts[c, k, N]
        total = (1.0 - weight) * a.log[c, k, _ROWS_TOTAL] + weight * a.counts[c, k, TOTAL]
        table[i, FREE] = table[i, INDEX] = (total + 0.5) / (n + 1.0)
    return _find_winner(columns, start, table)


@step
def _score_arrow(a: RivalArrays, c: int, columns: Ints, start: int, table: Floats) -> None:
    """Write the chances: a share for all, the rest for the best by the cheapest weight."""
    explore, cheapest = min(_EXPLORE * a.scale, 1.0), 0
    for i in range(1, _WEIGHTS):
        if a.costs[i] < a.costs[cheapest]:
            cheapest = i
    best = _find_greedy(a, c, columns, start, _weigh(cheapest, explore), table)
    for i in range(table.shape[0]):
        table[i, _CHANCE] = explore / table.shape[0]
    table[best, _CHANCE] += 1.0 - explore


@step
def _score_exp3_ix(a: RivalArrays, c: int, columns: Ints, start: int, table: Floats) -> float:
    """Write the chances; give the rate ``eta`` of the round."""
    n, least, total = table.shape[0], np.inf, 0.0
    eta = a.scale * math.sqrt(math.log(n) / (n * (a.rounds[c] + 1.0)))
    for i in range(n):
        least = min(least, a.losses[c, columns[start + i]])
    for i in range(n):
        table[i, _CHANCE] = math.exp(-eta * (a.losses[c, columns[start + i]] - least))
        total += table[i, _CHANCE]
    for i in range(n):
        table[i, _CHANCE] /= total
        table[i, FREE] = table[i, INDEX] = table[i, _CHANCE]
    return eta


@kernel
def score_rival(a: RivalArrays, c: int, columns: Ints, start: int, stop: int) -> Floats:
    """Score the arms of a context: a row for each, without and with bounds, and its chance."""
    table = np.zeros((stop - start, 3))
    if a.kind == _GLUE:
        _score_glue(a, c, columns, start, table)
    elif a.kind == _MIN_UCB:
        _score_min_ucb(a, c, columns, start, table)
    elif a.kind == _VIR_UCB:
        _score_ucb(a, c, columns, start, table)
    elif a.kind == _B_TS:
        _score_b_ts(a, c, columns, start, table)
    elif a.kind == _ARROW:
        _score_arrow(a, c, columns, start, table)
    else:
        _score_exp3_ix(a, c, columns, start, table)
    if a.kind < _B_TS:
        table[_find_winner(columns, start, table), _CHANCE] = 1.0
    return table


@kernel
def learn_rival(a: RivalArrays, c: int, k: int, reward: float) -> None:
    """Learn a reward. Chances are those of the moment: rewards come in the order of decisions."""
    columns, table = np.arange(a.counts.shape[1]), np.zeros((a.counts.shape[1], 3))
    if a.kind == _ARROW:
        explore = min(_EXPLORE * a.scale, 1.0)
        _score_arrow(a, c, columns, 0, table)
        cost = (1.0 - reward) / table[k, _CHANCE]
        for i in range(_WEIGHTS):
            if _find_greedy(a, c, columns, 0, _weigh(i, explore), table) == k:
                a.costs[i] += cost
    elif a.kind == _EXP3_IX:
        eta = _score_exp3_ix(a, c, columns, 0, table)
        a.losses[c, k] += (1.0 - reward) / (table[k, _CHANCE] + eta / 2.0)
    learn_ucb(a.counts, a.rounds, c, k, reward)
    if a.kind == _VIR_UCB:
        _play_log_rows(a, c)


@kernel
def _choose(
    arrays: RivalArrays, c: int, columns: Ints, start: int, stop: int, uniform: float
) -> int:
    chances = score_rival(arrays, c, columns, start, stop)[:, _CHANCE]
    k: int = columns[start + pick_arm(chances, uniform)]
    return k


@kernel
def _learn(arrays: RivalArrays, c: int, k: int, reward: float, leaf: int) -> None:
    learn_rival(arrays, c, k, reward)


register_runs(RivalArrays, choose=_choose, learn=_learn)


class Rival(Policy):
    """One of ``KINDS``, with bounds, the log's means pair by pair, and a constant to tune.

    Rivals are for comparison: they play all arms they hold, rewards are from 0 to 1 and have to
    be learned in the order of their decisions.

    >>> policy = Rival(kind="GLUE", arms=["A", "B"], seed=1)
    >>> policy.learn(policy.decide(), 1.0)
    >>> policy.decide().arm
    'B'
    """

    axes: Mapping[str, str] = {
        "counts": "ca",
        "rounds": "c",
        "log": "ca",
        "noise": "ca",
        "losses": "ca",
        "costs": "",
    }

    def __init__(
        self,
        prior: BoundTable | None = None,
        *,
        kind: str,
        logged: BoundTable | None = None,
        scale: float = 1.0,
        **common: Unpack[CommonOptions],
    ) -> None:
        if kind not in KINDS:
            raise BadOption("kind", f"one of {', '.join(KINDS)}", kind)
        self.kind = KINDS.index(kind)
        self.draws = self.kind >= _B_TS  # type: ignore[misc]  # as the kind does
        table = prior.intervals_only() if prior else None
        super().__init__(table, {"kind": kind, "logged": logged, "scale": scale}, common)

    def _start(self) -> None:
        super()._start()
        logged = self.options["logged"]
        known = logged.contexts if logged else ()
        self._grow([context for context in known if context not in self._rows], ())

    def make_arrays(self) -> RivalArrays:
        bounds = np.clip(self.prior.bounds, 0.0, 1.0)
        shape = bounds.shape[:2]
        found = RivalArrays(
            np.zeros((*shape, 2)),
            np.zeros(shape[0]),
            self._read_log(bounds),
            compute_noise(bounds),
            np.zeros(shape),
            np.zeros(_WEIGHTS),
            self.prior.bounds,
            self.kind,
            self.options["scale"],
        )
        if self.kind == _VIR_UCB:
            for c in range(shape[0]):
                _play_log_rows(found, c)
        return found

    def _read_log(self, bounds: Floats) -> Floats:
        """What the log tells of each row and column; nothing of a pair without rows."""
        found, logged = np.zeros((*bounds.shape[:2], 4)), self.options["logged"]
        for number, (arm, context) in enumerate(logged.bounds if logged else ()):
            point, at = (
                logged.bounds[arm, context],
                (self._rows.get(context), self._columns.get(arm)),
            )
            if None in at or not point.n or point.lower_estimate != point.upper_estimate:
                continue
            mean, (lower, upper) = point.lower_estimate, bounds[at]
            bias = max(upper - mean, mean - lower, 0.0)
            found[at] = point.n, round(point.n * mean), bias, number
        return found

    def score(
        self, context: Context, row: int, columns: Ints
    ) -> tuple[int, Floats | None, Floats]:
        table = score_rival(self.arrays, row, columns, 0, columns.size)
        chances = np.ascontiguousarray(table[:, _CHANCE])
        return (-1, chances, table) if self.draws else (int(chances.argmax()), None, table)

    def take(self, context: Context, row: int, column: int, reward: float, shown: Any) -> None:
        learn_rival(self.arrays, row, column, reward)

    def record_options(self) -> dict[str, Any]:
        logged = self.options["logged"]
        return {**self.list_options(), "logged": logged and logged.record()}

    @classmethod
    def read_options(
        cls, record: Mapping[str, Any], functions: Mapping[str, Any]
    ) -> dict[str, Any]:
        logged = record["logged"]
        return {**record, "logged": logged and BoundTable.from_record(logged), **functions}

    def merge(self, other: Any, *, since: Any = None) -> NoReturn:
        raise CannotMerge("what a rival learned hangs on the order of its rounds")


def compute_noise(bounds: Floats) -> Floats:
    """Compute the sub-Gaussian factor of rewards from 0 to 1 whose means lie within bounds.

    ``bounds`` are contexts x arms x (lower, upper). The factor grows towards a mean of 1/2, so
    that the mean nearest to it counts (Kearns and Saul 1998). Where some arm's lower bound is
    above 1/2, no arm that may be best has a greater factor than that mean has, and GLUE explores
    no other arm faster.

    >>> compute_noise(np.array([[[0.3, 0.6], [0.1, 0.4]], [[0.8, 0.9], [0.0, 0.0]]])).round(3)
    array([[0.5  , 0.497],
           [0.465, 0.   ]])
    """
    nearest = np.clip(_HALF, bounds[..., 0], bounds[..., 1])
    best = np.maximum(bounds[..., 0].max(axis=1, initial=0.0), _HALF)
    return np.minimum(_compute_factor(nearest), _compute_factor(best)[:, None])


def _compute_factor(mean: Floats) -> Floats:
    """The sub-Gaussian factor of rewards from 0 to 1 with this mean."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sqrt((1 - 2 * mean) / (2 * np.log((1 - mean) / mean)))
    found = np.where(np.abs(mean - _HALF) < _NEAR, _HALF, found)
    return np.where((mean > 0.0) & (mean < 1.0), found, 0.0)
