"""What callers ask of the service, and what they are answered: strict records for JSON.

The HTTP layer reads bodies with ``read_request`` and writes answers with ``msgspec.json``; the
engine takes and gives the same records. An unknown field is an error that names it.
Records have no cycles, so that the garbage collector need not look at them.
"""

import json
import re
from collections.abc import Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from boundit.service.config import PolicyConfig, Scalar, Values
from boundit.service.errors import MalformedRequest

T = TypeVar("T")
LONGEST_ID = 200
MOST_ARMS = 1000
"""How many arms may be passed with a call."""
_decoders: dict[type, msgspec.json.Decoder[Any]] = {}
RewardStatus: TypeAlias = Literal["pending", "learned", "late", "duplicate"]
"""``pending`` until the window closes, ``learned`` at once, or ``late`` and not learned."""
_COLONS = rb"\u003a", rb"\u003A"
"""A colon that is escaped."""
_PLACE = re.compile(r" - at `(\$[^`]*)`$")
_UNKNOWN = re.compile(r"^Object contains unknown field `(.*)`$")


class DecideRequest(
    Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True
):
    """One decision: its ``id``, its ``context``, and the ``arms`` to choose from.

    ``played`` is the arm that the caller played by a rule of its own, with the ``propensity``
    that this rule gave it, if it is known: the policy learns from it and answers with the arm
    that it would have played.
    """

    id: str | None = None
    context: Values | None = None
    arms: list[Values] | None = None
    played: Values | None = None
    propensity: float | None = None


class DecideBatchRequest(
    Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True
):
    """Several decisions at one moment: all are made, or none."""

    decisions: list[DecideRequest]


class ArmPropensity(Struct, frozen=True, gc=False):
    """An arm and the probability that the policy plays it."""

    arm: Any
    propensity: float


class DecideAnswer(Struct, frozen=True, gc=False):
    """The arm to play, and what is stored of the decision.

    Arms and contexts are objects by the names of their variables, or lists where they have no
    names. ``propensity`` is that of the arm that is played: the caller's own where it sent
    ``played``. ``state_position`` is that of the last event that the policy had learned from,
    ``duplicate`` says that the decision had been made before.
    """

    id: str
    arm: Any
    context: Any
    propensity: float | None
    propensities: list[ArmPropensity]
    position: int
    state_position: int
    bounds_version: int
    decided_at: datetime
    played: Any = None
    duplicate: bool = False


class DecideBatchAnswer(Struct, frozen=True, gc=False):
    """The answers of a batch, in its order."""

    decisions: list[DecideAnswer]


class RewardRequest(
    Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True
):
    """The reward of a decision, what else was ``observed``, or which arm was ``played``.

    Together or one by one. ``reward_id`` names one of several rewards of a decision.
    """

    id: str
    reward: float | None = None
    observed: dict[str, Scalar] | None = None
    reward_id: str = ""
    played: Values | None = None
    propensity: float | None = None


class RewardBatchRequest(
    Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True
):
    """Several rewards: all are taken, or none."""

    rewards: list[RewardRequest]


class RewardAnswer(Struct, frozen=True, gc=False):
    """What became of a reward, and the position of its event."""

    id: str
    status: RewardStatus
    position: int


class RewardBatchAnswer(Struct, frozen=True, gc=False):
    """The answers of a batch, in its order."""

    rewards: list[RewardAnswer]


