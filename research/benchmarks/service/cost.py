"""What one request costs the processor, and which of our functions it passes.

``play`` is run with either release: the app is asked in its own process, so that
no socket and no other program is counted. ``python -m research.benchmarks service --cost``.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import uvloop

OLD = Path(__file__).parents[3] / "build" / "old" / "src"
NOW = str(Path(__file__).parents[3] / "src")
KINDS = ("TS", "LinUCB", "Fused")
PATH = "/v1/policies/visits"
ARMS = 4
_NESTED = "<"
"""How names of lambdas and comprehensions begin."""


def make_engine(folder: str, kind: str) -> Any:
    """Start an engine with one policy, by names that both releases have."""
    from boundit.bandit.warm_up import warm_up  # noqa: PLC0415, of the release that runs
    from boundit.service.commands import CreatePolicy  # noqa: PLC0415
    from boundit.service.config import PolicyConfig  # noqa: PLC0415
    from boundit.service.engine import Engine  # noqa: PLC0415
    from boundit.service.store.sqlite import SqliteStore  # noqa: PLC0415

    warm_up(kinds=[kind])
    config = PolicyConfig(
        name="visits",
        kind=kind,  # type: ignore[arg-type]
        arms=[f"arm {i}" for i in range(ARMS)],
        context={"U1": [0, 1], "U2": [0, 1]},
        reward_range=(0.0, 1.0),
        seed=1,
    )
    engine = Engine(SqliteStore(folder))
    engine.start()
    engine.run(CreatePolicy(config))
    return engine


async def post(app: Any, path: str, body: dict[str, Any]) -> bytes:
    """Send one POST, as a server would, and give the body of its answer."""
    text, said, status = json.dumps(body).encode(), list[bytes](), 0
    sent = iter([{"type": "http.request", "body": text, "more_body": False}])

    async def receive() -> Any:
        return next(sent, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)
        said.append(message.get("body", b""))

    headers = {
        "host": "127.0.0.1:8000",
        "content-type": "application/json",
        "content-length": str(len(text)),
    }
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }
    await app(scope, receive, send)
    answer = b"".join(said)
    if status != 200:
        raise RuntimeError(answer.decode())
    return answer


async def send_all(app: Any, action: str, first: int, last: int, connections: int) -> None:
    """Send requests over so many connections, each its next when it has its answer."""
    numbers = iter(range(first, last))

    async def work() -> None:
        for i in numbers:
            told = {"context": {"U1": i % 2, "U2": i // 2 % 2}}
            if action == "reward":
                told = {"reward": float(i % 2)}  # type: ignore[dict-item]
            await post(app, f"{PATH}/{action}", {"id": f"visit {i}", **told})

    await asyncio.gather(*(work() for _ in range(connections)))


class Trace:
    """Which functions of a package are called, in the threads that start from now on."""

    def __init__(self, source: str) -> None:
        self._source, self.found, self.is_on = source, set[CodeType](), False
        threading.setprofile(self)
        sys.setprofile(self)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if (
            self.is_on
            and event == "call"
            and code.co_filename.startswith(self._source)
            and not code.co_name.startswith(_NESTED)
        ):
            self.found.add(code)


def play(what: str, kind: str, n: int) -> None:
    """Print as JSON what requests of one kind of policy cost, or which functions they pass."""
    import boundit  # noqa: PLC0415, the release that runs
    from boundit.service.http.app import make_app  # noqa: PLC0415

    source = str(Path(boundit.__file__).parent)
    found: dict[str, Any] = {}
    trace = Trace(source) if what == "trace" else None
    with tempfile.TemporaryDirectory() as folder:
        engine = make_engine(folder, kind)
        app, loop = make_app(engine), uvloop.new_event_loop()
        for action in ("decide", "reward"):
            loop.run_until_complete(send_all(app, action, 0, 300, 16))
        start = 300
        if trace is not None:
            for action in ("decide", "reward"):
                time.sleep(0.1)
                trace.found, trace.is_on = set(), True
                loop.run_until_complete(send_all(app, action, start, start + 1, 1))
                time.sleep(0.05)
                trace.is_on = False
                found[action] = [
                    f"{code.co_filename.removeprefix(source)[1:]} {code.co_qualname}"
                    for code in trace.found
                ]
        else:
            for connections in (1, 16, 64):
                for action in ("decide", "reward"):
                    begun = time.process_time()
                    loop.run_until_complete(
                        send_all(app, action, start, start + n, connections)
                    )
                    taken = (time.process_time() - begun) / n
                    found[f"{action}, {connections}"] = 1e6 * taken
                start += n
        loop.close()
        engine.stop()
    print(json.dumps(found))


def ask(source: str, *arguments: str) -> dict[str, Any]:
    """Run ``play`` in an interpreter of its own, with the package of a folder."""
    ran = subprocess.run(
        [sys.executable, __file__, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": source},
    )
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def compare_costs(n: int, rounds: int) -> None:
    """Print microseconds of processor time a request, beside 0.2.0 where it is installed."""
    releases = {"now": NOW} | ({"0.2.0": str(OLD)} if OLD.exists() else {})
    print(f"processor time, us a request ({n:,} requests, the least of {rounds} rounds)")
    for kind in KINDS:
        least = {name: dict[str, float]() for name in releases}
        for _ in range(rounds):
            for name, source in releases.items():
                for load, cost in ask(source, "cost", kind, str(n)).items():
                    least[name][load] = min(cost, least[name].get(load, cost))
        for load, cost in least["now"].items():
            old = least.get("0.2.0", {}).get(load)
            beside = "" if old is None else f"{old:>8.0f}{cost / old:>7.2f}"
            print(f"{kind:<8}{load:<12}{cost:>8.0f}{beside}")


def show_traces(kind: str) -> None:
    """Print which functions of ours a POST passes from the app to the disk and back."""
    for action, passed in ask(NOW, "trace", kind, "0").items():
        files = Counter(line.split()[0] for line in passed)
        own = [line for line in passed if line.startswith("service/")]
        print(
            f"{kind} {action}: {len(passed)} functions in {len(files)} files, "
            f"{len(own)} in {len({line.split()[0] for line in own})} of the service"
        )
        for line in sorted(passed):
            print(f"  {line}")


if __name__ == "__main__":
    if sys.argv[1] == "create":
        make_engine(sys.argv[3], sys.argv[2]).stop()
        print("{}")
    else:
        play(sys.argv[1], sys.argv[2], int(sys.argv[3]))
