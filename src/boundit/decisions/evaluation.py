r"""Off-policy evaluation on a log with known propensities, with exact confidence intervals.

A row of context ``c`` and arm ``a``, drawn with propensity ``p``, has the weight
:math:`\omega = d(a \mid c) / p`, where ``d`` is the difference of the probabilities of a policy
and its baseline. For any function ``f`` of contexts and arms,

.. math:: X = \omega (Y - f(a, c)) + \sum_{a'} d(a' \mid c) f(a', c)

has the difference of their values as its mean. With outcomes in [0, 1] and ``f`` equal to 0 where
``d`` is positive and to 1 where it is negative, ``X`` is bounded below however small propensities
are: inverse propensity scoring. Where propensities have a known minimum, ``f`` may come nearer to
the mean outcome: the doubly robust estimator, whose ``f`` is learned on rows of its own.

A mean ``m`` of numbers :math:`X \ge 0` is bounded from below by betting: for a share ``s`` the
product of :math:`1 - s + s X / m` is an e-value, and so is the mean of such products over shares
that a pilot sample, or nothing, has chosen. It exceeds :math:`1/\alpha` with probability at most
:math:`\alpha`, in any order and, without a pilot, also where a policy learned meanwhile
(Ville 1939; Waudby-Smith and Ramdas 2024). The upper endpoint is the lower one of the opposite.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, final, get_args

import numpy as np

from boundit.bounds.evidence import OutsideRange, settle_outcome_range
from boundit.bounds.request import NoConfidence, NotABanditQuestion, require_confidence
from boundit.core.codec import encode
from boundit.core.errors import BounditError, OptionError
from boundit.core.interval import Interval
from boundit.core.message import Note, Option
from boundit.core.public_names import refuse_renamed
from boundit.core.rounding import ROUNDING
from boundit.counts.log import Log, read_log
from boundit.counts.named_array import Floats
from boundit.counts.table import CountTable
from boundit.decisions.policies import InvalidPolicy, Probabilities, ReadPolicy, read_policy
from boundit.estimand.query import EffectQuery, parse_query
from boundit.results.bound import Arm, Bound, Context
from boundit.results.bound_table import BoundTable
from boundit.results.explanation import RANGE

Estimator: TypeAlias = Literal["ips", "dr"]
_PILOT = 0.25  # share of the rows on which the outcome model is learned
_FEW_ROWS = 400  # of fewer rows none are set apart to choose bets by
_GREATEST_SHARE = 0.98
_SPREAD: Floats = 2.0 ** np.arange(-4.0, 6.0)  # around the share that suits spread = mean
_ANY_LENGTH: Floats = _GREATEST_SHARE / 2.0 ** np.arange(16.0)  # where the length may depend
_NEAR: tuple[Floats, Floats] = np.array([0.5, 1.0, 2.0]), np.array([0.15, 0.7, 0.15])


class InvalidPropensity(BounditError):
    """A propensity that no policy can have, or that the log contradicts."""


@dataclass(frozen=True)
class Estimate:
    """The value of a policy, or a difference of two, estimated from weighted outcomes.

    ``interval`` has the ``confidence`` at every number of rows; None for an exact distribution.
    ``max_weight`` is how many rows of the policy one logged row stands for at most.
    """

    value: float
    interval: Interval
    confidence: float | None
    estimator: Estimator
    n: float
    max_weight: float
    notes: tuple[str, ...] = ()

    def record(self) -> dict[str, object]:
        """Write the estimate as an object for JSON."""
        found: dict[str, object] = encode(self)
        return found

    def __str__(self) -> str:
        sure = "" if self.confidence is None else f", {100 * self.confidence:g}% confidence"
        return "\n".join([f"{self.value:.4g} in {self.interval}{sure}", *self.notes])


@refuse_renamed
def evaluate_policy(
    query: EffectQuery | str,
    log: object,
    policy: object,
    *,
    propensity: object,
    estimator: Estimator = "ips",
    min_propensity: float | None = None,
    outcome_range: tuple[float, float] | None = None,
    confidence: float | None = 0.95,
    seed: int = 0,
) -> Estimate:
    """Estimate the mean outcome of a policy from the log of a policy with known propensities.

    No graph is needed: arms were drawn at random given the context, and no row may have been
    selected by anything that happened afterwards.

    Parameters
    ----------
    query : str or EffectQuery
        Outcome, treatments and contexts: ``"Y | do(X), C"``.
    log : any log
        The rows; of a policy that learned meanwhile with ``read_log(..., adaptive=True)``.
    policy : arm, mapping, Choice or Policy
        An arm, a mapping from contexts to arms or probabilities, or a fitted policy.
    propensity : str or mapping
        The column with the probability of the arm of the row, or the logging policy as a
        mapping from contexts to probabilities of arms.
    estimator : {"ips", "dr"}
        Inverse propensity scoring, or doubly robust: a quarter of the rows estimates the mean
        outcome of each arm, which lowers the variance of the rest. It needs ``min_propensity``,
        or propensities as a mapping.
    min_propensity : float, optional
        What no propensity of the logging policy can be below, seen or not.
    outcome_range : (float, float), optional
        The range of the outcome; only a 0/1 outcome needs none.
    confidence : float or None
        The confidence of the interval; None for an exact distribution.
    seed : int
        Draws the pilot sample.

    Returns
    -------
    Estimate
        The estimate and an interval that stays within the range of the outcome.

    Examples
    --------
    >>> rows = {"Ad": ["A", "B"] * 200, "Y": [0, 1, 1, 1] * 100, "p": [0.5] * 400}
    >>> found = evaluate_policy("Y | do(Ad)", rows, "B", propensity="p")
    >>> found.value, round(found.interval.lower, 2), found.interval.upper
    (1.0, 0.87, 1.0)
    """
    require_confidence(confidence)
    opened = read_log(log)
    if confidence is None and not opened.exact:
        sure = Option("confidence", 0.95)
        raise NoConfidence(
            "An estimate from a sample has a confidence. Give one, such as ", sure, "."
        )
    table = _make_open_table(opened, query, outcome_range)
    side = read_policy(policy, table, table.contexts, "policy")
    if not isinstance(side, ReadPolicy):
        raise InvalidPolicy(
            "policy", f"{side} has no probabilities of arms. Give a policy that has."
        )
    error = 0.0 if opened.exact or confidence is None else 1 - confidence
    return estimate_difference(
        opened,
        table,
        (side, None),
        propensity,
        estimator=estimator,
        min_propensity=min_propensity,
        error=error,
        seed=seed,
    )


def _make_open_table(
    log: Log, query: EffectQuery | str, outcome_range: tuple[float, float] | None
) -> BoundTable:
    """Make a table that has the arms, contexts and the outcome's range of a log alone."""
    asked = query if isinstance(query, EffectQuery) else parse_query(query)
    if len(asked.outcomes) != 1 or not asked.treatments:
        raise NotABanditQuestion(
            f"{asked} does not have one outcome and treatments. Write it as 'Y | do(X), C'."
        )
    names = (*asked.treatments, *asked.context)
    counts = log.count(names, reward=asked.outcomes[0])
    low, high = settle_outcome_range([counts], outcome_range)
    found, _ = _read_places(counts, names)
    k = len(asked.treatments)
    arms = dict.fromkeys(row[:k] for row in found)
    contexts = dict.fromkeys(row[k:] for row in found)
    anything = Bound(low, high, low, high, 0, RANGE, RANGE)
    return BoundTable(
        asked.outcomes[0],
        asked.treatments,
        asked.context,
        {name: counts.levels[name] for name in names},
        (low, high),
        {(arm, where): anything for arm in arms for where in contexts},
    )


