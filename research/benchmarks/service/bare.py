"""What a service can do at most: Starlette, one row a request, and the same durability as ours.

A process of its own, with the same uvicorn, uvloop and httptools:
``python -m research.benchmarks.service.bare sqlite each FOLDER`` prints its port. It takes the
requests of our service and answers as little as can be. ``each`` commits in every request,
``group`` all that waits at once, in a thread, as our engine does; ``vw`` is ``group`` with
Vowpal Wabbit's Python binding behind it, which decides and learns. No ids are looked up, nothing
is checked.
"""

import asyncio
import random
import socket
import sqlite3
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import msgspec
import psycopg
import uvicorn
from msgspec import Struct
from psycopg_pool import AsyncConnectionPool
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

Row = tuple[str, str]
Write = Callable[[Sequence[Row]], Awaitable[None]]
"""Comes back when rows are on disk."""
CREATE = "CREATE TABLE IF NOT EXISTS bare (number {serial}, id TEXT, body TEXT)"
SQLITE_INSERT = "INSERT INTO bare (id, body) VALUES (?, ?)"
POSTGRES_INSERT = "INSERT INTO bare (id, body) VALUES (%s, %s)"
POOL = 16


class Visitor(Struct):
    id: str
    context: dict[str, int]


class Told(Struct):
    id: str
    reward: float


class Batch(Struct):
    decisions: list[Visitor] = []
    rewards: list[Told] = []


class Mind(Protocol):
    """What is asked for every row before it is written."""

    def decide(self, visitor: Visitor) -> Any: ...

    def learn(self, told: Told) -> Any: ...


class NoMind:
    """Decides nothing and learns nothing."""

    def decide(self, visitor: Visitor) -> Any:
        return visitor

    def learn(self, told: Told) -> Any:
        return told


class WabbitMind:
    """Vowpal Wabbit's contextual bandit with features for each arm, as its users run it."""

    def __init__(self) -> None:
        module = import_module("vowpalwabbit")
        self._workspace = module.Workspace("--cb_explore_adf --epsilon 0.1 --quiet")
        self._lines = [f"|a x1:{a} x2:{b}" for a in (0, 1) for b in (0, 1)]
        self._made: dict[str, tuple[str, int, float]] = {}
        self._random = random.Random(1)

    def decide(self, visitor: Visitor) -> Any:
        context = visitor.context
        shared = f"shared |u u1:{context['U1']} u2:{context['U2']}"
        chances = self._workspace.predict([shared, *self._lines])
        arm = self._random.choices(range(len(chances)), chances)[0]
        self._made[visitor.id] = shared, arm, chances[arm]
        return {"id": visitor.id, "arm": arm, "propensity": chances[arm], "chances": chances}

    def learn(self, told: Told) -> Any:
        shared, arm, chance = self._made[told.id]
        lines = list(self._lines)
        lines[arm] = f"0:{-told.reward}:{chance} {lines[arm]}"
        self._workspace.learn([shared, *lines])
        return told


def open_sqlite(folder: str) -> sqlite3.Connection:
    """As the service opens its file: a write-ahead log, on disk with every commit."""
    path = Path(folder) / "bare.sqlite"
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(CREATE.format(serial="INTEGER PRIMARY KEY"))
    return connection


def write_each_to_sqlite(folder: str) -> Write:
    """Commit in the request itself."""
    connection = open_sqlite(folder)

    async def write(rows: Sequence[Row]) -> None:
        commit_to_sqlite(connection, rows)

    return write


