"""Bounds on large random graphs: seconds, memory and what comes of it, against their size.

Every problem is a sparse random graph of 10 to 200 variables with 200,000 logged rows in a
pandas frame; of each size there are three densities, with selection and without, and in each
the hidden causes, contexts and treatments vary by seed. Where a variable's causes are drawn
from all before it, the reward depends on few of many variables; so there is a second table of
graphs with long chains of causes, each drawn from the ``REACH`` variables before its effect.

A problem is drawn by one process and bounded by another, whose clock and memory start when
boundit is imported, warm, and the frame is made. Shares are means over problems of the share of
a table's rows (an arm in a context); a problem that fails counts as rows of no use, and as one
that takes for ever (inf). Whoever takes longer than ``LATEST`` or grows beyond ``LARGEST`` is
stopped, and has failed. A few of them only:
``python -m research.benchmarks.scaling --quick``; one by one: ``--nodes 60 --each``.
"""

import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from math import inf
from pathlib import Path
from statistics import median

import click
import numpy as np
import pandas as pd

from boundit.bounds.derive import derive_bounds
from boundit.core.rounding import ROUNDING
from boundit.graph.text import parse
from boundit_research.large_models import WorldShape, draw_large_log, draw_large_world

SIZES = (10, 20, 30, 40, 60, 100, 150, 200)
PARENTS = (1.0, 1.5, 2.5)
HIDDEN = (0.0, 0.15, 0.3)
REACH = 8
ROWS = 200_000
SEEDS = 3
LATEST = 120.0
"""Seconds for one problem."""
LARGEST = 8192.0
"""Megabytes for the process of one problem."""
PROMISES = ((60, 5.0, 1024.0), (150, 20.0, 2048.0))
"""Sizes, and the seconds and megabytes that the median problem of each is to stay below."""
BUDGET = re.compile("time_limit|memory_limit")


@dataclass(frozen=True)
class Case:
    """Where a problem stands in the run, which fixes all that is drawn for it."""

    nodes: int
    parents: float
    selection: bool
    seed: int
    reach: int | None = None

    def shape(self) -> WorldShape:
        rng = np.random.default_rng([*self.key(), 1])
        return WorldShape(
            self.nodes,
            self.parents,
            hidden=float(rng.choice(HIDDEN)),
            treatments=int(rng.integers(1, 3)),
            contexts=int(rng.integers(0, 3)),
            selection=self.selection,
            reach=self.reach,
        )

    def key(self) -> list[int]:
        place = [self.nodes, round(self.parents * 10), int(self.selection), self.seed]
        return place if self.reach is None else [*place, self.reach]


@dataclass(frozen=True)
class Outcome:
    """What became of one problem; a failure takes for ever."""

    case: Case
    failure: str = ""
    seconds: float = inf
    memory: float = inf
    rows: int = 0
    useful: float = 0.0
    narrow: float = 0.0
    budget: bool = False
    skipped: float = 0.0


def draw(path: str, key: Sequence[int], given: dict[str, object]) -> dict[str, object]:
    """Draw a problem and leave it as a file."""
    case = Case(**given)  # type: ignore[arg-type]
    rng = np.random.default_rng(key)
    world = draw_large_world(case.shape(), rng)
    log, asked = draw_large_log(world.model, ROWS, rng), world.query
    told = ", ".join([f"do({', '.join(asked.treatments)})", *asked.context])
    texts = {"graph": str(world.graph), "query": f"{asked.outcomes[0]} | {told}"}
    held = log | {f"text {name}": np.array(text) for name, text in texts.items()}
    np.savez(path, allow_pickle=False, **held)
    return {}


def bound(path: str, limits: dict[str, object]) -> dict[str, object]:
    """Bound a problem that was drawn, and measure it."""
    warm = pd.DataFrame({"X": [0, 1, 0, 1], "Y": [0, 1, 1, 0]}, dtype="int8")
    derive_bounds(parse("X -> Y; X <-> Y"), "Y | do(X)", warm)
    with np.load(path) as held:
        graph, query = parse(str(held["text graph"])), str(held["text query"])
        frame = pd.DataFrame({n: held[n] for n in held.files if not n.startswith("text ")})
    before, started = peak(), time.perf_counter()
    table = derive_bounds(graph, query, frame, **limits)  # type: ignore[arg-type]
    seconds = time.perf_counter() - started
    widths = np.array([bound.upper - bound.lower for bound in table.bounds.values()])
    useful = widths < 1 - ROUNDING
    budget = any(BUDGET.search(caveat) for caveat in table.caveats)
    return {
        "seconds": seconds,
        "memory": peak() - before,
        "rows": len(widths),
        "useful": float(useful.mean()),
        "narrow": float((widths < 0.5).mean()),
        "budget": budget,
        "skipped": float((~useful).mean()) if budget else 0.0,
    }


