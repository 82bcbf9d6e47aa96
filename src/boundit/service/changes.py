"""What one transaction will write for one policy, gathered before anything is written.

A command makes a ``Draft``; if it is refused, the draft is dropped and nothing of it remains.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from msgspec import Struct, field

from boundit.service.events import (
    CLOSED,
    DAY,
    Closed,
    Decided,
    make_reader,
    read_decided,
    to_datetime,
    write_body,
    write_day,
)
from boundit.service.state import Fold
from boundit.service.store.base import Head, Transaction
from boundit.service.values import write_value


class OutcomeReward(Struct, array_like=True, gc=False):
    """One reward of a decision, and the position of its event."""

    reward_id: str
    reward: float
    position: int


class Outcome(Struct, omit_defaults=True, gc=False):
    """What callers reported of a decision since it was made, in the events at ``positions``."""

    rewards: list[OutcomeReward] = field(default_factory=list)
    observed: dict[str, Any] = field(default_factory=dict)
    played: list[Any] | None = None
    propensity: float | None = None
    late: int = 0
    positions: list[int] = field(default_factory=list)


_read_outcome = make_reader(Outcome)


class KnownDecision(Struct, gc=False):
    """A decision as the group sees it: stored, or made in this very group.

    ``stored`` is its outcome and ``body`` its event, as they are stored; ``event`` is the event
    once it was read.
    """

    id: str
    position: int
    due: int | None
    closed: int | None
    stored: str | None
    at: int
    body: str
    event: Decided | None = None

    @property
    def decided(self) -> Decided:
        """The event."""
        if self.event is None:
            self.event = read_decided(self.body)
        return self.event

    def read_outcome(self) -> Outcome:
        """Read a copy of what was reported, which may be changed."""
        return Outcome() if self.stored is None else _read_outcome(self.stored)

    def list_positions(self) -> list[int]:
        """List the positions of all its events."""
        closed = [] if self.closed is None else [self.closed]
        return [self.position, *self.read_outcome().positions, *closed]

    def change(self, outcome: Outcome, closed: int | None) -> "KnownDecision":
        """Make the decision as it is with another outcome."""
        text = write_body(outcome).decode()
        return KnownDecision(
            self.id, self.position, self.due, closed, text, self.at, self.body, self.event
        )


class PolicyChanges:
    """All that a group does to one policy."""

    def __init__(self, transaction: Transaction, head: Head, fold: Fold) -> None:
        self.transaction, self.fold = transaction, fold
        self.at = transaction.now
        self.moment = to_datetime(self.at)
        self._first, self.head = head, head
        self.known: dict[str, KnownDecision] = {}
        self.pruned: frozenset[str] = frozenset()
        self._events: list[tuple[int, int, int, str, str]] = []
        self._added: dict[str, KnownDecision] = {}
        self._changed: dict[str, KnownDecision] = {}
        self._counts = Counter[tuple[str, str]]()
        self.closings: list[tuple[int, Closed]] = []
        self.on_settle: Callable[[], None] | None = None
        """What else changes the fold once it is committed."""

    def look_up(self, ids: Sequence[str]) -> None:
        """Find stored decisions by their ids, and which of the others were pruned."""
        known = self.known
        wanted = [name for name in dict.fromkeys(ids) if name not in known]
        if not wanted:
            return
        rows = self.transaction.list_decisions(self.fold.id, wanted)
        known.update({row[0]: KnownDecision(*row) for row in rows})
        if self.head.base_position:
            hashes = {hash_id(name): name for name in wanted if name not in known}
            gone = self.transaction.find_pruned(self.fold.id, list(hashes))
            self.pruned |= {hashes[one] for one in gone}

    def merge(self, draft: "Draft", **fields: float | None) -> None:
        """Take over what a command does, as it was not refused, and fields of the head row."""
        policy, at, head = self.fold.id, self.at, self.head
        self._events += [
            (policy, position, at, kind, body)
            for position, (kind, body) in enumerate(draft.events, head.head + 1)
        ]
        for known in draft.added:
            self.known[known.id] = self._added[known.id] = known
        for known in draft.changed.values():
            self.known[known.id] = known
            place = self._added if known.id in self._added else self._changed
            place[known.id] = known
        for key, count in draft.counts.items():
            self._counts[key] += count
        closings = draft.closings
        self.closings += closings
        self.head = head._replace(
            head=head.head + len(draft.events),
            state_position=closings[-1][0] if closings else head.state_position,
            last_at=max(at, head.last_at) if draft.events else head.last_at,
            open_decisions=head.open_decisions + len(draft.added) - len(closings),
            learned_decisions=head.learned_decisions
            + sum(closed.reason is None for _, closed in closings),
        )
        if fields:
            self.set_head(**fields)

    def set_head(self, **fields: int | float | None) -> None:
        """Change the head row."""
        self.head = self.head._replace(**fields)  # type: ignore[arg-type]

    def write(self) -> None:
        """Write everything to the store, the head row last."""
        if self.head == self._first:
            return
        policy = self.fold.id
        self.transaction.save(
            self.head,
            self._events,
            [
                (policy, one.id, one.position, one.due, one.closed, one.stored)
                for one in self._added.values()
            ],
            [(one.closed, one.stored, policy, one.id) for one in self._changed.values()],
            write_day(self.at // DAY),
            self._counts,
        )

    def settle(self) -> None:
        """Fold into memory what was committed."""
        if self.closings:
            self.fold.learn(self.closings)
        if self.on_settle is not None:
            self.on_settle()
        self.fold.position = self.head.head


@dataclass
class Draft:
    """What one command does, as long as it may still be refused."""

    changes: PolicyChanges
    events: list[tuple[str, str]] = dataclass_field(default_factory=list)
    added: list[KnownDecision] = dataclass_field(default_factory=list)
    changed: dict[str, KnownDecision] = dataclass_field(default_factory=dict)
    counts: Counter[tuple[str, str]] = dataclass_field(default_factory=Counter)
    closings: list[tuple[int, Closed]] = dataclass_field(default_factory=list)

    def find(self, id: str) -> KnownDecision | None:  # noqa: A002, the word users know
        """Find a decision as it is by now."""
        return self.changed.get(id) or self.changes.known.get(id)

    def append(self, kind: str, body: Any) -> int:
        """Append an event; gives the position that it will have."""
        self.events.append((kind, write_body(body).decode()))
        return self.changes.head.head + len(self.events)

    def close(self, known: KnownDecision, outcome: Outcome, closed: Closed) -> int:
        """Close a decision; gives the position of the event."""
        position = self.append(CLOSED, closed)
        self.closings.append((position, closed))
        self.change(known, outcome, position)
        arm = spell_arm(tuple(closed.arm or ()))
        if closed.reason is None:
            assert closed.reward is not None
            self.counts[arm, "rewards"] += 1
            self.counts[arm, "reward_sum"] += closed.reward  # type: ignore[assignment]
            self.counts[arm, "default_rewards"] += closed.default
        else:
            self.counts[arm, "expired"] += 1
        return position

    def change(self, known: KnownDecision, outcome: Outcome, closed: int | None) -> None:
        """Note what was reported of a decision, and whether it is closed."""
        self.changed[known.id] = known.change(outcome, closed)


def hash_id(id: str) -> str:  # noqa: A002, the word users know
    """Hash the id of a decision to what is kept of it once it was erased."""
    return blake2b(id.encode(), digest_size=16).hexdigest()


@lru_cache(4096, typed=True)
def spell_arm(arm: tuple[Any, ...]) -> str:
    """Spell an arm as the text that counts are kept under."""
    return write_body([write_value(value) for value in arm]).decode()
