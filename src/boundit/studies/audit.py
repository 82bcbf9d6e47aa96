"""Do the bounds hold? Random models whose truth is known, exact laws in, misses counted.

A model here is a random graph over four to six variables, usually selected, with random tables
of two or three levels, and a question about one or two arms in up to two contexts. Both
profiles bound the same effects from the same exact law; a miss is a truth outside an interval.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from boundit.bounds.assemble import assembled
from boundit.bounds.rules import Plan, Profile, paper_plan, sound_plan
from boundit.counts.named_array import Floats, NamedArray
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.model import Model
from boundit.simulation.random_models import random_graph, random_model
from boundit.terms.bound_table import BoundTable
from boundit.terms.names import Nodes, in_order

PROFILES: tuple[Profile, ...] = ("sound", "paper")
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Problem:
    """A model, a question about it, and which variables were also measured without bias."""

    model: Model
    query: EffectQuery
    tables: tuple[Nodes, ...]


@dataclass(frozen=True, slots=True)
class Miss:
    """An interval that leaves the truth out."""

    graph: str
    query: str
    row: str
    profile: str


@dataclass
class Tally:
    """How one profile did: rows, misses, points, widths.

    A row is *steered* when the outcome itself has an edge to the selection node: hardly any
    rule can say something of it. ``by_rule`` counts the ends that each kind of rule gave.
    """

    rows: int = 0
    missed_rows: int = 0
    missed_models: int = 0
    points: int = 0
    trivial: int = 0
    width: float = 0.0
    steered: int = 0
    steered_useful: int = 0
    by_rule: dict[str, int] = field(default_factory=dict)

    @property
    def mean_width(self) -> float:
        """The mean width of all intervals, trivial ones included."""
        return self.width / self.rows if self.rows else 0.0

    @property
    def share_useful(self) -> float:
        """The share of intervals that say more than the reward's range."""
        return 1 - self.trivial / self.rows if self.rows else 0.0

    @property
    def share_useful_unsteered(self) -> float:
        """That share where the outcome has no edge of its own to the selection node."""
        useful = self.rows - self.trivial - self.steered_useful
        return useful / (self.rows - self.steered) if self.rows > self.steered else 0.0


