"""What the engine does by itself: windows, snapshots, retention."""

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime

from boundit.service.commands import CloseWindows
from boundit.service.errors import ServiceError
from boundit.service.events import CLOSED, DECIDED, to_datetime
from boundit.service.group import GroupWriter
from boundit.service.state import Fold, keep_snapshot, make_snapshot
from boundit.service.store.base import Head, Store, Transaction

_log = logging.getLogger(__name__)
SNAPSHOT_EVENTS = 10_000
"""After how many events a state is kept, unless that was done a moment ago."""
_SHARE = 100.0
"""One part in so many of the time may go into snapshots."""
_FAR = 2**62
_ERASED_AT_ONCE = 1000
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
        self.has_deleted = False
        """Whether a policy was deleted whose rows are not all erased yet."""
        self.stuck = set[str]()
        """The policies that cannot be written to for reasons of their own, such as a lock."""

    def list_closings(self) -> list[CloseWindows]:
        """List the policies that have windows to close, or that others wrote to."""
        try:
            with self._store.read() as transaction:
                due, now = transaction.find_next_due(), transaction.now
                heads = transaction.list_heads()
                self.has_deleted = transaction.has_deleted()
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

    def erase_deleted(self) -> bool:
        """Erase some rows of deleted policies; gives whether more are left."""
        if self.has_deleted:
            with self._store.write() as transaction:
                self.has_deleted = transaction.erase_deleted(_ERASED_AT_ONCE)
        return self.has_deleted

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
        """Keep the state of one policy, if the store lets it."""
        try:
            row = make_snapshot(fold)
            with self._store.write() as transaction:
                keep_snapshot(transaction, fold.id, row)
        except ServiceError as error:
            _log.warning("no snapshot of policy %s is kept: %s", name, error)
            return False
        return True


EVERY = 60.0
"""After how many seconds, about, it is looked what may go."""
_DAY = 86_400_000_000
_SLACK = 20
"""Erasing begins once something is over by one part in so many of the retention."""
_MOST_SLACK = 3_600_000_000
"""Or by an hour, in microseconds."""
_PATIENCE = 5.0
"""For how many seconds it may go on when the engine stops; nothing is lost by leaving off."""


class Retention:
    """Erases decisions that were over for longer than their policy's ``retention``.

    From a thread of its own, as the state at a position may take a while to work out. Every
    replica does so, at moments that are drawn, and finds nothing to do where another has.
    ``prune`` erases what a policy has before a moment.
    """

    def __init__(
        self, store: Store, prune: Callable[[str, datetime], object], every: float = EVERY
    ) -> None:
        self._store, self._prune, self._every = store, prune, every
        self.to_forget = False
        """Whether something that was erased lies in a file still."""
        # Of its own: programs that seed the shared one must find it as they left it.
        self._random = random.Random()
        self._end = threading.Event()
        self._thread = threading.Thread(
            target=self._work, name="boundit retention", daemon=True
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, or leave it to what it reads."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)

    def _work(self) -> None:
        """Look after the policies until the engine stops."""
        while not self._end.wait(self._every * self._random.uniform(0.5, 1.5)):
            self.erase_due()

    def erase_due(self) -> None:
        """Erase what no policy keeps any longer; a failure is logged, and tried again."""
        try:
            if self.to_forget:
                self.to_forget = not self._store.forget()
            with self._store.read() as transaction:
                due = [
                    (head.name, moment)
                    for head in transaction.list_heads()
                    if (moment := self._find_moment(transaction, head)) is not None
                ]
            for name, moment in due:
                self._prune(name, to_datetime(moment))
        except ServiceError as error:
            if not self._end.is_set():
                _log.warning("nothing is erased: %s", error)
        except Exception:  # noqa: BLE001, the thread must live on
            _log.exception("nothing is erased")

    def _find_moment(self, transaction: Transaction, head: Head) -> int | None:
        """Find the moment before which a policy keeps nothing; None if nothing is so old."""
        if head.retention is None:
            return None
        kept = round(head.retention * _DAY)
        moment = transaction.now - kept
        # What is never erased is not waited for.
        oldest = transaction.list_events(head.id, head.pruned_position, 1, (DECIDED, CLOSED))
        if not oldest or oldest[0].at >= moment - min(kept // _SLACK, _MOST_SLACK):
            return None
        return moment
