"""How wide intervals are beside the best possible, and how often all of a table hold.

``python -m research.benchmarks.widths --cells back-door,front-door --logs 1000 --jobs 2`` draws
logs of worlds whose truth is known (``width_worlds``), bounds each, and prints for every world and
number of rows:

- the identified set's mean width, and that of the *oracle*: the normal interval at estimated
  ends with true variances, Bonferroni over the rows of the table;
- coverage, of the truth and of the identified set, all rows of a table at once;
- the mean width, and its ratio to the oracle's; where the set is no point, that of the sampling
  parts, ``(width - set) / (oracle - set)``; and to AIPW's where it is a back door;
- which ratio is to be reached, and whether it is.

Below stand the worst coverages with the chance of fewer hits (binomial), to be compared with
5 percent shared by all of them (Bonferroni); one that falls below makes the exit code 1.
"""

import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from multiprocessing import get_context

import click
import numpy as np
from research.benchmarks import width_worlds as worlds
from scipy.stats import binom

import boundit as bd

SIZES = (200, 1_000, 5_000, 50_000)
LARGER = (500, 5_000, 50_000)
CHUNK = 25
"""Logs that one process draws at a time."""
ERROR = 0.05
"""The chance of a false alarm of the whole study, shared by all coverages in it."""
FLOORS = {"exact": 0.95, "approximate": 0.93}
TOLERANCE = 1e-9
Numbers = dict[str, list[list[float]]]


@dataclass(frozen=True)
class Cell:
    """A world, its sizes, and the ratios to the oracle that are to be reached."""

    name: str
    make: Callable[[int], worlds.WidthWorld]
    sizes: tuple[int, ...] = SIZES
    exact: Mapping[int, float] = field(default_factory=dict)
    approximate: Mapping[int, float] = field(default_factory=dict)
    share_of_logs: float = 1.0
    """Slow worlds are drawn less often."""

    def target(self, inference: str, n: int) -> float | None:
        """The ratio to be reached with ``n`` rows, if any."""
        if inference == "AIPW":
            return None
        return (self.approximate if inference == "approximate" else self.exact).get(n)


def list_cells() -> Iterator[Cell]:
    """List the worlds of the study."""
    mild, few = {1_000: 1.75, 5_000: 1.5, 50_000: 1.4}, {5_000: 1.05}
    sums, programs = {5_000: 1.7, 50_000: 1.45}, dict.fromkeys(LARGER, 1.12)
    for strata in (2, 8, 30, 200):
        for kind in ("mild", "sparse"):
            exact = {} if kind == "sparse" else mild if strata <= 30 else {5_000: 1.7}
            yield Cell(
                f"back-door-{strata}-{kind}",
                partial(worlds.make_back_door, strata, kind),
                SIZES if strata <= 30 else SIZES[1:],  # 200 strata in 200 rows are refused
                exact=exact,
                approximate=few if kind == "mild" and strata <= 30 else {},
            )
    for strata in (8, 30):
        make = partial(worlds.make_back_door, strata, "rare")
        yield Cell(f"back-door-{strata}-rare", make, SIZES[1:])
    yield Cell("six-confounders", worlds.make_six_confounders, (100_000,), share_of_logs=0.2)
    yield Cell("front-door", worlds.make_front_door, exact=sums)
    yield Cell("two-steps", worlds.make_two_steps, exact=sums)
    yield Cell("context", worlds.make_context, exact=sums)
    yield Cell("external", worlds.make_external)
    yield Cell("min-of-sum", partial(worlds.make_min_of_sum, external=False))
    outside = partial(worlds.make_min_of_sum, external=True)
    yield Cell("min-of-external", outside, share_of_logs=0.05)
    yield Cell("sequence", worlds.make_sequence)
    yield Cell("napkin", worlds.make_napkin, exact={5_000: 2.2, 50_000: 2.2})
    for kind in ("Dirichlet(1)", "Dirichlet(.3)", "few defiers"):
        make_types = partial(worlds.make_instrument, kind)
        name = f"instrument-{kind.replace(' ', '-')}"
        yield Cell(name, make_types, LARGER, exact=programs)
    yield Cell("instrument-in-strata", worlds.make_instrument_in_strata, (1_000, *LARGER[1:]))
    yield Cell("bow", worlds.make_bow, LARGER, exact=programs)
    yield Cell("conditioning", worlds.make_paper)
    for kind in worlds.REWARDS:
        name = f"numeric-{kind.replace(' ', '-')}"
        yield Cell(name, partial(worlds.make_numeric, kind), SIZES[1:])


CELLS = {cell.name: cell for cell in list_cells()}


@dataclass(frozen=True)
class Task:
    """Some logs of one world and size, bounded by one method, in this checkout or another."""

    cell: str
    n: int
    method: str
    seed: int
    first: int
    last: int
    confidence: float


