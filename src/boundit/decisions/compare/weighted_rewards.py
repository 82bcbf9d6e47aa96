r"""Weighted rewards of a log with known propensities, and exact lower ends of their means.

A row of context ``c`` and arm ``a``, which the log's policy chose with chance ``p``, has the
weight :math:`\omega = d(a \mid c) / p`, where ``d`` is the difference of the chances of two
policies. For any function ``f`` of contexts and arms,

.. math:: X = \omega (Y - f(a, c)) + \sum_{a'} d(a' \mid c) f(a', c)

has the difference of their values as its mean. With rewards from 0 to 1 and ``f`` equal to 0
where ``d`` is positive and to 1 where it is negative, ``X`` is at least
:math:`-\sum_{a: d < 0} |d(a \mid c)|` however small propensities are: this is inverse
propensity scoring, and pairs what both policies would do with the same row. Where propensities
have a known least value, ``f`` may come nearer to the mean reward, as far as ``X`` stays above
a chosen number: this is the doubly robust estimator, whose ``f`` is learned on rows of its own.

A mean :math:`m` of numbers :math:`X \ge 0` is bounded from below by bets: for a share ``s`` the
product of :math:`1 - s + s X / m` has mean 1, and so has the mean of such products over a few
shares that were chosen by other rows, set apart as a pilot, or by nothing at all. It is
:math:`1/\alpha` or more with chance :math:`\alpha` at most, in any order and, without a pilot,
also where a policy learned while it wrote the rows (Ville 1939). Nothing needs to be known of
how large ``X`` can be. It falls in ``m``, and the end is where it reaches :math:`1/\alpha`. The
upper end of a difference is the lower end of the turned one.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np
from numpy.random import Generator

from boundit.bounds.reward import OutsideRange
from boundit.core.errors import BounditError, OptionError
from boundit.core.message import Note, Option
from boundit.counts.log import Log
from boundit.counts.named_array import Floats
from boundit.counts.table import CountTable
from boundit.decisions.compare.policies import Chances, ReadPolicy
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable

_HALVINGS = 50
_GREATEST_SHARE = 0.98
_DOUBLINGS: Floats = np.arange(-4.0, 6.0)
"""Shares to bet are tried around the one that suits numbers whose spread is their mean."""
_ANY_LENGTH: Floats = np.arange(16.0)
"""Halvings of the greatest share, for logs whose length hangs on what they show."""
_NEAR: Floats = np.array([0.5, 1.0, 2.0])
_NEAR_WEIGHTS: Floats = np.array([0.15, 0.7, 0.15])
"""A pilot's share is tried with its half and its double, each with a part of the stake."""


class BadPropensity(BounditError):
    """A propensity that no policy can have had, or that lies below its declared least."""


@final
@dataclass(frozen=True, eq=False)
class PropensityRows:
    """The distinct rows of a log: context, arm, reward from 0 to 1, propensity, how often.

    ``contexts`` and ``arms`` are places in the lists of their names. ``n`` are whole numbers,
    or chances of an ``exact`` law.
    """

    named_contexts: tuple[Context, ...]
    named_arms: tuple[Arm, ...]
    contexts: np.ndarray
    arms: np.ndarray
    rewards: Floats
    propensities: Floats
    n: Floats
    exact: bool
    adaptive: bool
    notes: tuple[Note, ...] = ()

    @cached_property
    def total(self) -> float:
        """How many rows there are, or 1 of an exact law."""
        return float(self.n.sum())

    def spread(self, chances: Mapping[Context, Chances]) -> Floats:
        """Spread chances of arms out as an array, contexts by arms."""
        found = np.zeros((len(self.named_contexts), len(self.named_arms)))
        places = {arm: i for i, arm in enumerate(self.named_arms)}
        for i, where in enumerate(self.named_contexts):
            for arm, chance in chances[where].items():
                found[i, places[arm]] = chance
        return found

    def split(self, rng: Generator, share: float) -> "tuple[PropensityRows, PropensityRows]":
        """Split rows at random in two, the first of which has about ``share`` of them."""
        taken = rng.binomial(np.rint(self.n).astype(np.int64), share).astype(np.float64)
        return replace(self, n=taken), replace(self, n=self.n - taken)


