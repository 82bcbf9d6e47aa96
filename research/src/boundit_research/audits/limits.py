"""Whether bounds under a limit on hidden confounding hold in models built to the limit.

A model whose hidden causes are known has a least limit for each of its bidirected edges: by
what factor the hidden cause moves the odds of a treatment at most, given all that was observed
before. Stated as it is, the truth must lie within the bounds of the exact law, and within those
of a drawn log as often as its confidence says.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from scipy.special import bdtr

from boundit.bounds.assemble import assemble
from boundit.bounds.confounding.limits import ConfoundingLimits
from boundit.bounds.derive import derive_bounds
from boundit.bounds.intersect import EndsCross, NoModelFits
from boundit.bounds.plan import plan_bounds
from boundit.bounds.plan_counts import PlanCounts
from boundit.bounds.selection_facts import NOTHING_KNOWN, FactsRefuted, SelectionFacts
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph, Edge
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.terms.bound_table import BoundTable
from boundit.terms.names import sort_names
from boundit.terms.rounding import ROUNDING
from boundit_research.audits.problems import make_exact_table, read_levels

CONFIDENCE = 0.95
FALSE_ALARM = 0.01
"""The chance that an audit of valid tables blames them."""
ROWS = (200, 2_000, 20_000)
"""How many rows drawn logs have, before selection."""
GREATEST = 1e6
"""Models whose limits are larger than this are not used: they are as good as none."""
RULE = "limit "
"""How the names of rules begin that rest on a limit."""


@dataclass(frozen=True, slots=True)
class LimitProblem:
    """A model, a question about it, and the least limits that its hidden causes keep to."""

    model: Model
    query: EffectQuery
    limits: dict[str, float]
    facts: SelectionFacts


@dataclass(frozen=True, slots=True)
class LimitMiss:
    """A truth outside its interval: where, and by which log."""

    log: str
    graph: str
    query: str
    limits: str
    row: str


@dataclass
class LimitReport:
    """How many intervals rest on a limit, how wide they are, and what misses.

    ``used`` counts models with such intervals, ``rows`` these intervals on exact laws;
    ``width`` adds up theirs and ``plain_width`` what they are without a limit. ``logs`` are
    drawn ones, and ``held`` those whose whole table holds.
    """

    seed: int
    models: int = 0
    used: int = 0
    rows: int = 0
    width: float = 0.0
    plain_width: float = 0.0
    logs: int = 0
    held: int = 0
    misses: list[LimitMiss] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when no exact law misses, and no more logs than the confidence allows for."""
        return not any(miss.log == "exact" for miss in self.misses) and not self.is_short

    @property
    def is_short(self) -> bool:
        """Whether tables of drawn logs hold too seldom beyond chance."""
        return bool(self.logs) and bdtr(self.held, self.logs, CONFIDENCE) < FALSE_ALARM


