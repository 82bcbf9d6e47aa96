"""Decisions of a group: read, looked up, decided together, and written as events."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from os import urandom
from time import time_ns
from typing import Any, NamedTuple

import msgspec

from boundit.core.errors import BounditError, shorten
from boundit.results.bound import Arm, Context
from boundit.service.changes import Draft, KnownDecision, PolicyChanges, spell_arm
from boundit.service.commands import (
    LONGEST_ID,
    MOST_ARMS,
    ArmPropensity,
    Decide,
    DecideAnswer,
    DecideBatchAnswer,
    DecideRequest,
    is_id,
)
from boundit.service.config import Values
from boundit.service.errors import (
    Conflict,
    DecisionPruned,
    FailedCommand,
    ServiceError,
    Unprocessable,
)
from boundit.service.events import DECIDED, Decided, to_datetime, write_body
from boundit.service.state import Fold
from boundit.service.values import decode_level_list, encode_level_list, is_same, write_named

_log = logging.getLogger(__name__)
_FEW = 3
"""As many visitors are decided for one by one: a batch takes longer to begin."""


class Visit(NamedTuple):
    """A visitor as the policy takes it; ``arms`` are those passed with the call."""

    id: str
    context: Context
    arms: tuple[Arm, ...] | None
    played: Arm | None
    propensity: float | None


class Propensities(NamedTuple):
    """Propensities of all arms of a call in one context, for look-ups, answers and events.

    ``written`` is what an answer has, ``body`` what an event has.
    """

    by_arm: Mapping[Arm, float]
    written: list[ArmPropensity]
    body: msgspec.Raw


class Chosen(NamedTuple):
    """What the policy chose for a visitor, and the propensities of all arms of the call."""

    arm: Arm
    propensities: Propensities
    branch: str | None


class Plan(NamedTuple):
    """What is to be done for one command: new decisions, and answers that are known already.

    Of a new decision ``answers`` has its place among the ``visits``.
    """

    visits: list[Visit]
    answers: list[DecideAnswer | int]


def read_plan(changes: PolicyChanges, requests: Sequence[DecideRequest]) -> Plan:
    """Read the requests of a command, or raise the error of the first that cannot be."""
    plan, own = Plan([], []), dict[str, int]()
    for row, request in enumerate(requests):
        name = request.id
        try:
            if name is not None:
                if not is_id(name):
                    require_id(name)
                if name in changes.pruned:
                    raise DecisionPruned(name)
                known = changes.known.get(name)
                if known is not None:
                    plan.answers.append(answer_again(changes, known, request))
                    continue
            visit = read_visit(changes.fold, request, name or make_id())
            if name in own:
                before = plan.visits[own[name]]
                for what, one, other in zip(Visit._fields, before, visit, strict=True):
                    if not is_same(one, other):
                        raise _refuse_id(name, what)
                plan.answers.append(own[name])
                continue
        except ServiceError as error:
            error.row = row
            raise
        own[visit.id] = len(plan.visits)
        plan.answers.append(len(plan.visits))
        plan.visits.append(visit)
    return plan


def _refuse_id(id: str, what: str) -> Conflict:  # noqa: A002, the word users know
    return Conflict(
        f"The id {shorten(repr(id), 60)} was decided with another {what}. A retry sends what was "
        "sent before; a new decision needs a new id.",
        code="id_taken",
        field=f"$.{what}",
    )


def require_id(id: str, where: str = "$.id") -> None:  # noqa: A002, the word users know
    """Refuse an id that is empty, too long or not printable."""
    if not (0 < len(id) <= LONGEST_ID and id.isprintable()):
        reason = f"an id is 1 to {LONGEST_ID} printable characters, found"
        raise Unprocessable(f"{reason} {shorten(repr(id), 60)}", field=where)


def explain_error(error: Exception) -> ServiceError:
    """Make of what a command raised the error that its caller gets."""
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, BounditError):
        return Unprocessable(str(error), field="$")
    _log.error("a command failed", exc_info=error)
    return FailedCommand(error)


def make_id() -> str:
    """Make the id of a decision that was given none: random, and ordered by time.

    So ids made one after the other lie side by side on disk.
    """
    return f"{time_ns() // 1_000_000:012x}{urandom(10).hex()}"


def read_visit(
    fold: Fold,
    request: DecideRequest,
    id: str,  # noqa: A002, the word users know
    *,
    is_new: bool = True,
) -> Visit:
    """Read a request as the policy takes it, or raise ``Unprocessable``."""
    names = fold.names
    context = names.read_context(request.context, is_new=is_new)
    if request.arms is request.played is request.propensity is None:
        return Visit(id, context, None, None, None)
    arms = None if request.arms is None else _read_arms(fold, request.arms)
    played = None if request.played is None else names.read_arm(request.played)
    if played is not None:
        require_playable(fold, played, arms)
    propensity = request.propensity
    if propensity is not None:
        require_propensity(propensity, played=played is not None)
    return Visit(id, context, arms, played, propensity)


def require_playable(fold: Fold, arm: Arm, passed: Sequence[Arm] | None) -> None:
    """Refuse an arm that the policy neither holds nor was passed."""
    spec = fold.policy.spec
    if arm not in (spec.held if passed is None else passed) and arm not in spec.retired:
        raise Unprocessable(
            f"{shorten(repr(arm), 60)} is not an arm of the call", field="$.played"
        )


def require_propensity(propensity: float, *, played: bool) -> None:
    """Refuse a propensity that is not one, or that comes without an arm."""
    if not played:
        reason = "a propensity is that of the arm played, so give played too"
        raise Unprocessable(reason, field="$.propensity")
    if not 0 < propensity <= 1:
        reason = f"a propensity is above 0 and at most 1, found {propensity!r}"
        raise Unprocessable(reason, field="$.propensity")


def _read_arms(fold: Fold, given: Sequence[Values]) -> tuple[Arm, ...]:
    """Read the arms of one call, each once."""
    if len(given) > MOST_ARMS:
        reason = f"a call has {MOST_ARMS:,} arms at most, found {len(given):,}"
        raise Unprocessable(reason, field="$.arms")
    found = tuple(dict.fromkeys(fold.names.read_arm(arm, "$.arms") for arm in given))
    if not found:
        raise Unprocessable("give an arm at least", field="$.arms")
    return found


def decide_group(
    changes: PolicyChanges, commands: Sequence[Decide]
) -> list[DecideBatchAnswer | ServiceError | None]:
    """Decide for the requests of several commands at the state before all of them.

    Gives for each command its answer, its error, or None if it must wait for another of the
    group that has one of its ids.
    """
    answers: list[DecideBatchAnswer | ServiceError | None] = [None] * len(commands)
    plans, taken, fold = dict[int, Plan](), set[str](), changes.fold
    for i, command in enumerate(commands):
        try:
            plan = read_plan(changes, command.requests)
        except Exception as error:  # noqa: BLE001, one command must not fail the others
            answers[i] = explain_error(error)
            continue
        mine = {visit.id for visit in plan.visits}
        if not mine & taken:
            plans[i] = plan
        taken |= mine
    together: Iterator[Chosen] | None = None
    with suppress(Exception):  # which command it was shows one by one
        visits = [visit for plan in plans.values() for visit in plan.visits]
        together = iter(choose_arms(fold, visits))
    draft = Draft(changes)
    for i, plan in plans.items():
        n_added = len(draft.added)
        try:
            if together is None:
                chosen = choose_arms(fold, plan.visits)
            else:
                chosen = [next(together) for _ in plan.visits]
            answers[i] = _write(draft, plan, chosen)
        except Exception as error:  # noqa: BLE001, nothing of it stays in the draft
            del draft.events[n_added:], draft.added[n_added:]
            answers[i] = explain_error(error)
    changes.merge(draft)
    return answers


def choose_arms(fold: Fold, visits: Sequence[Visit]) -> list[Chosen]:
    """Let the policy choose, the same as one by one."""
    policy, write_arm = fold.policy, fold.names.write_arm
    made: Any
    if len(visits) <= _FEW or any(visit.arms is not None for visit in visits):
        made = [policy.decide(one.context, id=one.id, arms=one.arms) for one in visits]
    else:
        contexts = [visit.context for visit in visits]
        made = policy.decide_many(contexts, [visit.id for visit in visits])
    found, known = list[Chosen](), dict[int, Propensities]()
    for decision in made:
        scores = decision.reasons  # decisions in one context share them
        propensities = known.get(id(scores))
        if propensities is None:
            by_arm = {scores.arms[i]: scores.find_propensity(i) for i in scores.order}
            written = [ArmPropensity(write_arm(arm), one) for arm, one in by_arm.items()]
            body = msgspec.Raw(write_body(list(by_arm.values())))
            propensities = known[id(scores)] = Propensities(by_arm, written, body)
        branch = decision.branch if fold.needs_branch else None
        found.append(Chosen(decision.arm_values, propensities, branch))
    return found


def _write(draft: Draft, plan: Plan, chosen: Sequence[Chosen]) -> DecideBatchAnswer:
    """Write the events of a command's new decisions, and its answers."""
    changes, fold = draft.changes, draft.changes.fold
    names, state, version = fold.names, fold.state_position, fold.bounds_version
    window, at = fold.config.window, changes.at
    due = None if window is None else at + round(window * 1e6)
    made, spelled = list[DecideAnswer](), dict[int, tuple[list[Any], Any]]()
    counted = list[str]()
    for (name, context, arms, played, propensity), (arm, propensities, branch) in zip(
        plan.visits, chosen, strict=True
    ):
        # Those of one context share one object.
        known = spelled.get(id(context))
        if known is None:
            known = encode_level_list(context), write_named(names.context, context)
            spelled[id(context)] = known
        own = propensities.by_arm[arm] if played is None else propensity
        decided = Decided(
            name,
            encode_level_list(arm),
            known[0],
            state,
            version,
            propensities.body,
            branch,
            None if arms is None else [encode_level_list(one) for one in propensities.by_arm],
            None if played is None else encode_level_list(played),
            own,
            due,
        )
        draft.events.append((DECIDED, write_body(decided).decode()))
        position = changes.head.head + len(draft.events)
        draft.added.append(KnownDecision(name, position, due, None, None, at, "", decided))
        counted.append(spell_arm(arm if played is None else played))
        made.append(
            DecideAnswer(
                name,
                names.write_arm(arm),
                known[1],
                own,
                propensities.written,
                position,
                state,
                version,
                changes.moment,
                None if played is None else names.write_arm(played),
            )
        )
    found, seen = list[DecideAnswer](), set[int]()
    for one in plan.answers:
        if isinstance(one, int):  # a request that comes twice is a duplicate the second time
            again = msgspec.structs.replace(made[one], duplicate=True) if one in seen else None
            seen.add(one)
            one = again or made[one]  # noqa: PLW2901
        found.append(one)
    for arm_text in counted:
        draft.counts[arm_text, "decisions"] += 1
    return DecideBatchAnswer(found)


