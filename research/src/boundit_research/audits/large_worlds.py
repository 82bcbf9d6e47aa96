"""Do the bounds hold on graphs of tens of variables? Drawn and exact logs against the truth.

Each world is a sparse random graph of, say, 10 to 40 variables with a question; of some that
are selected the selection rate is known. It is bounded three times: from a drawn log at the
usual confidence, where whole tables may miss now and then; from the same log at a confidence so
high that none should; and from the exact law of the columns that the rules read, where that has
not too many cells. The truth is computed by elimination, else from people drawn under
``do(arm)``; then a miss is what the truth's own error cannot explain.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt

import duckdb
import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from boundit.bounds.derive import derive_bounds
from boundit.core.rounding import ROUNDING
from boundit.counts.log import Log, read_log
from boundit.results.bound_table import BoundTable
from boundit.simulation.environment import Environment
from boundit.simulation.errors import ModelTooLarge
from boundit_research.audits.report import Report, judge_each
from boundit_research.expected_log import open_expected_log
from boundit_research.large_models import WorldShape, draw_large_log, draw_large_world
from boundit_research.simulated_do import TrueMeans, compute_true_means

CONFIDENCES: dict[str, float | None] = {
    "drawn, 95%": 0.95,
    "drawn, 99.9999%": 0.999999,
    "exact": None,
}
"""The kinds of bounds, and at what confidence each is derived."""
ERRORS = 5.0
"""A simulated truth may be off by so many standard errors."""
PARENTS = (1.0, 1.5, 2.5)
HIDDEN = (0.0, 0.15, 0.3)
LEVELS = ((2,), (2, 3, 4))
REACH = 8


@dataclass(frozen=True, slots=True)
class LargeMiss:
    """An interval or difference that leaves the truth out, and the world that repeats it."""

    world: int
    log: str
    shape: str
    query: str
    row: str


@dataclass
class LogTally:
    """How one kind of bounds did; ``left_out`` tables had an exact law too large to count."""

    confidence: float | None = None
    tables: int = 0
    rows: int = 0
    useful: int = 0
    width: float = 0.0
    contrasts: int = 0
    missed_tables: int = 0
    missed_rows: int = 0
    missed_contrasts: int = 0
    left_out: int = 0

    @property
    def may_be_chance(self) -> bool:
        """Whether no more whole tables miss than the confidence allows, within three errors.

        An exact law allows none.
        """
        if self.confidence is None:
            return not self.missed_rows + self.missed_contrasts
        often = 1 - self.confidence
        spread = 3 * sqrt(often * self.confidence * self.tables)
        return self.missed_tables <= often * self.tables + spread

    @property
    def mean_width(self) -> float:
        """The mean width of all intervals, trivial ones included."""
        return self.width / self.rows if self.rows else 0.0

    @property
    def share_useful(self) -> float:
        """The share of intervals that say more than the reward's range."""
        return self.useful / self.rows if self.rows else 0.0