def peak() -> float:
    """The most memory that this process has had so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(case: Case, folder: Path, limits: dict[str, object]) -> Outcome:
    """Draw a problem in one fresh process and bound it in another."""
    path = folder / "problem.npz"
    run_child({"path": str(path), "key": case.key(), "given": asdict(case)}, "draw")
    try:
        found = run_child({"path": str(path), "limits": limits}, "bound")
    except ChildFailed as failed:
        return Outcome(case, str(failed))
    return Outcome(case, **found)  # type: ignore[arg-type]


class ChildFailed(Exception):
    """A process that was stopped, was killed or raised."""


def run_child(task: dict[str, object], what: str) -> dict[str, object]:
    """Run one task in a process of its own, watched, and read what it prints."""
    command = [
        sys.executable,
        "-m",
        "research.benchmarks.scaling",
        "--only",
        what,
        json.dumps(task),
    ]
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as erred:
        child = subprocess.Popen(command, stdout=said, stderr=erred)
        reason = watch(child)
        said.seek(0)
        erred.seek(0)
        lines = erred.read().strip().splitlines()
        if reason or child.returncode:
            raise ChildFailed(reason or (lines[-1] if lines else f"code {child.returncode}"))
        answer: dict[str, object] = json.loads(said.read())
        return answer


def watch(child: subprocess.Popen[bytes]) -> str:
    """Wait for a process, or kill it when it takes too long or grows too large; say which."""
    started = time.monotonic()
    reason = ""
    while child.poll() is None:
        time.sleep(0.02)
        if time.monotonic() - started > LATEST:
            reason = f"over {LATEST:.0f} s"
        elif resident(child.pid) > LARGEST:
            reason = f"over {LARGEST:,.0f} MB"
        if reason:
            child.kill()
            child.wait()
    return reason


def resident(pid: int) -> float:
    """How many megabytes a process has now; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * resource.getpagesize() / 2**20


def line(label: str, outcomes: Sequence[Outcome]) -> None:
    """Print what became of some problems."""
    numbers = []
    for of, digits in (("seconds", 2), ("memory", 0)):
        amounts = sorted(getattr(one, of) for one in outcomes)
        numbers += [f"{amount:>10,.{digits}f}" for amount in (median(amounts), amounts[-1])]
    shares = [
        sum(getattr(one, of) for one in outcomes) / len(outcomes)
        for of in ("useful", "narrow", "budget", "skipped")
    ]
    click.echo(
        f"{label:<22}{len(outcomes):>9}{''.join(numbers)}"
        + "".join(f"{share:>9.0%}" for share in shares)
        + f"{sum(bool(one.failure) for one in outcomes):>8}"
    )


def head(label: str) -> None:
    """Print what the columns are."""
    names = ("median, s", "worst, s", "median MB", "worst MB")
    shares = ("useful", "narrow", "budget", "skipped")
    click.echo(
        f"{label:<22}{'problems':>9}"
        + "".join(f"{name:>10}" for name in names)
        + "".join(f"{name:>9}" for name in shares)
        + f"{'failed':>8}"
    )


def show_each(one: Outcome) -> None:
    """Print one problem, so that it can be looked at alone."""
    shown = one.failure or (
        f"{one.seconds:.2f} s, {one.memory:,.0f} MB, {one.rows} rows, {one.useful:.0%} useful, "
        f"{one.narrow:.0%} narrow, {one.skipped:.0%} skipped"
    )
    click.echo(f"  seed {one.case.seed}: {one.case.shape()}: {shown}")


