"""Whether bounds hold under an edge that was left out of the graph, once it is added.

A random problem's graph lacks an edge that its model has: the model is drawn from the larger
graph. The bounds that stress tests give for that edge must hold its truth, and so must the
union with those of the smaller graph; how often the smaller graph alone misses says what an
edge is worth. What is chosen by these bounds must regret no more than is promised, and where it
is called surely better than an arm, it must be. On drawn logs both may fail as often as their
confidence says.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product

from numpy.random import Generator, SeedSequence, default_rng

from boundit.bounds.candidates import unite_tables
from boundit.bounds.request import BoundRequest, read_request
from boundit.core.errors import BounditError
from boundit.core.names import sort_names
from boundit.core.rounding import ROUNDING
from boundit.decisions.choose import choose
from boundit.decisions.compare import Comparison, compare
from boundit.decisions.stress import LargerGraphs, add_edge, find_exclusion, list_missing
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.results.bound import Arm, Context, Key
from boundit.results.bound_table import BoundTable
from boundit.results.choice import Choice
from boundit.simulation.random_models import draw_model
from boundit.simulation.scm import SCM
from boundit_research.audits.choices import list_broken
from boundit_research.audits.problems import Problem, draw_problem, find_means, list_missed
from boundit_research.audits.report import Claims, Report, judge_each

CONFIDENCE = 0.8
"""Of bounds by drawn logs: low, so that claims which fail too often are seen."""
SIZES = (100, 1_000, 10_000, 100_000)
"""How many rows drawn logs have, before selection; verdicts are seldom told by few."""


@dataclass(frozen=True, slots=True)
class AddedEdgeMiss:
    """An interval or difference that leaves the truth out although the edge was added."""

    graph: str
    edge: str
    query: str
    row: str


@dataclass
class AddedEdgeReport(Report):
    """What the audit found.

    ``rows`` and ``contrasts`` are those of the larger graph and of the union; ``without`` are
    models whose truth the smaller graph's bounds miss, ``refuted`` those whose log refutes it.
    ``choices`` are promises of exact distributions, ``verdicts`` comparisons of a choice with an
    arm that are decided there. Of drawn logs ``promises`` and ``comparisons`` are counted.
    """

    rows: int = 0
    contrasts: int = 0
    without: int = 0
    refuted: int = 0
    choices: int = 0
    verdicts: int = 0
    drawn_verdicts: int = 0
    promises: Claims = field(default_factory=Claims)
    comparisons: Claims = field(default_factory=Claims)
    misses: list[AddedEdgeMiss] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when no bound under an added edge missed, and drawn logs seldom enough."""
        return not self.misses and bool(self.promises) and bool(self.comparisons)

    def __str__(self) -> str:
        """Say what holds with the edge, and what is missed without it."""
        return "\n".join(
            [
                f"{self.models:,} random models, seed {self.seed}, exact distributions, each "
                "with an edge that the graph lacks",
                f"with the edge added: {self.rows:,} intervals and {self.contrasts:,} "
                f"differences, unions included, {len(self.misses):,} misses",
                f"{self.choices:,} choices by them promise a regret, and {self.verdicts:,} "
                "comparisons with an arm have a verdict; wrong ones are misses too",
                f"drawn logs at confidence {CONFIDENCE:g} that break a promise: {self.promises}",
                f"{self.drawn_verdicts:,} verdicts on them; logs with an interval that misses: "
                f"{self.comparisons}",
                f"without it: {self.without:,} models are missed, {self.refuted:,} refute it",
                *(
                    f"missed: {miss.query} on {miss.graph} with {miss.edge}; {miss.row}"
                    for miss in self.misses[:10]
                ),
            ]
        )


