"""Random problems with finite logs: a model, a question, what it pays, what else is known.

Two fifths of the graphs are random, as many are drawn from a list that has every kind of
formula: sums, ratios, unknown links, programs, natural bounds. The others have bounds that are
means of a reweighted log, and facts about selection are stated. Tables are skewed or mild, some
covariates have many levels, outcomes are 0/1 or numbers, some variables were also measured
without bias, and the selection rate or a limit may be known.
Numbers of rows are drawn evenly by their logarithm.
"""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from boundit.core.names import Nodes, sort_names
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.simulation.scm import SCM
from boundit_research.audits.problems import BINARY, Problem, draw_query

FEWEST, MOST = 50, 200_000
"""How many rows a log may have."""
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


def draw_coverage_problems(seed: int, n: int) -> Iterator[tuple[Problem, Generator]]:
    """Draw ``n`` problems, each with the random stream that its log is to be drawn from.

    Each has a stream of its own, so that one can be repeated alone.
    """
    for stream in SeedSequence([seed, 14]).spawn(n):
        rng = default_rng(stream)
        yield draw_coverage_problem(rng), rng


def draw_coverage_problem(rng: Generator) -> Problem:
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
    return Problem(model, query, tables, facts, pay, tuple(map(int, sizes)))


def _draw_question(rng: Generator) -> tuple[SCM, EffectQuery]:
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


def _draw_selected(rng: Generator) -> tuple[SCM, EffectQuery]:
    """Draw a model and a question whose bounds are means of a reweighted log."""
    text, asked = _SELECTED[int(rng.integers(len(_SELECTED)))]
    graph, query = parse(text), parse_query(asked)
    few = (*query.treatments, *query.outcomes)
    levels = (2, 3, MANY_LEVELS)
    return draw_model(
        graph, rng, levels=levels, floor=0.05, binary=few, binary_hidden=True
    ), query


def _draw_facts(model: SCM, rng: Generator, *, always: bool) -> dict[str, object]:
    """Draw what is stated about selection, all of it true: mostly nothing, unless ``always``."""
    kind, rate = rng.random() * (0.4 if always else 1.0), model.selection_rate()
    if kind < 0.15:
        return {"selection_rate": rate}
    if kind < 0.25:
        return {"selection_rate": (0.8 * rate, min(1.2 * rate, 1.0))}
    if kind < 0.4:
        everyone, logged = model.distribution(), model.log()
        ratio = everyone.values / logged.align(everyone.axes)
        return {"selection_limit": float(np.exp(np.abs(np.log(ratio)).max()) * 1.01)}
    return {}