def answer_again(
    changes: PolicyChanges, known: KnownDecision, request: DecideRequest
) -> DecideAnswer:
    """Answer with a decision that was made before, or refuse another payload under its id."""
    decided = known.decided
    try:
        visit = read_visit(changes.fold, request, known.id, is_new=False)
    except Unprocessable as error:
        what = (error.field or "$.context").removeprefix("$.")
        raise _refuse_id(known.id, what) from None
    arms = None if decided.arms is None else {decode_level_list(arm) for arm in decided.arms}
    played = None if decided.played is None else decode_level_list(decided.played)
    for what, before, now in (
        ("context", decode_level_list(decided.context), visit.context),
        ("arms", arms, None if visit.arms is None else set(visit.arms)),
        ("played", played, visit.played),
        ("propensity", None if played is None else decided.propensity, visit.propensity),
    ):
        if not is_same(before, now):
            raise _refuse_id(known.id, what)
    return show_decided(changes.fold, known, duplicate=True)


def show_decided(fold: Fold, known: KnownDecision, *, duplicate: bool) -> DecideAnswer:
    """Show a stored decision as it was answered."""
    decided, names = known.decided, fold.names
    arms = fold.find_arms(decided.bounds) if decided.arms is None else decided.arms
    propensities = msgspec.json.decode(decided.propensities, type=list[float])
    written = [
        ArmPropensity(names.write_arm(decode_level_list(arm)), one)
        for arm, one in zip(arms, propensities, strict=True)
    ]
    played = decided.played
    return DecideAnswer(
        known.id,
        names.write_arm(decode_level_list(decided.arm)),
        write_named(names.context, decode_level_list(decided.context)),
        decided.propensity,
        written,
        known.position,
        decided.state,
        decided.bounds,
        to_datetime(known.at),
        None if played is None else names.write_arm(decode_level_list(played)),
        duplicate,
    )
