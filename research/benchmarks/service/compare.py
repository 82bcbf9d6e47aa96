"""Our service beside a bare handler and Vowpal Wabbit, request by request and in batches.

All servers of a store run at once, each a process of its own; for every kind of request and
number of connections they are asked one after the other, so that load which comes and goes
meets all alike. The best rate of the rounds counts, and the least that a row took of the
processor.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
from research.benchmarks.service.cost import NOW, OLD, ask
from research.benchmarks.service.load import Load, Measured, NoWrk, Server, decide_ahead, send
from tests.postgres import find_programs
from tests.postgres import run_server as run_postgres
from tests.service.kit import run_engine, save

import boundit as bd
from boundit.service.config import PolicyConfig
from boundit.service.store.base import Store
from boundit.service.store.postgres import PostgresStore

CONNECTIONS = (1, 16, 64, 256)
OURS, BEFORE, EACH, GROUP, WABBIT = (
    "boundit",
    "0.2.0",
    "bare, commit each",
    "bare, group commit",
    "VW, group commit",
)
WAYS = {EACH: "each", GROUP: "group", WABBIT: "vw"}
BATCH = 64
"""With 256 connections just below the rows that the service lets wait."""
LARGE = 2048
"""Sent over one connection, so that it can be held against a lone caller's single requests."""
KINDS = ("decide", "reward")
SPARE = 4
"""So many times as many decisions are there as rewards will be told of, at least."""
LOG_ROWS = 30_000


SIZES: dict[int, tuple[int, ...]] = {1: (1, BATCH, LARGE), BATCH: (1, BATCH)}
"""Rows of a request over one connection, and over more."""
Found = dict[tuple[str, Load], Measured]


