"""Connections for those who read, lent one at a time."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """A connection that can be closed."""

    def close(self) -> None:
        """Close it; called by ``Readers``."""
        ...


C = TypeVar("C", bound=Closable)


class Readers(Generic[C]):
    """Up to ``most`` connections, opened as they are needed and used again.

    After an error all that are idle are closed: whatever broke one may have broken them all.
    """

    def __init__(self, connect: Callable[[], C], most: int = 8) -> None:
        self._connect, self._idle = connect, list[C]()
        self._free, self._lock = threading.Semaphore(most), threading.Lock()

    @contextmanager
    def lend(self) -> Iterator[C]:
        """Lend a connection for a while; called by ``SqliteStore`` and ``PostgresStore``."""
        with self._free:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                connection = self._connect()
            try:
                yield connection
            except BaseException:
                connection.close()
                self.close()
                raise
            with self._lock:
                self._idle.append(connection)

    def close(self) -> None:
        """Close those that are idle; called when the store is closed, and after an error."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
