"""A real server in a thread, and a plain way to ask it."""

import json
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any, NamedTuple

from boundit.service.engine import Engine
from boundit.service.http.access import Limits
from boundit.service.http.server import Address, make_server
from tests.patience import PATIENCE

JSON = {"Content-Type": "application/json"}


class Answer(NamedTuple):
    """Status, headers (lower case) and body of an answer."""

    status: int
    headers: dict[str, str]
    text: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = self.json["error"]
        return found


class Served:
    """A server that runs, and its engine."""

    def __init__(self, engine: Engine, port: int, connections: Collection[object]) -> None:
        self.engine, self.port, self.connections = engine, port, connections
        self.url = f"http://127.0.0.1:{port}"

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request on a connection of its own; a body of bytes is sent as it is."""
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            sent = {**(JSON if content is not None else {}), **(headers or {})}
            connection.request(method, path, content, sent)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, None, headers)

    def post(self, path: str, body: object, **headers: str) -> Answer:
        return self.ask("POST", path, body, headers)


@contextmanager
def run_server(engine: Engine, limits: Limits | None = None) -> Iterator[Served]:
    """Run the server of an engine that is started, and stop it afterwards."""
    server = make_server(engine, Address(port=0), limits or Limits())
    ready = threading.Event()
    began = server.startup

    async def startup(*args: Any, **options: Any) -> None:
        await began(*args, **options)
        ready.set()

    server.startup = startup  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert ready.wait(60)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield Served(engine, port, server.server_state.connections)
    finally:
        server.should_exit = True
        thread.join(60)