class RefreshRequest(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """New bounds, as ``BoundTable.save`` writes them, and the arms held from now on."""

    bounds: dict[str, Any]
    arms: list[Values] | None = None


class RefreshAnswer(Struct, frozen=True, gc=False):
    """The version that the new bounds have, and the position from which they hold."""

    bounds_version: int
    position: int


class UpdateRequest(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The fields of a policy that can be changed; those that are left out stay as they are."""

    window: float | UnsetType | None = UNSET
    retention: float | UnsetType | None = UNSET
    explore: float | UnsetType = UNSET
    monitor: float | UnsetType | None = UNSET


class PruneRequest(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Erase what happened before a moment."""

    before: datetime


class PruneAnswer(Struct, frozen=True, gc=False):
    """How many decisions and events were erased; ``position`` is that of the last of them."""

    decisions: int
    events: int
    position: int


class DeleteAnswer(Struct, frozen=True, gc=False):
    """When a policy was deleted, and the position of the event, its last."""

    name: str
    deleted_at: datetime
    position: int


class PolicyAnswer(Struct, frozen=True, gc=False):
    """A policy as it is now.

    ``state_position`` is where its state changed last; ``refuted`` says what contradicted the
    present bounds, if anything did.
    """

    name: str
    kind: str
    arms: list[Any]
    context: list[str] | None
    treatments: list[str] | None
    outcome: str | None
    reward_range: tuple[float, float]
    auxiliary_variables: list[str]
    explore: float
    learn: str
    window: float | None
    default_reward: float | None
    reward_aggregation: str
    shadow: bool
    retention: float | None
    created_at: datetime
    position: int
    state_position: int
    bounds_version: int
    open_decisions: int
    learned_decisions: int
    seed: int
    options: dict[str, Any]
    goal: str
    monitor: float | None
    unknown_levels: str
    refuted: str | None = None
    pruned_before: datetime | None = None
    last_event_at: datetime | None = None
    warnings: list[str] = field(default_factory=list)


class DecisionView(Struct, frozen=True, gc=False):
    """A decision with its rewards."""

    decision: DecideAnswer
    status: Literal["open", "learned", "expired"]
    rewards: list[dict[str, Any]]
    observed: dict[str, Scalar]
    closed_at: datetime | None = None
    closed_position: int | None = None
    learned_reward: float | None = None
    due_at: datetime | None = None
    reason: str | None = None
    late_rewards: int = 0


class EventView(Struct, frozen=True, gc=False):
    """One event of the log, as it is stored."""

    position: int
    at: datetime
    kind: str
    body: msgspec.Raw


class PropensityRow(Struct, frozen=True, gc=False):
    """The propensities of all arms in one context."""

    context: Any
    propensities: list[ArmPropensity]


class PropensityTable(Struct, frozen=True, gc=False):
    """The propensity of every arm in every context, for use where the caller is.

    They hold as long as ``state_position`` does, which is the ETag.
    """

    policy: str
    state_position: int
    bounds_version: int
    rows: list[PropensityRow]


class EffectRow(Struct, frozen=True, gc=False):
    """Bounds on the effect of an arm in one context, or None in any mix of contexts."""

    arm: Any
    context: Any
    lower: float
    upper: float
    direction: str


class EffectTable(Struct, frozen=True, gc=False):
    """Bounds on the effects of all arms relative to a baseline, by the bounds in force.

    They hold together with probability ``confidence`` if the graph is right.
    """

    policy: str
    bounds_version: int
    outcome: str
    baseline: Any
    confidence: float | None
    rows: list[EffectRow]


class DailyCount(Struct, frozen=True, gc=False):
    """What happened to one arm on one day.

    ``rewards`` are decisions that were learned, ``default_rewards`` those of them without a
    reward, ``expired`` those that were closed without learning, ``late_rewards`` what came
    after the window closed.
    """

    day: str
    arm: Any
    decisions: int
    rewards: int
    reward_sum: float
    default_rewards: int
    expired: int
    late_rewards: int


def is_id(id: str) -> bool:  # noqa: A002, the word users know
    """Return True if a text may be an id."""
    return 0 < len(id) <= LONGEST_ID and id.isprintable()


def read_request(kind: type[T], body: bytes | str) -> T:
    """Read a request of one kind from JSON, or raise ``MalformedRequest`` and say where.

    >>> read_request(RewardRequest, '{"id": "a", "rewad": 1}')
    Traceback (most recent call last):
    boundit.service.errors.MalformedRequest: Unknown field 'rewad'. Did you mean 'reward'?
    """
    decoder: msgspec.json.Decoder[T] | None = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = msgspec.json.Decoder(kind)
    try:
        found = decoder.decode(body)
        repeats = has_repeated_keys(body)
    except msgspec.ValidationError as error:
        raise _explain_misfit(kind, str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedRequest(f"this is not JSON: {error}") from None
    if repeats:
        raise MalformedRequest(
            "a key stands twice in one object, so that which is meant is unclear",
            code="repeated_key",
        )
    return found


def has_repeated_keys(body: bytes | str) -> bool:
    """Tell whether an object of some JSON has a key twice, of which readers take the last.

    Written anew, the JSON then has fewer colons; one that is escaped in a text is not counted
    before and is counted then, so that such a text is read key by key. Called for every body,
    by ``read_request`` and by ``decode_json`` of the studio.

    >>> has_repeated_keys('{"a": ":", "b": {"a": 1}}'), has_repeated_keys('{"a": 1, "a": 1}')
    (False, True)
    """
    text = body.encode() if isinstance(body, str) else body
    if any(colon in text for colon in _COLONS):
        found = list[bool]()
        json.loads(
            text,
            parse_int=str,
            object_pairs_hook=lambda pairs: found.append(len(dict(pairs)) < len(pairs)),
        )
        return any(found)
    return text.count(b":") > msgspec.json.encode(msgspec.json.decode(text)).count(b":")


def convert_request(kind: type[T], given: object) -> T:
    """Read a request from Python values as JSON has them; errors are those of ``read_request``.

    Users of the engine call it, and the command line for a configuration.
    """
    try:
        return msgspec.convert(given, type=kind)
    except msgspec.ValidationError as error:
        raise _explain_misfit(kind, str(error)) from None


def _explain_misfit(kind: type, said: str) -> MalformedRequest:
    """Make of msgspec's message one of ours: the field, where it stands, what would fit."""
    found = _PLACE.search(said)
    where = found[1] if found else "$"
    reason = said[: found.start()] if found else said
    if unknown := _UNKNOWN.match(reason):
        names = _list_fields(kind, where)
        near = get_close_matches(unknown[1], names, n=1)
        known = f". Did you mean {near[0]!r}?" if near else "."
        if names and not near:
            known = f". Fields: {', '.join(names)}."
        return MalformedRequest(
            f"Unknown field {unknown[1]!r}{known}", field=where, code="unknown_field"
        )
    return MalformedRequest(
        f"{reason[:1].lower()}{reason[1:]}".replace("`", ""), field=where, code="wrong_type"
    )


def _list_fields(kind: type, where: str) -> Sequence[str]:
    """List the fields that a request has at a place, none where the place is not a record's."""
    inner: dict[type, tuple[str, type[Struct]]] = {
        DecideBatchRequest: ("$.decisions", DecideRequest),
        RewardBatchRequest: ("$.rewards", RewardRequest),
    }
    path, row = inner.get(kind, ("", Struct))
    if where == "$":
        return [part.name for part in msgspec.structs.fields(kind)]
    if path and re.fullmatch(re.escape(path) + r"\[[^\]]*\]", where):
        return [part.name for part in msgspec.structs.fields(row)]
    return ()


class CreatePolicy(Struct, frozen=True, gc=False):
    """Ask the engine to create a policy; answered by a ``PolicyAnswer``.

    An equal configuration under a name that exists changes nothing.
    """

    config: PolicyConfig


class Decide(Struct, frozen=True, gc=False):
    """Ask the engine for decisions; answered by a ``DecideBatchAnswer``, all or nothing."""

    policy: str
    requests: list[DecideRequest]


class GiveRewards(Struct, frozen=True, gc=False):
    """Tell the engine rewards; answered by a ``RewardBatchAnswer``, all or nothing."""

    policy: str
    requests: list[RewardRequest]


class RefreshBounds(Struct, frozen=True, gc=False):
    """Ask the engine to replace a policy's bounds; answered by a ``RefreshAnswer``."""

    policy: str
    request: RefreshRequest


class UpdatePolicy(Struct, frozen=True, gc=False):
    """Ask the engine to change fields of a policy; answered by a ``PolicyAnswer``."""

    policy: str
    request: UpdateRequest


class CloseWindows(Struct, frozen=True, gc=False):
    """Ask the engine to close what is due, and to learn what others wrote; answered by a count.

    The engine asks itself, every second where something may be due.
    """

    policy: str


class NoteRefutation(Struct, frozen=True, gc=False):
    """Ask the engine to write down that the bounds were refuted; it asks itself."""

    policy: str


PolicyCommand: TypeAlias = (
    Decide | GiveRewards | RefreshBounds | UpdatePolicy | CloseWindows | NoteRefutation
)
Command: TypeAlias = CreatePolicy | PolicyCommand
"""What ``Engine.submit`` takes."""


def count_rows(request: object) -> int:
    """Count the rows of a request: decisions with the arms passed with them, or rewards."""
    match request:
        case Decide(requests=requests) | DecideBatchRequest(decisions=requests):
            more = sum([len(one.arms) for one in requests if one.arms is not None])
            return max(len(requests) + more, 1)
        case GiveRewards(requests=rewards) | RewardBatchRequest(rewards=rewards):
            return max(len(rewards), 1)
        case DecideRequest(arms=arms):
            return 1 + len(arms or ())
        case _:
            return 1
