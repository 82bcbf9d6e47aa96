"""Decisions of a group: read, looked up, decided together, and written as events."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from os import urandom
from time import time_ns
from typing import Any, NamedTuple

import msgspec

from boundit.bandit.decision import Decision, Scores
from boundit.core.errors import BounditError, shorten
from boundit.results.bound import Arm, Context
from boundit.service.changes import Draft, KnownDecision, PolicyChanges
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
from boundit.service.values import decode_level_list, encode_level_list, is_same

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


class Chances(NamedTuple):
    """The chances of all arms of a call in one context, in the forms that they are needed in.

    ``written`` is what an answer has, ``body`` what an event has.
    """

    by_arm: Mapping[Arm, float]
    written: list[ArmPropensity]
    body: msgspec.Raw


class Chosen(NamedTuple):
    """What the policy chose for a visitor, and the chances of all arms of the call."""

    arm: Arm
    chances: Chances
    branch: str | None


class DecidePlan:
    """What is to be done for one command: new visitors, and answers that are known already."""

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        self.visits: list[Visit] = []
        self.answers: list[DecideAnswer | int] = []
        """An answer, or the place of a new visitor."""

    def read(self, changes: PolicyChanges, requests: Sequence[DecideRequest]) -> None:
        """Read the visitors of a command, or raise the error of the first that cannot be."""
        own: dict[str, int] = {}
        for row, request in enumerate(requests):
            try:
                self._read_one(changes, request, own)
            except ServiceError as error:
                error.row = row
                raise

    def _read_one(
        self, changes: PolicyChanges, request: DecideRequest, own: dict[str, int]
    ) -> None:
        """Read one visitor; ``own`` are the places of those before."""
        name = request.id
        if name is None:
            visit = read_visit(self.fold, request, make_id())
        else:
            require_id(name)
            if name in changes.pruned:
                raise DecisionPruned(name)
            known = changes.known.get(name)
            if known is not None:
                self.answers.append(answer_again(changes, known, request))
                return
            visit = read_visit(self.fold, request, name)
            if name in own:
                before = self.visits[own[name]]
                for what, one, other in zip(Visit._fields, before, visit, strict=True):
                    if not is_same(one, other):
                        raise _refuse_id(name, what)
                self.answers.append(own[name])
                return
            own[name] = len(self.visits)
        self.answers.append(len(self.visits))
        self.visits.append(visit)


def _refuse_id(id: str, what: str) -> Conflict:  # noqa: A002, the word users know
    return Conflict(
        f"The id {shorten(repr(id), 60)} was decided with another {what}. A retry sends what was "
        "sent before; a new decision needs a new id.",
        code="id_taken",
        field=f"$.{what}",
    )


def require_id(id: str, where: str = "$.id") -> None:  # noqa: A002, the word users know
    """Refuse an id that is empty, too long or not printable."""
    if not is_id(id):
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


def read_visit(fold: Fold, request: DecideRequest, id: str) -> Visit:  # noqa: A002
    """Read a request as the policy takes it, or raise ``Unprocessable``."""
    names = fold.names
    context = names.read_context(request.context)
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
        raise Unprocessable(f"{shorten(repr(arm), 60)} is no arm of the call", field="$.played")


def require_propensity(propensity: float, *, played: bool) -> None:
    """Refuse a chance that is none, or that comes without the arm it is about."""
    if not played:
        reason = "a propensity is that of the arm played, so give played too"
        raise Unprocessable(reason, field="$.propensity")
    if not 0 < propensity <= 1:
        reason = f"a propensity is above 0 and at most 1, found {propensity!r}"
        raise Unprocessable(reason, field="$.propensity")


def require_arms(requests: Sequence[DecideRequest]) -> None:
    """Refuse a call with more arms than one may have, before anybody waits for it."""
    for row, request in enumerate(requests):
        if request.arms is not None and len(request.arms) > MOST_ARMS:
            reason = f"a call has {MOST_ARMS:,} arms at most, found {len(request.arms):,}"
            raise Unprocessable(reason, field="$.arms", row=row)


def _read_arms(fold: Fold, given: Sequence[Values]) -> tuple[Arm, ...]:
    """Read the arms of one call, each once."""
    found = tuple(dict.fromkeys(fold.names.read_arm(arm, "$.arms") for arm in given))
    if not found:
        raise Unprocessable("give an arm at least", field="$.arms")
    return found


def decide_group(
    changes: PolicyChanges, commands: Sequence[Decide]
) -> list[DecideBatchAnswer | ServiceError | None]:
    """Decide for the visitors of several commands at the state before all of them.

    Gives for each command its answer, its error, or None if it must wait for another of the
    group that has one of its ids.
    """
    plans: list[DecidePlan | ServiceError | None] = []
    taken: set[str] = set()
    for command in commands:
        plan = DecidePlan(changes.fold)
        try:
            plan.read(changes, command.requests)
        except Exception as error:  # noqa: BLE001, one command must not fail the others
            plans.append(explain_error(error))
            continue
        mine = {visit.id for visit in plan.visits}
        plans.append(None if mine & taken else plan)
        taken |= mine
    ready = [plan for plan in plans if isinstance(plan, DecidePlan)]
    chosen, draft = _choose_together(changes.fold, ready), Draft(changes)
    answers: list[DecideBatchAnswer | ServiceError | None] = []
    for one in plans:
        if not isinstance(one, DecidePlan):
            answers.append(one)
            continue
        found = next(chosen)
        answers.append(
            found if isinstance(found, ServiceError) else _write_command(draft, one, found)
        )
    changes.merge(draft)
    return answers


def _write_command(
    draft: Draft, plan: DecidePlan, chosen: Sequence[Chosen]
) -> DecideBatchAnswer | ServiceError:
    """Write the decisions of one command; if that fails, nothing of it stays in the draft."""
    n_added = len(draft.added)
    try:
        return _write(draft, plan, chosen)
    except Exception as error:  # noqa: BLE001, one command must not fail the others
        del draft.events[n_added:], draft.added[n_added:]
        return explain_error(error)


def _choose_together(
    fold: Fold, plans: Sequence[DecidePlan]
) -> Iterator[list[Chosen] | ServiceError]:
    """Choose for all visitors at once; if one is refused, for each command by itself."""
    try:
        found = iter(choose_arms(fold, [visit for plan in plans for visit in plan.visits]))
        for plan in plans:
            yield [next(found) for _ in plan.visits]
    except Exception:  # noqa: BLE001, whose fault it is shows one by one
        for plan in plans:
            try:
                yield choose_arms(fold, plan.visits)
            except Exception as error:  # noqa: BLE001, one command must not fail the others
                yield explain_error(error)


def choose_arms(fold: Fold, visits: Sequence[Visit]) -> list[Chosen]:
    """Let the policy choose for visitors, the same as one by one."""
    policy = fold.policy
    made: Sequence[Decision]
    if len(visits) <= _FEW or any(visit.arms is not None for visit in visits):
        made = [policy.decide(one.context, id=one.id, arms=one.arms) for one in visits]
    else:
        contexts = [visit.context for visit in visits]
        made = policy.decide_many(contexts, [visit.id for visit in visits])
    found, known = list[Chosen](), dict[int, Chances]()
    for decision in made:
        scores = decision.reasons  # visitors of a context share them
        chances = known.get(id(scores)) or _write_chances(fold, scores)
        known[id(scores)] = chances
        branch = decision.branch if fold.needs_branch else None
        found.append(Chosen(decision.arm_values, chances, branch))
    return found


def _write_chances(fold: Fold, scores: Scores) -> Chances:
    by_arm = {scores.arms[place]: scores.find_propensity(place) for place in scores.order}
    write = fold.names.write_arm
    written = [ArmPropensity(write(arm), chance) for arm, chance in by_arm.items()]
    return Chances(by_arm, written, msgspec.Raw(write_body(list(by_arm.values()))))


def _write(draft: Draft, plan: DecidePlan, chosen: Sequence[Chosen]) -> DecideBatchAnswer:
    """Write the events of a command's new decisions, and its answers."""
    changes, fold = draft.changes, draft.changes.fold
    names, state, version = fold.names, fold.state_position, fold.bounds_version
    window, at, moment = fold.config.window, changes.at, changes.moment
    due = None if window is None else at + round(window * 1e6)
    made: list[DecideAnswer] = []
    played_arms: list[Arm] = []
    spelled: dict[int, tuple[list[Any], Any]] = {}
    for visit, (arm, chances, branch) in zip(plan.visits, chosen, strict=True):
        name, context, arms, played, propensity = visit
        if played is None:
            propensity = chances.by_arm[arm]
        # Those of one context share one object.
        known = spelled.get(id(context))
        if known is None:
            known = encode_level_list(context), names.write_context(context)
            spelled[id(context)] = known
        decided = Decided(
            name,
            encode_level_list(arm),
            known[0],
            state,
            version,
            chances.body,
            branch,
            None if arms is None else [encode_level_list(one) for one in chances.by_arm],
            None if played is None else encode_level_list(played),
            propensity,
            due,
        )
        position = draft.append(DECIDED, decided)
        draft.added.append(KnownDecision(name, position, due, None, None, at, "", decided))
        played_arms.append(arm if played is None else played)
        made.append(
            DecideAnswer(
                name,
                names.write_arm(arm),
                known[1],
                propensity,
                chances.written,
                position,
                state,
                version,
                moment,
                None if played is None else names.write_arm(played),
            )
        )
    answer = DecideBatchAnswer(_put_in_order(plan, made))
    draft.count_decided(played_arms)
    return answer