def audit_limits(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> LimitReport:
    """Bound random models under the least limits that they keep to; count what misses.

    Every model is bounded from its exact law, and from a drawn log. A Ctrl-C ends it with what
    is done.

    >>> report = audit_limits(5)
    >>> report.models, report.misses
    (5, [])
    """
    report = LimitReport(seed)
    try:
        for problem, rng in draw_limit_problems(seed, models):
            _judge(problem, rng, report)
            report.models += 1
            progress(report.models)
    except KeyboardInterrupt:
        if not report.models:
            raise
    return report


def draw_limit_problems(seed: int, n: int) -> Iterator[tuple[LimitProblem, Generator]]:
    """Draw problems with a treatment that is confounded, and the random stream of each."""
    for stream in SeedSequence(seed).spawn(n):
        rng = default_rng(stream)
        while (found := _draw_problem(rng)) is None:
            pass
        yield found, rng


def _draw_problem(rng: Generator) -> LimitProblem | None:
    """Draw a model whose treatment shares a hidden cause with the reward or a cause of it.

    None where a limit would be no use.
    """
    graph, query = _draw_question(rng)
    levels = (2, 3) if rng.random() < 0.4 else (2,)
    zeros = 0.15 if rng.random() < 0.3 else 0.0
    model = draw_model(graph, rng, levels=levels, zeros=zeros, binary=query.outcomes)
    edges = sorted(edge for edge in graph.bidirected if _may_have_limit(edge, graph, query))
    measured = {f"{a} <-> {b}": _measure_edge(model, query, (a, b)) for a, b in edges}
    limits = {edge: limit for edge, limit in measured.items() if limit < GREATEST}
    rate = model.selection_rate()
    if not limits or rate <= 0:
        return None
    known = graph.selection and rng.random() < 0.5
    facts = SelectionFacts((rate, rate)) if known else NOTHING_KNOWN
    return LimitProblem(model, query, limits, facts)


def _may_have_limit(edge: Edge, graph: CausalGraph, query: EffectQuery) -> bool:
    """Tell whether an edge joins a treatment to what may be its target."""
    ends, arms = set(edge), set(query.treatments)
    return bool(ends & arms) and not ends <= arms | {*query.context, str(graph.selection)}


def _measure_edge(model: Model, query: EffectQuery, edge: Edge) -> float:
    """Measure the least limit of an edge between a treatment and something else."""
    one, other = edge if edge[0] in query.treatments else edge[::-1]
    return measure_limit(model, one, other)


def _draw_question(rng: Generator) -> tuple[CausalGraph, EffectQuery]:
    """Draw a graph and a question whose treatments have edges that hide causes."""
    graph = draw_graph(
        int(rng.integers(3, 6)), rng, bidirected=0.12, selection=bool(rng.random() < 0.4)
    )
    *order, outcome = (name for name in graph.order if name in graph.observed)
    n_arms = 2 if rng.random() < 0.35 and len(order) > 2 else 1
    arms = sorted(map(str, rng.choice(order, n_arms, replace=False)))
    late = graph.descendants(arms)
    ways = sort_names((late & graph.observed) - set(arms) | {outcome})
    targets = ways if rng.random() < 0.4 else [outcome]
    edges = {(arm, str(rng.choice(targets))) for arm in arms if rng.random() < 0.8}
    drawn = CausalGraph.of(
        graph.nodes,
        directed=graph.directed,
        bidirected=[*graph.bidirected, *edges],
        selection=graph.selection,
    )
    rest = [name for name in order if name not in late]
    query = EffectQuery((outcome,), tuple(arms), tuple(rest[: int(rng.integers(0, 2))]))
    return drawn, query


def measure_limit(model: Model, treatment: str, target: str) -> float:
    """Measure by what factor a hidden cause of both moves the odds of a treatment at most.

    Given all that was observed before treatment and target. The cause is that of their edge, as
    ``draw_model`` names it.

    >>> bow = CausalGraph.of(directed=[("X", "Y")], bidirected=[("X", "Y")])
    >>> tables = {"X<->Y": ([], 0.5), "X": (["X<->Y"], [0.2, 0.5]), "Y": (["X", "X<->Y"],
    ...     [[0.1, 0.5], [0.3, 0.6]])}
    >>> round(measure_limit(Model(bow, tables), "X", "Y"), 4)
    2.1538
    """
    graph = model.graph
    hidden = "<->".join(sorted((treatment, target)))
    tables = {name: (t.axes[:-1], t.values) for name, t in model.tables.items()}
    shown = Model.of(tables, hidden=model.hidden - {hidden}, selection=graph.selection)
    early = graph.observed - graph.descendants({treatment, target})
    law = shown.law(early | {treatment, hidden})
    own = law.condition_on(early | {hidden}).align((treatment, hidden, *sort_names(early)))
    joint = law.marginalize(early | {treatment})
    plain = joint.condition_on(early).align((treatment, *sort_names(early)))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (own / (1 - own)) / (plain / (1 - plain))
        found = np.fmax(ratio, 1 / ratio)
    # Where the treatment is sure, with the cause or without, there are no odds to move.
    sure = (plain <= 0) | (plain >= 1 - 1e-12)
    found = np.where(np.broadcast_to(sure, found.shape), 1.0, found)
    return float(np.nanmax(found, initial=1.0)) * (1 + 1e-9)


def _judge(problem: LimitProblem, rng: Generator, report: LimitReport) -> None:
    """Bound a problem from its exact law and from a drawn log, and count what misses."""
    table = _bound_exactly(problem, problem.limits)
    resting = [
        key
        for key, bound in table.bounds.items()
        if RULE in bound.lower_rule or RULE in bound.upper_rule
    ]
    report.used += bool(resting)
    report.rows += len(resting)
    report.width += sum(table.bounds[key].upper - table.bounds[key].lower for key in resting)
    _count_misses(problem, table, "exact", report)
    if resting:
        plain = _bound_exactly(problem, {}).bounds
        report.plain_width += sum(plain[key].upper - plain[key].lower for key in resting)
        _judge_log(problem, rng, report)


def _bound_exactly(problem: LimitProblem, limits: dict[str, float]) -> BoundTable:
    """Bound a problem from the exact law of its log."""
    graph, query = problem.model.graph, problem.query
    read = ConfoundingLimits.from_option(limits, graph)
    plan = plan_bounds(graph, query, facts=problem.facts, limits=read)
    log = make_exact_table(problem.model.log(), query.outcomes[0])
    return assemble(plan, PlanCounts(log))


def _judge_log(problem: LimitProblem, rng: Generator, report: LimitReport) -> None:
    """Bound a problem from a drawn log with a confidence, and count whether the table holds."""
    rows = problem.model.sample_log(int(rng.choice(ROWS)), rng)
    if not len(next(iter(rows.values()))):
        return
    levels = {name: range(n) for name, n in problem.model.n_levels.items()}
    named = problem.model.graph.observed - {problem.query.outcomes[0]}
    report.logs += 1
    try:
        table = derive_bounds(
            problem.model.graph,
            problem.query,
            rows,
            confidence=CONFIDENCE,
            domain={name: list(levels[name]) for name in sort_names(named)},
            selection_rate=problem.facts.rate,
            confounding_limit=problem.limits,
        )
    except (EndsCross, NoModelFits, FactsRefuted) as error:
        report.misses.append(_note_miss(problem, "drawn", str(error)))
        return
    report.held += not _count_misses(problem, table, "drawn", report)


def _count_misses(
    problem: LimitProblem, table: BoundTable, log: str, report: LimitReport
) -> int:
    """Count the intervals of a table that leave the truth out, and note them."""
    query = problem.query
    truth = problem.model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    ).at({query.outcomes[0]: 1})
    missed = 0
    for key, bound in table.bounds.items():
        value = float(truth.at(read_levels(table, key)))
        if not (bound.lower - ROUNDING <= value <= bound.upper + ROUNDING or np.isnan(value)):
            row = f"{key}: {value:.6g} outside [{bound.lower:.6g}, {bound.upper:.6g}]"
            report.misses.append(_note_miss(problem, log, row))
            missed += 1
    return missed


def _note_miss(problem: LimitProblem, log: str, row: str) -> LimitMiss:
    """Write down what misses, with all that repeats it."""
    limits = ", ".join(f"{edge}: {limit:.4g}" for edge, limit in problem.limits.items())
    return LimitMiss(log, str(problem.model.graph), str(problem.query), limits, row)