def count_propensity_rows(
    log: Log, table: BoundTable, propensity: str | ReadPolicy
) -> PropensityRows:
    """Count the distinct rows of a log with the propensity of each, a column or a policy's."""
    named = (*table.context, *table.treatments, table.outcome)
    column = (propensity,) if isinstance(propensity, str) else ()
    if column and propensity in named:
        raise OptionError(
            Option("propensity", propensity), " names a variable of the question; name another"
        )
    counts = log.count((*named, *column), measured=(table.outcome, *column))
    contexts, context_places = _read_places(counts, table.context)
    arms, arm_places = _read_places(counts, table.treatments)
    known_arms = tuple(dict.fromkeys((*table.arms, *map(table.read_arm, arms))))
    known = tuple(dict.fromkeys((*table.contexts, *map(table.read_context, contexts))))
    at_context = {where: i for i, where in enumerate(known)}
    at_arm = {arm: i for i, arm in enumerate(known_arms)}
    rows_contexts = np.array([at_context[where] for where in contexts])[context_places]
    rows_arms = np.array([at_arm[arm] for arm in arms])[arm_places]
    if isinstance(propensity, str):
        chances = _read_numbers(counts, propensity)
    else:
        chances = np.array(
            [
                propensity.chances[known[i]].get(known_arms[j], 0.0)
                for i, j in zip(rows_contexts, rows_arms, strict=True)
            ]
        )
    _require_propensities(chances, propensity)
    return PropensityRows(
        known,
        known_arms,
        rows_contexts,
        rows_arms,
        _scale_rewards(counts, table),
        chances,
        counts.n,
        counts.exact,
        counts.adaptive,
        counts.notes,
    )


def _read_places(
    counts: CountTable, names: tuple[str, ...]
) -> tuple[list[tuple[object, ...]], np.ndarray]:
    """Read which combination of some variables each row has: their list, and places in it."""
    if not names:
        return [()], np.zeros(len(counts.n), dtype=np.int64)
    at = [counts.variables.index(name) for name in names]
    distinct, places = np.unique(counts.codes[:, at], axis=0, return_inverse=True)
    levels = [counts.levels[name] for name in names]
    found = [
        tuple(of[code] for of, code in zip(levels, codes, strict=True))
        for codes in distinct.tolist()
    ]
    return found, places.reshape(-1)


def _read_numbers(counts: CountTable, name: str) -> Floats:
    """Read a counted column whose levels are numbers, one number a row."""
    try:
        levels = np.array([float(level) for level in counts.levels[name]])  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise BadPropensity(f"the column {name!r} holds no numbers") from None
    found: Floats = levels[counts.codes[:, counts.variables.index(name)]]
    return found


def _scale_rewards(counts: CountTable, table: BoundTable) -> Floats:
    """Scale rewards to lie between 0 and 1, or refuse one outside the declared range."""
    rewards = _read_numbers(counts, table.outcome)
    low, high = table.outcome_range
    outside = (rewards < low) | (rewards > high)
    if outside.any():
        raise OutsideRange(table.outcome, float(rewards[outside][0]), (low, high))
    found: Floats = (rewards - low) / (high - low)
    return found


def _require_propensities(found: Floats, propensity: str | ReadPolicy) -> None:
    """Refuse propensities that are not above 0 and at most 1 in every row."""
    wrong = ~((found > 0) & (found <= 1))
    if not wrong.any():
        return
    value = float(found[wrong][0])
    if isinstance(propensity, str):
        raise BadPropensity(
            f"the column {propensity!r} has {value:g}; a propensity is the chance of the row's "
            "arm, above 0 and at most 1"
        )
    raise BadPropensity(
        "the log has an arm that the given propensities rule out; they are not its policy's"
    )


@final
@dataclass(frozen=True, eq=False)
class WeightedRewards:
    """Numbers above 0, one a distinct row, whose mean less ``shift`` is what is asked for."""

    numbers: Floats
    n: Floats
    shift: float

    @property
    def mean(self) -> float:
        """The estimate: the mean of the numbers without their shift."""
        return float(self.numbers @ self.n / self.n.sum()) - self.shift

    def bound_below(self, chance: float, bets: "Bets") -> float:
        """Bound what is asked for from below, to miss with this chance."""
        return bound_mean_below(self.numbers, self.n, chance, bets) - self.shift


@final
@dataclass(frozen=True, eq=False)
class RewardModel:
    """A guess of the mean reward of every context and arm, and the least propensities."""

    means: Floats
    least: Floats


@final
@dataclass(frozen=True, eq=False)
class Baseline:
    """What rewards are compared with, and how far below 0 weighted ones may then lie."""

    means: Floats
    slack: float


