"""States that are kept to save time at a start; the events stay the truth."""

import json
import logging
from collections.abc import Sequence
from hashlib import sha256

from boundit import __version__
from boundit.core.errors import BounditError
from boundit.service.fold import Fold, restore_policy
from boundit.service.store.store import SnapshotRow, Transaction

_log = logging.getLogger(__name__)
KEPT = 2
"""How many snapshots of a policy are kept."""


def make_snapshot(fold: Fold, *, base: bool = False) -> SnapshotRow:
    """Make a snapshot of the state after the last event that changed it."""
    state = fold.write_state()
    return SnapshotRow(
        fold.state_position, int(base), __version__, compute_digest(state), state
    )


def compute_digest(state: str) -> str:
    """Compute the checksum of a state, so that a damaged snapshot shows."""
    return sha256(state.encode()).hexdigest()


def start_from_snapshot(fold: Fold, rows: Sequence[SnapshotRow]) -> Fold:
    """Go on from the newest snapshot that is whole; a damaged one is said and passed over.

    ``fold`` is the policy as it was created.
    """
    for row in sorted(rows, reverse=True):
        made = open_snapshot(fold, row)
        if made is not None:
            return made
    return fold


def open_snapshot(fold: Fold, row: SnapshotRow) -> Fold | None:
    """Make a fold of a snapshot, None if it is damaged or of another release."""
    name = fold.config.name
    if compute_digest(row.state) != row.checksum:
        _log.error("the snapshot of policy %s at %d is damaged", name, row.position)
        return None
    try:
        policy = restore_policy(fold.config, json.loads(row.state))
    except BounditError as error:
        _log.warning("snapshot of policy %s at %d is not used: %s", name, row.position, error)
        return None
    return Fold(fold.id, fold.config, fold.seed, policy, row.position)


def keep_snapshot(transaction: Transaction, policy: int, row: SnapshotRow) -> None:
    """Store a snapshot and drop old ones; called by ``Upkeep._keep``."""
    transaction.add_snapshot(policy, row)
    old = [one for one in transaction.list_snapshots(policy) if not one.base]
    for one in sorted(old)[:-KEPT]:
        transaction.drop_snapshot(policy, one)
