"""The server: one process, one engine, until it is stopped."""

import gc
import logging
import resource
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import uvicorn

from boundit.service.engine import Engine
from boundit.service.errors import RequestRefused
from boundit.service.http.access import Limits, is_loopback
from boundit.service.http.app import make_app
from boundit.service.keys import KeyRing

_log = logging.getLogger(__name__)
_KEEP_ALIVE = 75
_GRACE = 30
_GARBAGE = 20_000, 20, 20
"""After how many new objects garbage is looked for, and how often in older ones."""


@dataclass(frozen=True)
class Address:
    """Where the server listens; port 0 takes any that is free."""

    host: str = "127.0.0.1"
    port: int = 8000


def make_server(engine: Engine, address: Address, limits: Limits) -> uvicorn.Server:
    """Make the server of an engine, or refuse an address that needs keys; it is not started."""
    keys = KeyRing(engine.store)
    keys.refresh()
    if not is_loopback(address.host) and not keys.has_keys:
        reason = (
            f"{address.host} can be reached by others, and no keys exist: add one with "
            "boundit keys add, or listen on 127.0.0.1"
        )
        raise RequestRefused(403, "needs_keys", reason)
    config = uvicorn.Config(
        make_app(engine, limits),
        host=address.host,
        port=address.port,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        log_config=None,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
        limit_concurrency=limits.connections,
        backlog=2048,
    )
    return uvicorn.Server(config)


def serve(
    engine: Engine, address: Address, limits: Limits, *, on_start: Callable[[str], None]
) -> None:
    """Serve until SIGTERM, SIGINT or SIGHUP; then answer what came, write what waits, and stop.

    A SIGHUP that is ignored already, as under nohup, stays so. ``on_start`` gets the address
    once it can be asked.
    """
    raise_file_limit(limits.connections)
    server = make_server(engine, address, limits)
    begin = server.startup

    async def startup(sockets: list[socket.socket] | None = None) -> None:
        await begin(sockets)
        if server.servers:
            on_start(_write_url(server.servers[0].sockets[0].getsockname()))

    server.startup = startup  # type: ignore[method-assign]
    # A signal before uvicorn listens for it must not be lost. And uvicorn raises the one that
    # ended it once more, when it has stopped: by then the engine still has to write what waits.
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda *_: setattr(server, "should_exit", True))
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    # What was loaded by now stays: the collector need not look at it again.
    gc.collect()
    gc.freeze()
    # A batch makes thousands of objects, and none of them is garbage of a kind that it finds.
    gc.set_threshold(*_GARBAGE)
    with engine:
        server.run()
    _log.info("stopped: all that was acknowledged is on disk")


def _write_url(name: tuple[Any, ...]) -> str:
    """Write the address of a socket as a URL.

    >>> _write_url(("::1", 80, 0, 0))
    'http://[::1]:80'
    """
    host, port = name[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def raise_file_limit(connections: int) -> None:
    """Let the process have a file for every connection, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + 256
    if soft < wanted:
        least = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (least, hard))
