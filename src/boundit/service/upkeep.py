"""What the writer does by itself: windows, what others wrote, snapshots."""

import logging
import time

from boundit.service.commands import CloseWindows
from boundit.service.errors import ServiceError
from boundit.service.fold import Fold
from boundit.service.snapshots import keep_snapshot, make_snapshot
from boundit.service.store.store import Head, Store
from boundit.service.writer.group import GroupWriter

_log = logging.getLogger(__name__)
SNAPSHOT_EVENTS = 10_000
"""After how many events a state is kept, unless that was done a moment ago."""
_SHARE = 100.0
"""One part in so many of the time may go into snapshots."""
_FAR = 2**62


class Upkeep:
    """Looks after the policies of a store, from the writer's thread."""

    def __init__(self, store: Store, writer: GroupWriter) -> None:
        self._store, self._writer = store, writer
        self._kept: dict[str, tuple[int, float]] = {}

    def list_closings(self) -> list[CloseWindows]:
        """List the policies that have windows to close, or that others wrote to.

        Called by the writer every second.
        """
        try:
            with self._store.read() as transaction:
                return [
                    CloseWindows(head.name)
                    for head in transaction.list_heads()
                    if self._is_behind(head)
                    or (transaction.find_next_due(head.id) or _FAR) <= transaction.now
                ]
        except ServiceError as error:
            _log.warning("windows are not looked after: %s", error)
            return []

    def _is_behind(self, head: Head) -> bool:
        """Tell whether others wrote what a policy in memory has not learned.

        Called by ``Upkeep.list_closings``.
        """
        fold = self._writer.folds.get(head.name)
        return fold is not None and fold.state_position < head.state_position

    def keep_snapshots(self, events: int = SNAPSHOT_EVENTS) -> None:
        """Keep the states of policies that changed by so many events since the last time.

        Called by the writer every second, and for every change when it stops.
        """
        for name, fold in self._writer.folds.items():
            kept, ready = self._kept.get(name, (1, 0.0))
            begun = time.monotonic()
            if fold.state_position - kept < events or (begun < ready and events > 1):
                continue
            if self._keep(name, fold):
                ended = time.monotonic()
                self._kept[name] = fold.state_position, ended + _SHARE * (ended - begun)

    def _keep(self, name: str, fold: Fold) -> bool:
        """Keep the state of one policy, if the store lets it; called by ``keep_snapshots``."""
        try:
            row = make_snapshot(fold)
            with self._store.write() as transaction:
                keep_snapshot(transaction, fold.id, row)
        except ServiceError as error:
            _log.warning("no snapshot of policy %s is kept: %s", name, error)
            return False
        return True
