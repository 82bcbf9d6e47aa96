"""Whether bounds hold under an edge that was left out of the graph, once it is added.

A random problem's graph lacks an edge that its model has: the model is drawn from the larger
graph. The bounds that stress tests give for that edge must hold its truth, and so must the
union with those of the smaller graph; how often the smaller graph alone misses says what an
edge is worth.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from boundit.bounds.request import BoundRequest, read_request
from boundit.counts.log import Log
from boundit.counts.named_array import NamedArray
from boundit.counts.read import read_log
from boundit.decisions.stress.edges import add_edges, list_missing, set_apart
from boundit.decisions.stress.rival_tables import RivalTables
from boundit.decisions.stress.unite import unite_tables
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_model
from boundit.studies.audits.problems import Problem, draw_problem, read_levels
from boundit.terms.bound import Key
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError
from boundit.terms.long_work import FOR_EVER
from boundit.terms.rounding import ROUNDING


@dataclass(frozen=True, slots=True)
class AddedEdgeMiss:
    """An interval or difference that leaves the truth out although the edge was added."""

    graph: str
    edge: str
    query: str
    row: str


@dataclass
class AddedEdgeReport:
    """What the audit found, and the seed that repeats it.

    ``rows`` and ``contrasts`` are those of the larger graph and of the union; ``without`` are
    models whose truth the smaller graph's bounds miss, ``refuted`` those whose log refutes it.
    """

    seed: int
    models: int = 0
    rows: int = 0
    contrasts: int = 0
    kept: int = 0
    without: int = 0
    refuted: int = 0
    misses: list[AddedEdgeMiss] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when no bound under an added edge missed."""
        return not self.misses


def audit_added_edges(
    models: int, *, seed: int = 0, told: Callable[[int], None] = lambda _: None
) -> AddedEdgeReport:
    """Draw models of graphs with one edge more than is assumed, and count what bounds miss.

    The edge is added again as ``stress`` does. ``told`` is called with how many models are
    done; a Ctrl-C ends the audit with what is done. Called by ``_audit_stress`` of the command
    line.

    >>> report = audit_added_edges(5)
    >>> report.models, report.misses
    (5, [])
    """
    report = AddedEdgeReport(seed)
    try:
        for stream in SeedSequence(seed).spawn(models):
            _judge_edge(default_rng(stream), report)
            report.models += 1
            told(report.models)
    except KeyboardInterrupt:
        if not report.models:
            raise
    return report


def _judge_edge(rng: Generator, report: AddedEdgeReport) -> None:
    """Draw a problem and an edge more, and hold the bounds against the truth.

    Called by ``audit_added_edges`` for every model.
    """
    problem = draw_problem(rng)
    graph, query = problem.model.graph, problem.query
    edges = [e for e in list_missing(graph) if set_apart(graph, query, e) is None]
    if not edges:
        return
    edge = edges[int(rng.integers(len(edges)))]
    grown = add_edges(graph, (edge,))
    model = draw_model(grown, rng, levels=(2,))
    tables = RivalTables.of(_make_request(graph, problem, model), graph.nodes)
    own = _derive_own(tables, graph, report)
    # After the smaller graph: its table serves the larger one where the edge has no say.
    report.kept += own is not None and tables.is_derived(grown)
    larger = tables.derive(grown, FOR_EVER)
    truth = _find_truth(model, problem, larger)
    tried = [larger, *([unite_tables({"own": own, "larger": larger})] if own else [])]
    missed = [row for table in tried for row in _list_missed(table, truth)]
    report.rows += sum(len(table.bounds) for table in tried)
    report.contrasts += sum(len(table.contrasts) for table in tried)
    report.without += own is not None and any(_list_missed(own, truth))
    report.misses += [AddedEdgeMiss(str(graph), str(edge), str(query), row) for row in missed]


def _make_request(graph: CausalGraph, problem: Problem, model: Model) -> BoundRequest:
    """Ask a problem's question under the smaller graph, of the exact law of another model.

    Called by ``_judge_edge``.
    """
    external = [_write_law(model.law(table)) for table in problem.tables]
    return read_request(
        graph, problem.query, _write_law(model.log()), confidence=None, external=external
    )


def _derive_own(
    tables: RivalTables, graph: CausalGraph, report: AddedEdgeReport
) -> BoundTable | None:
    """Derive the bounds of the smaller graph; None where the log refutes it, as it may.

    Called by ``_judge_edge``.
    """
    try:
        return tables.derive(graph, FOR_EVER)
    except BounditError:
        report.refuted += 1
        return None


def _write_law(law: NamedArray) -> Log:
    """Write an exact law as a log, a row for each cell. Called by ``_make_request``."""
    places = np.indices(law.values.shape).reshape(len(law.axes), law.values.size)
    cells = {axis: codes.tolist() for axis, codes in zip(law.axes, places, strict=True)}
    chances = law.values.ravel().tolist()
    return read_log({**cells, "chance": chances}, weight="chance", exact=True)


def _find_truth(model: Model, problem: Problem, table: BoundTable) -> dict[Key, float]:
    """Find what every arm truly earns in every context. Called by ``_judge_edge``."""
    query = problem.query
    truth = model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    ).at({query.outcomes[0]: 1})
    return {key: float(truth.at(read_levels(table, key))) for key in table.bounds}


def _list_missed(table: BoundTable, truth: dict[Key, float]) -> list[str]:
    """List the intervals and differences of a table that leave the truth out, in words.

    Called by ``_judge_edge``.
    """
    missed = [
        f"{key}: {truth[key]:.6g} outside {bound.interval}"
        for key, bound in table.bounds.items()
        if not bound.lower - ROUNDING <= truth[key] <= bound.upper + ROUNDING
    ]
    for (where, one, other), most in table.contrasts.items():
        lead = truth[one, where] - truth[other, where]
        if lead > most + ROUNDING:
            missed.append(f"{one} leads {other} in {where} by {lead:.6g}, at most {most:.6g}")
    return missed
