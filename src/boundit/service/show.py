"""Views for those who look: policies, decisions, events, daily counts, propensities."""

import json
from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from typing import Any, Literal

import msgspec

from boundit.core.errors import BounditError
from boundit.results.bound import Context
from boundit.service.changes import KnownDecision
from boundit.service.commands import (
    ArmPropensity,
    DailyCount,
    DecisionView,
    EffectRow,
    EffectTable,
    EventView,
    PolicyAnswer,
    PropensityRow,
    PropensityTable,
)
from boundit.service.decide import show_decided
from boundit.service.errors import NoSuchPolicy, Unprocessable
from boundit.service.events import (
    CREATED,
    NOTHING,
    REFRESHED,
    read_closed,
    read_created,
    read_refreshed,
    to_datetime,
)
from boundit.service.state import Fold, load_fold
from boundit.service.store.base import DecisionRow, EventRow, Head, Store
from boundit.service.values import write_named

MOST_PROPENSITIES = 100_000
"""How many propensities a table may have."""


def show_policy(fold: Fold, head: Head) -> PolicyAnswer:
    """Show a policy as it is now."""
    config, policy, names = fold.config, fold.policy, fold.names
    refuted = policy.refutation
    return PolicyAnswer(
        head.name,
        config.kind,
        [names.write_arm(arm) for arm in policy.spec.arms],
        None if names.context is None else list(names.context),
        None if names.treatments is None else list(names.treatments),
        names.outcome,
        policy.spec.reward_range,
        list(policy.auxiliary_variables),
        config.explore,
        "immediately" if config.learns_immediately else "window",
        config.window,
        config.default_reward,
        config.reward_aggregation,
        config.shadow,
        config.retention,
        to_datetime(head.created_at),
        head.head,
        head.state_position,
        head.bounds_version,
        head.open_decisions,
        head.learned_decisions,
        fold.seed,
        config.options,
        policy.spec.goal,
        config.monitor,
        config.unknown_levels,
        None if refuted is None else str(refuted),
        to_datetime(head.pruned_before) if head.pruned_before else None,
        to_datetime(head.last_at),
        config.warnings,
    )


def show_decision(fold: Fold, row: DecisionRow, closing: EventRow | None) -> DecisionView:
    """Show a decision with all that came of it."""
    known = KnownDecision(*row)
    outcome = known.read_outcome()
    closed = None if closing is None else read_closed(closing.body)
    status: Literal["open", "learned", "expired"] = "open"
    if closed is not None:
        status = "learned" if closed.reason is None else "expired"
    played = outcome.played
    answer = show_decided(fold, known, duplicate=False)
    if played is not None:
        answer = msgspec.structs.replace(
            answer, played=fold.names.write_arm(tuple(played)), propensity=outcome.propensity
        )
    return DecisionView(
        answer,
        status,
        [
            {"reward_id": one.reward_id, "reward": one.reward, "position": one.position}
            for one in outcome.rewards
        ],
        outcome.observed,
        None if closing is None else to_datetime(closing.at),
        None if closing is None else closing.position,
        None if closed is None else closed.reward,
        None if row.due is None else to_datetime(row.due),
        None if closed is None else closed.reason,
        outcome.late,
    )


def show_events(rows: Sequence[EventRow]) -> list[EventView]:
    """Show events as they are stored."""
    return [
        EventView(row.position, to_datetime(row.at), row.kind, msgspec.Raw(row.body.encode()))
        for row in rows
    ]


def show_daily_counts(fold: Fold, rows: Sequence[tuple[Any, ...]]) -> list[DailyCount]:
    """Show the counts by day and arm."""
    names = fold.names.treatments
    found = list[DailyCount]()
    for day, text, *counts in rows:
        values = json.loads(text)
        named = names is not None and len(names) == len(values)
        arm = dict(zip(names or (), values, strict=True)) if named else values
        found.append(DailyCount(day, arm, *counts))
    return found