def audit_added_edges(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> AddedEdgeReport:
    """Draw models of graphs with one edge more than is assumed, and count what bounds miss.

    The edge is added again as ``stress`` does.

    >>> report = audit_added_edges(5)
    >>> report.models, report.misses
    (5, [])
    """
    report = AddedEdgeReport(seed)
    streams = map(default_rng, SeedSequence(seed).spawn(models))
    judge_each(report, streams, lambda rng: _judge_edge(rng, report), progress)
    return report


def _judge_edge(rng: Generator, report: AddedEdgeReport) -> None:
    """Draw a problem and an edge more, and hold the bounds against the truth."""
    problem = _draw_choice(rng)
    graph, query = problem.model.graph, problem.query
    edges = [e for e in list_missing(graph) if find_exclusion(graph, query, e) is None]
    if not edges:
        return
    edge = edges[int(rng.integers(len(edges)))]
    grown = add_edge(graph, edge)
    model = draw_model(grown, rng, levels=(2,))
    if rng.random() < 0.5:
        model = _sharpen(model, query)
    # Where nothing is known of selection, most verdicts are not told.
    rate = model.selection_rate() if grown.selection and rng.random() < 0.7 else None
    missed = _judge_exact(problem, grown, model, rate, report)
    report.misses += [AddedEdgeMiss(str(graph), str(edge), str(query), row) for row in missed]
    _judge_drawn(graph, grown, query, model, rate, rng, report)


def _draw_choice(rng: Generator) -> Problem:
    """Draw a problem in which there is something to choose: arms that may move the outcome."""
    while True:
        problem = draw_problem(rng)
        query = problem.query
        if query.outcomes[0] in problem.model.graph.descendants(query.treatments):
            return problem


def _sharpen(model: SCM, query: EffectQuery) -> SCM:
    """Make arms matter more, so that more verdicts are told: outcomes are nearly sure."""
    tables = {name: (table.axes[:-1], table.values) for name, table in model.tables.items()}
    axes, chances = tables[query.outcomes[0]]
    clearer = chances**4
    tables[query.outcomes[0]] = (axes, clearer / clearer.sum(axis=-1, keepdims=True))
    return SCM(model.graph, tables)


def _judge_exact(
    problem: Problem,
    grown: CausalGraph,
    model: SCM,
    rate: float | None,
    report: AddedEdgeReport,
) -> list[str]:
    """Bound, choose and compare by the exact law of a model; list what misses, in words."""
    graph, query = problem.model.graph, problem.query
    tables = LargerGraphs(_make_request(graph, problem, model, rate), graph)
    own = _derive_own(tables, graph, report)
    larger = tables.derive(grown)
    truth = find_means(model, query)
    tried = [larger, *([unite_tables({"own": own, "larger": larger})] if own else [])]
    missed = [row for table in tried for row in list_missed(table, truth)]
    missed += [row for table in tried for row in _list_wrong(table, truth, report)]
    report.rows += sum(len(table.bounds) for table in tried)
    report.contrasts += sum(len(table.contrasts) for table in tried)
    report.without += own is not None and any(list_missed(own, truth))
    return missed


def _list_wrong(
    table: BoundTable, truth: Mapping[Key, float], report: AddedEdgeReport
) -> Iterator[str]:
    """List what is promised or told wrongly by what a table chooses, in words."""
    choice = choose(table, randomize=True)
    report.choices += len(choice)
    yield from list_broken(choice, table, truth)
    for arm, where in product(table.arms, table.contexts):
        found = _compare_in(table, choice, arm, where)
        report.verdicts += found.verdict != "inconclusive"
        if _is_wrong(found, choice, arm, where, truth):
            yield f"the choice is called {found.verdict} than {arm} in {where}"


def _compare_in(table: BoundTable, choice: Choice, arm: Arm, where: Context) -> Comparison:
    """Compare what a table chooses with an arm, where all visitors have one context."""
    shares = {where: 1.0} if table.context else "any"
    old = dict.fromkeys(table.contexts, arm)
    return compare(table, choice, old, shares=shares)


def _is_wrong(
    found: Comparison, choice: Choice, arm: Arm, where: Context, truth: Mapping[Key, float]
) -> bool:
    """Tell whether a comparison leaves out how much more the choice earns in a context."""
    used = choice[where].probabilities.items()
    more = sum(chance * truth[each, where] for each, chance in used) - truth[arm, where]
    return not found.interval.lower - ROUNDING <= more <= found.interval.upper + ROUNDING


def _judge_drawn(
    graph: CausalGraph,
    grown: CausalGraph,
    query: EffectQuery,
    model: SCM,
    rate: float | None,
    rng: Generator,
    report: AddedEdgeReport,
) -> None:
    """Choose and compare by a drawn log once the edge is added, as ``stress`` does."""
    rows = model.sample_log(int(rng.choice(SIZES)), rng)
    if not len(next(iter(rows.values()))):
        return
    named = sort_names(graph.observed - {*query.outcomes})
    domain = {name: list(range(model.n_levels[name])) for name in named}
    request = read_request(
        graph, query, rows, confidence=CONFIDENCE, domain=domain, selection_rate=rate
    )
    tables = LargerGraphs(request, graph)
    with suppress(BounditError):  # the log may refute the smaller graph
        tables.derive(graph)
    try:
        table = tables.derive(grown)
        choice = choose(table, randomize=True)
        keys = list(table.bounds)
        found = [_compare_in(table, choice, *key) for key in keys]
    except BounditError:  # which refutes the graph that is right
        report.promises.count(CONFIDENCE, failed=True)
        return
    truth = find_means(model, query)
    report.promises.count(choice.confidence, failed=any(list_broken(choice, table, truth)))
    pairs = list(zip(found, keys, strict=True))
    report.comparisons.count(
        min(each.confidence or 0.0 for each in found),
        failed=any(_is_wrong(each, choice, *key, truth) for each, key in pairs),
    )
    report.drawn_verdicts += sum(each.verdict != "inconclusive" for each in found)


def _make_request(
    graph: CausalGraph, problem: Problem, model: SCM, rate: float | None
) -> BoundRequest:
    """Ask a problem's question under the smaller graph, of the exact law of another model."""
    external = [problem.open(model.distribution(table), exact=True) for table in problem.tables]
    return read_request(
        graph,
        problem.query,
        problem.open(model.log(), exact=True),
        confidence=None,
        external=external,
        selection_rate=rate,
    )


def _derive_own(
    tables: LargerGraphs, graph: CausalGraph, report: AddedEdgeReport
) -> BoundTable | None:
    """Derive the bounds of the smaller graph; None where the log refutes it, as it may."""
    try:
        return tables.derive(graph)
    except BounditError:
        report.refuted += 1
        return None
