"""Programs of named graphs on exact laws."""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from boundit.bounds.confounded import Confounded, Effort, confounded
from boundit.bounds.sequential import PlugIn
from boundit.bounds.type_layout import Layout
from boundit.bounds.type_program import Clock, Found, solve
from boundit.counts.evaluate import Evaluator
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.question import Question
from boundit.estimand.solver import Solver
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.simulation.random_models import random_model
from boundit.terms.names import nodes


def specs(graph: CausalGraph, x: str = "X", c: str = "") -> list[Confounded]:
    """The programs for ``P(Y | do(x), c)``."""
    asked = Question(nodes("Y"), frozenset(x.split()), frozenset(c.split()))
    return list(confounded(graph, asked, Solver(graph), Effort(graph)))


def numbers(law: NamedArray) -> PlugIn:
    """A law that is the population's and the log's at once."""
    return PlugIn(Evaluator(law, [law]))


def solved(spec: Confounded, law: NamedArray) -> Found:
    found = numbers(law)
    return solve(Layout(spec, found.levels), found, Clock(None))


def models(
    drawn: str, n: int, rng: Generator, levels: tuple[int, ...] = (2,), zeros: float = 0.0
) -> Iterator[Model]:
    """Random models of a graph with a 0/1 outcome."""
    graph = parse(drawn)
    while n:
        model = random_model(graph, rng, levels=levels, floor=0.001, zeros=zeros)
        if model.n_levels["Y"] == 2:
            n -= 1
            yield model


def truth(model: Model, spec: Confounded) -> Floats:
    """``P(Y=1 | do(x), c)`` over the program's own axes."""
    asked = spec.asked
    effect = model.effect(outcomes="Y", treatments=asked.treatments, context=asked.context).at(
        {"Y": 1}
    )
    return np.asarray(effect.aligned(spec.fixed + spec.set_by_hand))