def tabulate_propensities(fold: Fold) -> PropensityTable:
    """Compute the propensity of every arm in every context, or say why that cannot be done."""
    contexts = _list_contexts(fold)
    rows = list[PropensityRow]()
    try:
        decisions = fold.policy.decide_many(contexts, [""] * len(contexts))
    except BounditError as error:  # its visitors had contexts that were not declared
        raise Unprocessable(f"a table cannot be made: {error}") from None
    for decision in decisions:
        scores, write = decision.reasons, fold.names.write_arm
        arms = [
            ArmPropensity(write(scores.arms[place]), scores.find_propensity(place))
            for place in scores.order
        ]
        rows.append(
            PropensityRow(write_named(fold.names.context, decision.context_values), arms)
        )
    return PropensityTable(fold.config.name, fold.state_position, fold.bounds_version, rows)


def _list_contexts(fold: Fold) -> list[Context]:
    """List all contexts of a policy, or refuse where they are not few."""
    spec = fold.policy.spec
    levels, n_arms = spec.context_levels, len(spec.arms)
    if spec.context is None or len(levels) < len(spec.context) or not all(levels):
        if not spec.context:
            return [()]
        raise Unprocessable("a table needs contexts whose levels are known", field=None)
    if fold.policy.sees_numbers and any(spec.bins):
        raise Unprocessable("a table needs contexts of levels, and these have numbers")
    size = n_arms
    for one in levels:
        size *= len(one)
    if size > MOST_PROPENSITIES:
        reason = (
            f"a table of {size:,} propensities is too large; {MOST_PROPENSITIES:,} are the most"
        )
        raise Unprocessable(reason)
    return list(product(*levels))


def find_bounds(rare: Sequence[EventRow]) -> bytes | None:
    """Find the bounds that a policy goes by now, None if it has none."""
    for row in reversed(rare):
        if row.kind == REFRESHED:
            return bytes(read_refreshed(row.body).bounds)
        if row.kind == CREATED:
            bounds = read_created(row.body).bounds
            return None if bounds == NOTHING else bytes(bounds)
    return None


def show_effects(fold: Fold, baseline: str | None) -> EffectTable:
    """Bound the effects of all arms relative to a baseline by the bounds in force."""
    table, names = fold.policy.prior.binding, fold.names
    if table is None:
        raise Unprocessable("the policy has no bounds in force")
    given: Any = baseline
    if baseline is not None:
        with suppress(ValueError):
            given = json.loads(baseline)
    try:
        base = None if baseline is None else names.read_arm(given, "?baseline")
        effects = table.effects(base)
    except BounditError as error:
        raise Unprocessable(str(error), field="?baseline") from None
    if not effects:
        raise Unprocessable("the bounds have one arm alone, which has no effect")
    rows = list[EffectRow]()
    for arm, effect in effects.items():
        ends: dict[Any, tuple[float, float]] = {
            context: (one.lower, one.upper) for context, one in effect.intervals.items()
        }
        ends[None] = effect.lower, effect.upper
        for context, (lower, upper) in ends.items():
            shown = None if context is None else write_named(names.context, context)
            direction = "increase" if lower > 0 else "decrease" if upper < 0 else "inconclusive"
            rows.append(EffectRow(names.write_arm(arm), shown, lower, upper, direction))
    first = next(iter(effects.values()))
    shown = names.write_arm(first.baseline)
    return EffectTable(
        fold.config.name,
        fold.bounds_version,
        table.outcome,
        shown,
        first.bounds.confidence,
        rows,
    )


def read_policies(store: Store, name: str | None = None) -> list[PolicyAnswer]:
    """Read all policies, or one, as the store has them; nothing is written."""
    with store.read() as transaction:
        heads = transaction.list_heads()
        if name is not None:
            heads = [head for head in heads if head.name == name]
            if not heads:
                raise NoSuchPolicy(name)
        return [show_policy(load_fold(transaction, head), head) for head in heads]
