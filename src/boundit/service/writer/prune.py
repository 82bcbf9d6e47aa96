"""Erasure: what is over before a moment goes, and the state that it led to stays."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from boundit.service.errors import NoSuchPolicy, Unprocessable
from boundit.service.events import CLOSED, DECIDED, PRUNED, Pruned, read_closed, read_decided
from boundit.service.load import load_fold
from boundit.service.moments import from_datetime
from boundit.service.snapshots import make_snapshot
from boundit.service.store.store import EventRow, SnapshotRow, Store, Transaction
from boundit.service.writer.changes import Draft, KnownDecision, PolicyChanges, hash_id

AT_ONCE = 250
"""How many events are looked at in one transaction."""


class KeepBase(NamedTuple):
    """Ask the engine to keep the state at a position, so that events before it may go."""

    policy: str
    before: int
    position: int
    base: SnapshotRow


class EraseSome(NamedTuple):
    """Ask the engine to erase some of the decisions that were over at a position."""

    policy: str
    position: int


class Erased(NamedTuple):
    """What was erased; ``done`` if nothing is left."""

    decisions: int
    events: int
    done: bool


def prepare_prune(store: Store, name: str, before: datetime) -> KeepBase | None:
    """Work out the state that the events before a moment led to; None if there is nothing."""
    moment = from_datetime(before)
    with store.read() as transaction:
        head = transaction.get_head(name)
        if head is None:
            raise NoSuchPolicy(name)
        if moment > transaction.now:
            raise Unprocessable("only what has happened can be pruned", where="$.before")
        # Clocks go back at times: whatever comes after an event that is kept is kept too.
        kept = transaction.find_event_since(head.id, head.pruned_position, moment)
        position = head.head if kept is None else kept - 1
        if position <= max(head.pruned_position, 1):
            return None
        fold = load_fold(transaction, head, upto=position)
        return KeepBase(name, moment, position, make_snapshot(fold, base=True))


def keep_base(changes: PolicyChanges, command: KeepBase) -> bool:
    """Keep the state that pruned events led to, and write down that they are pruned.

    What ``_ALONE`` has for it, alone in its group.
    """
    transaction, policy = changes.transaction, changes.fold.id
    kept = transaction.list_snapshots(policy)
    if any(row.base and row.position >= command.base.position for row in kept):
        return False
    transaction.add_snapshot(policy, command.base)
    for row in kept:
        if row.position < command.base.position:
            transaction.drop_snapshot(policy, row)
    draft = Draft(changes)
    draft.append(PRUNED, Pruned(command.before, command.position))
    changes.merge(draft)
    changes.prune(command.before)
    return True


def erase_some(changes: PolicyChanges, command: EraseSome) -> Erased:
    """Erase decisions that were closed up to a position, a bounded number at once.

    Also those that have no window and are still open: nobody can tell how long they will be.
    Their ids stay as hashes. What ``_ALONE`` has for it, alone in its group.
    """
    transaction, policy = changes.transaction, changes.fold.id
    rows = transaction.list_events(
        policy, changes.head.pruned_position, AT_ONCE, (CLOSED, DECIDED)
    )
    rows = [row for row in rows if row.position <= command.position]
    gone = _find_over(transaction, policy, rows)
    n_open = sum(one.closed is None for one in gone.values())
    positions = [place for one in gone.values() for place in one.list_positions()]
    transaction.erase(policy, list(gone), [hash_id(name) for name in gone], positions)
    done = len(rows) < AT_ONCE
    changes.erase(command.position if done else rows[-1].position, n_open)
    return Erased(len(gone), len(positions), done)


def _find_over(
    transaction: Transaction, policy: int, rows: Sequence[EventRow]
) -> dict[str, KnownDecision]:
    """Find the decisions that some events made or closed, and that may be erased."""
    ids = {row.position: _read_id(row) for row in rows}
    known = transaction.find_decisions(policy, list(ids.values()))
    over = dict[str, KnownDecision]()
    for row in rows:
        found = known.get(ids[row.position])
        if found is not None and (
            row.kind == CLOSED or (found.closed is None and found.due is None)
        ):
            over[found.id] = KnownDecision(*found)
    return over


def _read_id(row: EventRow) -> str:
    """Read the decision's id of an event; called by ``_find_over``."""
    return read_closed(row.body).id if row.kind == CLOSED else read_decided(row.body).id
