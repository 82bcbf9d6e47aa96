"""An engine in a process of its own: commands come as JSON lines, and answers go back."""

import asyncio
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import psycopg

from boundit.service.commands import Decide, DecideRequest, GiveRewards, RewardRequest
from boundit.service.engine import Engine
from boundit.service.errors import ServiceError
from boundit.service.store.base import Store
from boundit.service.store.sqlite import SqliteStore

TICK = 0.05


class Fuse:
    """Kills its own process, once lit, at the n-th statement or before the n-th answer."""

    def __init__(self, store: Store) -> None:
        self.left = {"statement": 0, "answer": 0}
        if isinstance(store, SqliteStore):
            for connection in (store._writer,):
                connection.set_trace_callback(lambda _: self.burn("statement"))
            return
        send: Any = psycopg.Connection.execute

        def execute(connection: Any, *args: Any, **options: Any) -> Any:
            self.burn("statement")
            return send(connection, *args, **options)

        setattr(psycopg.Connection, "execute", execute)  # noqa: B010, for this process alone

    def burn(self, at: str) -> None:
        """Count down, and kill."""
        self.left[at] -= 1
        if self.left[at] == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def serve(open_store: Callable[[], Store], commands: int, answers: int) -> NoReturn:
    """Answer commands until the pipe closes; runs in a child and never returns."""
    lock = threading.Lock()

    def answer(number: int, found: dict[str, Any]) -> None:
        line = json.dumps({"n": number, **found}).encode() + b"\n"
        with lock:
            fuse.burn("answer")
            os.write(answers, line)

    def deliver(number: int, future: Any) -> None:
        error = future.exception()
        answer(number, _show(future.result()) if error is None else _explain(error))

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    try:
        store = _open(open_store)
        fuse = Fuse(store)
        with Engine(store, tick=TICK) as engine, os.fdopen(commands, "rb") as lines:
            for line in lines:
                request = json.loads(line)
                if request["do"] == "die":
                    fuse.left[request["at"]] = request["after"]
                    continue
                number = request.pop("n")
                try:
                    future = _submit(engine, _read(request), loop if number % 2 else None)
                except ServiceError as error:
                    answer(number, _explain(error))
                    continue
                future.add_done_callback(partial(deliver, number))
    except ServiceError as error:
        answer(-1, _explain(error))
    os._exit(0)


def _submit(
    engine: Engine, command: Decide | GiveRewards, loop: asyncio.AbstractEventLoop | None
) -> Any:
    """Ask as a thread does, or as a server does from its event loop."""
    if loop is None:
        return engine.submit(command)
    return asyncio.run_coroutine_threadsafe(engine.ask(command), loop)


def _open(open_store: Callable[[], Store]) -> Store:
    """Open the store once its database is there, as whoever starts services tries again."""
    for _ in range(3000):
        try:
            return open_store()
        except ServiceError:
            time.sleep(0.1)
    return open_store()


def _read(request: dict[str, Any]) -> Decide | GiveRewards:
    if request["do"] == "decide":
        return Decide("ads", [DecideRequest(i, {"Age": age}) for i, age in request["rows"]])
    return GiveRewards("ads", [RewardRequest(i, value) for i, value in request["rows"]])


def _show(found: Any) -> dict[str, Any]:
    if hasattr(found, "decisions"):
        rows = [
            [one.id, one.duplicate, one.arm["Ad"], one.propensity, one.position]
            for one in found.decisions
        ]
        return {"rows": rows}
    return {"rows": [[one.id, one.status] for one in found.rewards]}


def _explain(error: BaseException) -> dict[str, Any]:
    status = error.status if isinstance(error, ServiceError) else 0
    return {"error": f"{type(error).__name__}: {error}", "status": status}