@dataclass
class AuditReport:
    """What an audit found, and the seed that repeats it."""

    seed: int
    models: int = 0
    tallies: dict[str, Tally] = field(default_factory=lambda: {p: Tally() for p in PROFILES})
    misses: list[Miss] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when profile ``sound`` never missed."""
        return not self.tallies["sound"].missed_rows


def audit(
    models: int, *, seed: int = 0, told: Callable[[int], None] = lambda _: None
) -> AuditReport:
    """Bound ``models`` random problems by both profiles and count what misses.

    ``told`` hears of each finished model. A Ctrl-C ends the audit with what is done.

    >>> report = audit(20)
    >>> report.models, report.tallies["sound"].missed_rows
    (20, 0)
    """
    report = AuditReport(seed)
    try:
        for problem in problems(seed, models):
            for profile in PROFILES:
                _judge(problem, profile, report)
            report.models += 1
            told(report.models)
    except KeyboardInterrupt:
        if not report.models:
            raise
    return report


def problems(seed: int, n: int) -> Iterator[Problem]:
    """Draw problems; each has its own stream, so that one can be repeated alone."""
    for stream in SeedSequence(seed).spawn(n):
        yield drawn(default_rng(stream))


def drawn(rng: Generator) -> Problem:
    """Draw one problem."""
    graph = random_graph(int(rng.integers(4, 7)), rng, selection=bool(rng.random() < 0.85))
    query = drawn_query(graph, rng)
    levels = (2, 3) if rng.random() < 0.3 else (2,)
    while (model := random_model(graph, rng, levels=levels)).n_levels[query.outcomes[0]] != 2:
        pass
    tables: tuple[Nodes, ...] = ()
    if graph.selection and rng.random() < 0.3:
        size = int(rng.integers(1, 3))
        chosen = rng.choice(in_order(graph.observed), size, replace=False)
        tables = (frozenset(map(str, chosen)),)
    return Problem(model, query, tables)


def bounded(problem: Problem, profile: Profile) -> BoundTable:
    """Bound a problem from its exact law."""
    graph, query = problem.model.graph, problem.query
    plan: Plan = (
        paper_plan(graph, query, problem.tables, max_condition=3)
        if profile == "paper"
        else sound_plan(graph, query, problem.tables, max_condition=3, time_limit=None)
    )
    outcome = query.outcomes[0]
    laws = [problem.model.log(), *map(problem.model.law, problem.tables)]
    tables = [_exact(law, outcome) for law in laws]
    return assembled(plan, tables, query, profile=profile, selected=graph.selection is not None)


def drawn_query(graph: CausalGraph, rng: Generator) -> EffectQuery:
    """Draw a question: one outcome, one or two arms, up to two contexts."""
    names = [str(name) for name in rng.permutation(in_order(graph.observed))]
    outcome, *rest = names
    n_arms = 2 if rng.random() < 1 / 3 else 1
    arms, others = rest[:n_arms], rest[n_arms:]
    free = [name for name in others if name not in graph.descendants(arms)]
    return EffectQuery((outcome,), tuple(arms), tuple(free[: int(rng.integers(0, 3))]))


def _exact(law: NamedArray, outcome: str) -> CountTable:
    """An exact law as a table of counts, with a 0/1 outcome as its reward."""
    held = outcome in law.names
    rest = tuple(axis for axis in law.axes if axis != outcome)
    n = law.marginal(rest)
    sums = law.at({outcome: 1}).aligned(rest).ravel() if held else None
    codes = np.indices(n.values.shape).reshape(len(rest), n.values.size).T
    ends: list[Floats | None] = [None, None]
    if sums is not None:
        ends = [np.zeros_like(sums), np.ones_like(sums)]
    return CountTable(
        variables=rest,
        levels={axis: tuple(range(k)) for axis, k in n.n_levels.items()},
        codes=codes,
        n=n.values.ravel().copy(),
        reward=outcome if held else None,
        sums=sums,
        squares=sums,
        lowest=ends[0],
        highest=ends[1],
        exact=True,
    )


def _judge(problem: Problem, profile: Profile, report: AuditReport) -> None:
    query, tally = problem.query, report.tallies[profile]
    table = bounded(problem, profile)
    axes = query.treatments + query.context
    truth = problem.model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    ).at({query.outcomes[0]: 1})
    missed, steered = False, _is_steered(problem)
    for (arm, context), bound in table.bounds.items():
        place = {name: int(str(v)) for name, v in zip(axes, arm + context, strict=True)}
        value, width = float(truth.at(place)), bound.upper - bound.lower
        tally.rows += 1
        tally.width += width
        tally.points += width < _ROUNDING
        tally.trivial += width > 1 - _ROUNDING
        tally.steered += steered
        tally.steered_useful += steered and width <= 1 - _ROUNDING
        for rule in (bound.lower_rule, bound.upper_rule):
            kind = _kind(rule)
            tally.by_rule[kind] = tally.by_rule.get(kind, 0) + 1
        if not bound.lower - _ROUNDING <= value <= bound.upper + _ROUNDING:
            missed = True
            tally.missed_rows += 1
            row = f"{place}: {value:.6g} outside {bound.interval}"
            report.misses.append(Miss(str(problem.model.graph), str(query), row, profile))
    tally.missed_models += missed


def _is_steered(problem: Problem) -> bool:
    graph = problem.model.graph
    if graph.selection is None:
        return False
    beside = graph.links[graph.selection]
    return problem.query.outcomes[0] in beside.parents + beside.siblings


def _kind(rule: str) -> str:
    """What sort of rule it is: the last stage of a chain, without its variables.

    >>> [_kind(rule) for rule in ("exact recovery", "conditioning on M, then program over X")]
    ['exact recovery', 'program']
    """
    last = rule.rsplit(", then ", maxsplit=1)[-1]
    kinds = ("exact recovery", "natural bounds", "c-component factorization")
    return next((kind for kind in kinds if last.startswith(kind)), last.split()[0])
