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

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from scipy.special import bdtrc

from boundit.bounds.request import BoundRequest, read_request
from boundit.counts.log import Log
from boundit.counts.named_array import NamedArray
from boundit.counts.read import read_log
from boundit.decisions.choose.choose import choose
from boundit.decisions.compare.compare import compare
from boundit.decisions.compare.comparison import Comparison
from boundit.decisions.stress.edges import add_edges, list_missing, set_apart
from boundit.decisions.stress.rival_tables import RivalTables
from boundit.decisions.stress.unite import unite_tables
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_model
from boundit.terms.bound import Arm, Context, Key
from boundit.terms.bound_table import BoundTable
from boundit.terms.choices.choice import Choice
from boundit.terms.errors import BounditError
from boundit.terms.long_work import FOR_EVER
from boundit.terms.names import sort_names
from boundit.terms.rounding import ROUNDING
from boundit_research.audits.choices import find_regret
from boundit_research.audits.problems import Problem, draw_problem, read_levels

CONFIDENCE = 0.8
"""Of bounds by drawn logs: low, so that claims which fail too often are seen."""
FALSE_ALARM = 0.001
"""The chance that an audit of valid claims blames them."""
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
class DrawnClaims:
    """Claims by drawn logs: how many, those that fail, and how many may fail on average."""

    made: int = 0
    failed: int = 0
    allowed: float = 0.0

    def count(self, confidence: float | None, *, failed: bool) -> None:
        """Count a claim of a confidence."""
        self.made += 1
        self.failed += failed
        self.allowed += 1 - (confidence or 0.0)

    @property
    def chance(self) -> float:
        """The chance of as many failures if claims fail as often as they may.

        The binomial law with the mean error has the heavier tail (Hoeffding).
        """
        if not self.failed:
            return 1.0
        return float(bdtrc(self.failed - 1, self.made, self.allowed / self.made))