@dataclass
class LargeReport(Report):
    """How each kind of bounds did on large graphs."""

    unit = "worlds"
    nodes: tuple[int, int] = (10, 40)
    log_rows: int = 200_000
    simulated: int = 0
    tallies: dict[str, LogTally] = field(
        default_factory=lambda: {name: LogTally(c) for name, c in CONFIDENCES.items()}
    )
    misses: list[LargeMiss] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when no kind of bounds misses more often than it may."""
        return all(tally.may_be_chance for tally in self.tallies.values())

    def __str__(self) -> str:
        """Say how many tables and intervals miss, and how wide they are."""
        least, most = self.nodes
        lines = [
            f"{self.models:,} random worlds of {least} to {most} variables, seed {self.seed}, "
            f"{self.log_rows:,} rows; {self.simulated:,} with a simulated truth",
            f"{'log':<17}{'tables':>8}{'missed':>8}{'intervals':>11}{'missed':>8}"
            f"{'differences':>13}{'missed':>8}{'mean width':>12}{'useful':>8}",
        ]
        lines += [
            f"{name:<17}{tally.tables:>8,}{tally.missed_tables:>8,}{tally.rows:>11,}"
            f"{tally.missed_rows:>8,}{tally.contrasts:>13,}{tally.missed_contrasts:>8,}"
            f"{tally.mean_width:>12.3f}{tally.share_useful:>8.1%}"
            for name, tally in self.tallies.items()
        ]
        left_out = self.tallies["exact"].left_out
        lines.append(f"{left_out:,} worlds without an exact distribution: too many cells")
        lines += [
            f"missed: world {miss.world}, {miss.log}, {miss.shape}: {miss.query}; {miss.row}"
            for miss in self.misses[:10]
        ]
        return "\n".join(lines)


def audit_large_worlds(
    models: int,
    *,
    seed: int = 0,
    nodes: tuple[int, int] = (10, 40),
    rows: int = 200_000,
    progress: Callable[[int], None] = lambda _: None,
) -> LargeReport:
    """Bound questions about large random worlds, and count what leaves the truth out.

    Each world has its own random stream, by which it can be repeated alone.

    >>> report = audit_large_worlds(1, seed=1, nodes=(10, 13), rows=500)
    >>> report.models, report.misses
    (1, [])
    """
    report = LargeReport(seed, nodes=nodes, log_rows=rows)
    streams = map(default_rng, SeedSequence(seed).spawn(models))
    judge_each(report, streams, lambda rng: _judge_world(rng, report), progress)
    return report


def _judge_world(rng: Generator, report: LargeReport) -> None:
    """Draw one world and a log of it, bound it in every way and count the misses."""
    shape = draw_shape(report.nodes, rng)
    world = draw_large_world(shape, rng)
    log = draw_large_log(world.model, report.log_rows, rng)
    truth = compute_true_means(world, rng)
    report.simulated += not truth.exact
    rate = world.model.selection_rate() if shape.selection and rng.random() < 0.3 else None
    drawn, endless = _open_columns(log), open_expected_log(world.model)
    for kind, tally in report.tallies.items():
        try:
            table = derive_bounds(
                world.graph,
                world.query,
                endless if tally.confidence is None else drawn,
                confidence=tally.confidence,
                selection_rate=rate,
                domain=list_levels(world),
            )
        except ModelTooLarge:
            tally.left_out += 1
            continue
        for row in _count_table(table, truth, tally):
            miss = LargeMiss(report.models, kind, str(shape), str(world.query), row)
            report.misses.append(miss)


def draw_shape(nodes: tuple[int, int], rng: Generator) -> WorldShape:
    """Draw how large and dense a world is, and what its question is like."""
    return WorldShape(
        int(rng.integers(nodes[0], nodes[1] + 1)),
        float(rng.choice(PARENTS)),
        hidden=float(rng.choice(HIDDEN)),
        treatments=int(rng.integers(1, 3)),
        contexts=int(rng.integers(0, 3)),
        selection=bool(rng.random() < 0.7),
        levels=LEVELS[int(rng.integers(len(LEVELS)))],
        reach=REACH if rng.random() < 0.5 else None,
    )


def _open_columns(columns: dict[str, np.ndarray]) -> Log:
    """Open drawn columns as a log that DuckDB counts."""
    connection = duckdb.connect()
    connection.register("columns", columns)
    return read_log(connection.table("columns"))


def list_levels(world: Environment) -> dict[str, range]:
    """List the levels of every variable but the reward, since a log may lack some."""
    levels, asked = world.model.n_levels, world.graph.observed.difference(world.query.outcomes)
    return {name: range(levels[name]) for name in asked}


def _count_table(table: BoundTable, truth: TrueMeans, tally: LogTally) -> list[str]:
    """Count a table's intervals and differences, and list those that leave the truth out."""
    missed = []
    for key, bound in table.bounds.items():
        value, slack = truth.means[key], ROUNDING + ERRORS * truth.errors[key]
        width = bound.upper - bound.lower
        tally.rows += 1
        tally.width += width
        tally.useful += width < 1 - ROUNDING
        if not bound.lower - slack <= value <= bound.upper + slack:
            tally.missed_rows += 1
            missed.append(f"{key}: {value:.6g} outside {bound.interval} by {bound.lower_rule}")
    tally.tables += 1
    tally.missed_tables += bool(missed)
    return missed + _count_differences(table, truth, tally)


def _count_differences(table: BoundTable, truth: TrueMeans, tally: LogTally) -> list[str]:
    """Count the bounds on differences of two arms, and list those that the truth exceeds."""
    missed = []
    for (context, one, other), most in table.contrasts.items():
        keys = (one, context), (other, context)
        lead = truth.means[keys[0]] - truth.means[keys[1]]
        tally.contrasts += 1
        if lead > most + ROUNDING + ERRORS * sum(truth.errors[key] for key in keys):
            tally.missed_contrasts += 1
            missed.append(f"{one} leads {other} in {context} by {lead:.6g}, at most {most:.6g}")
    return missed
