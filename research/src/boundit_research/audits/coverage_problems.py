"""Random problems with finite logs: a model, a question, what it pays, what else is known.

Two fifths of the graphs are random, as many are drawn from a list that has every kind of
formula: sums, ratios, unknown links, programs, programs in strata, natural bounds. The others
have bounds that are means of a reweighted log, and facts about selection are stated. Tables
are skewed or mild, some covariates have many levels, rewards are 0/1 or numbers, some
variables were also measured without bias, and the selection rate or a limit may be known.
Numbers of rows are drawn evenly by their logarithm.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from boundit.bounds.derive import derive_bounds
from boundit.counts.log import Log
from boundit.counts.named_array import Floats, NamedArray
from boundit.counts.read import read_log
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.terms.bound import Key
from boundit.terms.bound_table import BoundTable
from boundit.terms.names import Nodes, sort_names
from boundit.terms.sampling import Inference
from boundit_research.audits.problems import draw_query

FEWEST, MOST = 50, 200_000
"""How many rows a log may have."""
BINARY = (0.0, 1.0)
MANY_LEVELS = 6
_TWO_STEPS = (
    "Z1 -> X1; Z1 -> Z2; X1 -> Z2; Z1 -> X2; X1 -> X2; Z2 -> X2; Z1 -> Y; X1 -> Y; Z2 -> Y; "
    "X2 -> Y"
)
_SUMS = (
    ("Z -> X; Z -> Y; X -> Y", "Y | do(X)"),
    ("X -> M -> Y; X <-> Y", "Y | do(X)"),
    (_TWO_STEPS, "Y | do(X1, X2)"),
    ("C -> Z; C -> X; C -> Y; Z -> X; Z -> Y; X -> Y", "Y | do(X), C"),
    ("Z -> X; Z -> Y; X -> Y; Z -> [S]", "Y | do(X)"),
    ("A -> X; A -> B; A -> Y; X -> Y; B -> Y; B <-> [S]", "Y | do(X)"),
    ("Z -> X; Z -> Y; X -> Y; B -> Y; B -> [S]", "Y | do(X)"),
)
"""Graphs without programs, whose covariates may have many levels."""
_OTHERS = (
    ("W -> Z -> X -> Y; W <-> X; W <-> Y", "Y | do(X)"),
    ("Z -> X -> Y; X <-> Y", "Y | do(X)"),
    ("W -> Z -> X -> Y; X <-> Y; W -> X; W -> Y", "Y | do(X)"),
    ("X -> Y; X <-> Y", "Y | do(X)"),
    ("X -> Y; X <-> Y; Y -> [S]", "Y | do(X)"),
    ("C -> X; X -> M -> Y; M <-> Y; C -> Y", "Y | do(X), C"),
    ("U1 -> X1 -> I1 -> Y; U1 -> Y; U2 -> X2 -> Y; I1 <-> Y; I1 -> [S]",
     "Y | do(X1, X2), U1, U2"),
)  # fmt: skip

_SELECTED = (
    ("X -> M -> Y; X -> Y; M -> [S]", "Y | do(X)"),
    ("X -> M -> Y; X -> Y; M -> [S]; Y -> [S]", "Y | do(X)"),
    ("X -> Y; X -> [S]; Y -> [S]", "Y | do(X)"),
    ("C -> X; C -> Y; X -> Y; Y -> [S]; C -> [S]", "Y | do(X), C"),
    ("W -> X; W -> Y; X -> Y; X <-> Y; W -> [S]; X -> [S]", "Y | do(X)"),
    ("X -> Y; X <-> Y; Y -> [S]", "Y | do(X)"),
)
"""Graphs whose bounds are means of a reweighted log, for which something is always stated."""


@dataclass(frozen=True, eq=False)
class CoverageProblem:
    """A model, a question, what each level of the outcome pays, what is known, log sizes.

    ``tables`` are the variables of unbiased tables, ``facts`` what is stated about selection,
    as options of ``derive_bounds``, and ``sizes`` how many rows log and tables have.
    """

    model: Model
    query: EffectQuery
    pay: tuple[float, ...]
    tables: tuple[Nodes, ...]
    facts: Mapping[str, object]
    sizes: tuple[int, ...]

    def list_laws(self) -> list[NamedArray]:
        """List the laws of the logged rows and of every unbiased table."""
        return [self.model.log(), *map(self.model.law, self.tables)]

    def find_truth(self) -> Floats:
        """Find what every arm pays in every context, axes in the query's order."""
        query = self.query
        effect = self.model.effect(
            outcomes=query.outcomes, treatments=query.treatments, context=query.context
        )
        axes = query.treatments + query.context
        paid: Floats = effect.align((*axes, *query.outcomes)) @ np.array(self.pay)
        return paid

    def bound_law(self) -> BoundTable:
        """Derive the identified set of every row: the bounds from exact laws."""
        laws = self.list_laws()
        return self._derive([self._open(law, exact=True) for law in laws], confidence=None)

    def draw_counts(self, rng: Generator) -> list[NamedArray]:
        """Draw how often each kind of row is in the log, and in every unbiased table."""
        return [
            NamedArray(
                law.axes,
                rng.multinomial(n, law.values.ravel()).reshape(law.values.shape).astype(float),
            )
            for law, n in zip(self.list_laws(), self.sizes, strict=True)
        ]

    def bound_counts(
        self, counts: list[NamedArray], *, confidence: float, inference: Inference
    ) -> BoundTable:
        """Bound all arms from drawn counts by one method."""
        logs = [self._open(one, exact=False) for one in counts]
        return self._derive(logs, confidence=confidence, inference=inference)

    def _open(self, cells: NamedArray, *, exact: bool) -> Log:
        """Open counts or an exact law as a log with the outcome's pay in the place of levels."""
        (outcome,) = self.query.outcomes
        n = cells.values.ravel()
        there = n > 0
        codes = np.indices(cells.values.shape).reshape(cells.values.ndim, n.size)[:, there]
        columns: dict[str, list[object]] = {
            name: code.tolist() for name, code in zip(cells.axes, codes, strict=True)
        }
        if outcome in columns:
            columns[outcome] = np.array(self.pay)[codes[cells.axes.index(outcome)]].tolist()
        weights = n[there] if exact else n[there].astype(int)
        return read_log({**columns, "n": weights.tolist()}, weight="n", exact=exact)

    def _derive(
        self, logs: list[Log], *, confidence: float | None, inference: Inference = "exact"
    ) -> BoundTable:
        """Derive bounds with all levels declared and all that is known told."""
        (outcome,) = self.query.outcomes
        levels = self.model.n_levels
        return derive_bounds(
            self.model.graph,
            self.query,
            logs[0],
            confidence=confidence,
            inference=inference,
            external=logs[1:],
            outcome_range=(0.0, 1.0),
            domain={x: range(levels[x]) for x in self.model.graph.observed - {outcome}},
            **self.facts,  # type: ignore[arg-type]
        )


