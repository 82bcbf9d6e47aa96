"""``check`` on large random graphs: seconds, memory and what was tested, against their size.

Every problem is a sparse random graph of 10 to 200 variables, three densities each, with
selection and without, and 200,000 logged rows of a model of that graph in a pandas frame. A
problem is drawn by one process and checked by another, whose clock and memory start when
boundit is warm and the frame is made. The graphs are true, so that a report that contradicts
one is a false alarm; of all reports, one in twenty may be. Last come the largest graphs under
limits that are too low for them. Some sizes only: ``python -m research.benchmarks.check 60 150``.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np
import pandas as pd

from boundit.checks.check import check
from boundit.graph.text import parse
from boundit_research.large_models import WorldShape, draw_large_log, draw_large_world

SIZES = (10, 20, 30, 40, 60, 100, 150, 200)
PARENTS = (1.0, 1.5, 2.5)
HIDDEN = 0.15
ROWS = 200_000
TIGHT = {"time_limit": 5.0, "memory_limit": "300 MB"}
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Outcome:
    """What one check took, and how many statements it tested and did not."""

    seconds: float
    memory: float
    tested: int
    untested: int
    alarm: bool


def draw(path: Path, nodes: int, parents: float, selection: bool) -> None:
    """Draw a problem and leave it as a file."""
    rng = np.random.default_rng([nodes, round(10 * parents), int(selection)])
    world = draw_large_world(
        WorldShape(nodes, parents, hidden=HIDDEN, selection=selection), rng
    )
    log = draw_large_log(world.model, ROWS, rng)
    np.savez(path, **log, **{"text graph": np.array(str(world.graph))}, allow_pickle=False)


def measure(path: Path, limits: dict[str, object]) -> Outcome:
    """Check a problem that was drawn, and measure it."""
    warm = pd.DataFrame({"X": [0, 1, 0, 1] * 9, "Y": [0, 1, 1, 0] * 9}, dtype="int8")
    check(parse("X; Y"), warm)
    with np.load(path) as held:
        graph = parse(str(held["text graph"]))
        frame = pd.DataFrame({n: held[n] for n in held.files if not n.startswith("text ")})
    before, started = peak(), time.perf_counter()
    report = check(graph, frame, **limits)  # type: ignore[arg-type]
    seconds = time.perf_counter() - started
    tested = sum(f.outcome is not None for f in report.findings)
    return Outcome(
        seconds, peak() - before, tested, len(report.findings) - tested, alarm=not report
    )


def peak() -> float:
    """The most memory that this process has had so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_apart(of: Callable[..., Answer], *given: object) -> Answer:
    """Run a function in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(of, *given).result()


def show(nodes: int, limits: dict[str, object], folder: Path) -> None:
    """Measure the problems of one size, and print them in a line."""
    found = []
    for parents, selection in product(PARENTS, (True, False)):
        path = folder / f"{nodes} {parents} {selection}.npz"
        if not path.exists():
            run_apart(draw, path, nodes, parents, selection)
        found.append(run_apart(measure, path, limits))
    numbers = [
        f"{how([getattr(one, of) for one in found]):>11{style}}"
        for of, style in (("seconds", ".2f"), ("memory", ",.0f"))
        for how in (median, max)
    ]
    tested, untested = (
        median(getattr(one, of) for one in found) for of in ("tested", "untested")
    )
    alarms = sum(one.alarm for one in found)
    print(
        f"{nodes:>5}{len(found):>10}{''.join(numbers)}{tested:>10,.0f}{untested:>10,.0f}"
        f"{alarms:>8}",
        flush=True,
    )


def run(sizes: Sequence[int] = SIZES) -> None:
    """Print the tables."""
    print(f"check on random sparse graphs, {ROWS:,} rows in a pandas frame")
    print("memory over the frame's; statements tested and untested are medians")
    names = ("median, s", "worst, s", "median MB", "worst MB")
    with tempfile.TemporaryDirectory() as folder:
        for limits, of in (({}, sizes), (TIGHT, [n for n in sizes if n >= max(SIZES) / 2])):
            told = ", ".join(f"{name}={value!r}" for name, value in limits.items())
            print(f"\n{told or 'no limits'}")
            print(
                f"{'nodes':>5}{'problems':>10}"
                + "".join(f"{name:>11}" for name in names)
                + f"{'tested':>10}{'untested':>10}{'alarms':>8}"
            )
            for nodes in of:
                show(nodes, dict(limits), Path(folder))


if __name__ == "__main__":
    run([int(text) for text in sys.argv[1:]] or SIZES)
