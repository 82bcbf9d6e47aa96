"""Facts that are true of a model, and populations found the slow way."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from boundit.bounds.numbers import PlugInNumbers
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.named_array import Floats
from boundit.graph.boundary import find_boundary
from boundit.simulation.model import Model
from boundit.terms.names import Nodes


def plug_in(model: Model, tables: Sequence[Nodes] = ()) -> PlugInNumbers:
    """The exact law of the log, and those of unselected tables."""
    return PlugInNumbers(Evaluator(model.log(), [model.law(table) for table in tables]))


def steering(model: Model) -> Nodes:
    """Whatever shields selection from all the rest."""
    graph = model.graph
    return find_boundary(graph, str(graph.selection), given=graph.observed)


def true_limit(model: Model) -> float | None:
    """The smallest selection limit that holds; None when some are never logged."""
    names = steering(model)
    everyone = model.law(names)
    logged = model.log().marginalize(names).align(everyone.axes)
    happens = everyone.values > 0
    if (logged[happens] == 0).any():
        return None
    ratio = everyone.values[happens] / logged[happens]
    return float(max(ratio.max(), 1 / ratio.min())) * (1 + 1e-9)


def true_facts(model: Model) -> list[SelectionFacts]:
    """Ever more that is true about selection; each is told more than the one before."""
    rate, limit = model.selection_rate(), true_limit(model)
    found = [SelectionFacts(), SelectionFacts((rate * 0.7, 1.0)), SelectionFacts((rate, rate))]
    return found if limit is None else [*found, SelectionFacts((rate, rate), limit)]


def vertices(rows: Floats, lower: Floats, upper: Floats) -> Iterator[Floats]:
    """Every corner of ``{q : sum q = 1, q >= 0, lower <= rows q <= upper}``, by brute force."""
    n = rows.shape[1]
    matrix = np.concatenate([np.ones((1, n)), np.eye(n), rows, rows])
    ends = np.concatenate([[1.0], np.zeros(n), lower, upper])
    for chosen in combinations(range(1, len(matrix)), n - 1):
        active = [0, *chosen]
        if np.linalg.matrix_rank(matrix[active]) < n:
            continue
        corner = np.linalg.solve(matrix[active], ends[active])
        inside = (corner > -1e-12).all() and (rows @ corner > lower - 1e-9).all()
        if inside and (rows @ corner < upper + 1e-9).all():
            yield corner
