"""Does ``check`` cry wolf, and does it see the wolf? Random graphs whose truth is known.

A world is a random graph with random tables. Logs of several sizes are drawn from it; each is
checked against the true graph, where every contradiction is a false alarm, and against the
graph without one of its edges, where a contradiction is a find. Only edges are taken whose loss
makes the graph say something untrue about logged rows: no log can show that others are missing.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from boundit.checks.check import check
from boundit.checks.contradictions import LEVEL, find_contradictions
from boundit.counts.log import Log, read_log
from boundit.counts.named_array import NamedArray
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.implications import Independence, implications
from boundit.graph.separation import open_walk
from boundit.simulation.random_models import draw_graph, draw_model

SIZES = (200, 1_000, 5_000, 20_000)


@dataclass(frozen=True, slots=True)
class CheckTrial:
    """A true graph, the same without one edge, and the law of the logged rows.

    One trial of ``measure_check_power``, which asks ``check`` about both graphs.
    """

    true: CausalGraph
    wrong: CausalGraph
    law: NamedArray


@dataclass(frozen=True, slots=True)
class PowerPoint:
    """In which share of logs of one size ``check`` contradicted the right and wrong graph."""

    n: int
    logs: int
    false_alarms: float
    finds: float

    def compute_margin(self, share: float) -> float:
        """Compute two standard errors of a share of the logs, false alarms or finds.

        A find is a log in which the wrong graph was contradicted.
        """
        return 2 * sqrt(share * (1 - share) / self.logs)


def measure_check_power(
    logs: int = 400,
    *,
    sizes: Sequence[int] = SIZES,
    level: float = 0.05,
    seed: int = 0,
    by_counts: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[PowerPoint, ...]:
    """Count how often ``check`` contradicts a right graph and one that lacks an edge.

    With ``by_counts``, how often the caveat of ``derive_bounds`` does, on the same logs.

    Draws ``logs`` pairs of such graphs and from each one log of every size. The graphs are the
    same for every size; ``progress`` is called with how many are done. Run by ``python -m
    boundit_research.audits.check_power``, with the word ``counts`` for the caveat.

    >>> (point,) = measure_check_power(5, sizes=[500])
    >>> point.n, point.logs
    (500, 5)
    """
    alarms, finds = dict.fromkeys(sizes, 0), dict.fromkeys(sizes, 0)
    for done, (trial, rng) in enumerate(draw_trials(logs, seed), start=1):
        for n in sizes:
            log = draw_log(trial.law, n, rng)
            if by_counts:
                table = log.count(trial.law.axes)
                alarms[n] += bool(find_contradictions(trial.true, table))
                finds[n] += bool(find_contradictions(trial.wrong, table))
            else:
                alarms[n] += not check(trial.true, log, level=level)
                finds[n] += not check(trial.wrong, log, level=level)
        progress(done)
    return tuple(PowerPoint(n, logs, alarms[n] / logs, finds[n] / logs) for n in sizes)


def draw_trials(n: int, seed: int) -> Iterator[tuple[CheckTrial, Generator]]:
    """Draw ``n`` trials of ``check``: a right graph, a wrong one and the law of their logs.

    Each comes with the random generator that its logs are drawn by.
    """
    for stream in SeedSequence(seed).spawn(n):
        rng = default_rng(stream)
        trial = None
        while trial is None:
            trial = draw_trial(rng)
        yield trial, rng


def draw_trial(rng: Generator) -> CheckTrial | None:
    """Draw a true graph of four to six variables, and the same graph without one edge.

    Gives both with the law of the logged rows; None when that law contradicts no graph that
    lacks one edge.
    """
    size, selection = int(rng.integers(4, 7)), bool(rng.random() < 0.5)
    true = draw_graph(size, rng, directed=0.3, bidirected=0.1, selection=selection)
    if not implications(true):
        return None
    missed = [graph for graph in _drop_each_edge(true) if _is_refutable(graph, true)]
    if not missed:
        return None
    wrong = missed[int(rng.integers(len(missed)))]
    return CheckTrial(true, wrong, draw_model(true, rng).log())


def draw_log(law: NamedArray, n: int, rng: Generator) -> Log:
    """Draw a log of ``n`` rows from a law, as counts of combinations of levels."""
    counts = rng.multinomial(n, law.values.ravel())
    seen = np.flatnonzero(counts)
    places = np.unravel_index(seen, law.values.shape)
    columns = {axis: at.tolist() for axis, at in zip(law.axes, places, strict=True)}
    return read_log(columns | {"rows": counts[seen].tolist()}, weight="rows")


def _drop_each_edge(graph: CausalGraph) -> list[CausalGraph]:
    """List the graphs that lack one edge of the given one."""

    def with_edges(
        directed: frozenset[tuple[str, str]], bidirected: frozenset[tuple[str, str]]
    ) -> CausalGraph:
        return CausalGraph.of(
            graph.nodes, directed=directed, bidirected=bidirected, selection=graph.selection
        )

    arrows, arcs = graph.directed, graph.bidirected
    return [
        *(with_edges(arrows - {edge}, arcs) for edge in sorted(arrows)),
        *(with_edges(arrows, arcs - {edge}) for edge in sorted(arcs)),
    ]


def _is_refutable(graph: CausalGraph, true: CausalGraph) -> bool:
    """Tell whether ``graph`` claims an independence of logged rows that ``true`` lacks."""

    def is_open(statement: Independence) -> bool:
        given = statement.given | ({true.selection} if true.selection else set())
        return open_walk(true, statement.one, statement.other, given=given) is not None

    return any(map(is_open, implications(graph)))


def format_table(points: Sequence[PowerPoint], level: float = 0.05) -> str:
    """Write how often ``check`` cried wolf and how often it found the missing edge, as text.

    One line for each log size. Called when the module is run.
    """
    head = f"false alarms on the true graph (level {level:g}), finds with one edge missing"
    lines = [head, f"{'rows':>8}{'logs':>8}{'false alarms':>17}{'finds':>17}"]
    for p in points:
        shares = [f"{x:.3f} +- {p.compute_margin(x):.3f}" for x in (p.false_alarms, p.finds)]
        lines.append(f"{p.n:>8,}{p.logs:>8,}{shares[0]:>17}{shares[1]:>17}")
    return "\n".join(lines)


if __name__ == "__main__":
    if "counts" in sys.argv[1:]:
        found = measure_check_power(3_000, by_counts=True)
        sys.stdout.write(format_table(found, LEVEL) + "\n")
    else:
        sys.stdout.write(format_table(measure_check_power()) + "\n")
