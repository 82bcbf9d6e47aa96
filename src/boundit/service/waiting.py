"""Commands that wait for the writer, and the answers that are handed back."""

import asyncio
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, NamedTuple

from boundit.service.commands import Decide, GiveRewards
from boundit.service.errors import EngineStopped, QueueFull
from boundit.service.writer.group import Answer, Prepared

VISITS: Final = (Decide, GiveRewards)
"""What visitors wait for."""
GROUP = 2048
"""How many rows are written in one transaction, if a single batch has no more."""


class Waiting(NamedTuple):
    """A command, and whom to answer: a thread, or a task of an event loop."""

    command: Prepared
    rows: int
    future: "Future[Any] | asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop | None = None


class CommandQueue:
    """What waits for the writer, up to ``most`` rows; whoever comes then is refused."""

    def __init__(self, most: int) -> None:
        self._most, self._rows = most, 0
        self._waiting: deque[Waiting] = deque()
        self._changed = threading.Condition()
        self._is_open = False

    @property
    def n_rows(self) -> int:
        """How many rows wait; read by ``Engine.n_waiting``."""
        return self._rows

    def open(self) -> None:
        """Take commands from now on; called by ``Engine.start``."""
        self._is_open = True

    def close(self) -> None:
        """Take no more commands; called by ``Engine.stop``."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()

    def put(self, waiting: Waiting, *, wake: bool = True) -> None:
        """Let a command wait, or refuse it; called by ``Engine`` for every command.

        The writer's thread is woken unless somebody else is about to take it.
        """
        with self._changed:
            if not self._is_open:
                raise EngineStopped
            if self._rows and self._rows + waiting.rows > self._most:
                raise QueueFull(self._most)
            self._waiting.append(waiting)
            self._rows += waiting.rows
            if wake:
                self._changed.notify()

    def wake(self) -> None:
        """Wake the writer's thread; called by ``Engine`` where a loop leaves it work."""
        with self._changed:
            self._changed.notify()

    def take_few(self, most: int) -> list[Waiting]:
        """Take all that waits if it is at most so many rows of visitors, else nothing.

        Called by ``Engine`` in the event loop.
        """
        with self._changed:
            if not self._is_open or self._rows > most:
                return []
            for one in self._waiting:
                if not isinstance(one.command, VISITS):
                    return []
            group = list(self._waiting)
            self._waiting.clear()
            return group

    def take(self, patience: float) -> list[Waiting] | None:
        """Take what waits, up to a group; none if nothing comes in time, None at the end.

        Called by the writer.
        """
        with self._changed:
            if not self._waiting and self._is_open and patience > 0:
                self._changed.wait(patience)
            if not self._waiting:
                return [] if self._is_open else None
            group = [self._waiting.popleft()]
            rows = group[0].rows
            while self._waiting and rows + self._waiting[0].rows <= GROUP:
                group.append(self._waiting.popleft())
                rows += group[-1].rows
            return group

    def put_back(self, again: Sequence[Waiting], n_done: int) -> None:
        """Let commands wait in front of all others, and count off the rows that are done.

        Called by ``Engine`` after every group.
        """
        with self._changed:
            self._waiting.extendleft(reversed(again))
            self._rows -= n_done
            if again:
                self._changed.notify()


def deliver(
    done: Iterable[tuple[Waiting, Answer]], here: asyncio.AbstractEventLoop | None = None
) -> None:
    """Hand answers to those who wait: threads one by one, an event loop all at once.

    ``here`` is the loop that calls it, if one does. Called by ``Engine`` after the commit.
    """
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Any, Answer]]] = {}
    for waiting, answer in done:
        if waiting.loop is not None:
            by_loop.setdefault(waiting.loop, []).append((waiting.future, answer))
        elif isinstance(waiting.future, Future) and not waiting.future.cancelled():
            settle(waiting.future, answer)
    for loop, pairs in by_loop.items():
        if loop is here:
            resolve(pairs)
            continue
        # A loop that was closed has nobody left who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(resolve, pairs)


def resolve(pairs: Iterable[tuple["asyncio.Future[Any]", Answer]]) -> None:
    """Answer the tasks of an event loop, in its own thread; ``deliver`` hands it over."""
    for future, answer in pairs:
        if not future.done():  # else whoever waited has gone
            settle(future, answer)


def settle(future: "Future[Any] | asyncio.Future[Any]", answer: Answer) -> None:
    """Give a future its answer, or its error; called by ``deliver`` and ``resolve``."""
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
