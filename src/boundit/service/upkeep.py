"""What the writer does by itself: windows, what others wrote, snapshots."""

import logging
import time
from collections.abc import Sequence

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
_AHEAD = 500_000
"""By how many microseconds clocks of replicas may differ before it is said."""


class Upkeep:
    """Looks after the policies of a store, from the writer's thread."""

    def __init__(self, store: Store, writer: GroupWriter) -> None:
        self._store, self._writer = store, writer
        self._ahead = set[str]()
        self._kept: dict[str, tuple[int, float]] = {}
        self.overdue = 0.0
        """For how many seconds the window that is longest overdue should have been closed."""
        self.stuck = set[str]()
        """The policies that cannot be written to for reasons of their own, such as a lock."""

    def list_closings(self) -> list[CloseWindows]:
        """List the policies that have windows to close, or that others wrote to."""
        try:
            with self._store.read() as transaction:
                due, now = transaction.find_next_due(), transaction.now
                heads = transaction.list_heads()
        except ServiceError as error:
            _log.warning("windows are not looked after: %s", error)
            return []
        self._warn_of_clocks(heads, now)
        free = [
            due[head.id] for head in heads if head.id in due and head.name not in self.stuck
        ]
        self.overdue = max(0, now - min(free, default=now)) / 1e6
        return [
            CloseWindows(head.name)
            for head in heads
            if self._is_behind(head) or due.get(head.id, _FAR) <= now
        ]

    def _warn_of_clocks(self, heads: Sequence[Head], now: int) -> None:
        """Log, once for each time, which policies have events ahead of the clock."""
        ahead = {head.name for head in heads if head.last_at > now + _AHEAD}
        for head in heads:
            if head.name in ahead - self._ahead:
                seconds = (head.last_at - now) / 1e6
                _log.warning(
                    "an event of policy %s is %.1f s ahead of the clock: a clock was wrong, and "
                    "what was decided then is learned and pruned later by as much",
                    head.name,
                    seconds,
                )
        self._ahead = ahead

    def _is_behind(self, head: Head) -> bool:
        """Tell whether others wrote what a policy in memory has not learned."""
        fold = self._writer.folds.get(head.name)
        return fold is not None and fold.state_position < head.state_position

    def keep_snapshots(self, events: int = SNAPSHOT_EVENTS) -> None:
        """Keep the states of policies that changed by so many events since the last time."""
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
