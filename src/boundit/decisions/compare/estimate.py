"""What a policy would have earned on a log with known propensities, with an exact interval."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final, get_args

import numpy as np

from boundit.bounds.request import NoConfidence, NotABanditQuestion, require_confidence
from boundit.bounds.reward import settle_outcome_range
from boundit.core.codec import encode
from boundit.core.errors import OptionError
from boundit.core.interval import Interval
from boundit.core.message import Option
from boundit.core.renamed import refuse_renamed
from boundit.core.rounding import ROUNDING
from boundit.counts.log import Log, read_log
from boundit.counts.named_array import Floats
from boundit.decisions.compare.measured import Logged, Measured
from boundit.decisions.compare.policies import BadPolicy, ReadPolicy, Side, read_side
from boundit.decisions.compare.weighted_rewards import (
    BadPropensity,
    PropensityRows,
    RewardModel,
    WeightedRewards,
    aim_bets,
    count_propensity_rows,
    learn_means,
    shrink_model,
    spread_bets,
    weigh_rewards,
)
from boundit.estimand.query import EffectQuery, parse_query
from boundit.results.bound import Bound
from boundit.results.bound_table import BoundTable
from boundit.results.explanation import RANGE

Estimator: TypeAlias = Literal["ips", "dr"]
"""Inverse propensity scoring, or the doubly robust estimator."""
_PILOT = 0.25
"""Which part of the rows a reward model is learned on, in place of being weighed."""
_FEW_ROWS = 400
"""Of fewer rows none are set apart to choose bets by."""


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


@refuse_renamed
def estimate_value(
    log: object,
    query: EffectQuery | str,
    policy: object,
    *,
    propensity: object,
    outcome_range: tuple[float, float] | None = None,
    confidence: float | None = 0.95,
    estimator: Estimator = "ips",
    least_propensity: float | None = None,
    seed: int = 0,
) -> Estimate:
    """Estimate what a policy would have earned on the visitors of a log that drew its arms.

    No graph is needed, since chance alone chose the arms, and no row may have been selected by
    what came after.

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
    outcome_range
        What the reward can be, as for ``derive_bounds``.
    confidence
        The chance that the interval holds; None for an exact law.
    estimator
        ``"ips"`` weighs rewards by inverse propensities; ``"dr"`` is doubly robust: a quarter
        of the rows tells about what each arm earns, which makes the weighed rest vary less. It
        needs ``least_propensity``, or propensities as a mapping.
    least_propensity
        What no propensity of the log's policy can lie below, seen or not.
    seed
        Draws the rows that are set apart; of 400 rows or more a few choose how the others are
        used, which narrows the interval.

    Examples
    --------
    >>> rows = {"Ad": ["A", "B"] * 200, "Y": [0, 1, 1, 1] * 100, "p": [0.5] * 400}
    >>> found = estimate_value(rows, "Y | do(Ad)", "B", propensity="p")
    >>> found.value, round(found.interval.lower, 2), found.interval.upper
    (1.0, 0.87, 1.0)
    """
    require_confidence(confidence)
    opened = read_log(log)
    if (confidence is None) != opened.exact and not opened.exact:
        raise NoConfidence(
            "an estimate from a sample needs a chance such as ", Option("confidence", 0.95)
        )
    table = _make_open_table(opened, query, outcome_range)
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
    log: Log, query: EffectQuery | str, outcome_range: tuple[float, float] | None
) -> BoundTable:
    """Make a table that knows the arms, contexts and the reward's range of a log, and no more."""
    asked = query if isinstance(query, EffectQuery) else parse_query(query)
    if len(asked.outcomes) != 1 or not asked.treatments:
        raise NotABanditQuestion(f"{asked} must have one reward, and arms as do(...)")
    names = (*asked.treatments, *asked.context)
    counts = log.count(names, reward=asked.outcomes[0])
    low, high = settle_outcome_range([counts], outcome_range)
    places = counts.codes.tolist()
    found = [
        tuple(counts.levels[n][c] for n, c in zip(names, row, strict=True)) for row in places
    ]
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
    """Refuse the name of an estimator that there is not."""
    if estimator not in get_args(Estimator):
        known = ", ".join(get_args(Estimator))
        raise OptionError(Option("estimator"), f" must be one of {known}, found {estimator!r}")


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
    law.
    """
    require_estimator(estimator)
    logging = _read_propensity(propensity, table)
    rows = count_propensity_rows(log, table, logging)
    gained = _subtract_chances(rows, sides)
    logged = isinstance(sides[0], Logged) - isinstance(sides[1], Logged)
    rng, model, weighed = np.random.default_rng(seed), None, rows
    pilot = None
    if estimator == "dr" and not rows.exact:
        least = _find_least(rows, gained, logging, least_propensity)
        pilot, weighed = rows.split(rng, _PILOT)
        model = RewardModel(learn_means(pilot), least)
    elif not (rows.exact or rows.adaptive or rows.total < _FEW_ROWS):
        pilot, weighed = rows.split(rng, rows.total ** (-1 / 3))
    evidence = WeighedRows(rows, weighed, pilot, model)
    offset, ends, possible = _place_measured(sides, table.outcome_range)
    scale = table.outcome_range[1] - table.outcome_range[0]
    told = (*_bound_both(evidence, gained, logged, chance), evidence.estimate(gained, logged))
    found = np.array(told) * scale + offset
    lower, upper, value = np.clip(found, possible.lower, possible.upper).tolist()
    reasons = _explain_estimate(rows, estimator)
    if max(found[0] - upper, lower - found[1]) > ROUNDING * scale:
        lower, upper = possible.lower, possible.upper
        reasons.append(
            "Weighted rewards lie outside the reward's range, as in a rare log or in one with "
            "other propensities: nothing is said but that range."
        )
    weights = np.abs(gained[rows.contexts, rows.arms]) / rows.propensities
    return Estimate(
        value + (ends.lower + ends.upper) / 2,
        Interval(lower + ends.lower, upper + ends.upper),
        (1 - chance) if chance else None,
        estimator,
        rows.total,
        float(weights[rows.n > 0].max(initial=0.0)),
        tuple(reasons),
    )


@final
@dataclass(frozen=True, eq=False)
class WeighedRows:
    """All rows of a log, those that are weighed, and those set apart, with what they taught.

    There is no ``pilot`` where all rows are weighed, and a ``model`` of rewards for the doubly
    robust estimator alone.
    """

    whole: PropensityRows
    weighed: PropensityRows
    pilot: PropensityRows | None
    model: RewardModel | None

    def weigh(self, rows: PropensityRows, gained: Floats, logged: int) -> WeightedRewards:
        """Weigh some of the rows; all have the same baseline."""
        baseline = None
        if self.model is not None:
            baseline = shrink_model(gained, self.model, self.weighed.total)
        return weigh_rewards(rows, gained, logged=logged, baseline=baseline)

    def estimate(self, gained: Floats, logged: int) -> float:
        """Estimate a difference by its weighted rewards: of all rows, unless some taught means."""
        return self.weigh(
            self.whole if self.model is None else self.weighed, gained, logged
        ).mean

    def bound_below(self, gained: Floats, logged: int, chance: float) -> float:
        """Bound a difference from below, by bets that the rows set apart suggest."""
        rows, weighed = self.weighed, self.weigh(self.weighed, gained, logged)
        if self.pilot is None:
            bets = spread_bets(rows.total, chance, adaptive=rows.adaptive)
        else:
            bets = aim_bets(self.weigh(self.pilot, gained, logged), rows.total, chance)
        return weighed.bound_below(chance, bets)


def _bound_both(
    evidence: WeighedRows, gained: Floats, logged: int, chance: float
) -> tuple[float, float]:
    """Bound a difference from both sides, each end with half of the chance of missing."""
    if chance:
        lower = evidence.bound_below(gained, logged, chance / 2)
        upper = -evidence.bound_below(-gained, -logged, chance / 2)
        refuted = lower > upper + ROUNDING
    else:
        lower = evidence.estimate(gained, logged)
        upper = -evidence.estimate(-gained, -logged)
        refuted = evidence.whole.exact and abs(upper - lower) > ROUNDING
    # Weights of a policy are 1 on average; where they are not, both ends come apart.
    if refuted:
        raise BadPropensity(
            "the log contradicts its propensities: weights are not 1 on average, so that arms "
            "were not chosen by these chances"
        )
    return min(lower, upper), max(lower, upper)


def _read_propensity(propensity: object, table: BoundTable) -> str | ReadPolicy:
    """Read propensities: the name of a column, or the chances of the log's policy."""
    if isinstance(propensity, str):
        return propensity
    if isinstance(propensity, int | float):
        raise BadPropensity("propensities are a column of the log, or a policy's chances")
    found = read_side(propensity, table, table.contexts, "policy")
    if not isinstance(found, ReadPolicy):
        raise BadPropensity("propensities are a column of the log, or a policy's chances")
    return found