@cache
def make_world(name: str, seed: int) -> worlds.WidthWorld:
    """Make the world of a cell, and see that the package's formula is ours."""
    world = CELLS[name].make(seed)
    gap = world.compare_formula()
    if gap > TOLERANCE:
        raise click.ClickException(f"{name}: ends of the exact law differ by {gap:.2g}")
    return world


def measure(task: Task) -> Numbers:
    """Draw some logs and bound them: widths, hits and seconds of each."""
    world = make_world(task.cell, task.seed)
    found: Numbers = {"widths": [], "hits": [], "seconds": []}
    for log in range(task.first, task.last):
        key = [task.seed, zlib.crc32(task.cell.encode()), task.n, log]
        counts = world.draw(task.n, np.random.default_rng(key))
        started = time.process_time()
        if task.method == "AIPW":
            widths, hits = measure_aipw(world, counts, task.confidence)
        else:
            widths, hits = measure_table(world, counts, task)
        found["seconds"].append([time.process_time() - started])
        found["widths"].append(widths)
        found["hits"].append(hits)
    return found


Measured = tuple[list[float], list[float]]


def measure_table(
    world: worlds.WidthWorld, counts: Sequence[worlds.Law], task: Task
) -> Measured:
    """Bound one log: its widths, and whether all hold the truth and the set."""
    try:
        table = world.derive(counts, confidence=task.confidence, inference=task.method)
    except bd.BounditError:  # the graph is true, so that whatever refutes it misses
        return [], [0.0, 0.0]
    lower, upper = world.true_ends()
    widths, truth_held, set_held = list[float](), True, True
    for key, bound in table.bounds.items():
        place = worlds.read_place(key)
        truth = float(world.truth[place])
        truth_held &= bound.lower - TOLERANCE <= truth <= bound.upper + TOLERANCE
        set_held &= bound.lower - TOLERANCE <= float(lower[place])
        set_held &= float(upper[place]) <= bound.upper + TOLERANCE
        widths.append(bound.upper - bound.lower)
    return widths, [float(truth_held), float(set_held)]


def measure_aipw(
    world: worlds.WidthWorld, counts: Sequence[worlds.Law], confidence: float
) -> Measured:
    """AIPW's intervals of one log."""
    centre, half = world.estimate_aipw(counts[0], confidence)
    held = float((np.abs(centre - world.truth) <= half).all())
    return (2 * half).ravel().tolist(), [held, held]


@dataclass(frozen=True)
class Result:
    """What one method does in one cell."""

    cell: str
    n: int
    method: str
    logs: int
    set_width: float
    oracle: float
    width: float
    ratio: float
    truth: float
    whole_set: float
    seconds: float
    refuted: int
    target: float | None
    aipw_ratio: float | None = None

    @property
    def reached(self) -> str:
        if self.target is None:
            return ""
        return f"<={self.target:g} {'yes' if self.ratio <= self.target else 'NO'}"

    def chance(self) -> float:
        """The chance of no more hits if coverage were just enough."""
        floor = FLOORS.get(self.method, 0.0)
        return float(binom.cdf(round(self.whole_set * self.logs), self.logs, floor))


def join(parts: Iterable[Numbers]) -> dict[str, list[list[float]]]:
    """Put the logs of all processes together."""
    whole: Numbers = {}
    for part in parts:
        for name, numbers in part.items():
            whole.setdefault(name, []).extend(numbers)
    return whole


def summarize(
    cell: Cell, n: int, method: str, found: Numbers, beside: Numbers | None, task: Task
) -> Result:
    """Sum up what one method did in one cell, beside AIPW."""
    world = make_world(cell.name, task.seed)
    lower, upper = world.true_ends()
    set_width, oracle = float(np.mean(upper - lower)), world.oracle(n, task.confidence)
    widths = np.array([w for w in found["widths"] if w])
    width = float(widths.mean()) if widths.size else float("nan")
    hits = np.array(found["hits"])
    aipw = np.array(beside["widths"]).mean() if beside else None
    return Result(
        cell.name,
        n,
        method,
        len(hits),
        set_width,
        oracle,
        width,
        (width - set_width) / (oracle - set_width),
        float(hits[:, 0].mean()),
        float(hits[:, 1].mean()),
        float(np.median(found["seconds"])),
        sum(not w for w in found["widths"]),
        cell.target(method, n),
        None if aipw is None else width / float(aipw),
    )


HEAD = (
    f"{'world':<27}{'rows':>8} {'method':<12}{'logs':>6}{'truth':>7}{'set':>7}{'width':>8}"
    f"{'oracle':>8}{'ratio':>7}{'AIPW':>7}  {'target':<11}{'ms':>6}"
)