def weigh_rewards(
    rows: PropensityRows,
    gained: Floats,
    *,
    logged: int = 0,
    baseline: Baseline | None = None,
) -> WeightedRewards:
    """Weigh rewards so that their mean is a difference of two policies, and keep them above 0.

    ``gained`` is by how much one policy's chances exceed the other's, contexts by arms.
    ``logged`` is 1 where what the log did comes on top, -1 where it is taken off. With a
    ``baseline`` the estimate is doubly robust.
    """
    f, slack = np.where(gained < 0, 1.0, 0.0), 0.0
    if baseline is not None:
        f, slack = baseline.means, baseline.slack
    base = (gained * f).sum(axis=1)
    weights = gained[rows.contexts, rows.arms] / rows.propensities
    numbers = weights * (rows.rewards - f[rows.contexts, rows.arms]) + base[rows.contexts]
    shift = slack + max(0.0, -float(base.min()))
    numbers = numbers + shift
    if logged > 0:
        numbers = numbers + rows.rewards
    elif logged < 0:
        numbers, shift = numbers + 1 - rows.rewards, shift + 1
    # Rounding alone takes a number below 0.
    return WeightedRewards(np.maximum(numbers, 0.0), rows.n, shift)


def shrink_model(gained: Floats, model: RewardModel, n: float) -> Baseline:
    """Move a model's means so far towards 0 or 1 that weighted rewards stay above a number.

    ``n`` is how many rows will be weighed.
    """
    largest = np.abs(gained) / model.least
    apart = np.where(gained < 0, 1 - model.means, model.means)
    slack = min(float((largest * apart).max(initial=0.0)), math.sqrt(n) / 4)
    with np.errstate(divide="ignore"):
        apart = np.minimum(apart, slack / largest)
    return Baseline(np.where(gained < 0, 1 - apart, apart), slack)


def learn_means(rows: PropensityRows) -> Floats:
    """Guess the mean reward of every context and arm from rows, drawn towards that of the arm."""
    shape = len(rows.named_contexts), len(rows.named_arms)
    n, sums = np.zeros(shape), np.zeros(shape)
    np.add.at(n, (rows.contexts, rows.arms), rows.n)
    np.add.at(sums, (rows.contexts, rows.arms), rows.n * rows.rewards)
    of_arms = (sums.sum(axis=0) + 1) / (n.sum(axis=0) + 2)
    found: Floats = (sums + 2 * of_arms) / (n + 2)
    return found


@final
@dataclass(frozen=True, eq=False)
class Bets:
    """Shares to bet against a mean, each with its part of the stake."""

    shares: Floats
    weights: Floats


def spread_bets(total: float, chance: float, *, adaptive: bool) -> Bets:
    """Spread bets over many shares where nothing tells which suits.

    ``total`` is how many numbers there are, unless that hangs on what they show.
    """
    shares = _GREATEST_SHARE / 2.0**_ANY_LENGTH
    if not adaptive:
        suiting = math.sqrt(2 * math.log(1 / chance) / total) * 2.0**_DOUBLINGS
        shares = np.minimum(_GREATEST_SHARE, suiting)
    return Bets(shares, np.full(len(shares), 1 / len(shares)))


def aim_bets(pilot: WeightedRewards, total: float, chance: float) -> Bets:
    """Aim bets at the mean and the spread that a pilot shows, for ``total`` other numbers."""
    mean = float(pilot.numbers @ pilot.n / pilot.n.sum()) if pilot.n.any() else 0.0
    if not mean > 0:
        return spread_bets(total, chance, adaptive=False)
    spread = float(((pilot.numbers - mean) ** 2) @ pilot.n / pilot.n.sum()) ** 0.5
    suiting = math.sqrt(2 * math.log(1 / chance) / total) * mean / max(spread, mean / 1_000)
    return Bets(np.minimum(_GREATEST_SHARE, suiting * _NEAR), _NEAR_WEIGHTS)


def bound_mean_below(numbers: Floats, n: Floats, chance: float, bets: Bets) -> float:
    """Bound the mean of numbers that are never below 0 from below, by bets.

    ``n`` says how often each was seen. It misses with this chance at most, whatever their law,
    if the bets were chosen without them.

    >>> bets = spread_bets(400, 0.025, adaptive=False)
    >>> bound_mean_below(np.array([0.0, 1.0]), np.array([300.0, 100.0]), 0.025, bets) > 0.18
    True
    """
    total, seen = float(n.sum()), float(numbers @ n)
    if not seen > 0:
        return 0.0
    enough = math.log(1 / chance)
    low, high = 0.0, seen / total
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _weigh_bets(numbers, n, bets, middle) >= enough:
            low = middle
        else:
            high = middle
    return low


def _weigh_bets(numbers: Floats, n: Floats, bets: Bets, mean: float) -> float:
    """Compute the logarithm of what bets against a mean have won. It falls in the mean."""
    won = [float(n @ np.log1p(share * (numbers / mean - 1))) for share in bets.shares]
    return float(np.logaddexp.reduce(np.log(bets.weights) + won))
