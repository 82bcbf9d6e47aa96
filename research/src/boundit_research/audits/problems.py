"""Random problems whose truth is known: a model, a question, tables, stated facts, a log.

A model is a random graph over four to six variables, usually selected, with random tables of
two or three levels; a question asks for one or two arms in up to two contexts. Models of *odd*
shape have structural zeros, tables that are nearly deterministic, or rows that are seldom logged.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
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
STRUCK, RARE = 0.3, 0.01
"""In odd models: how many cells of a table are struck out, and what logged rows are thinned to."""
BASELINES, MIXES = 9, 3
"""How many arms others are compared with, and for how many shares of contexts on average."""
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


def draw_problems(seed: int, n: int, *, odd: float = 0.0) -> Iterator[Problem]:
    """Draw random models with questions, whose bounds an audit compares with the known truth.

    Each has its own random stream, so that one can be repeated alone, and is of odd shape with
    probability ``odd``.
    """
    for stream in SeedSequence(seed).spawn(n):
        rng = default_rng(stream)
        problem = draw_problem(rng)
        if rng.random() < odd:
            problem = replace(problem, model=draw_odd(problem.model, rng))
        yield problem


def draw_odd(model: SCM, rng: Generator) -> SCM:
    """Draw a model of odd shape: a third of the tables stay, and some rows are still logged.

    Others have cells struck out, or powers of their probabilities; logged rows may be rare.
    """
    while True:
        tables = {}
        for name, table in model.tables.items():
            values, kind = table.values, rng.integers(3)
            if kind == 0:
                spared = rng.integers(values.shape[-1], size=(*values.shape[:-1], 1))
                struck = rng.random(values.shape) < STRUCK
                struck &= spared != np.arange(values.shape[-1])
                values = np.where(struck, 0, values)
            elif kind == 1:
                values = values ** rng.integers(2, 6)
            if name == model.graph.selection and rng.random() < 1 / 2:
                values = values * (1, RARE)
            tables[name] = (table.axes[:-1], values / values.sum(axis=-1, keepdims=True))
        odd = SCM(model.graph, tables)
        if odd.selection_rate() > 0:
            return odd


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
    """List the intervals and effects of a table that leave the truth out, in words.

    In a context that nobody has there is no truth (nan), and nothing is missed.
    """
    missed = [
        f"{key}: {truth[key]:.6g} outside {interval}"
        for key, interval in table.intervals.items()
        if truth[key] < interval.lower - ROUNDING or truth[key] > interval.upper + ROUNDING
    ]
    missed += [
        f"{what}: {true:.6g} outside [{low:.6g}, {high:.6g}]"
        for what, low, true, high in list_effects(table, truth)
        if true < low - ROUNDING or true > high + ROUNDING
    ]
    return missed


def list_effects(
    table: BoundTable, truth: Mapping[Key, float]
) -> Iterator[tuple[str, float, float, float]]:
    """List the effects of a table in words: each with its lower end, the truth, its upper end.

    Of every arm relative to every other (in large tables to the first few): in each context that
    somebody has, on average over any mix of contexts, and relative to the first arm by random
    shares.
    """
    arms, contexts = table.arms, table.contexts
    means = np.array([[truth[arm, where] for where in contexts] for arm in arms])
    there = np.flatnonzero(~np.isnan(means).any(axis=0)).tolist()
    if not there:
        return
    place = {arm: i for i, arm in enumerate(arms)}
    for i, baseline in enumerate(arms[:BASELINES]):
        leads = (means - means[i]).tolist()
        for arm, effect in table.effects(baseline).items():
            what, own = f"effect of {arm} relative to {baseline}", leads[place[arm]]
            for c in there:
                interval = effect.intervals[contexts[c]]
                yield f"{what} in {contexts[c]}", interval.lower, own[c], interval.upper
            for end in (min, max):
                yield f"{what}, any mix", effect.lower, end(own[c] for c in there), effect.upper
    leads = (means - means[0])[:, there]
    for mix in default_rng(0).dirichlet(np.ones(len(there)), size=MIXES):
        shares: dict[object, float] = {
            contexts[c]: float(share) for c, share in zip(there, mix, strict=True)
        }
        for arm, effect in table.effects(arms[0], shares=shares).items():
            true = float(leads[place[arm]] @ mix)
            yield f"effect of {arm} by {shares}", effect.lower, true, effect.upper


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