@dataclass
class AddedEdgeReport:
    """What the audit found, and the seed that repeats it.

    ``rows`` and ``contrasts`` are those of the larger graph and of the union; ``without`` are
    models whose truth the smaller graph's bounds miss, ``refuted`` those whose log refutes it.
    ``choices`` are promises of exact laws, ``verdicts`` comparisons of a choice with an arm
    that are told there. Of drawn logs ``promises`` and ``comparisons`` are counted.
    """

    seed: int
    models: int = 0
    rows: int = 0
    contrasts: int = 0
    without: int = 0
    refuted: int = 0
    choices: int = 0
    verdicts: int = 0
    drawn_verdicts: int = 0
    promises: DrawnClaims = field(default_factory=DrawnClaims)
    comparisons: DrawnClaims = field(default_factory=DrawnClaims)
    misses: list[AddedEdgeMiss] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when no bound under an added edge missed, and drawn logs seldom enough."""
        drawn = min(self.promises.chance, self.comparisons.chance)
        return not self.misses and drawn >= FALSE_ALARM


def audit_added_edges(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> AddedEdgeReport:
    """Draw models of graphs with one edge more than is assumed, and count what bounds miss.

    The edge is added again as ``stress`` does. ``progress`` is called with how many models are
    done; a Ctrl-C ends the audit with what is done.

    >>> report = audit_added_edges(5)
    >>> report.models, report.misses
    (5, [])
    """
    report = AddedEdgeReport(seed)
    try:
        for stream in SeedSequence(seed).spawn(models):
            _judge_edge(default_rng(stream), report)
            report.models += 1
            progress(report.models)
    except KeyboardInterrupt:
        if not report.models:
            raise
    return report


def _judge_edge(rng: Generator, report: AddedEdgeReport) -> None:
    """Draw a problem and an edge more, and hold the bounds against the truth."""
    problem = _draw_choice(rng)
    graph, query = problem.model.graph, problem.query
    edges = [e for e in list_missing(graph) if set_apart(graph, query, e) is None]
    if not edges:
        return
    edge = edges[int(rng.integers(len(edges)))]
    grown = add_edges(graph, (edge,))
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


def _sharpen(model: Model, query: EffectQuery) -> Model:
    """Make arms matter more, so that more verdicts are told: outcomes are nearly sure."""
    tables = {name: (table.axes[:-1], table.values) for name, table in model.tables.items()}
    axes, chances = tables[query.outcomes[0]]
    clearer = chances**4
    tables[query.outcomes[0]] = (axes, clearer / clearer.sum(axis=-1, keepdims=True))
    return Model(model.graph, tables)


def _judge_exact(
    problem: Problem,
    grown: CausalGraph,
    model: Model,
    rate: float | None,
    report: AddedEdgeReport,
) -> list[str]:
    """Bound, choose and compare by the exact law of a model; list what misses, in words."""
    graph, query = problem.model.graph, problem.query
    tables = RivalTables.of(_make_request(graph, problem, model, rate), graph.nodes)
    own = _derive_own(tables, graph, report)
    larger = tables.derive(grown, FOR_EVER)
    truth = find_means(model, query, larger)
    tried = [larger, *([unite_tables({"own": own, "larger": larger})] if own else [])]
    missed = [row for table in tried for row in _list_missed(table, truth)]
    missed += [row for table in tried for row in _list_wrong(table, truth, report)]
    report.rows += sum(len(table.bounds) for table in tried)
    report.contrasts += sum(len(table.contrasts) for table in tried)
    report.without += own is not None and any(_list_missed(own, truth))
    return missed


def _list_wrong(
    table: BoundTable, truth: Mapping[Key, float], report: AddedEdgeReport
) -> Iterator[str]:
    """List what is promised or told wrongly by what a table chooses, in words."""
    choice = choose(table)
    report.choices += len(choice)
    yield from _list_broken(choice, table, truth)
    for arm, where in product(table.arms, table.contexts):
        found = _compare_in(table, choice, arm, where, confidence=None)
        report.verdicts += found.verdict != "not told"
        if _is_wrong(found, choice, arm, where, truth):
            yield f"the choice is called {found.verdict} than {arm} in {where}"


def _compare_in(
    table: BoundTable, choice: Choice, arm: Arm, where: Context, *, confidence: float | None
) -> Comparison:
    """Compare what a table chooses with an arm, where all visitors have one context."""
    shares = {where: 1.0} if table.context else None
    old = dict.fromkeys(table.contexts, arm)
    return compare(table, choice, old, contexts=shares, confidence=confidence)


def _list_broken(
    choice: Choice, table: BoundTable, truth: Mapping[Key, float]
) -> Iterator[str]:
    """List the contexts whose regret is more than was promised, in words."""
    for found in choice.values():
        regret, earned = find_regret(found, truth, table)
        if regret > found.regret + ROUNDING or earned < found.floor - ROUNDING:
            yield f"the choice in {found.context} regrets {regret:.6g} of {found.regret:.6g}"


def _is_wrong(
    found: Comparison, choice: Choice, arm: Arm, where: Context, truth: Mapping[Key, float]
) -> bool:
    """Tell whether a comparison leaves out how much more the choice earns in a context."""
    used = choice[where].lottery.items()
    more = sum(chance * truth[each, where] for each, chance in used) - truth[arm, where]
    return not found.interval.lower - ROUNDING <= more <= found.interval.upper + ROUNDING


def _judge_drawn(
    graph: CausalGraph,
    grown: CausalGraph,
    query: EffectQuery,
    model: Model,
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
    tables = RivalTables.of(request, graph.nodes)
    with suppress(BounditError):  # the log may refute the smaller graph
        tables.derive(graph, FOR_EVER)
    try:
        table = tables.derive(grown, FOR_EVER)
        choice = choose(table)
        rivals = _list_rivals(table, rng)
        found = [_compare_in(table, choice, *key, confidence=0.99) for key in rivals]
    except BounditError:  # which refutes the graph that is right
        report.promises.count(CONFIDENCE, failed=True)
        return
    truth = find_means(model, query, table)
    report.promises.count(choice.confidence, failed=any(_list_broken(choice, table, truth)))
    pairs = list(zip(found, rivals, strict=True))
    report.comparisons.count(
        min(each.confidence or 0.0 for each in found),
        failed=any(_is_wrong(each, choice, *key, truth) for each, key in pairs),
    )
    report.drawn_verdicts += sum(each.verdict != "not told" for each in found)


def _list_rivals(table: BoundTable, rng: Generator) -> list[Key]:
    """List arms and contexts that a choice is compared with: all whose verdicts hold at once.

    Where differences hold one at a time it is one that is drawn, whatever the log says.
    """
    keys = list(table.bounds)
    return keys if table.joint else [keys[int(rng.integers(len(keys)))]]


def _make_request(
    graph: CausalGraph, problem: Problem, model: Model, rate: float | None
) -> BoundRequest:
    """Ask a problem's question under the smaller graph, of the exact law of another model."""
    external = [_write_law(model.law(table)) for table in problem.tables]
    return read_request(
        graph,
        problem.query,
        _write_law(model.log()),
        confidence=None,
        external=external,
        selection_rate=rate,
    )


def _derive_own(
    tables: RivalTables, graph: CausalGraph, report: AddedEdgeReport
) -> BoundTable | None:
    """Derive the bounds of the smaller graph; None where the log refutes it, as it may."""
    try:
        return tables.derive(graph, FOR_EVER)
    except BounditError:
        report.refuted += 1
        return None


def _write_law(law: NamedArray) -> Log:
    """Write an exact law as a log, a row for each cell."""
    places = np.indices(law.values.shape).reshape(len(law.axes), law.values.size)
    cells = {axis: codes.tolist() for axis, codes in zip(law.axes, places, strict=True)}
    chances = law.values.ravel().tolist()
    return read_log({**cells, "chance": chances}, weight="chance", exact=True)


def find_means(model: Model, query: EffectQuery, table: BoundTable) -> dict[Key, float]:
    """Find what every arm truly earns in every context."""
    truth = model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    ).at({query.outcomes[0]: 1})
    return {key: float(truth.at(read_levels(table, key))) for key in table.bounds}


def _list_missed(table: BoundTable, truth: dict[Key, float]) -> list[str]:
    """List the intervals and differences of a table that leave the truth out, in words."""
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
