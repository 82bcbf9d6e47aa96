"""The event log: what happened to a policy, in one order, each a JSON object on disk.

The policy's state is the projection of created, closed, updated and refreshed events; the others
record what callers asked and reported. A closed event says by itself all that is learned, so
that the projection never looks back.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from boundit.service.errors import StoreUnavailable

T = TypeVar("T")

CREATED: Final = "created"
DECIDED: Final = "decided"
REWARDED: Final = "rewarded"
CLOSED: Final = "closed"
REFRESHED: Final = "refreshed"
REFUTED: Final = "refuted"
PRUNED: Final = "pruned"
UPDATED: Final = "updated"
DELETED: Final = "deleted"
NOTHING: Final = msgspec.Raw(b"null")
STATE_KINDS: Final = (CREATED, CLOSED, REFRESHED, UPDATED)
"""The kinds that change the policy's state."""


class Created(Struct, omit_defaults=True, gc=False):
    """A policy was created: its configuration, and the state that it starts from.

    ``boundit`` is the version that wrote it; ``arms`` are those held.
    """

    config: dict[str, Any]
    seed: int
    state: msgspec.Raw
    arms: list[Any]
    boundit: str
    bounds: msgspec.Raw = NOTHING


class Decided(Struct, omit_defaults=True, gc=False):
    """An arm was chosen for a visitor.

    ``propensities`` are those of the arms of the call in order: ``arms``, or else those held since
    ``bounds``, the version of the bounds. ``state`` is the position of the last event that the
    policy had learned from, ``branch`` what learning needs to know of how it was chosen.
    ``played`` is what the caller played instead, ``propensity`` the propensity that its own rule
    gave it, ``due`` when the window closes.
    """

    id: str
    arm: list[Any]
    context: list[Any]
    state: int
    bounds: int
    propensities: msgspec.Raw = NOTHING
    branch: str | None = None
    arms: list[Any] | None = None
    played: list[Any] | None = None
    propensity: float | None = None
    due: int | None = None


class Rewarded(Struct, omit_defaults=True, gc=False):
    """A caller reported a reward, an observation or the arm that was played.

    ``late`` says that the decision was closed already: this is kept and not learned.
    """

    id: str
    reward: float | None = None
    reward_id: str = ""
    observed: dict[str, Any] | None = None
    played: list[Any] | None = None
    propensity: float | None = None
    late: bool = False


class Closed(Struct, omit_defaults=True, gc=False):
    """A decision is over: what is learned of it, or why nothing is.

    ``decision`` is the position of its event and ``at`` its time. ``arm`` is the arm played;
    ``propensity`` the probability with which it was, if known. ``passed`` says that it was passed
    with the call, ``other`` that the caller chose it. ``default`` says that no reward came and
    the default stands for it; ``reason`` why nothing is learned.
    """

    id: str
    decision: int
    at: int
    arm: list[Any] | None
    context: list[Any]
    reward: float | None = None
    observed: dict[str, Any] | None = None
    branch: str | None = None
    propensity: float | None = None
    passed: bool = False
    other: bool = False
    default: bool = False
    reason: str | None = None


class Refreshed(Struct, omit_defaults=True, gc=False):
    """The bounds were replaced: all replicas go by version ``version`` from here on.

    ``held`` are the arms from now on, ``arms`` those that were asked for.
    """

    version: int
    bounds: msgspec.Raw
    held: list[Any]
    arms: list[Any] | None = None


class Updated(Struct, omit_defaults=True, gc=False):
    """Fields of the configuration were changed: the window, retention, explore, monitor."""

    changes: dict[str, float | None]


class Refuted(Struct, omit_defaults=True, gc=False):
    """Rewards contradicted the bounds of a version."""

    version: int
    reason: str


class Pruned(Struct, omit_defaults=True, gc=False):
    """Decisions may be erased up to ``position``: those over before a moment, or one by its id."""

    before: int
    position: int


class Deleted(Struct, omit_defaults=True, gc=False):
    """The policy was deleted: its other events are erased, its name is not given again."""

    name: str


write_body = msgspec.json.Encoder().encode
"""Writes the body of an event as JSON."""


def make_reader(kind: type[T]) -> Callable[[str | bytes], T]:
    """Make what reads the bodies of one kind of event, or says that the store is damaged."""
    decode = msgspec.json.Decoder(kind).decode

    def read(body: str | bytes) -> T:
        try:
            return decode(body)
        except (msgspec.MsgspecError, UnicodeError):
            name = kind.__name__.strip("_").lower()
            reason = f"a record ({name}) in the store is damaged; restore a backup"
            raise StoreUnavailable(reason, retry_after=60) from None

    return read


read_created = make_reader(Created)
read_decided = make_reader(Decided)
read_rewarded = make_reader(Rewarded)
read_closed = make_reader(Closed)
read_refreshed = make_reader(Refreshed)
read_updated = make_reader(Updated)
read_refuted = make_reader(Refuted)


DAY = 86_400_000_000
"""A day in microseconds."""


def to_datetime(at: int) -> datetime:
    """Turn a stored moment into one in UTC."""
    return datetime.fromtimestamp(at // 1_000_000, UTC).replace(microsecond=at % 1_000_000)


def from_datetime(moment: datetime) -> int:
    """Turn a moment into what is stored of it; one without a zone is in UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = aware - datetime.fromtimestamp(0, UTC)
    return since.days * DAY + since.seconds * 1_000_000 + since.microseconds


@lru_cache(64)
def write_day(day: int) -> str:
    """Write the date of a day since 1970.

    >>> write_day(0)
    '1970-01-01'
    """
    return to_datetime(day * DAY).date().isoformat()