def require_estimator(estimator: str) -> None:
    """Refuse an unknown estimator."""
    if estimator not in get_args(Estimator):
        known = ", ".join(get_args(Estimator))
        raise OptionError(
            Option("estimator", estimator), f" is not an estimator. Use one of {known}."
        )


def estimate_difference(
    log: Log,
    table: BoundTable,
    sides: tuple[object, object],
    propensity: object,
    *,
    estimator: Estimator,
    min_propensity: float | None,
    error: float,
    seed: int = 0,
) -> Estimate:
    """Estimate by how much the mean of one side exceeds that of the other, on the log's units.

    A side is a ``ReadPolicy``, ``Logged``, or None, which adds nothing.
    """
    require_estimator(estimator)
    logging = propensity
    if not isinstance(propensity, str):
        usable = not isinstance(propensity, int | float)
        logging = usable and read_policy(propensity, table, table.contexts, "propensity")
        if not isinstance(logging, ReadPolicy):
            raise InvalidPropensity(
                "Propensities are neither a column of the log nor a policy. Give one of these."
            )
    rows = _count_rows(log, table, logging)
    gained, logged, net = np.zeros((len(rows.all_contexts), len(rows.all_arms))), 0, 0
    low, high = table.outcome_range
    least = most = 0.0
    for sign, side in zip((1, -1), sides, strict=True):
        if side is None:
            continue
        net += sign
        least, most = least + (low if sign > 0 else -high), most + (high if sign > 0 else -low)
        if isinstance(side, ReadPolicy):
            gained += sign * rows.spread(side.probabilities)
        else:
            logged += sign
    rng, weighed, pilot, model = np.random.default_rng(seed), rows, None, None
    if estimator == "dr" and not rows.exact:
        smallest = _find_smallest(rows, gained, logging, min_propensity)
        pilot, weighed = rows.split(rng, _PILOT)
        model = _learn_means(pilot), smallest
    elif not (rows.exact or rows.adaptive or rows.total < _FEW_ROWS):
        pilot, weighed = rows.split(rng, rows.total ** (-1 / 3))
    evidence = _Evidence(rows, weighed, pilot, model)
    found = np.array(
        [*evidence.bound(gained, logged, error), evidence.estimate(gained, logged)]
    )
    found = found * (high - low) + net * low
    lower, upper, value = np.clip(found, least, most).tolist()
    size = "an exact distribution" if rows.exact else f"{rows.total:,.0f} rows"
    how = "inverse propensity scoring" if estimator == "ips" else "the doubly robust estimator"
    notes = [
        f"Estimated from {size} by {how}: valid if every arm of the policy had a positive "
        "propensity, and no row was selected by what happened after the decision.",
        *map(str, rows.notes),
    ]
    if max(found[0] - upper, lower - found[1]) > ROUNDING * (high - low):
        lower, upper = least, most
        notes.append(
            "Weighted outcomes lie outside the range of the outcome, as in a rare log or one "
            "with other propensities: the interval is the whole range."
        )
    weights = np.abs(gained[rows.contexts, rows.arms]) / rows.propensities
    return Estimate(
        value,
        Interval(lower, upper),
        (1 - error) if error else None,
        estimator,
        rows.total,
        float(weights[rows.n > 0].max(initial=0.0)),
        tuple(notes),
    )


