"""A worker's process, seen from the server: orders go in, messages come out, and it can end."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec

from boundit.studio.jobs.worker import JobMessage, JobOrder

_PATIENCE = 10.0
"""Seconds that a killed process has to be gone."""


class WorkerProcess:
    """One worker; ``told`` hears its messages on the server's loop, and None at its end."""

    def __init__(
        self, folder: Path, told: Callable[["WorkerProcess", JobMessage | None], None]
    ) -> None:
        self._told, self._loop = told, asyncio.get_running_loop()
        self.job: str | None = None
        self.ready = False
        self._process = subprocess.Popen(
            [sys.executable, "-m", "boundit.studio.jobs.worker", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C is for the server, which then ends its workers.
            start_new_session=True,
        )
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def order(self, order: JobOrder) -> None:
        """Send a worker its next job, or that one is not wanted any more.

        A worker that has just ended hears nothing.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(order) + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):  # it is closed, or about to be
            self.kill()

    def kill(self) -> None:
        """End the process at once, whatever it is doing; called by ``JobPool``."""
        self._process.kill()

    def close(self) -> None:
        """End the process, and wait until nobody listens to it; called by ``JobPool.close``."""
        self.kill()
        self._thread.join(_PATIENCE)

    @property
    def ending(self) -> int | None:
        """How the process ended: below zero the signal that ended it; None while it runs."""
        return self._process.poll()

    def _listen(self) -> None:
        """Hand on messages until there are no more to come; runs in a thread of its own."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = msgspec.json.decode(line, type=JobMessage)
            except msgspec.DecodeError:
                break  # it was ended within a line
            self._tell(message)
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue
        self._tell(None)

    def _tell(self, message: JobMessage | None) -> None:
        """Hand a message to the server's loop, unless that is closed already."""
        try:
            self._loop.call_soon_threadsafe(self._told, self, message)
        except RuntimeError:
            return
