"""Other libraries that decide what can be identified, each behind the same small door.

A peer takes a graph and one question and gives back a call that says yes or no; the graph is
put into the peer's own form before, outside the measured call.
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from statistics import median
from types import FrameType

from boundit.estimand.question import Question
from boundit.graph.causal_graph import CausalGraph

Ask = Callable[[], bool]
Peer = Callable[[CausalGraph, Question], Ask]


def by_y0(graph: CausalGraph, asked: Question) -> Ask:
    """Ask y0's ID; its conditional form fails too often to be compared."""
    variable = import_module("y0.dsl").Variable
    identify = import_module("y0.algorithm.identify").identify_outcomes
    mixed = import_module("y0.graph").NxMixedGraph.from_str_edges(
        nodes=sorted(graph.nodes),
        directed=sorted(graph.directed),
        undirected=sorted(graph.bidirected),
    )
    x, y = ({variable(n) for n in names} for names in (asked.treatments, asked.outcomes))
    return lambda: identify(mixed, treatments=x, outcomes=y) is not None


def by_causaleffect(graph: CausalGraph, asked: Question) -> Ask:
    """Ask the Python package causaleffect: ID, or IDC when there are conditions."""
    module = import_module("causaleffect")
    edges = [f"{a}->{b}" for a, b in sorted(graph.directed)]
    edges += [f"{a}<->{b}" for a, b in sorted(graph.bidirected)]
    drawn = module.createGraph(edges)
    y, x, c = (set(names) for names in (asked.outcomes, asked.treatments, asked.context))
    return lambda: bool(module.ID(y, x, drawn, cond=c).identifiable)


def by_dowhy(graph: CausalGraph, asked: Question) -> Ask:
    """Ask dowhy for a general adjustment set, bidirected edges being hidden causes.

    Its ID takes no bidirected edges and no hidden variables, so it is no peer here.
    """
    nx = import_module("networkx")
    find = import_module(
        "dowhy.causal_identifier.auto_identifier"
    ).identify_generalized_adjustment_set
    dag = nx.DiGraph(sorted(graph.directed))
    dag.add_nodes_from(sorted(graph.nodes))
    for i, (a, b) in enumerate(sorted(graph.bidirected)):
        dag.add_edges_from([(f"hidden {i}", a), (f"hidden {i}", b)])
    x, y, seen = sorted(asked.treatments), sorted(asked.outcomes), sorted(graph.observed)
    return lambda: bool(find(dag, x, y, seen))


@dataclass
class Tally:
    """What one peer did on the questions of one size."""

    ratios: list[float] = field(default_factory=list)
    late: int = 0
    otherwise: int = 0
    failed: int = 0
    missing: bool = False

    def ask(
        self,
        peer: Peer,
        graph: CausalGraph,
        asked: Question,
        truth: bool,
        *,
        own: float,
        limit: float,
    ) -> None:
        """Put one question to a peer; its time counts only if it answers as we do."""
        try:
            call = peer(graph, asked)
            with within(limit):
                started = time.perf_counter()
                answer = call()
                spent = time.perf_counter() - started
        except OutOfTime:
            self.late += 1
            self.ratios.append(limit / own)
        except ModuleNotFoundError:
            self.missing = True
        except Exception:  # noqa: BLE001, a peer may fail in any way
            self.failed += 1
        else:
            if answer == truth:
                self.ratios.append(spent / own)
            else:
                self.otherwise += 1

    def shown(self) -> str:
        """The median multiple, and how often there was none."""
        if self.missing or not self.ratios:
            return "not installed" if self.missing else f"none, {self.failed} failed"
        more = ">" if 2 * self.late >= len(self.ratios) else ""
        words = {"too late": self.late, "otherwise": self.otherwise, "failed": self.failed}
        said = ", ".join(f"{n} {word}" for word, n in words.items() if n)
        times = median(self.ratios)
        shown = f"{times:.1f}" if times >= 1 else f"{times:.2g}"
        return f"{more}{shown}x" + (f" ({said})" if said else "")


class OutOfTime(Exception):
    """A peer thought for too long."""


@contextmanager
def within(limit: float) -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
