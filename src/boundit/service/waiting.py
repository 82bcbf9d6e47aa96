"""Commands that wait for the writer, and the answers that are handed back."""

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, NamedTuple

from boundit.service.commands import Decide, GiveRewards
from boundit.service.errors import Unavailable, refuse_locked
from boundit.service.group import Answer, Prepared
from boundit.service.lifecycle import NewPolicy

VISITS: Final = (Decide, GiveRewards)
"""What visitors wait for."""
GROUP = 2048
"""How many rows are written in one transaction, if a single batch has no more."""
_SHORTEST_HOLD, _LONGEST_HOLD = 0.001, 0.05
"""For how many seconds a policy is passed over that another process writes to."""


class Waiting(NamedTuple):
    """A command, and whom to answer: a thread, or a task of an event loop.

    Past its ``deadline`` it waits no longer for another process.
    """

    command: Prepared
    rows: int
    future: "Future[Any] | asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop | None = None
    deadline: float = math.inf


class _Hold:
    """What waits for a policy that another process writes to, and until when it is left alone."""

    def __init__(self) -> None:
        self.pause = self.until = 0.0
        self.waiting: deque[Waiting] = deque()
        self.tried = False


class CommandQueue:
    """What waits for the writer, up to ``most`` rows; whoever comes then is refused.

    What waits for policies that other processes have locked waits apart, up to as many rows:
    it takes no room of others.
    """

    def __init__(self, most: int) -> None:
        self._most, self._rows, self._held_rows, self._tried_rows = most, 0, 0, 0
        self._waiting: deque[Waiting] = deque()
        self._changed = threading.Condition()
        self._is_open = False
        self._held: dict[str, _Hold] = {}

    @property
    def n_rows(self) -> int:
        """How many rows wait."""
        return self._rows + self._held_rows

    def open(self) -> None:
        """Take commands from now on."""
        self._is_open = True

    def close(self) -> None:
        """Take no more commands."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()

    def put(self, waiting: Waiting) -> None:
        """Let a command wait, or refuse it."""
        with self._changed:
            if not self._is_open:
                raise Unavailable("the service is stopping", code="stopped", retry_after=5)
            hold = self._find_hold(waiting) if self._held else None
            if hold is not None:
                if self._held_rows and self._held_rows + waiting.rows > self._most:
                    raise refuse_locked()
                hold.waiting.append(waiting)
                self._held_rows += waiting.rows
                return
            if self._rows and self._rows + waiting.rows > self._most:
                reason = f"{self._most:,} rows wait to be written"
                raise Unavailable(reason, code="queue_full")
            self._waiting.append(waiting)
            self._rows += waiting.rows
            self._changed.notify()

    def take(self, patience: float) -> list[Waiting] | None:
        """Take what waits, up to a group; none if nothing comes in time, None at the end."""
        with self._changed:
            if self._held:
                ends = min(hold.until for hold in self._held.values()) - time.monotonic()
                patience = min(patience, ends)
            if not self._waiting and patience > 0 and (self._is_open or self._held):
                self._changed.wait(patience)
            if not (self._waiting or self._held or self._is_open):
                return None
            return self._choose()

    def _choose(self) -> list[Waiting]:
        """Choose what is written next: what came first, but for policies that are held.

        Those are tried again after a while. A policy that is created comes alone: where it
        fails, nobody else does.
        """
        group = self._try_held() if self._held else []
        rows = sum(one.rows for one in group)
        while self._waiting:
            one = self._waiting.popleft()
            hold = self._find_hold(one) if self._held else None
            if hold is not None:
                hold.waiting.append(one)
                self._move(one.rows)
                continue
            alone = isinstance(one.command, NewPolicy)
            if group and (alone or rows + one.rows > GROUP):
                self._waiting.appendleft(one)
                break
            group.append(one)
            rows += one.rows
            if alone:
                break
        return group

    def _try_held(self) -> list[Waiting]:
        """Take what waits for policies that may be free: one command where that took long."""
        group, rows, now = list[Waiting](), 0, time.monotonic()
        for name, hold in list(self._held.items()):
            if hold.until > now:
                continue
            if not hold.waiting:
                del self._held[name]
                continue
            most = GROUP if hold.pause < _LONGEST_HOLD else 1
            while hold.waiting and (not hold.tried or rows + hold.waiting[0].rows <= most):
                group.append(hold.waiting.popleft())
                rows += group[-1].rows
                hold.tried = True
        self._tried_rows = rows
        return group

    def put_back(
        self, again: Sequence[Waiting], n_done: int, locked: Collection[str] = ()
    ) -> list[Waiting]:
        """Let commands wait in front of all others, and count off the rows that are done.

        Those of policies that another process has ``locked`` are held for a while, which grows
        up to ``_LONGEST_HOLD``. Gives those of them whose deadline is over, which wait no more.
        """
        over = list[Waiting]()
        with self._changed:
            if self._tried_rows:
                self._move(-self._tried_rows)
                self._tried_rows = 0
            self._rows -= n_done
            if not self._held and not locked:
                self._waiting.extendleft(reversed(again))
                return over
            now = time.monotonic()
            for name in locked:
                hold = self._held.setdefault(name, _Hold())
                hold.pause = min(max(2 * hold.pause, _SHORTEST_HOLD), _LONGEST_HOLD)
                hold.until, hold.tried = now + hold.pause, False
            for name in [name for name, hold in self._held.items() if hold.tried]:
                free = self._held.pop(name)
                self._waiting.extendleft(reversed(free.waiting))
                self._move(-sum(one.rows for one in free.waiting))
            for one in reversed(again):
                found = self._find_hold(one)
                (self._waiting if found is None else found.waiting).appendleft(one)
                self._move(0 if found is None else one.rows)
            for hold in self._held.values():
                while hold.waiting and hold.waiting[0].deadline <= now:
                    over.append(hold.waiting.popleft())
                    self._held_rows -= over[-1].rows
        return over

    def _find_hold(self, one: Waiting) -> _Hold | None:
        # To create a policy no row is locked.
        if not self._held or isinstance(one.command, NewPolicy):
            return None
        return self._held.get(one.command.policy)

    def _move(self, rows: int) -> None:
        self._rows -= rows
        self._held_rows += rows


def deliver(done: Iterable[tuple[Waiting, Answer]]) -> None:
    """Hand answers to those who wait: threads one by one, an event loop all at once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Any, Answer]]] = {}
    for waiting, answer in done:
        if waiting.loop is not None:
            by_loop.setdefault(waiting.loop, []).append((waiting.future, answer))
        elif isinstance(waiting.future, Future) and not waiting.future.cancelled():
            settle(waiting.future, answer)
    for loop, pairs in by_loop.items():
        # A loop that was closed has nobody left who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(resolve, pairs)


def resolve(pairs: Iterable[tuple["asyncio.Future[Any]", Answer]]) -> None:
    """Answer the tasks of an event loop, in its own thread."""
    for future, answer in pairs:
        if not future.done():  # else whoever waited has gone
            settle(future, answer)


def settle(future: "Future[Any] | asyncio.Future[Any]", answer: Answer) -> None:
    """Give a future its answer, or its error."""
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