@final
@dataclass(frozen=True, eq=False)
class _Rows:
    """The distinct rows of a log: places of context and arm, outcome in [0, 1], propensity."""

    all_contexts: tuple[Context, ...]
    all_arms: tuple[Arm, ...]
    contexts: np.ndarray
    arms: np.ndarray
    outcomes: Floats
    propensities: Floats
    n: Floats
    exact: bool
    adaptive: bool
    notes: tuple[Note, ...] = ()

    @property
    def total(self) -> float:
        return float(self.n.sum())

    def spread(self, probabilities: Mapping[Context, Probabilities]) -> Floats:
        found = np.zeros((len(self.all_contexts), len(self.all_arms)))
        places = {arm: i for i, arm in enumerate(self.all_arms)}
        for i, where in enumerate(self.all_contexts):
            for arm, share in probabilities[where].items():
                found[i, places[arm]] = share
        return found

    def split(self, rng: np.random.Generator, share: float) -> "tuple[_Rows, _Rows]":
        taken = rng.binomial(np.rint(self.n).astype(np.int64), share).astype(np.float64)
        return replace(self, n=taken), replace(self, n=self.n - taken)


def _count_rows(log: Log, table: BoundTable, logging: object) -> _Rows:
    """Count the distinct rows of a log with their propensities, a column or a policy's."""
    named = (*table.context, *table.treatments, table.outcome)
    column = (logging,) if isinstance(logging, str) else ()
    if column and logging in named:
        named_option = Option("propensity", logging)
        raise OptionError(named_option, " is a variable of the query. Name another column.")
    counts = log.count((*named, *column), measured=(table.outcome, *column))
    contexts, context_places = _read_places(counts, table.context)
    arms, arm_places = _read_places(counts, table.treatments)
    all_contexts = tuple(dict.fromkeys((*table.contexts, *map(table.read_context, contexts))))
    all_arms = tuple(dict.fromkeys((*table.arms, *map(table.read_arm, arms))))
    at_context = np.array([all_contexts.index(where) for where in contexts])[context_places]
    at_arm = np.array([all_arms.index(arm) for arm in arms])[arm_places]
    low, high = table.outcome_range
    outcomes = _read_numbers(counts, table.outcome)
    if (outside := (outcomes < low) | (outcomes > high)).any():
        raise OutsideRange(table.outcome, float(outcomes[outside][0]), (low, high))
    if isinstance(logging, ReadPolicy):
        known = logging.probabilities
        pairs = zip(at_context, at_arm, strict=True)
        found = np.array([known[all_contexts[i]].get(all_arms[j], 0.0) for i, j in pairs])
    else:
        found = _read_numbers(counts, str(logging))
    if (wrong := ~((found > 0) & (found <= 1))).any():
        if isinstance(logging, ReadPolicy):
            raise InvalidPropensity(
                "The log has an arm that the given propensities rule out. Correct them."
            )
        raise InvalidPropensity(
            f"The column {logging!r} has {float(found[wrong][0]):g}. A propensity is the "
            "probability of the arm of the row, above 0 and at most 1."
        )
    scaled = (outcomes - low) / (high - low)
    return _Rows(
        all_contexts, all_arms, at_context, at_arm, scaled, found,
        counts.n, counts.exact, counts.adaptive, counts.notes,
    )  # fmt: skip