def _subtract_chances(rows: PropensityRows, sides: tuple[Side, Side]) -> Floats:
    """Subtract the chances of arms of one side from the other's; other sides have none."""
    gained = np.zeros((len(rows.named_contexts), len(rows.named_arms)))
    for sign, side in ((1, sides[0]), (-1, sides[1])):
        if isinstance(side, ReadPolicy):
            gained += sign * rows.spread(side.chances)
    return gained


def _place_measured(
    sides: tuple[Side, Side], outcome_range: tuple[float, float]
) -> tuple[float, Interval, Interval]:
    """Find what to add to a difference of rewards from 0 on: their least, and measured ends.

    Then comes what the difference can be without measured sides.
    """
    new, old = sides
    lower = upper = 0.0
    if isinstance(new, Measured):
        lower, upper = lower + new.ends.lower, upper + new.ends.upper
    if isinstance(old, Measured):
        lower, upper = lower - old.ends.upper, upper - old.ends.lower
    of_new = (0.0, 0.0) if isinstance(new, Measured) else outcome_range
    of_old = (0.0, 0.0) if isinstance(old, Measured) else outcome_range
    return (
        of_new[0] - of_old[0],
        Interval(lower, upper),
        Interval(of_new[0] - of_old[1], of_new[1] - of_old[0]),
    )


def _find_least(
    rows: PropensityRows,
    gained: Floats,
    logging: str | ReadPolicy,
    least_propensity: float | None,
) -> Floats:
    """Find the least propensity of every context and arm, which bounds the weights."""
    if rows.adaptive:
        raise BadPropensity(
            "rows of a policy that learned hang together, so that none can teach of others; "
            "leave out ",
            Option("estimator", "dr"),
        )
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
    """Say what an estimate rests on, for its reader."""
    how = "inverse propensities" if estimator == "ips" else "the doubly robust estimator"
    size = "an exact law" if rows.exact else f"{rows.total:,.0f} rows"
    found = [
        f"Estimated from {size} by {how}: right if every arm that a policy may choose had a "
        "chance in the log, and no row was selected by what came after."
    ]
    return found + [str(note) for note in rows.notes]
