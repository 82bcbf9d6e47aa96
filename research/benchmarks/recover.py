"""Identification and adjustment: how their cost grows, and ours beside y0, causaleffect and dowhy.

Every time is one question on one random graph; a size is twenty of them, and the median and the
worst are shown. Peers answer where they can (no selection); a time counts when the verdict is
ours, and whoever thinks for longer than ``LIMIT`` is stopped.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import log
from statistics import median

import click
from research.benchmarks.peers import (
    OutOfTime,
    Peer,
    Tally,
    by_causaleffect,
    by_dowhy,
    by_y0,
    within,
)

from boundit.core.names import Nodes
from boundit.estimand.adjustment import find_adjustment
from boundit.estimand.identify import identify
from boundit.estimand.query import EffectQuery
from boundit.estimand.question import Question
from boundit.estimand.solver import Solver
from boundit.graph.causal_graph import CausalGraph

SIZES = (10, 20, 50, 100, 200)
GRAPHS = 20
LIMIT = 10.0
"""Seconds for one question."""
PATIENCE = 2
"""A peer that was late so often at a size is not asked again at this size or a larger one."""


@dataclass(frozen=True)
class Case:
    """A graph, a question, and the variables of an unselected table if there is one."""

    graph: CausalGraph
    asked: Question
    table: Nodes = frozenset()


@dataclass(frozen=True)
class Family:
    """A kind of question; dense graphs have two arrows a node, the others one."""

    name: str
    dense: bool = True
    selected: bool = False
    conditions: int = 0
    given_causes: bool = False
    table: int = 0
    graphs: int = GRAPHS

    def drawn(self, n: int) -> list[Case]:
        rng = random.Random(f"{self.name} {n}")
        return [self._case(rng, n) for _ in range(self.graphs)]

    def _case(self, rng: random.Random, n: int) -> Case:
        graph = self._graph(rng, [f"V{i}" for i in range(n)])
        names = [name for name in graph.order if name in graph.observed]
        y = rng.choice([v for v in names[n // 2 :] if graph.parents(v)])
        x = rng.choice(sorted(graph.ancestors(y) - {y}))
        context = rng.sample([v for v in names if v not in {x, y}], self.conditions)
        if self.given_causes:
            context = sorted(graph.parents("S") - {x, y})
        asked = Question(frozenset((y,)), frozenset((x,)), frozenset(context))
        return Case(graph, asked, frozenset(rng.sample(names, self.table)))

    def _graph(self, rng: random.Random, names: Sequence[str]) -> CausalGraph:
        parents, arcs = (2, len(names) // 2) if self.dense else (1, len(names) // 3)
        arrows = [
            (names[rng.randrange(i)], names[i])
            for i in range(1, len(names))
            for _ in range(parents)
        ]
        if self.selected:
            arrows += [(cause, "S") for cause in rng.sample(names, 2)]
        pairs = [rng.sample(names, 2) for _ in range(arcs)]
        return CausalGraph.of(
            names,
            directed=arrows,
            bidirected=[(a, b) for a, b in pairs],
            selection="S" if self.selected else None,
        )


EFFECT, GIVEN = Family("effect"), Family("effect given 2", conditions=2)
FAMILIES = (
    EFFECT,
    GIVEN,
    Family("selected, sparser", dense=False, selected=True),
    Family("selected, given S's causes", selected=True, given_causes=True),
    Family("selected, sparser, table of 3", dense=False, selected=True, table=3),
    Family("selected, table of 3", selected=True, table=3, graphs=8),
)


def recovered(case: Case) -> bool:
    asked = case.asked
    return bool(
        identify(
            case.graph,
            EffectQuery(tuple(asked.outcomes), tuple(asked.treatments), tuple(asked.context)),
            external=[case.table] if case.table else [],
        )
    )


def adjusted(case: Case) -> bool:
    found = find_adjustment(
        case.graph,
        treatments=case.asked.treatments,
        outcomes=case.asked.outcomes,
        external=case.table,
    )
    return found is not None


def timed(call: Callable[[], bool]) -> tuple[bool | None, float]:
    """Answer and seconds; no answer when the time was up."""
    started = time.perf_counter()
    try:
        with within(LIMIT):
            answer: bool | None = call()
    except OutOfTime:
        answer = None
    return answer, time.perf_counter() - started


def show_growth(what: str, ask: Callable[[Case], bool], families: Sequence[Family]) -> None:
    """Print one line a family, one column a size."""
    click.echo(f"{what}: median / worst milliseconds a question (share answered with yes)")
    click.echo(f"{'nodes':<30}" + "".join(f"{n:>20}" for n in SIZES) + "   growth")
    for family in families:
        medians, shown = [], ""
        for n in SIZES:
            answers = [timed(partial(ask, case)) for case in family.drawn(n)]
            spent = sorted(seconds for _, seconds in answers)
            medians.append(median(spent))
            yes = sum(answer is True for answer, _ in answers) / len(answers)
            late = "+" if any(answer is None for answer, _ in answers) else ""
            cell = f"{medians[-1] * 1e3:.1f} /{spent[-1] * 1e3:5.0f}{late} ({yes:.0%})"
            shown += f"{cell:>20}"
        power = log(medians[-1] / medians[1]) / log(SIZES[-1] / SIZES[1])
        click.echo(f"{family.name:<30}{shown}   n^{power:.1f}")


def beside_peers(
    family: Family, ask: Callable[[Case], bool], peers: dict[str, Peer], sizes: Sequence[int]
) -> None:
    """Print how many times longer each peer takes, question by question, the median of it."""
    _head("nodes", peers)
    tired = set[str]()
    for n in sizes:
        _line(f"{n}", family.drawn(n), ask, peers, tired)


def _head(label: str, peers: dict[str, Peer]) -> None:
    click.echo(f"{label:<30}{'boundit, ms':>14}" + "".join(f"{name:>34}" for name in peers))


def _line(
    label: str,
    cases: Sequence[Case],
    ask: Callable[[Case], bool],
    peers: dict[str, Peer],
    tired: set[str],
) -> None:
    tallies = {name: Tally() for name in peers if name not in tired}
    patience, own = min(PATIENCE, len(cases)), list[float]()
    for case in cases:
        truth, spent = timed(partial(ask, case))
        own.append(spent)
        for name, tally in tallies.items():
            if truth is not None and tally.late < patience:
                tally.ask(peers[name], case.graph, case.asked, truth, own=spent, limit=LIMIT)
    tired.update(name for name, tally in tallies.items() if tally.late >= patience)
    cells = [tallies[name].shown() if name in tallies else "-" for name in peers]
    click.echo(f"{label:<30}{median(own) * 1e3:>14.1f}" + "".join(f"{c:>34}" for c in cells))


def nested(depth: int) -> Case:
    """A question on 2 depth + 1 nodes for which Identify calls itself ``depth`` times.

    Each call drops the one non-ancestor ``D``, without which ``E`` leaves the c-component, and
    without ``E`` the next ``D`` is no ancestor any more.
    """
    acts = [(f"E{i:02}", "Y") for i in range(depth)]
    acts += [(f"D{i + 1:02}", f"E{i:02}") for i in range(depth - 1)]
    joined = [(f"E{i:02}", f"D{i:02}") for i in range(depth)]
    joined += [(f"D{i:02}", "Y") for i in range(depth)]
    graph = CausalGraph.of(directed=acts, bidirected=joined)
    return Case(graph, Question(frozenset("Y"), graph.nodes - {"Y"}))


def first_formula(case: Case) -> bool:
    """Recover without the search for a formula of fewer variables."""
    return bool(Solver(case.graph).solve(case.asked))


def run() -> None:
    """Print the tables."""
    show_growth("identify", recovered, FAMILIES)
    click.echo()
    show_growth("recover, the first formula", first_formula, (EFFECT, GIVEN))
    click.echo()
    show_growth("find_adjustment", adjusted, (EFFECT, FAMILIES[2], FAMILIES[4]))
    click.echo(f"\npeers as multiples of recover, {LIMIT:.0f} s a question: effect")
    both: dict[str, Peer] = {"y0": by_y0, "causaleffect": by_causaleffect}
    beside_peers(EFFECT, recovered, both, SIZES)
    click.echo("\nthe same as multiples of the first formula: effect")
    beside_peers(EFFECT, first_formula, both, SIZES)
    click.echo("\nthe same: effect given 2 conditions")
    beside_peers(GIVEN, recovered, {"causaleffect": by_causaleffect}, SIZES)
    click.echo("\npeers as multiples of find_adjustment: effect")
    beside_peers(EFFECT, adjusted, {"dowhy": by_dowhy}, SIZES)
    click.echo("\npeers as multiples of recover: Identify nested in itself")
    _head("", both)
    tired = set[str]()
    for depth in (2, 4, 6, 8, 10, 12):
        _line(f"{depth} levels, {2 * depth + 1} nodes", [nested(depth)], recovered, both, tired)
