"""How long a policy waits for what happens to another: ``... service --isolation``.

One caller asks for decisions of a quiet policy all the time. Its longest and 99th percentile of
waiting are printed while nothing else happens, and while each of the others does.
"""

import json
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from research.benchmarks.service.compare import run_process
from research.benchmarks.service.load import Server

ARMS = [f"arm {i}" for i in range(1000)]
CONTEXTS = 300
ROWS = 20_000


def make_bounds(n_arms: int, n_contexts: int) -> dict[str, Any]:
    """Bounds on so many arms in so many contexts, as a request brings them."""
    from tests.service.kit import save  # noqa: PLC0415, needs no server

    from boundit.results.bound_table import BoundTable  # noqa: PLC0415

    rows = [
        {"Ad": ARMS[i], "Age": age, "lower": 0.1, "upper": 0.9}
        for i in range(n_arms)
        for age in range(n_contexts)
    ]
    table = BoundTable.from_rows(
        rows, outcome="Click", treatments=["Ad"], context=["Age"], outcome_range=(0, 1)
    )
    return save(table)


class Caller:
    """One connection to a server."""

    def __init__(self, server: Server) -> None:
        self._connection = HTTPConnection("127.0.0.1", server.port, timeout=600)

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        text = None if body is None else json.dumps(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        self._connection.request(method, f"/v1/policies{path}", text, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()


def time_control(server: Server, disturb: Callable[[], object]) -> tuple[float, float, float]:
    """Ask for decisions until a disturbance is over; gives seconds: of it, 99 %, the longest."""
    caller, taken, begun = Caller(server), list[float](), time.perf_counter()
    other = threading.Thread(target=disturb)
    other.start()
    while other.is_alive():
        start = time.perf_counter()
        status, said = caller.ask("POST", "/control/decide", {"context": {"age": "old"}})
        if status != 200:
            raise RuntimeError(said)
        taken.append(time.perf_counter() - start)
        time.sleep(0.005)
    taken.sort()
    return time.perf_counter() - begun, taken[int(0.99 * (len(taken) - 1))], taken[-1]


def list_disturbances(server: Server) -> dict[str, Callable[[], object]]:
    """What happens to other policies, by name; each does it on a connection of its own."""
    caller = Caller(server)
    large = make_bounds(100, CONTEXTS)
    rows = [{"id": f"v{i}", "context": {"age": "old"}} for i in range(ROWS)]

    def decide_many() -> None:
        for start in range(0, ROWS, 5000):
            part = rows[start : start + 5000]
            told = [{"id": one["id"], "reward": 1} for one in part]
            caller.ask("POST", "/other/decide/batch", {"decisions": part})
            caller.ask("POST", "/other/reward/batch", {"rewards": told})

    def create_windows() -> None:
        for i in range(200):
            config = {"name": f"w{i}", "kind": "UCB", "arms": ["A"], "reward_range": [0, 1]}
            caller.ask("POST", "", {**config, "window": 1, "default_reward": 0})
            caller.ask("POST", f"/w{i}/decide/batch", {"decisions": [{}] * 20})

    return {
        "nothing": lambda: time.sleep(5),
        f"batches of 5,000 rows, {2 * ROWS:,} in all": decide_many,
        f"export of {ROWS:,} rows": lambda: caller.ask("GET", "/other/export"),
        "1,000 arms passed, 20 times": lambda: [
            caller.ask("POST", "/other/decide", {"context": {"age": "old"}, "arms": ARMS})
            for _ in range(20)
        ],
        "a kind that is not compiled": lambda: caller.ask(
            "POST", "", {"name": "first", "kind": "LinTS", "bounds": make_bounds(2, 2)}
        ),
        f"bounds of {100 * CONTEXTS:,} rows replaced": lambda: caller.ask(
            "PUT", "/large/bounds", {"bounds": large}
        ),
        "200 policies whose windows close at once": create_windows,
    }


def measure_isolation() -> None:
    """Print how long decisions of a quiet policy took while others are disturbed."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        where = ("--store", str(folder), "--port", "0")
        server = stack.enter_context(run_process("boundit", "boundit", "serve", *where))
        caller = Caller(server)
        plain = {"kind": "UCB", "reward_range": [0, 1], "context": {"age": ["old", "young"]}}
        for name in ("control", "other"):
            caller.ask("POST", "", {**plain, "name": name, "arms": ARMS[:2]})
        caller.ask(
            "POST", "", {"name": "large", "kind": "UCB", "bounds": make_bounds(100, CONTEXTS)}
        )
        print("milliseconds that a decision of a quiet policy took, meanwhile to others:")
        print(f"{'':<48}{'for s':>8}{'p99':>8}{'longest':>9}")
        quiet = 0.0
        for name, disturb in list_disturbances(server).items():
            lasted, p99, longest = time_control(server, disturb)
            quiet = quiet or longest
            print(f"{name:<48}{lasted:>8.1f}{1e3 * p99:>8.1f}{1e3 * longest:>9.1f}", flush=True)
        print(f"without any: at most {1e3 * quiet:.1f} ms; 100 ms beyond that are promised")


if __name__ == "__main__":
    measure_isolation()