@contextmanager
def run_process(
    name: str, module: str, *arguments: str, source: str | None = None
) -> Iterator[Server]:
    """Start a server, wait for its port, and stop it at the end; with another ``source`` too."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=None if source is None else os.environ | {"PYTHONPATH": source},
        start_new_session=True,  # so that who sends does not take its turns of the processor
    )
    assert process.stdout is not None
    try:
        said = process.stdout.readline().split()
        if not said:
            raise RuntimeError(f"{name} did not start")
        url = next(word for word in said if word.rpartition(":")[2].isdigit())
        yield Server(name, int(url.rpartition(":")[2]), process.pid)
    finally:
        process.terminate()
        process.wait(120)
        process.stdout.close()


def create_policy(store: Store) -> None:
    """One policy that learns at once, made before the server starts, which then compiles it.

    ``Fused``, with bounds from a log of the paper's world: four arms in four contexts.
    """
    world = bd.simulation.paper_environment()
    bounds = bd.derive_bounds(world.graph, world.query, world.log(LOG_ROWS, seed=0))
    with run_engine(store, PolicyConfig(name="visits", bounds=save(bounds), seed=1)):
        pass


def measure(server: Server, load: Load, seconds: int, turn: str) -> Measured:
    """Send one kind of request for a while; rewards are of decisions made just before."""
    kind, rows, _ = load
    prefix = f"{turn}-{rows}-{load.connections}-"
    if kind == "reward":
        made = MADE[server.name, prefix]
        most = max(round(SPARE * made), 100)
        # wrk takes the first number for itself, to see whether the script works.
        decide_ahead(server.port, prefix, 1, 1)
        decide_ahead(server.port, prefix, max(made - load.connections * rows, 1), most)
        found = send(server, load, prefix, most, seconds)
        if found.sent > most:
            click.echo(f"  {server.name}: more rewards than decisions at {load}", err=True)
        return found
    found = send(server, load, prefix, 10**9, seconds)
    MADE[server.name, prefix] = found.sent
    return found


MADE: dict[tuple[str, str], int] = {}
"""How many decisions a server made under a prefix."""


def compare(servers: Sequence[Server], seconds: int, rounds: int) -> Found:
    """Ask all servers everything, in turns; the best of the rounds counts."""
    found: Found = {}
    for turn in range(rounds):
        for load in list_loads():
            for server in servers:
                now = measure(server, load, seconds, str(turn))
                before = found.get((server.name, load), now)
                best = now if now.rows >= before.rows else before
                cost = min(now.cost, before.cost)
                found[server.name, load] = best._replace(cost=cost)
    return found


def print_table(store: str, names: Sequence[str], found: Found) -> None:
    """Print what every server did, and ours as a share of the others, by rate and by cost."""
    others = [name for name in names if name != OURS]
    click.echo(f"\n{store}: ours, and as a share of the others by rows a second / by processor")
    shares = "".join(f"{name:>20}" for name in others)
    click.echo(f"{'':<24}{'rows/s':>9}{'us/row':>8}{'p50 ms':>8}{'p99 ms':>8}{shares}")
    loads = sorted(list_loads(), key=lambda load: (load.rows, load.kind, load.connections))
    for load in loads:
        ours = found[OURS, load]
        line = "".join(f"{write_shares(ours, found[name, load]):>20}" for name in others)
        refused = f"  {ours.refused} refused" if ours.refused else ""
        click.echo(f"{write_label(load):<24}{write_times(ours)}{line}{refused}")
    for name in others:
        click.echo(name)
        for load in loads:
            click.echo(f"{write_label(load):<24}{write_times(found[name, load])}")
    if SIZES[1] != (1,):
        print_batches(found)


def list_loads() -> list[Load]:
    """All that is sent, in this order: rewards are of the decisions just before."""
    return [
        Load(kind, rows, n)
        for n in CONNECTIONS
        for rows in SIZES[1 if n == 1 else BATCH]
        for kind in KINDS
    ]


def write_label(load: Load) -> str:
    rows = f", {load.rows} rows" if load.rows > 1 else ""
    return f"{load.kind}{rows}, {load.connections}"


def write_times(found: Measured) -> str:
    return f"{found.rows:>9,.0f}{found.cost:>8.0f}{found.p50:>8.1f}{found.p99:>8.1f}"


def write_shares(ours: Measured, other: Measured) -> str:
    return f"{ours.rows / other.rows:.0%} / {other.cost / ours.cost:.0%}"


def print_batches(found: Found) -> None:
    """Print how many times more rows batches bring than single requests."""
    for rows, connections in ((BATCH, CONNECTIONS), (LARGE, (1,))):
        for kind in KINDS:
            pairs = [
                (found[OURS, Load(kind, rows, n)], found[OURS, Load(kind, 1, n)])
                for n in connections
            ]
            ratios = [f"{many.rows / one.rows:.0f}x" for many, one in pairs]
            click.echo(f"batches of {rows} beside single {kind}s: {', '.join(ratios)}")


def compare_on_sqlite(seconds: int, rounds: int) -> None:
    """One file on a disk: memory would make every commit free."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="boundit-bench-", dir="/var/tmp"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        servers = list[Server]()
        sources = {OURS: (NOW, "--store")} | (
            {BEFORE: (str(OLD), "--data")} if OLD.exists() else {}
        )
        for name, (source, flag) in sources.items():
            ask(source, "create", "Fused", str(folder / name))
            where = (flag, str(folder / name), "--port", "0")
            run = run_process(name, "boundit", "serve", *where, source=source)
            servers.append(stack.enter_context(run))
        for name, way in WAYS.items():
            (folder / way).mkdir()
            arguments = ("sqlite", way, str(folder / way))
            bare = run_process(name, "research.benchmarks.service.bare", *arguments)
            servers.append(stack.enter_context(bare))
        print_table("SQLite", [one.name for one in servers], compare(servers, seconds, rounds))


def compare_on_postgres(seconds: int, rounds: int) -> None:
    """A server of our own, which keeps what it says it has."""
    if find_programs() is None:
        click.echo("there is no PostgreSQL on this machine", err=True)
        return
    with ExitStack() as stack:
        database = stack.enter_context(run_postgres(settings=""))
        urls = {
            name: stack.enter_context(database.make_database()) for name in (OURS, EACH, GROUP)
        }
        create_policy(PostgresStore(urls[OURS]))
        where = ("--store", urls[OURS], "--port", "0")
        servers = [stack.enter_context(run_process(OURS, "boundit", "serve", *where))]
        for name in (EACH, GROUP):
            arguments = ("postgres", WAYS[name], urls[name])
            bare = run_process(name, "research.benchmarks.service.bare", *arguments)
            servers.append(stack.enter_context(bare))
        print_table(
            "PostgreSQL", [one.name for one in servers], compare(servers, seconds, rounds)
        )


def compare_all(seconds: int, rounds: int, *, singles: bool) -> None:
    """Print the tables of both stores; ``singles`` sends no batches."""
    if singles:
        SIZES.update({1: (1,), BATCH: (1,)})
    try:
        compare_on_sqlite(seconds, rounds)
        compare_on_postgres(seconds, rounds)
    except NoWrk:
        click.echo("wrk is not installed: apt-get install wrk", err=True)
