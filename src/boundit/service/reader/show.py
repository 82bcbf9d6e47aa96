"""What there is, for those who look: policies, decisions, events, tallies, chances."""

import json
from collections.abc import Sequence
from itertools import product
from typing import Any, Literal

import msgspec

from boundit.core.errors import BounditError
from boundit.results.bound import Context
from boundit.service.commands import (
    ArmChance,
    ChanceRow,
    ChanceTable,
    DecisionView,
    EventView,
    TallyRow,
)
from boundit.service.errors import Unprocessable
from boundit.service.events import (
    CREATED,
    NOTHING,
    REFRESHED,
    read_closed,
    read_created,
    read_refreshed,
)
from boundit.service.fold import Fold
from boundit.service.moments import to_datetime
from boundit.service.store.store import DecisionRow, EventRow
from boundit.service.writer.changes import KnownDecision
from boundit.service.writer.decide import show_decided

MOST_CHANCES = 100_000
"""How many chances a table may have."""


def show_decision(fold: Fold, row: DecisionRow, closing: EventRow | None) -> DecisionView:
    """Show a decision with all that came of it; called by ``Engine.get_decision``."""
    known = KnownDecision(*row)
    outcome = known.read_outcome()
    closed = None if closing is None else read_closed(closing.body)
    status: Literal["open", "learned", "not learned"] = "open"
    if closed is not None:
        status = "learned" if closed.reason is None else "not learned"
    played = outcome.played
    answer = show_decided(fold, known, repeated=False)
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
    """Show events as they are stored; called by ``Engine.list_events``."""
    return [
        EventView(row.position, to_datetime(row.at), row.kind, msgspec.Raw(row.body.encode()))
        for row in rows
    ]


def show_tallies(fold: Fold, rows: Sequence[tuple[Any, ...]]) -> list[TallyRow]:
    """Show the counts by day and arm; called by ``Engine.list_tallies``."""
    names = fold.names.treatments
    found = list[TallyRow]()
    for day, text, *counts in rows:
        values = json.loads(text)
        named = names is not None and len(names) == len(values)
        arm = dict(zip(names or (), values, strict=True)) if named else values
        found.append(TallyRow(day, arm, *counts))
    return found


def tabulate_chances(fold: Fold) -> ChanceTable:
    """Work out the chances of every arm in every context, or say why there is no table."""
    contexts = _list_contexts(fold)
    rows = list[ChanceRow]()
    try:
        decisions = fold.policy.decide_many(contexts, [""] * len(contexts))
    except BounditError as error:  # its visitors had contexts that nobody declared
        raise Unprocessable(f"there is no table: {error}") from None
    for decision in decisions:
        scores, write = decision.reasons, fold.names.write_arm
        arms = [
            ArmChance(write(scores.arms[place]), scores.find_propensity(place))
            for place in scores.order
        ]
        rows.append(ChanceRow(fold.names.write_context(decision.context_values), arms))
    return ChanceTable(fold.config.name, fold.state_position, fold.bounds_version, rows)


def _list_contexts(fold: Fold) -> list[Context]:
    """List all contexts of a policy, or refuse where they are not few."""
    spec = fold.policy.spec
    levels, n_arms = spec.context_levels, len(spec.arms)
    if spec.context is None or len(levels) < len(spec.context) or not all(levels):
        if not spec.context:
            return [()]
        raise Unprocessable("a table needs contexts whose levels are known", where=None)
    if fold.policy.sees_numbers and any(spec.bins):
        raise Unprocessable("a table needs contexts of levels, and these have numbers")
    size = n_arms
    for one in levels:
        size *= len(one)
    if size > MOST_CHANCES:
        reason = f"a table of {size:,} chances is too large; {MOST_CHANCES:,} are the most"
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