def show_kinds(found: Sequence[Outcome]) -> None:
    """Print the same problems again: the densest by size, and by their kind, of all sizes."""
    head(f"nodes, {PARENTS[-1]:g} parents")
    for nodes in dict.fromkeys(one.case.nodes for one in found):
        dense = [one for one in found if one.case.parents == PARENTS[-1]]
        line(f"{nodes}", [one for one in dense if one.case.nodes == nodes])
    click.echo()
    head("all sizes")
    for parents in PARENTS:
        line(f"{parents:g} parents", [one for one in found if one.case.parents == parents])
    for selection, label in ((True, "selected"), (False, "not selected")):
        line(label, [one for one in found if one.case.selection is selection])
    shapes = [(one, one.case.shape()) for one in found]
    for hidden in HIDDEN:
        of = [one for one, shape in shapes if shape.hidden == hidden]
        if of:
            line(f"{hidden:g} hidden causes", of)
    for contexts in range(3):
        of = [one for one, shape in shapes if shape.contexts == contexts]
        if of:
            line(f"{contexts} contexts", of)


def show_promises(found: Sequence[Outcome]) -> None:
    """Print whether the sizes with a promise keep it."""
    for nodes, most, memory in PROMISES:
        of = [one for one in found if one.case.nodes == nodes]
        if not of:
            continue
        kept = (
            not any(one.failure for one in of)
            and median(one.seconds for one in of) < most
            and median(one.memory for one in of) < memory
            and sum(one.skipped for one in of) / len(of) <= 0.1
        )
        click.echo(
            f"{nodes} nodes, median under {most:.0f} s and {memory:,.0f} MB, at most 10% "
            f"skipped, none failed: {'kept' if kept else 'not kept'}"
        )


def show_failures(found: Sequence[Outcome]) -> None:
    """Print every problem that failed, and how."""
    for one in found:
        if one.failure:
            click.echo(f"failed: seed {one.case.seed}, {one.case.shape()}: {one.failure}")


def run(
    sizes: Iterable[int] = SIZES,
    seeds: Sequence[int] = range(SEEDS),
    limits: dict[str, object] | None = None,
    each: bool = False,
) -> None:
    """Print the tables."""
    click.echo(f"derive_bounds on random sparse graphs, {ROWS:,} rows in a pandas frame")
    click.echo("useful: narrower than the range; narrow: below 0.5; budget: a limit was met")
    click.echo("skipped: rows left at the range where a limit was met; memory over the frame's")
    head("nodes")
    found = list(measure_sizes(sizes, seeds, None, limits or {}, each))
    click.echo()
    head(f"causes within {REACH}")
    few = seeds[: max(len(seeds) // 3, 1)]
    chains = list(measure_sizes(sizes, few, REACH, limits or {}, each))
    click.echo()
    show_kinds(found)
    click.echo()
    show_promises(found)
    show_failures([*found, *chains])


def measure_sizes(
    sizes: Iterable[int],
    seeds: Sequence[int],
    reach: int | None,
    limits: dict[str, object],
    each: bool,
) -> Iterator[Outcome]:
    """Measure the problems of every size, and print a line a size."""
    with tempfile.TemporaryDirectory() as folder:
        for nodes in sizes:
            found = []
            for of in product(PARENTS, (True, False), seeds):
                found.append(measured(Case(nodes, *of, reach), Path(folder), limits))
                if each:
                    show_each(found[-1])
            line(f"{nodes}", found)
            yield from found


@click.command()
@click.option("--quick", is_flag=True, help="One seed of each kind.")
@click.option("--nodes", type=int, multiple=True, help="These sizes only.")
@click.option("--seeds", type=int, default=SEEDS, show_default=True)
@click.option("--first-seed", type=int, default=0, show_default=True)
@click.option("--time-limit", type=float)
@click.option("--memory-limit")
@click.option("--each", is_flag=True, help="A line for every problem.")
@click.option("--only", hidden=True)
@click.argument("task", required=False)
def main(
    quick: bool,
    nodes: tuple[int, ...],
    seeds: int,
    first_seed: int,
    time_limit: float | None,
    memory_limit: str | None,
    each: bool,
    only: str | None,
    task: str | None,
) -> None:
    """Measure other sizes and seeds."""
    if only is not None:
        given = json.loads(task or "{}")
        print(json.dumps(bound(**given) if only == "bound" else draw(**given)))
        return
    some = range(first_seed, first_seed + (1 if quick else seeds))
    limits = {"time_limit": time_limit, "memory_limit": memory_limit}
    run(nodes or SIZES, some, {k: v for k, v in limits.items() if v is not None}, each)


if __name__ == "__main__":
    main()
