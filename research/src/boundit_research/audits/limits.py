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

from boundit.core.names import sort_names
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph, Edge
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.simulation.scm import SCM
from boundit_research.audits.problems import REFUTED, Problem, list_missed
from boundit_research.audits.report import Claims, Report, judge_each

CONFIDENCE = 0.95
ROWS = (200, 2_000, 20_000)
"""How many rows drawn logs have."""
GREATEST = 1e6
"""Models whose limits are larger than this are not used: they are as good as none."""
RULE = "limit "
"""What the names of rules hold that rest on a limit."""


@dataclass(frozen=True, slots=True)
class LimitMiss:
    """A truth outside its interval: where, and by which log."""

    log: str
    graph: str
    query: str
    limits: str
    row: str


@dataclass
class LimitReport(Report):
    """How many intervals rest on a limit, how wide they are, and what misses.

    ``used`` counts models with such intervals, ``rows`` these intervals on exact distributions;
    ``width`` adds up theirs and ``plain_width`` what they are without a limit. ``logs`` are
    drawn ones, which fail if some interval of their table misses.
    """

    used: int = 0
    rows: int = 0
    width: float = 0.0
    plain_width: float = 0.0
    logs: Claims = field(default_factory=Claims)
    misses: list[LimitMiss] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when no exact distribution misses, and no more logs than confidence allows."""
        return not any(miss.log == "exact" for miss in self.misses) and bool(self.logs)

    def __str__(self) -> str:
        """Say how many intervals rest on a limit, and what misses."""
        rows, exact = max(self.rows, 1), sum(miss.log == "exact" for miss in self.misses)
        return "\n".join(
            [
                f"{self.models:,} random models, seed {self.seed}, each with the least limits "
                "that its hidden causes keep to",
                f"{self.rows:,} intervals of {self.used:,} models rest on a limit: mean width "
                f"{self.width / rows:.3f}, without limits {self.plain_width / rows:.3f}",
                f"{exact:,} misses on exact distributions; drawn logs with a miss: {self.logs}",
                *(
                    f"missed: {miss.log}, {miss.query} on {miss.graph}; {miss.row}"
                    for miss in self.misses[:10]
                ),
            ]
        )


def audit_limits(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> LimitReport:
    """Bound random models under the least limits that they keep to; count what misses.

    Every model is bounded from its exact distribution, and from a drawn log.

    >>> report = audit_limits(5)
    >>> report.models, report.misses
    (5, [])
    """
    report = LimitReport(seed)
    drawn = draw_limit_problems(seed, models)
    judge_each(report, drawn, lambda one: _judge(*one, report), progress)
    return report


def draw_limit_problems(seed: int, n: int) -> Iterator[tuple[Problem, Generator]]:
    """Draw problems with a treatment that is confounded, and the random stream of each."""
    for stream in SeedSequence(seed).spawn(n):
        rng = default_rng(stream)
        while (found := _draw_problem(rng)) is None:
            pass
        yield found, rng


def _draw_problem(rng: Generator) -> Problem | None:
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
    facts: dict[str, object] = {"confounding_limit": limits}
    if graph.selection and rng.random() < 0.5:
        facts["selection_rate"] = rate
    return Problem(model, query, facts=facts, sizes=(int(rng.choice(ROWS)),))


def _may_have_limit(edge: Edge, graph: CausalGraph, query: EffectQuery) -> bool:
    """Tell whether an edge joins a treatment to what may be its target."""
    ends, arms = set(edge), set(query.treatments)
    return bool(ends & arms) and not ends <= arms | {*query.context, str(graph.selection)}


def _measure_edge(model: SCM, query: EffectQuery, edge: Edge) -> float:
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


def measure_limit(model: SCM, treatment: str, target: str) -> float:
    """Measure by what factor a hidden cause of both moves the odds of a treatment at most.

    Given all that was observed before treatment and target. The cause is that of their edge, as
    ``draw_model`` names it.

    >>> bow = CausalGraph.of(directed=[("X", "Y")], bidirected=[("X", "Y")])
    >>> tables = {"X<->Y": ([], 0.5), "X": (["X<->Y"], [0.2, 0.5]), "Y": (["X", "X<->Y"],
    ...     [[0.1, 0.5], [0.3, 0.6]])}
    >>> round(measure_limit(SCM(bow, tables), "X", "Y"), 4)
    2.1538
    """
    graph = model.graph
    hidden = "<->".join(sorted((treatment, target)))
    tables = {name: (t.axes[:-1], t.values) for name, t in model.tables.items()}
    shown = SCM.of(tables, hidden=model.hidden - {hidden}, selection=graph.selection)
    early = graph.observed - graph.descendants({treatment, target})
    law = shown.distribution(early | {treatment, hidden})
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


def _judge(problem: Problem, rng: Generator, report: LimitReport) -> None:
    """Bound a problem from its exact distribution and from a drawn log; count what misses."""
    table = problem.bound_exactly()
    resting = [
        key
        for key, bound in table.bounds.items()
        if RULE in bound.lower_rule or RULE in bound.upper_rule
    ]
    report.used += bool(resting)
    report.rows += len(resting)
    report.width += sum(table.intervals[key].width for key in resting)
    truth = problem.find_truth()
    report.misses += [_note_miss(problem, "exact", row) for row in list_missed(table, truth)]
    if not resting:
        return
    plain = problem.bound_exactly(confounding_limit=None)
    report.plain_width += sum(plain.intervals[key].width for key in resting)
    try:
        drawn = problem.bound_counts(problem.draw_counts(rng), confidence=CONFIDENCE)
    except REFUTED as error:
        missed = [str(error)]
    else:
        missed = list_missed(drawn, truth)
    report.logs.count(CONFIDENCE, failed=bool(missed))
    report.misses += [_note_miss(problem, "drawn", row) for row in missed]


def _note_miss(problem: Problem, log: str, row: str) -> LimitMiss:
    """Write down what misses, with all that repeats it."""
    limits = problem.facts["confounding_limit"].items()
    shown = ", ".join(f"{edge}: {limit:.4g}" for edge, limit in limits)
    return LimitMiss(log, str(problem.model.graph), str(problem.query), shown, row)
