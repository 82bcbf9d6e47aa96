"""A policy is read into memory: a snapshot, and the events that came after it."""

from collections.abc import Sequence

from msgspec import Struct

from boundit.service.errors import StoreUnavailable
from boundit.service.events import CREATED, REFRESHED, make_reader
from boundit.service.fold import Fold
from boundit.service.snapshots import start_from_snapshot
from boundit.service.store.store import EventRow, Head, Transaction


class _Held(Struct):
    """Of an event that says which arms are held: these alone."""

    arms: list[list[object]] | None = None
    held: list[list[object]] | None = None
    version: int = 1


_read_held = make_reader(_Held)


def load_fold(transaction: Transaction, head: Head, *, upto: int | None = None) -> Fold:
    """Make the fold of a policy, up to its head or to a position before it."""
    end = head if upto is None else head._replace(head=upto, state_position=upto)
    fold = start_fold(transaction, end, newest=True)
    fold.catch_up(transaction, end)
    return fold


def start_fold(transaction: Transaction, head: Head, *, newest: bool = False) -> Fold:
    """Make the fold that events are folded into: as pruning left the policy, or as created.

    Or from the ``newest`` snapshot that is whole.
    """
    rare = transaction.list_rare_events(head.id)
    if not rare or rare[0].kind != CREATED:
        raise StoreUnavailable(f"the events of policy {head.name!r} have no beginning")
    created = Fold.start(head.id, rare[0])
    snapshots = [
        row
        for row in transaction.list_snapshots(head.id)
        if row.position <= head.head and (newest or row.base)
    ]
    fold = start_from_snapshot(created, snapshots)
    if fold is created and head.pruned_position:
        reason = f"the state that pruning left of policy {head.name!r} is damaged"
        raise StoreUnavailable(reason, retry_after=60)
    _note_versions(fold, rare)
    return fold


def _note_versions(fold: Fold, rare: Sequence[EventRow]) -> None:
    """Note which arms are held since each version of the bounds, and which one it is at."""
    for row in rare:
        if row.kind in (CREATED, REFRESHED):
            found = _read_held(row.body)
            fold.held[found.version] = found.held or found.arms or []
            if row.position <= fold.position:
                fold.bounds_version = found.version