def draw_coverage_problems(seed: int, n: int) -> Iterator[tuple[CoverageProblem, Generator]]:
    """Draw ``n`` problems, each with the random stream that its log is to be drawn from.

    Each has a stream of its own, so that one can be repeated alone.
    """
    for stream in SeedSequence([seed, 14]).spawn(n):
        rng = default_rng(stream)
        yield draw_coverage_problem(rng), rng


def draw_coverage_problem(rng: Generator) -> CoverageProblem:
    """Draw one problem: model, question, pay, what is known, and how many rows there are."""
    selected = bool(rng.random() < 0.2)
    model, query = _draw_selected(rng) if selected else _draw_question(rng)
    (outcome,) = query.outcomes
    k = model.n_levels[outcome]
    # Numbers are never 0 and 1 alone, which would count as 0/1 in a small log.
    pay = BINARY if k == 2 and rng.random() < 0.7 else tuple(np.linspace(0.1, 0.9, k))
    tables: tuple[Nodes, ...] = ()
    facts: dict[str, object] = {}
    if model.graph.selection:
        if rng.random() < 0.3:
            others = sort_names(model.graph.observed - {outcome})
            size = int(rng.integers(1, min(len(others), 2) + 1))
            tables = (frozenset(map(str, rng.choice(others, size, replace=False))),)
        facts = _draw_facts(model, rng, always=selected)
    sizes = np.exp(rng.uniform(np.log(FEWEST), np.log(MOST), 1 + len(tables)))
    return CoverageProblem(model, query, pay, tables, facts, tuple(map(int, sizes)))


def read_place(key: Key) -> tuple[int, ...]:
    """Read at which place of an array by levels an arm and a context stand."""
    arm, context = key
    return tuple(int(str(level)) for level in (*arm, *context))


def _draw_question(rng: Generator) -> tuple[Model, EffectQuery]:
    """Draw a model and a question, on a random graph or on one of the list."""
    floor = 0.002 if rng.random() < 0.5 else 0.05
    if rng.random() < 0.5:
        graph = draw_graph(int(rng.integers(3, 6)), rng, selection=bool(rng.random() < 0.7))
        query = draw_query(graph, rng)
        return draw_model(graph, rng, levels=(2, 3), floor=floor), query
    wide = rng.random() < 0.3
    of = _SUMS if wide or rng.random() < 0.3 else _OTHERS
    text, asked = of[int(rng.integers(len(of)))]
    graph, query = parse(text), parse_query(asked)
    few = (*query.treatments, *query.outcomes)
    if not wide:
        return draw_model(graph, rng, levels=(2, 3), floor=floor, binary=few), query
    levels, least = (MANY_LEVELS,), min(floor, 0.02)
    return draw_model(
        graph, rng, levels=levels, floor=least, binary=few, binary_hidden=True
    ), query


def _draw_selected(rng: Generator) -> tuple[Model, EffectQuery]:
    """Draw a model and a question whose bounds are means of a reweighted log."""
    text, asked = _SELECTED[int(rng.integers(len(_SELECTED)))]
    graph, query = parse(text), parse_query(asked)
    few = (*query.treatments, *query.outcomes)
    levels = (2, 3, MANY_LEVELS)
    return draw_model(
        graph, rng, levels=levels, floor=0.05, binary=few, binary_hidden=True
    ), query


def _draw_facts(model: Model, rng: Generator, *, always: bool) -> dict[str, object]:
    """Draw what is stated about selection, all of it true: mostly nothing, unless ``always``."""
    kind, rate = rng.random() * (0.4 if always else 1.0), model.selection_rate()
    if kind < 0.15:
        return {"selection_rate": rate}
    if kind < 0.25:
        return {"selection_rate": (0.8 * rate, min(1.2 * rate, 1.0))}
    if kind < 0.4:
        everyone, logged = model.law(), model.log()
        ratio = everyone.values / logged.align(everyone.axes)
        return {"selection_limit": float(np.exp(np.abs(np.log(ratio)).max()) * 1.01)}
    return {}
