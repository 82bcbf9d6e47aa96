"""Rewards of a group: checked against earlier ones, kept, learned, or late; closed windows."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from boundit.core.errors import BounditError, shorten
from boundit.service.changes import (
    Draft,
    KnownDecision,
    Outcome,
    OutcomeReward,
    PolicyChanges,
    spell_arm,
)
from boundit.service.commands import (
    LONGEST_ID,
    GiveRewards,
    RewardAnswer,
    RewardBatchAnswer,
    RewardRequest,
    is_id,
)
from boundit.service.config import PolicyConfig
from boundit.service.decide import (
    require_id,
    require_playable,
    require_propensity,
)
from boundit.service.errors import (
    Conflict,
    DecisionPruned,
    NoSuchDecision,
    ServiceError,
    Unprocessable,
)
from boundit.service.events import REWARDED, Closed, Decided, Rewarded
from boundit.service.values import decode_level_list, encode_level_list, is_same

AT_ONCE = 200
"""How many windows are closed in one transaction."""
NO_REWARD = "no reward came"
NOT_PLAYED = "the arm that was played was not reported"


def close_due(changes: PolicyChanges) -> int:
    """Close decisions whose windows are over, in the order in which they were due.

    Gives how many: as many as ``AT_ONCE`` means that there may be more.
    """
    rows = changes.transaction.list_due(changes.fold.id, changes.at, AT_ONCE)
    draft = Draft(changes)
    for row in rows:
        # What was reported in this very group is in what the changes know.
        known = changes.known.get(row.id) or KnownDecision(*row)
        if known.closed is None:
            close_decision(draft, known, known.read_outcome())
    changes.merge(draft)
    return len(rows)


def close_decision(draft: Draft, known: KnownDecision, outcome: Outcome) -> int:
    """Close one decision with what was reported of it; gives the position of the event."""
    config, decided = draft.changes.fold.config, known.decided
    played = decided.played if decided.played is not None else outcome.played
    reward = combine_rewards(config.reward_aggregation, outcome.rewards)
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
    """Find why a decision is not learned, None if it is."""
    if config.shadow and closed.arm is None:
        return NOT_PLAYED
    return NO_REWARD if closed.reward is None else None


def find_propensity(decided: Decided, outcome: Outcome) -> float | None:
    """Find the propensity of the arm played, None where a caller did not report it."""
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


MOST_REWARDS = 1000
"""How many rewards of one decision are kept."""
MOST_OBSERVED = 1000
"""How many variables of one decision are kept."""


def take_rewards(changes: PolicyChanges, command: GiveRewards) -> RewardBatchAnswer:
    """Take the rewards of one command, all or none."""
    draft = Draft(changes)
    answers: list[RewardAnswer] = []
    for row, request in enumerate(command.requests):
        try:
            answers.append(take_reward(draft, request))
        except ServiceError as error:
            error.row = row
            raise
    changes.merge(draft)
    return RewardBatchAnswer(answers)


def take_reward(draft: Draft, request: RewardRequest) -> RewardAnswer:
    """Record what a caller reports of one decision; an equal repeat changes nothing."""
    known = _close_overdue(draft, find_decision(draft, request.id))
    outcome = known.read_outcome()
    late = known.closed is not None
    position = draft.changes.head.head + len(draft.events) + 1
    repeated = outcome.positions[-1] if outcome.positions else known.position
    news = False
    if request.played is not None or request.propensity is not None:
        news |= _tell_played(draft, known, outcome, request)
    if request.observed:
        news |= _tell_observed(draft, outcome, request)
    if request.reward is not None:
        before = _find_reward(outcome, request)
        if before is not None and before.reward == request.reward:
            repeated = before.position
        else:
            _tell_reward(draft, outcome, request, before, position, late=late)
            news = True
    elif request.played is None and not request.observed:
        raise Unprocessable("give a reward, what was observed, or the arm that was played")
    if not news:
        return RewardAnswer(known.id, "duplicate", repeated)
    return _keep(draft, known, outcome, request)


def _refuse_reward(
    id: str,  # noqa: A002, the word users know
    what: str,
    known: object,
    found: object,
    *,
    field: str,
) -> Conflict:
    reason = (
        f"{what} of decision {shorten(repr(id), 60)} is {shorten(repr(known), 40)}, "
        f"and now {shorten(repr(found), 40)} was sent"
    )
    return Conflict(reason, code="reward_differs", field=field)


def find_decision(draft: Draft, id: str) -> KnownDecision:  # noqa: A002, the word users know
    """Find a decision of the policy, or say that there is none, or none any more."""
    known = draft.find(id)
    if known is None:
        require_id(id)
        if id in draft.changes.pruned:
            raise DecisionPruned(id)
        raise NoSuchDecision(id)
    return known


def _close_overdue(draft: Draft, known: KnownDecision) -> KnownDecision:
    """Close a decision whose window is over, though the writer has not closed it yet.

    What comes now is late, however long the service was away.
    """
    if known.closed is not None or known.due is None or known.due >= draft.changes.at:
        return known
    close_decision(draft, known, known.read_outcome())
    return find_decision(draft, known.id)


def _keep(
    draft: Draft, known: KnownDecision, outcome: Outcome, request: RewardRequest
) -> RewardAnswer:
    """Write down what is new, and learn it where the policy learns at once."""
    late, fold = known.closed is not None, draft.changes.fold
    played = None if request.played is None else fold.names.read_arm(request.played)
    event = Rewarded(
        known.id,
        request.reward,
        request.reward_id,
        request.observed,
        None if played is None else encode_level_list(played),
        request.propensity,
        late,
    )
    outcome.late += late
    position = draft.append(REWARDED, event)
    outcome.positions.append(position)
    decided = known.decided
    arm = decided.played or outcome.played or decided.arm
    if late:
        draft.counts[spell_arm(decode_level_list(arm)), "late_rewards"] += 1
        draft.change(known, outcome, known.closed)
        return RewardAnswer(known.id, "late", position)
    has_arm = not fold.config.shadow or (decided.played or outcome.played) is not None
    if fold.config.learns_immediately and outcome.rewards and has_arm:
        close_decision(draft, known, outcome)
        return RewardAnswer(known.id, "learned", position)
    draft.change(known, outcome, None)
    return RewardAnswer(known.id, "pending", position)


def _tell_played(
    draft: Draft, known: KnownDecision, outcome: Outcome, request: RewardRequest
) -> bool:
    """Note the arm that was played; gives whether that is new."""
    if request.propensity is not None:
        require_propensity(request.propensity, played=request.played is not None)
    if request.played is None:
        return False
    fold, decided = draft.changes.fold, known.decided
    arm = fold.names.read_arm(request.played)
    before = decided.played if decided.played is not None else outcome.played
    if before is not None:
        if decode_level_list(before) != arm:
            raise _refuse_reward(
                known.id, "the arm played", tuple(before), arm, field="$.played"
            )
        known_propensity = outcome.propensity if decided.played is None else decided.propensity
        if request.propensity not in (None, known_propensity):
            raise _refuse_reward(
                known.id,
                "the propensity",
                known_propensity,
                request.propensity,
                field="$.propensity",
            )
        return False
    passed = None if decided.arms is None else [decode_level_list(one) for one in decided.arms]
    require_playable(fold, arm, passed)
    outcome.played, outcome.propensity = encode_level_list(arm), request.propensity
    return True


def _tell_observed(draft: Draft, outcome: Outcome, request: RewardRequest) -> bool:
    """Note what was observed besides the reward; gives whether any of it is new."""
    observed: dict[str, Any] = dict(request.observed or {})
    for name in observed:
        if not is_id(name):
            reason = f"a variable's name is 1 to {LONGEST_ID} printable characters, found"
            raise Unprocessable(f"{reason} {shorten(repr(name), 60)}", field="$.observed")
    new = {name: value for name, value in observed.items() if name not in outcome.observed}
    for name, value in observed.items():
        before = outcome.observed.get(name, value)
        if not is_same(before, value):
            raise _refuse_reward(request.id, name, before, value, field=f"$.observed.{name}")
    if not new:
        return False
    if len(outcome.observed) + len(new) > MOST_OBSERVED:
        reason = f"more than {MOST_OBSERVED:,} variables of one decision were observed"
        raise Unprocessable(reason, field="$.observed")
    try:
        draft.changes.fold.policy.read_observed(new)
    except BounditError as error:
        raise Unprocessable(str(error), field="$.observed") from None
    outcome.observed = {**outcome.observed, **new}
    return True


def _find_reward(outcome: Outcome, request: RewardRequest) -> OutcomeReward | None:
    """Find the reward of the same name: an equal one if there is one, or else the last.

    Where the last reward counts, one that was replaced is still known: sent again, it is a
    repeat and replaces nothing.
    """
    found = None
    for each in outcome.rewards:
        if each.reward_id == request.reward_id:
            found = each
            if each.reward == request.reward:
                break
    return found


def _tell_reward(
    draft: Draft,
    outcome: Outcome,
    request: RewardRequest,
    before: OutcomeReward | None,
    position: int,
    *,
    late: bool,
) -> None:
    """Note a reward that is new, or refuse it."""
    fold, reward = draft.changes.fold, request.reward
    assert reward is not None
    if request.reward_id:
        require_id(request.reward_id, "$.reward_id")
    if before is not None and (fold.config.reward_aggregation != "last" or request.reward_id):
        raise _refuse_reward(request.id, "the reward", before.reward, reward, field="$.reward")
    outcome.rewards.append(OutcomeReward(request.reward_id, reward, position))
    if len(outcome.rewards) > MOST_REWARDS:
        reason = f"decision {request.id!r} has more than {MOST_REWARDS:,} rewards"
        raise Unprocessable(reason, field="$.reward_id")
    added_up = fold.config.reward_aggregation == "sum" and not late
    total = combine_rewards("sum", outcome.rewards) if added_up else reward
    try:
        if not isfinite(reward):
            raise Unprocessable("a reward is a finite number", field="$.reward")
        fold.policy.spec.read_reward(total, request.id)
    except BounditError as error:
        raise Unprocessable(str(error), field="$.reward") from None
