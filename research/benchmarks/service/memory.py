"""A year of a service with retention: what it holds in memory, in its state and on disk.

The engine runs in this process on a clock that is set. Every simulated day visitors come in
batches, some of them earn, windows of a week close with the default reward, and the policy's
retention of thirty days erases what is older. Neither memory nor the state may grow with the
events; the file holds a month of events, and for each pruned decision the hash of its id.

A million decisions, about 2.3 million events, stand for ten million: what grows with events
would show. ``--decisions 4400000`` makes ten million events of it.
"""

import gc
import os
import random
import shutil
import tempfile
import time
from pathlib import Path

import click
from tests.service.kit import SetClock, run_engine, save

import boundit as bd
from boundit.service.commands import (
    CloseWindows,
    Decide,
    DecideRequest,
    GiveRewards,
    RewardRequest,
)
from boundit.service.config import PolicyConfig
from boundit.service.engine import Engine
from boundit.service.reward import AT_ONCE
from boundit.service.store.sqlite import SqliteStore

DAYS, DAY, WEEK, KEPT = 365, 86_400, 7 * 86_400, 30
BATCH = 500
DECISIONS = 1_000_000
REWARDED = 0.3


def read_resident() -> int:
    """How many bytes of memory the process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def live_a_day(engine: Engine, rng: random.Random, day: int, visitors: int) -> None:
    """Visitors in batches; some earn at once, of the others nobody hears."""
    for first in range(0, visitors, BATCH):
        ids = [f"{day}-{i}" for i in range(first, min(first + BATCH, visitors))]
        engine.run(
            Decide(
                "p",
                [DecideRequest(one, [rng.getrandbits(1), rng.getrandbits(1)]) for one in ids],
            )
        )
        earned = [RewardRequest(one, 1.0) for one in ids if rng.random() < REWARDED]
        if earned:
            engine.run(GiveRewards("p", earned))
    while engine.run(CloseWindows("p")) >= AT_ONCE:
        pass


def measure_year(decisions: int) -> None:
    """Print what is held at the end of every month."""
    world = bd.simulation.paper_environment()
    bounds = bd.derive_bounds(world.graph, world.query, world.log(30_000, seed=0))
    config = PolicyConfig(
        name="p", bounds=save(bounds), seed=1, window=WEEK, default_reward=0.0, retention=KEPT
    )
    folder = Path(tempfile.mkdtemp(prefix="boundit-bench-"))
    clock, rng, begun = SetClock(), random.Random(1), time.perf_counter()
    click.echo(
        f"a year of {decisions:,} decisions, what is older than {KEPT} days erased; in MB"
    )
    click.echo(f"{'day':>5}{'events':>14}{'kept':>12}{'memory':>10}{'state':>10}{'file':>10}")
    store = SqliteStore(folder, clock=clock)
    try:
        with run_engine(store, config, tick=0.2, erase_every=0.5) as engine:
            for day in range(1, DAYS + 1):
                clock.move(DAY)
                live_a_day(engine, rng, day, round(decisions / DAYS))
                if day % KEPT == 0:
                    print_line(engine, day, folder)
            report = engine.replay("p")
    finally:
        shutil.rmtree(folder)
    click.echo(
        "replay from the base that pruning left: " + ("equal" if report.agrees else "DIFFERS")
    )
    click.echo(f"{time.perf_counter() - begun:,.0f} seconds", err=True)


def print_line(engine: Engine, day: int, folder: Path) -> None:
    """Print one line, in MB; memory is what is resident after the garbage is collected."""
    gc.collect()
    shown = engine.show_policy("p")
    with engine.store.read() as transaction:
        head = transaction.get_head("p")
        assert head is not None
    state = len(engine._get_fold("p").write_state())  # noqa: SLF001
    size = sum(path.stat().st_size for path in folder.iterdir())
    kept = shown.position - head.pruned_position
    numbers = f"{read_resident() / 1e6:>10.0f}{state / 1e6:>10.3f}{size / 1e6:>10.0f}"
    click.echo(f"{day:>5}{shown.position:>14,}{kept:>12,}{numbers}")