def commit_to_sqlite(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(SQLITE_INSERT, rows)
    connection.execute("COMMIT")


def write_each_to_postgres(url: str) -> Write:
    """Commit in the request itself, on one of several connections."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(CREATE.format(serial="BIGSERIAL PRIMARY KEY"))
    pool: AsyncConnectionPool[Any] | None = None

    async def write(rows: Sequence[Row]) -> None:
        nonlocal pool
        if pool is None:
            pool = AsyncConnectionPool(url, min_size=POOL, max_size=POOL, open=False)
            await pool.open()
        async with pool.connection() as one, one.cursor() as cursor:
            if len(rows) == 1:
                await cursor.execute(POSTGRES_INSERT, rows[0])
            else:
                await cursor.executemany(POSTGRES_INSERT, rows)

    return write


def write_groups(commit: Callable[[Sequence[Row]], None]) -> Write:
    """Commit all that waits at once, in a thread."""
    waiting: list[tuple[Sequence[Row], asyncio.Future[None]]] = []
    some = threading.Condition()
    loops: list[asyncio.AbstractEventLoop] = []

    async def write(rows: Sequence[Row]) -> None:
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        with some:
            if not loops:
                loops.append(loop)
            waiting.append((rows, future))
            some.notify()
        await future

    def work() -> None:
        while True:
            with some:
                while not waiting:
                    some.wait()
                group = waiting[:]
                waiting.clear()
            commit([row for rows, _ in group for row in rows])
            loops[0].call_soon_threadsafe(settle, [future for _, future in group])

    threading.Thread(target=work, daemon=True).start()
    return write


def settle(futures: Sequence["asyncio.Future[None]"]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)


def write_groups_to_sqlite(folder: str) -> Write:
    connection = open_sqlite(folder)
    return write_groups(lambda rows: commit_to_sqlite(connection, rows))


def write_groups_to_postgres(url: str) -> Write:
    """One statement for all rows: as arrays, which is the quickest way in."""
    connection = psycopg.connect(url, autocommit=True)
    connection.execute(CREATE.format(serial="BIGSERIAL PRIMARY KEY"))
    insert = "INSERT INTO bare (id, body) SELECT * FROM unnest(%b::text[], %b::text[])"

    def commit(rows: Sequence[Row]) -> None:
        ids, bodies = zip(*rows, strict=True)
        connection.execute(insert, (list(ids), list(bodies)))

    return write_groups(commit)


WRITERS: dict[tuple[str, str], Callable[[str], Write]] = {
    ("sqlite", "each"): write_each_to_sqlite,
    ("sqlite", "group"): write_groups_to_sqlite,
    ("sqlite", "vw"): write_groups_to_sqlite,
    ("postgres", "each"): write_each_to_postgres,
    ("postgres", "group"): write_groups_to_postgres,
    ("postgres", "vw"): write_groups_to_postgres,
}


def make_app(write: Write, mind: Mind) -> Starlette:
    """The paths of our service: one row, or a batch of them, in one commit."""
    encode = msgspec.json.encode
    read_visitor = msgspec.json.Decoder(Visitor).decode
    read_told = msgspec.json.Decoder(Told).decode
    read_batch = msgspec.json.Decoder(Batch).decode

    async def decide(request: Request) -> Response:
        visitor = read_visitor(await request.body())
        answer = encode(mind.decide(visitor))
        await write([(visitor.id, answer.decode())])
        return Response(answer, media_type="application/json")

    async def reward(request: Request) -> Response:
        told = read_told(await request.body())
        answer = encode(mind.learn(told))
        await write([(told.id, answer.decode())])
        return Response(answer, media_type="application/json")

    async def batch(request: Request) -> Response:
        given = read_batch(await request.body())
        rows = [(one.id, encode(mind.decide(one)).decode()) for one in given.decisions]
        rows += [(one.id, encode(mind.learn(one)).decode()) for one in given.rewards]
        await write(rows)
        answer = f"[{','.join(body for _, body in rows)}]"
        return Response(answer, media_type="application/json")

    base = "/v1/policies/{policy}"
    return Starlette(
        routes=[
            Route(f"{base}/decide", decide, methods=["POST"]),
            Route(f"{base}/reward", reward, methods=["POST"]),
            Route(f"{base}/decide/batch", batch, methods=["POST"]),
            Route(f"{base}/reward/batch", batch, methods=["POST"]),
        ]
    )


def main(store: str, way: str, place: str) -> None:
    """Serve on a free port, and print it, until the process is ended."""
    app = make_app(WRITERS[store, way](place), WabbitMind() if way == "vw" else NoMind())
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(
        app, loop="uvloop", http="httptools", ws="none", lifespan="off", access_log=False,
        log_config=None, server_header=False,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(*sys.argv[1:])