def _read_places(
    counts: CountTable, names: tuple[str, ...]
) -> tuple[list[tuple[object, ...]], np.ndarray]:
    """The combinations of some variables, and which of them each row has."""
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
    try:
        levels = np.array([float(level) for level in counts.levels[name]])  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InvalidPropensity(
            f"The column {name!r} has no numbers. Name another one."
        ) from None
    found: Floats = levels[counts.codes[:, counts.variables.index(name)]]
    return found


def _find_smallest(
    rows: _Rows, gained: Floats, logging: object, min_propensity: float | None
) -> Floats:
    """The smallest propensity of every context and arm, which bounds the weights."""
    if rows.adaptive:
        raise InvalidPropensity(
            "Rows of a policy that learned depend on each other, so none can train a model for "
            "others. Leave out ",
            Option("estimator", "dr"),
            ".",
        )
    if isinstance(logging, ReadPolicy):
        least = rows.spread(logging.probabilities)
        if ((least <= 0) & (gained != 0)).any():
            raise InvalidPropensity(
                "The logging policy never chose an arm of the policy. "
                "Evaluate one whose arms it chose."
            )
        return np.where(least > 0, least, 1.0)
    if min_propensity is None:
        raise InvalidPropensity(
            "The doubly robust estimator needs the smallest possible propensity. Give ",
            Option("min_propensity", 0.01),
            ".",
        )
    least_seen = float(rows.propensities.min())
    if not 0 < min_propensity <= 1 or min_propensity > least_seen * (1 + ROUNDING):
        raise InvalidPropensity(
            Option("min_propensity", min_propensity),
            f" is not above 0 and at most every propensity. The log has {least_seen:g}.",
        )
    return np.full(gained.shape, min_propensity)


def _learn_means(rows: _Rows) -> Floats:
    """Estimate the mean of every context and arm, shrunk towards that of the arm."""
    shape = len(rows.all_contexts), len(rows.all_arms)
    n, sums = np.zeros(shape), np.zeros(shape)
    np.add.at(n, (rows.contexts, rows.arms), rows.n)
    np.add.at(sums, (rows.contexts, rows.arms), rows.n * rows.outcomes)
    of_arms = (sums.sum(axis=0) + 1) / (n.sum(axis=0) + 2)
    found: Floats = (sums + 2 * of_arms) / (n + 2)
    return found


