"""When a decision is over, and what is learned of it."""

from collections.abc import Sequence

from boundit.service.config import PolicyConfig
from boundit.service.events import Closed, Decided
from boundit.service.writer.changes import (
    Draft,
    KnownDecision,
    Outcome,
    OutcomeReward,
    PolicyChanges,
)

AT_ONCE = 200
"""How many windows are closed in one transaction."""
NO_REWARD = "no reward came"
NOT_PLAYED = "nobody told the arm that was played"


def close_due(changes: PolicyChanges) -> int:
    """Close decisions whose windows are over, in the order in which they were due.

    Gives how many: as many as ``AT_ONCE`` means that there may be more.
    """
    rows = changes.transaction.list_due(changes.fold.id, changes.at, AT_ONCE)
    draft = Draft(changes)
    for row in rows:
        # What was told in this very group is in what the changes know.
        known = changes.known.get(row.id) or KnownDecision(*row)
        if known.closed is None:
            close_decision(draft, known, known.read_outcome())
    changes.merge(draft)
    return len(rows)


def close_decision(draft: Draft, known: KnownDecision, outcome: Outcome) -> int:
    """Close one decision with what was told of it; gives the position of the event."""
    config, decided = draft.changes.fold.config, known.decided
    played = decided.played if decided.played is not None else outcome.played
    reward = combine_rewards(config.rewards, outcome.rewards)
    default = reward is None and config.default_reward is not None
    closed = Closed(
        known.id,
        known.position,
        known.at,
        played if played is not None or config.shadow else decided.arm,
        decided.context,
        config.default_reward if default else reward,
        outcome.observed or None,
        decided.branch if played is None else None,
        find_propensity(decided, outcome),
        passed=decided.arms is not None,
        other=played is not None,
        default=default,
    )
    closed.reason = _find_reason(config, closed)
    return draft.close(known, outcome, closed)


def _find_reason(config: PolicyConfig, closed: Closed) -> str | None:
    """Find why a decision is not learned, None if it is; called by ``close_decision``."""
    if config.shadow and closed.arm is None:
        return NOT_PLAYED
    return NO_REWARD if closed.reward is None else None


def find_propensity(decided: Decided, outcome: Outcome) -> float | None:
    """Find the chance with which the arm was played, None where a caller did not tell it."""
    return decided.propensity if outcome.played is None else outcome.propensity


def combine_rewards(rule: str, rewards: Sequence[OutcomeReward]) -> float | None:
    """Combine the rewards of one decision by the policy's rule; None if there are none.

    >>> two = [OutcomeReward("a", 1.0, 4), OutcomeReward("b", 3.0, 6)]
    >>> [combine_rewards(rule, two) for rule in ("first", "last", "sum")]
    [1.0, 3.0, 4.0]
    """
    if not rewards:
        return None
    if rule == "sum":
        return sum(each.reward for each in rewards)
    return rewards[0 if rule == "first" else -1].reward
