"""From a Parquet log to the full bound table, beside the one group-by that it needs.

The log has twelve int8 columns; eleven are grouped by, the reward is added up. Each measurement
is a fresh process of its own, so that its peak memory is its own too. A bound table must have
the same row counts as the bare group-by before its time counts. More rows than ``make bench``
takes: ``python -m research.benchmarks.counts --rows 20000000``.
"""

import cProfile
import json
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
import duckdb

from boundit.bounds.derive import derive_bounds
from boundit.graph.text import parse

GRAPH = (
    "C1 -> X1 -> M1 -> Y; C2 -> X2 -> M2 -> Y; C1 -> Y; C2 -> Y; Z1 -> X1; Z1 -> Y; "
    "Z2 -> X2; Z2 -> Y; Z3 -> Z1; Z4 -> Z2; Z3 -> W -> Z4; M1 -> [S]; Z1 -> S"
)
QUERY = "Y | do(X1, X2), C1, C2"
LEVELS = {"X1": 4, "X2": 2, "C1": 3, "C2": 2} | dict.fromkeys(
    ["M1", "M2", "Z1", "Z2", "Z3", "Z4", "W"], 3
)
KEYS = ", ".join(LEVELS)
# What a reward needs: its sum and sum of squares for means, its extremes for the range check.
SUMS = "count(*) AS n, sum(Y), sum(Y * Y), min(Y), max(Y)"
GROUP = f"SELECT {KEYS}, {SUMS} FROM read_parquet(?) GROUP BY {KEYS}"
ROWS = 2_000_000
ROUNDS = 3


def make_log(path: Path, rows: int, *, coarse: int = 0) -> None:
    """Write a log in which everything is a fair draw and the reward follows some of it.

    Draws are hashes of the row's number, so that threads do not change them. ``coarse`` columns
    have one level only: fewer cells from as many rows.
    """
    kept = dict(LEVELS) | dict.fromkeys(list(reversed(LEVELS))[:coarse], 1)
    keys = [
        f"CAST(hash(i * 16 + {place}) % {levels} AS TINYINT) AS {name}"
        for place, (name, levels) in enumerate(kept.items())
    ]
    reward = "CAST(hash(i * 16 + 15) % 10 < 2 + M1 + X2 + Z1 AS TINYINT) AS Y"
    source = f"SELECT i, {', '.join(keys)} FROM range({rows}) AS numbers(i)"
    columns = ", ".join([*kept, reward])
    duckdb.sql(f"COPY (SELECT {columns} FROM ({source})) TO '{path}' (FORMAT parquet)")


def bare(path: str) -> dict[str, float]:
    """Group once, and nothing else."""
    with duckdb.connect() as connection:
        cells = connection.execute(GROUP, [path]).fetchnumpy()
    return {"cells": len(cells["n"]), "rows": float(cells["n"].sum())}


def derived(path: str, max_condition: int = 3) -> dict[str, float]:
    """Derive every bound."""
    table = derive_bounds(parse(GRAPH), QUERY, path, max_condition=max_condition)
    return {"rules": len(table.rules), "rows": sum(bound.n for bound in table.bounds.values())}


def measured(what: str, path: Path, *options: int) -> dict[str, float]:
    """Measure one call in a fresh process: seconds, and peak memory in megabytes."""
    command = [sys.executable, "-m", "research.benchmarks.counts", "--only", what, str(path)]
    answer: dict[str, float] = json.loads(
        subprocess.check_output([*command, *map(str, options)])
    )
    return answer


def only(what: str, path: str, *options: str) -> None:
    """Measure one call in this process and print it for the one that asked."""
    call = {"bare": bare, "derived": derived}[what]
    started, worked = time.perf_counter(), time.process_time()
    answer = call(path, *map(int, options))
    answer["seconds"] = time.perf_counter() - started
    answer["cpu"] = time.process_time() - worked
    answer["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(answer))


def line(label: str, path: Path, max_condition: int = 3) -> None:
    """Print one comparison: the best of a few rounds, in turns, as load comes and goes."""
    rounds = [
        (measured("bare", path), measured("derived", path, max_condition))
        for _ in range(ROUNDS)
    ]
    least, ours = (
        {k: min(run[k] for run in runs) for k in runs[0]} for runs in zip(*rounds, strict=True)
    )
    if least["rows"] != ours["rows"]:
        click.echo(f"{label:<36} rows differ: {least['rows']:,.0f} and {ours['rows']:,.0f}")
        return
    click.echo(
        f"{label:<36}{least['cells']:>9,.0f}{ours['rules']:>7.0f}{least['seconds']:>9.2f}"
        f"{ours['seconds']:>9.2f}{ours['seconds'] / least['seconds']:>8.2f}x"
        f"{least['cpu']:>9.2f}{ours['cpu']:>9.2f}{ours['cpu'] / least['cpu']:>8.2f}x"
        f"{least['peak']:>9.0f}{ours['peak'] - least['peak']:>+8.0f}"
    )


def show_rest(path: Path) -> None:
    """Print where the time goes that is not the group-by."""
    profile = cProfile.Profile()
    profile.runcall(derived, str(path))
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    spent = {
        f"{Path(file).parent.name}/{Path(file).name}:{name}": cumulative
        for (file, _, name), (_, _, _, cumulative, _) in stats.items()
        if "boundit/bounds/" in file or "boundit/counts/" in file
    }
    click.echo("\nwhere it goes, seconds with everything called (cProfile)")
    for name, seconds in sorted(spent.items(), key=lambda item: -item[1])[:14]:
        click.echo(f"{seconds:>8.2f}  {name}")


def run(rows: int = ROWS) -> None:
    """Print the table."""
    size = f"{rows:,} rows"
    click.echo("derive_bounds on Parquet beside the bare group-by it needs; peak memory in MB")
    click.echo(
        f"{'':<36}{'cells':>9}{'rules':>7}{'bare, s':>9}{'ours, s':>9}{'ratio':>9}"
        f"{'bare cpu':>9}{'ours cpu':>9}{'ratio':>9}{'bare MB':>9}{'ours':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.parquet"
        make_log(log, rows)
        line(f"{size}, {log.stat().st_size / 2**20:.0f} MB", log)
        for longest in (2, 4):
            line(f"{size}, max_condition={longest}", log, longest)
        for fewer in (2, 4):
            path = Path(folder) / f"coarse{fewer}.parquet"
            make_log(path, rows, coarse=fewer)
            line(f"{size}, {fewer} columns constant", path)
        path = Path(folder) / "short.parquet"
        make_log(path, rows // 10)
        line(f"{rows // 10:,} rows", path)
        show_rest(log)


@click.command()
@click.option("--rows", default=ROWS, show_default=True)
@click.option("--only", "only_this", is_flag=True, hidden=True)
@click.argument("rest", nargs=-1)
def main(rows: int, only_this: bool, rest: tuple[str, ...]) -> None:
    """Measure with another number of rows."""
    if only_this:
        only(*rest)
    else:
        run(rows)


if __name__ == "__main__":
    main()