@final
@dataclass(frozen=True, eq=False)
class _Evidence:
    """All rows, those that are weighed, and the pilot sample with the model that it trained."""

    rows: _Rows
    weighed: _Rows
    pilot: _Rows | None
    model: tuple[Floats, Floats] | None  # means of the outcome, and smallest propensities

    def bound(self, gained: Floats, logged: int, error: float) -> tuple[float, float]:
        """Bound a difference from both sides, with half of the error each."""
        if error:
            lower = self._bound_below(gained, logged, error / 2)
            upper = -self._bound_below(-gained, -logged, error / 2)
            refuted = lower > upper + ROUNDING
        else:
            lower, upper = self.estimate(gained, logged), -self.estimate(-gained, -logged)
            refuted = self.rows.exact and abs(upper - lower) > ROUNDING
        if refuted:  # weights of a policy have the mean 1; else the endpoints cross
            raise InvalidPropensity(
                "The log contradicts its propensities: the mean of the weights is not 1. Arms were "
                "drawn with other probabilities."
            )
        return min(lower, upper), max(lower, upper)

    def estimate(self, gained: Floats, logged: int) -> float:
        """Estimate a difference from all rows, but for those that trained a model."""
        rows = self.rows if self.model is None else self.weighed
        numbers, shift = self._weigh(rows, gained, logged)
        return float(numbers @ rows.n / rows.total) - shift

    def _weigh(self, rows: _Rows, gained: Floats, logged: int) -> tuple[Floats, float]:
        """Weigh outcomes: numbers >= 0 whose mean less the shift is the difference."""
        f, shift = np.where(gained < 0, 1.0, 0.0), 0.0
        if self.model is not None:
            # Shrink the means towards 0 or 1 so far that weighted outcomes stay above a number.
            means, least = self.model
            largest, apart = np.abs(gained) / least, np.where(gained < 0, 1 - means, means)
            shift = float((largest * apart).max(initial=0.0))
            shift = min(shift, math.sqrt(self.weighed.total) / 4)
            with np.errstate(divide="ignore"):
                apart = np.minimum(apart, shift / largest)
            f = np.where(gained < 0, 1 - apart, apart)
        base = (gained * f).sum(axis=1)
        weights = gained[rows.contexts, rows.arms] / rows.propensities
        numbers = weights * (rows.outcomes - f[rows.contexts, rows.arms]) + base[rows.contexts]
        shift += max(0.0, -float(base.min()))
        if logged:
            numbers = numbers + (rows.outcomes if logged > 0 else 1 - rows.outcomes)
        return np.maximum(numbers + shift, 0.0), shift + (logged < 0)

    def _bound_below(self, gained: Floats, logged: int, error: float) -> float:
        numbers, shift = self._weigh(self.weighed, gained, logged)
        rows, pilot = self.weighed, self.pilot
        suiting = math.sqrt(2 * math.log(1 / error) / rows.total)
        bets = np.minimum(_GREATEST_SHARE, suiting * _SPREAD)
        bets = _ANY_LENGTH if rows.adaptive else bets
        stakes = np.full(len(bets), 1 / len(bets))
        if pilot is not None and pilot.total:
            seen, _ = self._weigh(pilot, gained, logged)
            mean = float(seen @ pilot.n / pilot.total)
            if mean > 0:
                spread = float(((seen - mean) ** 2) @ pilot.n / pilot.total) ** 0.5
                suiting *= mean / max(spread, mean / 1_000)
                bets, stakes = np.minimum(_GREATEST_SHARE, suiting * _NEAR[0]), _NEAR[1]
        return bound_mean_below(numbers, rows.n, error, bets, stakes) - shift


def bound_mean_below(
    numbers: Floats, n: Floats, error: float, bets: Floats, stakes: Floats
) -> float:
    """Bound the mean of nonnegative numbers, each seen ``n`` times, from below by betting."""
    total, seen = float(n.sum()), float(numbers @ n)
    if not seen > 0:
        return 0.0
    low, high = 0.0, seen / total
    for _ in range(50):  # the e-value falls in the mean
        middle = (low + high) / 2
        won = [float(n @ np.log1p(share * (numbers / middle - 1))) for share in bets]
        if np.logaddexp.reduce(np.log(stakes) + won) >= math.log(1 / error):
            low = middle
        else:
            high = middle
    return low
