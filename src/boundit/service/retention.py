"""Retention: what policies need not keep any longer is erased by itself."""

import logging
import random
import threading
from collections.abc import Callable
from datetime import datetime

import msgspec
from msgspec import Struct

from boundit.service.errors import ServiceError
from boundit.service.events import CLOSED, DECIDED
from boundit.service.moments import to_datetime
from boundit.service.store.store import Head, Store, Transaction

_log = logging.getLogger(__name__)
EVERY = 60.0
"""After how many seconds, about, it is looked what may go."""
_DAY = 86_400_000_000
_SLACK = 20
"""Erasing begins once something is over by one part in so many of the retention."""
_MOST_SLACK = 3_600_000_000
"""Or by an hour, in microseconds."""
_PATIENCE = 5.0
"""For how many seconds it may go on when the engine stops; nothing is lost by leaving off."""


class _Kept(Struct):
    """Of a policy's configuration: how long its decisions are kept."""

    retention: float | None = None


_read_kept = msgspec.json.Decoder(_Kept).decode


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
        self._known: dict[int, float | None] = {}
        self.to_forget = False
        """Whether something that was erased lies in a file still."""
        # Of its own: programs that seed the shared one must find it as they left it.
        self._random = random.Random()
        self._end = threading.Event()
        self._thread = threading.Thread(
            target=self._work, name="boundit retention", daemon=True
        )

    def start(self) -> None:
        """Start the thread; called by ``Engine.start``."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, or leave it to what it reads; called by ``Engine.stop``."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)

    def _work(self) -> None:
        """Look after the policies until the engine stops; the thread runs it."""
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
        days = self._find_days(transaction, head)
        if days is None:
            return None
        kept = round(days * _DAY)
        moment = transaction.now - kept
        # What is never erased is not waited for.
        oldest = transaction.list_events(head.id, head.pruned_position, 1, (DECIDED, CLOSED))
        if not oldest or oldest[0].at >= moment - min(kept // _SLACK, _MOST_SLACK):
            return None
        return moment

    def _find_days(self, transaction: Transaction, head: Head) -> float | None:
        """Find how many days a policy keeps its decisions, None for ever."""
        if head.id not in self._known:
            self._known[head.id] = _read_kept(transaction.get_config(head.id)).retention
        return self._known[head.id]
