"""Random problems whose truth is known: a model, a question, tables, stated facts, a log.

A model is a random graph over four to six variables, usually selected, with random tables of
two or three levels; a question asks for one or two arms in up to two contexts.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from boundit.bounds.derive import derive_bounds
from boundit.bounds.request import Profile
from boundit.bounds.selection_facts import FactsRefuted
from boundit.bounds.table import EndsCross, NoModelFits
from boundit.core.names import Nodes, sort_names
from boundit.core.rounding import ROUNDING
from boundit.counts.log import Log, read_log
from boundit.counts.named_array import NamedArray
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.results.bound import Key
from boundit.results.bound_table import BoundTable
from boundit.results.sampling import Inference
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.simulation.scm import SCM

BINARY = (0.0, 1.0)
REFUTED = (EndsCross, NoModelFits, FactsRefuted)
"""What a log that refutes its graph, or what was stated, raises."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A model, a question about it, and what else is known.

    ``tables`` are the variables of external tables, ``facts`` what is stated, as options of
    ``derive_bounds``. ``pay`` is what each level of the outcome is worth, and ``sizes`` are the
    numbers of rows of log and tables.
    """

    model: SCM
    query: EffectQuery
    tables: tuple[Nodes, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    pay: tuple[float, ...] = BINARY
    sizes: tuple[int, ...] = ()

    @property
    def outcome(self) -> str:
        """The variable whose mean is asked for."""
        return self.query.outcomes[0]

    def find_truth(self) -> dict[Key, float]:
        """Find the true mean of every arm in every context."""
        return find_means(self.model, self.query, self.pay)

    def list_distributions(self) -> list[NamedArray]:
        """List the distributions of logged rows and of every external table."""
        return [self.model.log(), *map(self.model.distribution, self.tables)]

    def bound_exactly(self, **options: Any) -> BoundTable:
        """Bound all arms from the exact distributions; options add to the stated facts."""
        logs = [self.open(one, exact=True) for one in self.list_distributions()]
        return self._derive(logs, confidence=None, **options)

    def draw_counts(self, rng: Generator) -> list[NamedArray]:
        """Draw how often each kind of row is in the log, and in every external table."""
        return [
            NamedArray(
                one.axes,
                rng.multinomial(n, one.values.ravel()).reshape(one.values.shape).astype(float),
            )
            for one, n in zip(self.list_distributions(), self.sizes, strict=True)
        ]

    def bound_counts(
        self, counts: list[NamedArray], *, confidence: float, inference: Inference = "exact"
    ) -> BoundTable:
        """Bound all arms from drawn counts."""
        logs = [self.open(one, exact=False) for one in counts]
        return self._derive(logs, confidence=confidence, inference=inference)

    def open(self, cells: NamedArray, *, exact: bool) -> Log:
        """Open counts or an exact distribution as a log, with pay in the place of levels."""
        n = cells.values.ravel()
        there = n > 0
        codes = np.indices(cells.values.shape).reshape(cells.values.ndim, n.size)[:, there]
        columns = dict(zip(cells.axes, codes, strict=True))
        if self.outcome in columns:
            columns[self.outcome] = np.array(self.pay)[columns[self.outcome]]
        weights = n[there] if exact else n[there].astype(int)
        listed = {name: column.tolist() for name, column in columns.items()}
        return read_log({**listed, "n": weights.tolist()}, weight="n", exact=exact)

    def _derive(self, logs: list[Log], **options: Any) -> BoundTable:
        """Derive bounds with all levels declared and all facts stated."""
        levels = self.model.n_levels
        stated = {**self.facts, **options}
        return derive_bounds(
            self.model.graph,
            self.query,
            logs[0],
            external=logs[1:],
            outcome_range=BINARY,
            domain={x: range(levels[x]) for x in self.model.graph.observed - {self.outcome}},
            **stated,
        )


def draw_problems(seed: int, n: int) -> Iterator[Problem]:
    """Draw random models with questions, whose bounds an audit compares with the known truth.

    Each has its own random stream, so that one can be repeated alone.
    """
    for stream in SeedSequence(seed).spawn(n):
        yield draw_problem(default_rng(stream))


def draw_problem(rng: Generator) -> Problem:
    """Draw one problem: a random model, a question, and which external tables there are."""
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


def draw_query(graph: CausalGraph, rng: Generator) -> EffectQuery:
    """Draw a question: one outcome, one or two arms, up to two contexts."""
    names = [str(name) for name in rng.permutation(sort_names(graph.observed))]
    outcome, *rest = names
    n_arms = 2 if rng.random() < 1 / 3 else 1
    arms, others = rest[:n_arms], rest[n_arms:]
    free = [name for name in others if name not in graph.descendants(arms)]
    return EffectQuery((outcome,), tuple(arms), tuple(free[: int(rng.integers(0, 3))]))


def bound_problem(
    problem: Problem, profile: Profile, *, rate_known: bool = False
) -> BoundTable:
    """Bound a random problem from its exact distributions, by a profile.

    With the true selection rate (the share of rows that are logged) if ``rate_known``.
    """
    model = problem.model
    known = {"selection_rate": model.selection_rate()} if model.graph.selection else {}
    return problem.bound_exactly(profile=profile, **(known if rate_known else {}))


def find_means(
    model: SCM, query: EffectQuery, pay: tuple[float, ...] = BINARY
) -> dict[Key, float]:
    """Find the true mean of every arm in every context of a model."""
    effect = model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    )
    axes, n = query.treatments + query.context, len(query.treatments)
    means = effect.align((*axes, *query.outcomes)) @ np.array(pay)
    places = product(*map(range, means.shape))
    return {(at[:n], at[n:]): float(means[at]) for at in places}


def list_missed(table: BoundTable, truth: Mapping[Key, float]) -> list[str]:
    """List the intervals and differences of a table that leave the truth out, in words.

    In a context that nobody has there is no truth (nan), and nothing is missed.
    """
    missed = [
        f"{key}: {truth[key]:.6g} outside {interval}"
        for key, interval in table.intervals.items()
        if truth[key] < interval.lower - ROUNDING or truth[key] > interval.upper + ROUNDING
    ]
    for (where, one, other), most in table.contrasts.items():
        lead = truth[one, where] - truth[other, where]
        if lead > most + ROUNDING:
            missed.append(f"{one} leads {other} in {where} by {lead:.6g}, at most {most:.6g}")
    return missed


def classify_rule(name: str) -> str:
    """Name the kind of a rule: what stands before its variables.

    >>> [classify_rule(name) for name in ("identified", "worst case over A, average over B")]
    ['identified', 'worst case']
    """
    found = re.match(r"(substitute|.*?)(?:,| on | over | of | V\d|$)", name)
    return found[1] if found else name


def read_levels(table: BoundTable, key: Key) -> dict[str, int]:
    """Read which level each treatment and context variable has in a row of bounds."""
    axes = table.treatments + table.context
    return {name: int(str(value)) for name, value in zip(axes, sum(key, ()), strict=True)}


def name_row(levels: Mapping[str, int]) -> str:
    """Write a row's levels as ``X=1, W=0``."""
    return ", ".join(f"{name}={value}" for name, value in levels.items())
