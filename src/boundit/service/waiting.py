"""Commands that wait for the writer, and the answers that are handed back."""

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Future  # noqa: TC003, a NamedTuple reads it
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from boundit.service.errors import Unavailable, refuse_locked
from boundit.service.group import Answer, Prepared
from boundit.service.lifecycle import NewPolicy

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


@dataclass
class _Hold:
    """What waits for a policy that another process writes to, and until when it is left alone."""

    pause: float = 0.0
    until: float = 0.0
    tried: bool = False
    waiting: deque[Waiting] = field(default_factory=deque)


class CommandQueue:
    """What waits for the writer, up to ``most`` rows; what comes then is refused.

    What waits for policies that other processes have locked waits apart, up to as many rows:
    it takes no place of others.
    """

    def __init__(self, most: int) -> None:
        self._most, self._rows, self._held_rows = most, 0, 0
        self._waiting: deque[Waiting] = deque()
        self._changed = threading.Condition()
        self._is_open = False
        self.held: dict[str, _Hold] = {}

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

    def put(self, one: Waiting) -> None:
        """Let a command wait, or refuse it."""
        with self._changed:
            if not self._is_open:
                raise Unavailable("the service is stopping", code="stopped", retry_after=5)
            hold = self._find_hold(one) if self.held else None
            rows = self._rows if hold is None else self._held_rows
            if rows and rows + one.rows > self._most:
                if hold is not None:
                    raise refuse_locked()
                raise Unavailable(f"{self._most:,} rows wait to be written", code="queue_full")
            if hold is None:
                self._waiting.append(one)
                self._rows += one.rows
                self._changed.notify()
            else:
                hold.waiting.append(one)
                self._held_rows += one.rows

    def take(self, patience: float) -> list[Waiting] | None:
        """Take what came first, up to a group; none if nothing comes in time, None at the end.

        Policies that are held are tried again after a while, with one command where that took
        long. A policy that is created comes alone: where it fails, no other command does.
        """
        with self._changed:
            if self.held:
                ends = min(hold.until for hold in self.held.values()) - time.monotonic()
                patience = min(patience, ends)
            if not self._waiting and patience > 0 and (self._is_open or self.held):
                self._changed.wait(patience)
            if not (self._waiting or self.held or self._is_open):
                return None
            group = self._try_held() if self.held else []
            rows = sum(one.rows for one in group)
            while self._waiting:
                one = self._waiting.popleft()
                hold = self._find_hold(one) if self.held else None
                if hold is not None:
                    hold.waiting.append(one)
                    self._rows -= one.rows
                    self._held_rows += one.rows
                    continue
                alone = isinstance(one.command, NewPolicy)
                if group and (alone or rows + one.rows > GROUP):
                    self._waiting.appendleft(one)
                    break
                group.append(one)
                rows += one.rows
                self._rows -= one.rows
                if alone:
                    break
            return group

    def _try_held(self) -> list[Waiting]:
        """Take what waits for policies that may be free."""
        group, now = list[Waiting](), time.monotonic()
        for name, hold in list(self.held.items()):
            if hold.until > now:
                continue
            if not hold.waiting:
                del self.held[name]
                continue
            rows, most = 0, GROUP if hold.pause < _LONGEST_HOLD else 1
            while hold.waiting and (not hold.tried or rows + hold.waiting[0].rows <= most):
                group.append(hold.waiting.popleft())
                rows += group[-1].rows
                hold.tried = True
            self._held_rows -= rows
        return group

    def put_back(self, again: Sequence[Waiting], locked: Collection[str] = ()) -> list[Waiting]:
        """Let commands wait in front of all others.

        Those of policies that another process has ``locked`` are held for a while, which grows
        up to ``_LONGEST_HOLD``; what waits for the others that were tried is free again. Returns
        the commands that are past their deadline, which wait no more.
        """
        over = list[Waiting]()
        with self._changed:
            now = time.monotonic()
            for name in locked:
                hold = self.held.setdefault(name, _Hold())
                hold.pause = min(max(2 * hold.pause, _SHORTEST_HOLD), _LONGEST_HOLD)
                hold.until, hold.tried = now + hold.pause, False
            for name in [name for name, hold in self.held.items() if hold.tried]:
                for one in reversed(self.held.pop(name).waiting):
                    self._waiting.appendleft(one)
                    self._rows += one.rows
                    self._held_rows -= one.rows
            for one in reversed(again):
                found = self._find_hold(one)
                if found is None:
                    self._waiting.appendleft(one)
                    self._rows += one.rows
                else:
                    found.waiting.appendleft(one)
                    self._held_rows += one.rows
            for hold in self.held.values():
                while hold.waiting and hold.waiting[0].deadline <= now:
                    over.append(hold.waiting.popleft())
                    self._held_rows -= over[-1].rows
        return over

    def _find_hold(self, one: Waiting) -> _Hold | None:
        # To create a policy no row is locked.
        if isinstance(one.command, NewPolicy):
            return None
        return self.held.get(one.command.policy)


def deliver(done: Iterable[tuple[Waiting, Answer]]) -> None:
    """Hand answers to those who wait: threads one by one, an event loop all at once."""
    by_loop: dict[asyncio.AbstractEventLoop | None, list[tuple[Any, Answer]]] = {}
    for waiting, answer in done:
        by_loop.setdefault(waiting.loop, []).append((waiting.future, answer))
    for loop, pairs in by_loop.items():
        if loop is None:
            resolve(pairs)
            continue
        # In a loop that was closed nothing waits any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(resolve, pairs)


def resolve(pairs: Iterable[tuple[Any, Answer]]) -> None:
    """Set futures to their answers or errors, in the thread that they belong to."""
    for future, answer in pairs:
        if future.done():  # cancelled: the caller has gone
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
