"""``python -m tests.service.crash --store sqlite --kills 100``: kill, check, and say so."""

import json
import random
import sys
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict

import click

from boundit.service.commands import Decide, DecideRequest, GiveRewards, RewardRequest
from boundit.service.engine import Engine
from tests.postgres import run_server
from tests.service.crash.driver import CrashReport, CrashRun
from tests.service.crash.stores import CrashStore, make_database, make_file
from tests.service.kit import make_config, run_engine

KILLS_A_ROUND = 25


def warm_up() -> None:
    """Load and compile all that engines use, once, before any of them is forked off."""
    with make_file() as store:
        for kind in ("TS", "LinUCB", "Fused"):
            config = make_config(kind, kind, explore=0.05)
            with run_engine(store.open(), config) as engine:
                _play(engine, kind)


def _play(engine: Engine, name: str) -> None:
    for n in (1, 8):
        names = [f"{name} {n} {i}" for i in range(n)]
        engine.run(Decide(name, [DecideRequest(one, {"Age": 0}) for one in names]))
        engine.run(GiveRewards(name, [RewardRequest(one, 1.0) for one in names]))


def run_rounds(
    stack: ExitStack, kind: str, kills: int, rng: random.Random, longest: float
) -> CrashReport:
    """Kill so often, in rounds with a new store each, and check after every kill."""
    total = CrashReport()
    server = stack.enter_context(run_server("-c fsync=on")) if kind == "postgres" else None
    while total.n_kills < kills:
        made: AbstractContextManager[CrashStore]
        made = make_file() if server is None else make_database(server)
        with made as store, CrashRun(store, rng, workers=3 if server else 2) as run:
            for _ in range(min(KILLS_A_ROUND, kills - total.n_kills)):
                run.kill_once(longest)
                run.check()
            run.stop()
        total.add(run.report)
        click.echo(f"{kind}: {json.dumps(asdict(total))}", err=True)
        if total.faults:
            break
    return total


@click.command()
@click.option("--store", type=click.Choice(["sqlite", "postgres"]), default="sqlite")
@click.option("--kills", type=click.IntRange(1), default=100)
@click.option("--seed", type=int, default=0)
@click.option("--longest", default=0.2, help="Seconds between two kills, at most.")
def main(store: str, kills: int, seed: int, longest: float) -> None:
    """Kill engines under load, and check that nothing acknowledged is lost."""
    warm_up()
    with ExitStack() as stack:
        report = run_rounds(stack, store, kills, random.Random(seed), longest)
    click.echo(json.dumps(asdict(report)))
    sys.exit(bool(report.faults))


if __name__ == "__main__":
    main()