def _put_in_order(plan: DecidePlan, made: Sequence[DecideAnswer]) -> list[DecideAnswer]:
    """Put new answers beside those known; a visitor named twice is repeated the second time."""
    if len(made) == len(plan.answers):
        return list(made)
    found, seen = list[DecideAnswer](), set[int]()
    for one in plan.answers:
        if not isinstance(one, int):
            found.append(one)
            continue
        again = one in seen
        found.append(msgspec.structs.replace(made[one], duplicate=True) if again else made[one])
        seen.add(one)
    return found


def answer_again(
    changes: PolicyChanges, known: KnownDecision, request: DecideRequest
) -> DecideAnswer:
    """Answer with a decision that was made before, or refuse another payload under its id."""
    decided = known.decided
    try:
        visit = read_visit(changes.fold, request, known.id)
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
    chances = msgspec.json.decode(decided.chances, type=list[float])
    written = [
        ArmPropensity(names.write_arm(decode_level_list(arm)), chance)
        for arm, chance in zip(arms, chances, strict=True)
    ]
    played = decided.played
    return DecideAnswer(
        known.id,
        names.write_arm(decode_level_list(decided.arm)),
        names.write_context(decode_level_list(decided.context)),
        decided.propensity,
        written,
        known.position,
        decided.state,
        decided.bounds,
        to_datetime(known.at),
        None if played is None else names.write_arm(decode_level_list(played)),
        duplicate,
    )
