"""What a call passes through, hop by hop, from a real trace.

A hop is a call from one file into a function of another file that the walk has not met yet.
The walk goes on inside its own room; of other rooms it names the function that it asks, and
goes no further. Properties, constructors, what starts with two underscores, and the lowest room
(``terms``) are no hops. Each walk is followed so many files deep as its line says.
"""

import contextlib
import io
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import boundit
from boundit.cli.main import main
from tools.house.source import Function, Source

_BASE = f"{Path(boundit.__file__).parent.as_posix()}/"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of our functions: how many of them were running, its file and name."""

    depth: int
    path: str
    qualname: str


@dataclass(frozen=True, slots=True)
class Hop:
    """A step of a walk: how many files deep, and the function that is entered."""

    depth: int
    path: str
    qualname: str


@dataclass(frozen=True, slots=True)
class Walk:
    """What one call passes through; its first hop is the call itself, and does not count."""

    title: str
    limit: int
    hops: tuple[Hop, ...]

    @property
    def length(self) -> int:
        """How many hops it has."""
        return len(self.hops) - 1


def trace_calls(run: Callable[[], object]) -> list[Call]:
    """Run something once and list the calls of our functions, in order, thread by thread.

    What another thread calls counts as called by the function that was started first, after
    all that its own thread calls: how threads take turns differs from run to run.
    """
    first = threading.get_ident()
    calls = defaultdict[int, list[Call]](list, {first: []})
    stacks = defaultdict[int, list[FrameType]](list)

    def follow(frame: FrameType, event: str, _: object) -> None:
        code, thread = frame.f_code, threading.get_ident()
        running = stacks[thread]
        if event == "call" and code.co_filename.startswith(_BASE):
            path = code.co_filename.removeprefix(_BASE)
            depth = len(running) + (thread != first)
            calls[thread].append(Call(depth, path, code.co_qualname))
            running.append(frame)
        elif event == "return" and running and running[-1] is frame:
            running.pop()

    threading.setprofile(follow)
    sys.setprofile(follow)
    try:
        run()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return [call for found in calls.values() for call in found]


def follow_calls(title: str, calls: list[Call], limit: int, source: Source) -> Walk:
    """Make a walk of a trace: the calls that lead into another file, each once."""
    hops, seen = list[Hop](), set[tuple[str, str]]()
    running: list[
        tuple[str, int, bool]
    ] = []  # file, files deep, whether the walk goes on there
    for call in calls:
        del running[call.depth :]
        if not running:
            hops.append(Hop(0, call.path, call.qualname))
            running.append((call.path, 0, True))
            continue
        path, depth, goes_on = running[-1]
        if not goes_on or call.path == path or not _is_hop(call, source):
            running.append((call.path if "<" not in call.qualname else path, depth, goes_on))
            continue
        place = (call.path, call.qualname)
        if depth < limit and place not in seen:
            hops.append(Hop(depth + 1, *place))
            seen.add(place)
        running.append((call.path, depth + 1, _room(call.path) == _room(path)))
    return Walk(title, limit, tuple(hops))


def _is_hop(call: Call, source: Source) -> bool:
    """Tell whether a call is one that a reader follows; used by ``follow_calls``."""
    function = source.by_place.get((call.path, call.qualname))
    if function is None or function.name.startswith("__") or _room(call.path) == "terms":
        return False
    return not any("property" in decorator for decorator in function.decorators)


def _room(path: str) -> str:
    """The room of a file; used by ``follow_calls``."""
    return path.partition("/")[0]


def record_walks(source: Source) -> list[Walk]:
    """Record the walks of the house: a table, a decision, its reward, runs, a page."""
    return [
        follow_calls(title, trace_calls(run), limit, source)
        for title, limit, run in _list_calls()
    ]


def _list_calls() -> Iterator[tuple[str, int, Callable[[], object]]]:
    """List the calls to walk through, each made once before so that nothing is new to it."""
    derive, simulate, linear = boundit.derive_bounds, boundit.simulate, boundit.LinUCB
    world = boundit.paper_world()
    graph, query, log = world.graph, world.query, world.log(2_000, 1)
    table = derive(graph, query, log)
    yield "derive_bounds", 2, lambda: derive(graph, query, log)
    policy, context = linear(prior=table, watch=True), table.contexts[0]
    for _ in range(3):
        decision = policy.decide(context)
        policy.learn(decision, 1.0)
    yield "LinUCB.decide", 9, lambda: policy.decide(context)
    decision = policy.decide(context)
    yield "LinUCB.learn", 9, lambda: policy.learn(decision, 1.0)
    players = {"LinUCB-PCB": linear(prior=table)}
    simulate(world, players, rounds=20, runs=2, seed=1, workers=1)
    yield "simulate", 2, lambda: simulate(world, players, rounds=20, runs=2, seed=1, workers=1)
    with tempfile.TemporaryDirectory() as folder:
        _run_command("init", folder)
        ask = (
            "bound",
            f"{folder}/graph.txt",
            "Refill | do(Reminder), Age",
            f"{folder}/log.csv",
        )
        words = (*ask, "--report", f"{folder}/report.html")
        _run_command(*words)
        yield "boundit bound --report", 3, lambda: _run_command(*words)


def _run_command(*words: str) -> None:
    """Run a command of ours without its output."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        main(list(words))


def write_walks(walks: list[Walk], source: Source) -> str:
    """Write walks as nested lists, every function with the first sentence of its docstring."""
    return "\n\n".join(_write_walk(walk, source) for walk in walks)


def _write_walk(walk: Walk, source: Source) -> str:
    """Write one walk; called by ``write_walks``."""
    head = f"### `{walk.title}`: {walk.length} hops"
    if walk.limit < 9:
        head += f", {('one file', 'two files', 'three files')[walk.limit - 1]} deep"
    lines = [head, ""]
    for hop in walk.hops:
        function = source.by_place.get((hop.path, hop.qualname))
        lines.append(f"{'    ' * hop.depth}- {_write_hop(hop, function)}")
    return "\n".join(lines)


def _write_hop(hop: Hop, function: Function | None) -> str:
    """Write one hop: the file, the function, and what it is for; called by ``_write_walk``."""
    said = f": {function.summary}" if function and function.summary else ""
    return f"`{hop.path}` `{hop.qualname}`{said}"
