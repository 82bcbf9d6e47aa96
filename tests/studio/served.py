"""A real studio in a thread, and a plain way to ask it."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from boundit.studio.calls import StudioLimits
from boundit.studio.server import StudioServer
from tests.patience import PATIENCE
from tests.service.http.served import Answer


class ServedStudio:
    """A studio that runs."""

    def __init__(self, server: StudioServer, folder: Path) -> None:
        self.server, self.folder, self.port = server, folder, server.token.port
        self.origin = f"http://127.0.0.1:{self.port}"
        self.cookie = f"{server.token.cookie}={server.token.secret}"

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] = {}
    ) -> Answer:
        """Send one request with exactly these headers, besides Host."""
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, content, dict(headers))
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    @property
    def own(self) -> dict[str, str]:
        """The headers that our own page sends."""
        return {
            "Cookie": self.cookie,
            "Origin": self.origin,
            "Content-Type": "application/json",
        }

    def get(self, path: str) -> Answer:
        return self.ask("GET", path, None, {"Cookie": self.cookie})

    def post(self, path: str, body: object, **headers: str) -> Answer:
        return self.ask("POST", path, body, {**self.own, **headers})


@contextmanager
def run_studio(folder: Path, limits: StudioLimits | None = None) -> Iterator[ServedStudio]:
    """Run the studio of a folder, and stop it afterwards."""
    server, ready = StudioServer(folder, 0, limits), threading.Event()
    thread = threading.Thread(target=server.run, args=(ready.set,), daemon=True)
    thread.start()
    assert ready.wait(120)
    try:
        yield ServedStudio(server, folder)
    finally:
        server.server.should_exit = True
        thread.join(120)
