"""What a policy would have earned on a log with known propensities, with an exact interval."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from boundit.bounds.confidence import NoConfidence, require_confidence
from boundit.bounds.request import NotABanditQuestion
from boundit.bounds.reward import settle_reward_range
from boundit.counts.log import Log
from boundit.counts.named_array import Floats
from boundit.counts.read import read_log
from boundit.decisions.compare.measured import Logged, Measured
from boundit.decisions.compare.policies import BadPolicy, ReadPolicy, Side, read_side
from boundit.decisions.compare.weighted_rewards import (
    BadPropensity,
    PropensityRows,
    RewardModel,
    WeightedRewards,
    count_propensity_rows,
    learn_means,
    weigh_rewards,
)
from boundit.estimand.query import EffectQuery, parse_query
from boundit.terms.bound import Bound
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import InvalidLimit
from boundit.terms.interval import Interval
from boundit.terms.message import Option
from boundit.terms.rounding import ROUNDING
from boundit.terms.saving.codec import encode

Estimator: TypeAlias = Literal["ips", "dr"]
"""Inverse propensity scoring, or the doubly robust estimator."""
_PILOT = 0.25
"""Which part of the rows a reward model is learned on, in place of being weighed."""


@dataclass(frozen=True)
class Estimate:
    """A value, or a difference of two, as weighted rewards of a log tell it.

    ``interval`` holds with the chance ``confidence`` however many rows there are, None of an
    exact law. ``n`` rows were weighed; ``largest_weight`` is the most that one of them stands
    for. ``reasons`` say what it rests on.
    """

    value: float
    interval: Interval
    confidence: float | None
    estimator: Estimator
    n: float
    largest_weight: float
    reasons: tuple[str, ...] = ()

    def record(self) -> dict[str, object]:
        """Write the estimate as an object for JSON. For users."""
        found: dict[str, object] = encode(self)
        return found

    def __str__(self) -> str:
        sure = "" if self.confidence is None else f", confidence {self.confidence:g}"
        lines = [f"{self.value:.4g} in {self.interval}{sure}", *self.reasons]
        return "\n".join(lines)


def estimate_value(
    log: object,
    query: EffectQuery | str,
    policy: object,
    *,
    propensity: object,
    reward_range: tuple[float, float] | None = None,
    confidence: float | None = 0.95,
    estimator: Estimator = "ips",
    least_propensity: float | None = None,
    seed: int = 0,
) -> Estimate:
    """Estimate what a policy would have earned on the visitors of a log that drew its arms.

    Users call it for a log whose propensities were written down; no graph is needed, since
    chance alone chose the arms, and no row may have been selected by what came after.

    Parameters
    ----------
    log
        The rows; of a policy that learned meanwhile with ``read_log(..., adaptive=True)``.
    query
        Which column is the reward, which are arms and contexts: ``"Y | do(X), C"``.
    policy
        An arm, a mapping from contexts to arms or chances, or a fitted policy.
    propensity
        The column with the chance that the log's policy gave to the arm of the row, or that
        policy's chances as a mapping from contexts to chances of arms.
    reward_range
        What the reward can be, as for ``derive_bounds``.
    confidence
        The chance that the interval holds; None for an exact law.
    estimator
        ``"ips"`` weighs rewards by inverse propensities; ``"dr"`` is doubly robust: a quarter
        of the rows, drawn by ``seed``, tells about what each arm earns, which makes the weighed
        rest vary less. It needs ``least_propensity``, or propensities as a mapping.
    least_propensity
        What no propensity of the log's policy can lie below, seen or not.

    Examples
    --------
    >>> rows = {"Ad": ["A", "B"] * 200, "Y": [0, 1, 1, 1] * 100, "p": [0.5] * 400}
    >>> found = estimate_value(rows, "Y | do(Ad)", "B", propensity="p")
    >>> found.value, round(found.interval.lower, 2), found.interval.upper
    (1.0, 0.83, 1.0)
    """
    require_confidence(confidence)
    opened = read_log(log)
    if (confidence is None) != opened.exact and not opened.exact:
        raise NoConfidence(
            "an estimate from a sample needs a chance such as ", Option("confidence", 0.95)
        )
    table = _make_open_table(opened, query, reward_range)
    side = read_side(policy, table, table.contexts, "policy")
    if not isinstance(side, ReadPolicy):
        raise BadPolicy("policy", f"{side} is no policy whose value could be estimated")
    chance = 0.0 if opened.exact or confidence is None else 1 - confidence
    return estimate_difference(
        opened,
        table,
        (side, Measured(0.0)),
        propensity,
        estimator=estimator,
        least_propensity=least_propensity,
        chance=chance,
        seed=seed,
    )


def _make_open_table(
    log: Log, query: EffectQuery | str, reward_range: tuple[float, float] | None
) -> BoundTable:
    """Make a table that knows the arms, contexts and the reward's range of a log, and no more.

    Called by ``estimate_value``, whose policies are read by it.
    """
    asked = query if isinstance(query, EffectQuery) else parse_query(query)
    if len(asked.outcomes) != 1 or not asked.treatments:
        raise NotABanditQuestion(f"{asked} must have one reward, and arms as do(...)")
    names = (*asked.treatments, *asked.context)
    counts = log.count(names, reward=asked.outcomes[0])
    low, high = settle_reward_range([counts], reward_range)
    places = counts.codes.tolist()
    found = [
        tuple(counts.levels[n][c] for n, c in zip(names, row, strict=True)) for row in places
    ]
    k = len(asked.treatments)
    arms = dict.fromkeys(row[:k] for row in found)
    contexts = dict.fromkeys(row[k:] for row in found)
    anything = Bound(low, high, low, high, 0, "range", "range")
    return BoundTable(
        asked.outcomes[0],
        asked.treatments,
        asked.context,
        {name: counts.levels[name] for name in names},
        (low, high),
        {(arm, where): anything for arm in arms for where in contexts},
    )


def estimate_difference(
    log: Log,
    table: BoundTable,
    sides: tuple[Side, Side],
    propensity: object,
    *,
    estimator: Estimator,
    least_propensity: float | None,
    chance: float,
    seed: int = 0,
) -> Estimate:
    """Estimate how much more one side earns than the other on the log's own visitors.

    A measured side is subtracted with its ends. ``chance`` is that of missing, 0 of an exact
    law. Called by ``estimate_value``, and by ``compare`` where propensities are given.
    """
    if estimator not in get_args(Estimator):
        known = ", ".join(get_args(Estimator))
        raise InvalidLimit(Option("estimator"), f" must be one of {known}, found {estimator!r}")
    logging = _read_propensity(propensity, table)
    rows = count_propensity_rows(log, table, logging)
    gained = _subtract_chances(rows, sides)
    logged = isinstance(sides[0], Logged) - isinstance(sides[1], Logged)
    model = None
    if estimator == "dr" and not rows.exact:
        least = _find_least(rows, gained, logging, least_propensity)
        pilot, rows = rows.split(np.random.default_rng(seed), _PILOT)
        model = RewardModel(learn_means(pilot), least)
    above = weigh_rewards(rows, gained, logged=logged, model=model)
    below = weigh_rewards(rows, -gained, logged=-logged, model=model)
    scale = table.reward_range[1] - table.reward_range[0]
    offset, ends = _place_measured(sides, table.reward_range[0])
    lower, upper = _bound_both(above, below, rows, chance)
    weights = np.abs(gained[rows.contexts, rows.arms]) / rows.propensities
    return Estimate(
        above.mean * scale + offset + (ends.lower + ends.upper) / 2,
        Interval(lower * scale + offset + ends.lower, upper * scale + offset + ends.upper),
        (1 - chance) if chance else None,
        estimator,
        rows.total,
        float(weights[rows.n > 0].max(initial=0.0)),
        tuple(_explain_estimate(rows, estimator)),
    )


def _bound_both(
    above: WeightedRewards, below: WeightedRewards, rows: PropensityRows, chance: float
) -> tuple[float, float]:
    """Bound a difference from both sides, each end with half of the chance of missing.

    Called by ``estimate_difference``.
    """
    if not chance and not rows.exact:
        return min(above.mean, -below.mean), max(above.mean, -below.mean)
    if chance:
        lower = max(-1.0, above.bound_below(chance / 2, adaptive=rows.adaptive))
        upper = min(1.0, -below.bound_below(chance / 2, adaptive=rows.adaptive))
    else:
        lower, upper = above.mean, -below.mean
    # Weights of a policy are 1 on average; where they are not, both ends come apart.
    if lower > upper + ROUNDING or (rows.exact and upper > lower + ROUNDING):
        raise BadPropensity(
            "the log contradicts its propensities: weights are not 1 on average, so that arms "
            "were not chosen by these chances"
        )
    return min(lower, upper), max(lower, upper)


def _read_propensity(propensity: object, table: BoundTable) -> str | ReadPolicy:
    """Read propensities: the name of a column, or the chances of the log's policy.

    Called by ``estimate_difference``.
    """
    if isinstance(propensity, str):
        return propensity
    if isinstance(propensity, int | float):
        raise BadPropensity("propensities are a column of the log, or a policy's chances")
    found = read_side(propensity, table, table.contexts, "policy")
    if not isinstance(found, ReadPolicy):
        raise BadPropensity("propensities are a column of the log, or a policy's chances")
    return found


def _subtract_chances(rows: PropensityRows, sides: tuple[Side, Side]) -> Floats:
    """Subtract the chances of arms of one side from the other's; other sides have none.

    Called by ``estimate_difference``.
    """
    gained = np.zeros((len(rows.named_contexts), len(rows.named_arms)))
    for sign, side in ((1, sides[0]), (-1, sides[1])):
        if isinstance(side, ReadPolicy):
            gained += sign * rows.spread(side.chances)
    return gained


def _place_measured(sides: tuple[Side, Side], low: float) -> tuple[float, Interval]:
    """Find what to add to a difference of rewards from 0 on: their least, and measured ends.

    Called by ``estimate_difference``.
    """
    new, old = sides
    offset = (0.0 if isinstance(new, Measured) else low) - (
        0.0 if isinstance(old, Measured) else low
    )
    lower = upper = 0.0
    if isinstance(new, Measured):
        lower, upper = lower + new.ends.lower, upper + new.ends.upper
    if isinstance(old, Measured):
        lower, upper = lower - old.ends.upper, upper - old.ends.lower
    return offset, Interval(lower, upper)


def _find_least(
    rows: PropensityRows,
    gained: Floats,
    logging: str | ReadPolicy,
    least_propensity: float | None,
) -> Floats:
    """Find the least propensity of every context and arm, which bounds the weights.

    Called by ``estimate_difference`` for the doubly robust estimator.
    """
    if isinstance(logging, ReadPolicy):
        least = rows.spread(logging.chances)
        if ((least <= 0) & (gained != 0)).any():
            raise BadPropensity(
                "the log's policy never chose an arm that a policy would choose"
            )
        return np.where(least > 0, least, 1.0)
    option = Option("least_propensity", 0.01)
    if least_propensity is None:
        raise BadPropensity(
            "the doubly robust estimator needs what no propensity can lie below, as ", option
        )
    least_seen = float(rows.propensities.min())
    if not 0 < least_propensity <= 1 or least_propensity > least_seen * (1 + ROUNDING):
        raise BadPropensity(
            Option("least_propensity", least_propensity),
            f" must be above 0 and at most every propensity; the log has {least_seen:g}",
        )
    return np.full(gained.shape, least_propensity)


def _explain_estimate(rows: PropensityRows, estimator: Estimator) -> list[str]:
    """Say what an estimate rests on, for its reader. Called by ``estimate_difference``."""
    how = "inverse propensities" if estimator == "ips" else "the doubly robust estimator"
    size = "an exact law" if rows.exact else f"{rows.total:,.0f} rows"
    found = [
        f"Estimated from {size} by {how}: right if every arm that a policy may choose had a "
        "chance in the log, and no row was selected by what came after."
    ]
    return found + [str(note) for note in rows.notes]