def show(result: Result) -> None:
    """Print a line."""
    beside = "" if result.aipw_ratio is None else f"{result.aipw_ratio:.2f}"
    click.echo(
        f"{result.cell:<27}{result.n:>8,} {result.method:<12}{result.logs:>6,}"
        f"{result.truth:>7.3f}{result.whole_set:>7.3f}{result.width:>8.4f}"
        f"{result.oracle:>8.4f}{result.ratio:>7.2f}{beside:>7}  {result.reached:<11}"
        f"{1e3 * result.seconds:>6.0f}"
    )


def run_study(
    cells: Sequence[Cell],
    *,
    logs: int = 10,
    methods: Sequence[str] = ("exact", "approximate"),
    sizes: Sequence[int] = (),
    jobs: int = 1,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[Result]:
    """Measure all cells, and print each as soon as it is done."""
    click.echo(HEAD)
    done = list[Result]()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:

        def start(cell: Cell, n: int, method: str) -> list[Future[Numbers]]:
            of = max(1, round(logs * cell.share_of_logs))
            return [
                pool.submit(
                    measure,
                    Task(cell.name, n, method, seed, i, min(i + CHUNK, of), confidence),
                )
                for i in range(0, of, CHUNK)
            ]

        waiting = []
        for cell in cells:
            of = ("AIPW", *methods) if make_world(cell.name, seed).aipw else methods
            waiting += [
                (cell, n, {method: start(cell, n, method) for method in of})
                for n in cell.sizes
                if not sizes or n in sizes
            ]
        for cell, n, parts in waiting:
            found = {name: join(f.result() for f in of) for name, of in parts.items()}
            task = Task(cell.name, n, "", seed, 0, 0, confidence)
            for method in (*methods, *(["AIPW"] if "AIPW" in found else [])):
                beside = found.get("AIPW") if method != "AIPW" else None
                done.append(summarize(cell, n, method, found[method], beside, task))
                show(done[-1])
    return done


def judge(results: Sequence[Result]) -> bool:
    """Print how coverage and ratios stand; whether no coverage is too low beyond chance."""
    ours = [result for result in results if result.method != "AIPW"]
    click.echo()
    good = True
    for method in dict.fromkeys(result.method for result in ours):
        of = [result for result in ours if result.method == method]
        level = ERROR / len(of)
        low = [result for result in of if result.chance() < level]
        good &= not low
        click.echo(
            f"{method}: coverage of the set below {FLOORS[method]:g} beyond chance in "
            f"{len(low)} of {len(of)} cells (binomial, each at {level:.1e})"
        )
        for result in sorted(of, key=Result.chance)[: max(3, len(low))]:
            click.echo(
                f"  {result.cell}, {result.n:,} rows: {result.whole_set:.3f} of "
                f"{result.logs:,} logs, chance {result.chance():.2g}"
            )
        aimed = [result for result in of if result.target is not None]
        reached = [result for result in aimed if result.ratio <= (result.target or 0)]
        click.echo(f"{method}: {len(reached)} of {len(aimed)} ratios reached")
    return good


def choose_cells(names: str) -> list[Cell]:
    """Choose the cells whose names begin with one of those given, by commas."""
    starts = tuple(part.strip() for part in names.split(",") if part.strip())
    chosen = [cell for name, cell in CELLS.items() if not starts or name.startswith(starts)]
    if not chosen:
        raise click.UsageError(f"no such cells; there are {', '.join(CELLS)}")
    return chosen


def run() -> None:
    """Print a few logs of every cell."""
    judge(run_study(list(CELLS.values()), logs=5))


@click.command()
@click.option("--cells", default="", help="Beginnings of names, by commas; all if not given.")
@click.option("--logs", type=click.IntRange(1), default=100, show_default=True)
@click.option("--rows", type=int, multiple=True, help="These sizes only.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True)
@click.option("--seed", default=0, show_default=True, help="Another one draws other worlds.")
@click.option("--confidence", default=0.95, show_default=True)
@click.option(
    "--inference",
    type=click.Choice(["exact", "approximate", "both"]),
    default="both",
    show_default=True,
)
def main(
    cells: str,
    logs: int,
    rows: tuple[int, ...],
    jobs: int,
    seed: int,
    confidence: float,
    inference: str,
) -> None:
    """Measure widths and coverage of the cells that are named."""
    results = run_study(
        choose_cells(cells),
        logs=logs,
        methods=("exact", "approximate") if inference == "both" else (inference,),
        sizes=rows,
        jobs=jobs,
        seed=seed,
        confidence=confidence,
    )
    raise SystemExit(0 if judge(results) else 1)


if __name__ == "__main__":
    main()
