"""Small random questions whose graph leaves edges out, with exact distributions as logs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from boundit.counts.log import Log
from boundit.decisions.stress import MissingEdge, find_exclusion, list_missing
from boundit.results.bound import Key
from boundit.results.bound_table import BoundTable
from boundit.simulation.scm import SCM
from boundit_research.audits.problems import Problem, draw_problem, read_levels
from tests.bounds.exact import as_log


def draw_small(seed: int) -> Problem:
    """Draw a question on a graph of four variables."""
    rng = default_rng(seed)
    while len((problem := draw_problem(rng)).model.graph.observed) > 4:
        pass
    return problem


def list_tried(problem: Problem) -> Iterator[MissingEdge]:
    """The missing edges of a problem's graph that do not change its question."""
    graph, query = problem.model.graph, problem.query
    for edge in list_missing(graph):
        if find_exclusion(graph, query, edge) is None:
            yield edge


def open_log(problem: Problem, model: SCM | None = None) -> Log:
    """Open the exact distribution that is logged of a problem's model, or of another."""
    return as_log((model or problem.model).log())


def find_truth(model: SCM, problem: Problem, table: BoundTable) -> dict[Key, float]:
    """What every arm of a table truly earns in every context of a model."""
    query = problem.query
    law = model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    ).at({query.outcomes[0]: 1})
    return {key: float(np.asarray(law.at(read_levels(table, key)))) for key in table.bounds}


NUMBERS = "Z = {A, B}; Z -> X; Z -> Y; X -> Y"


def draw_unseen(n: int) -> tuple[dict[str, NDArray[Any]], list[float]]:
    """Rows of ``NUMBERS`` with a hidden cause that the graph leaves out, and the true means."""
    rng = default_rng(4)
    a, b, hidden = rng.normal(size=(3, n))
    x = (rng.random(n) < 1 / (1 + np.exp(-0.5 * a - 2 * hidden))).astype(int)
    chance = [1 / (1 + np.exp(-0.3 * a + 0.5 * arm - 2 * hidden)) for arm in (0, 1)]
    y = (rng.random(n) < np.where(x, chance[1], chance[0])).astype(int)
    return {"A": a, "B": b, "X": x, "Y": y}, [float(of.mean()) for of in chance]


REFUTED = "Z -> X -> Y; X <-> Y"
"""A graph of an instrument, which ``draw_refuting`` refutes: Z affects Y directly."""


def draw_refuting(n: int = 3_000) -> dict[str, list[int]]:
    """Rows in which Y depends on Z, and X hardly does."""
    rng = default_rng(0)
    z = rng.integers(2, size=n)
    x = np.where(rng.random(n) < 0.9, 1, z)
    y = np.where(rng.random(n) < 0.9, z, 1 - z)
    return {"Z": z.tolist(), "X": x.tolist(), "Y": y.tolist()}
