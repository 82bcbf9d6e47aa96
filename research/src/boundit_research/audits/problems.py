"""Random problems whose truth is known: a model, a question, unbiased tables of some variables.

A model is a random graph over four to six variables, usually selected, with random tables of
two or three levels; a question asks for one or two arms in up to two contexts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from boundit.bounds.assemble import assemble
from boundit.bounds.plan import Profile, plan_bounds
from boundit.bounds.plan_counts import PlanCounts
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.counts.named_array import Floats, NamedArray
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.terms.bound import Key
from boundit.terms.bound_table import BoundTable
from boundit.terms.names import Nodes, sort_names


@dataclass(frozen=True, slots=True)
class Problem:
    """A model, a question about it, and which variables were also measured without bias."""

    model: Model
    query: EffectQuery
    tables: tuple[Nodes, ...]


def draw_problems(seed: int, n: int) -> Iterator[Problem]:
    """Draw random models with questions, whose bounds an audit compares with the known truth.

    Each has its own random stream, so that one can be repeated alone.
    """
    for stream in SeedSequence(seed).spawn(n):
        yield draw_problem(default_rng(stream))


def draw_problem(rng: Generator) -> Problem:
    """Draw one problem: a random model, a question, and which unbiased tables there are."""
    graph = draw_graph(int(rng.integers(4, 7)), rng, selection=bool(rng.random() < 0.85))
    query = draw_query(graph, rng)
    levels = (2, 3) if rng.random() < 0.3 else (2,)
    while (model := draw_model(graph, rng, levels=levels)).n_levels[query.outcomes[0]] != 2:
        pass
    tables: tuple[Nodes, ...] = ()
    if graph.selection and rng.random() < 0.3:
        size = int(rng.integers(1, 3))
        chosen = rng.choice(sort_names(graph.observed), size, replace=False)
        tables = (frozenset(map(str, chosen)),)
    return Problem(model, query, tables)


def bound_problem(
    problem: Problem, profile: Profile, *, rate_known: bool = False
) -> BoundTable:
    """Derive the bounds of a random problem from the exact law of its log; give their table.

    With the true selection rate (the share of rows that are logged) if ``rate_known``.
    """
    graph, query, facts = problem.model.graph, problem.query, NOTHING_KNOWN
    if rate_known and graph.selection:
        rate = problem.model.selection_rate()
        facts = SelectionFacts((rate, rate))
    plan = plan_bounds(graph, query, profile=profile, tables=problem.tables, facts=facts)
    outcome = query.outcomes[0]
    laws = [problem.model.log(), *map(problem.model.law, problem.tables)]
    log, *external = (make_exact_table(law, outcome) for law in laws)
    return assemble(plan, PlanCounts(log, tuple(external)))


def draw_query(graph: CausalGraph, rng: Generator) -> EffectQuery:
    """Draw a question: one outcome, one or two arms, up to two contexts."""
    names = [str(name) for name in rng.permutation(sort_names(graph.observed))]
    outcome, *rest = names
    n_arms = 2 if rng.random() < 1 / 3 else 1
    arms, others = rest[:n_arms], rest[n_arms:]
    free = [name for name in others if name not in graph.descendants(arms)]
    return EffectQuery((outcome,), tuple(arms), tuple(free[: int(rng.integers(0, 3))]))


def read_levels(table: BoundTable, key: Key) -> dict[str, int]:
    """Read which level each treatment and context variable has in a row of bounds."""
    axes = table.treatments + table.context
    return {name: int(str(value)) for name, value in zip(axes, sum(key, ()), strict=True)}


def name_row(levels: Mapping[str, int]) -> str:
    """Write a row's levels as ``X=1, W=0``."""
    return ", ".join(f"{name}={value}" for name, value in levels.items())


def make_exact_table(law: NamedArray, outcome: str) -> CountTable:
    """Write an exact law as a table of counts, with a 0/1 outcome as its reward."""
    held = outcome in law.names
    rest = tuple(axis for axis in law.axes if axis != outcome)
    n = law.marginalize(rest)
    sums = law.at({outcome: 1}).align(rest).ravel() if held else None
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
