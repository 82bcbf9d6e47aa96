"""``boundit serve`` in processes of their own, and callers that ask them all the time."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from tests.patience import PATIENCE


class Server:
    """A process that serves."""

    def __init__(self, process: "subprocess.Popen[str]", url: str) -> None:
        self.process, self.url = process, url
        self.place = urlsplit(url).netloc

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Ask once, on a connection of its own."""
        connection = HTTPConnection(self.place, timeout=PATIENCE)
        try:
            content = None if body is None else json.dumps(body).encode()
            connection.request(method, path, content, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def stop(self) -> int:
        """Send SIGTERM, and wait for the end; gives the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(300)


@contextmanager
def run_serve(
    where: Sequence[str], environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """Start ``boundit serve``, wait until it listens, and end it."""
    command = [sys.executable, "-m", "boundit", "serve", *where, "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("serving on http://127.0.0.1:"), line
            yield Server(process, line.split()[2])
        finally:
            process.kill()


class Caller:
    """Decides and rewards all the time, and notes what was acknowledged and what was not.

    A ``patient`` one tries again what is refused for now, as clients do.
    """

    def __init__(self, server: Server, name: str, *, patient: bool = False) -> None:
        self.server, self.name, self.patient = server, name, patient
        self.decided: list[str] = []
        self.rewarded: list[str] = []
        self.refused: list[int] = []
        self._end = threading.Event()
        self.begun = threading.Event()
        self.thread = threading.Thread(target=self._call, daemon=True)
        self.thread.start()

    def _call(self) -> None:
        i = 0
        while not self._end.is_set():
            i += 1
            id_ = f"{self.name}-{i}"
            try:
                for path, body, done in (
                    ("decide", {"id": id_}, self.decided),
                    ("reward", {"id": id_, "reward": i % 2}, self.rewarded),
                ):
                    status, _ = self.server.ask("POST", f"/v1/policies/p/{path}", body)
                    while status == 503 and self.patient and not self._end.is_set():
                        status, _ = self.server.ask("POST", f"/v1/policies/p/{path}", body)
                    if status != 200:
                        self.refused.append(status)
                        return
                    done.append(id_)
            except (OSError, HTTPException):
                return
            self.begun.set()

    def stop(self) -> None:
        """Let it end."""
        self._end.set()
        self.thread.join(120)
