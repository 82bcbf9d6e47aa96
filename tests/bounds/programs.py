"""Programs of named graphs on exact laws."""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from boundit.bounds.numbers import PlugInNumbers
from boundit.bounds.rules.find_response_programs import SearchBudget, find_response_programs
from boundit.bounds.rules.response_program import (
    ProgramEnds,
    ProgramLayout,
    ResponseProgram,
    solve_program,
)
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.recovery.question import Question
from boundit.estimand.recovery.solver import Solver
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_model
from boundit.terms.long_work import TimeBudget
from tests.nodes import make_nodes


def specs(graph: CausalGraph, x: str = "X", c: str = "") -> list[ResponseProgram]:
    """The programs for ``P(Y | do(x), c)``."""
    asked = Question(make_nodes("Y"), frozenset(x.split()), frozenset(c.split()))
    return list(find_response_programs(graph, asked, Solver(graph), SearchBudget(graph)))


def numbers(law: NamedArray) -> PlugInNumbers:
    """A law that is the population's and the log's at once."""
    return PlugInNumbers(Evaluator(law, [law]))


def solved(spec: ResponseProgram, law: NamedArray) -> ProgramEnds:
    found = numbers(law)
    return solve_program(ProgramLayout(spec, found.levels), found, TimeBudget(None))


def models(
    drawn: str, n: int, rng: Generator, levels: tuple[int, ...] = (2,), zeros: float = 0.0
) -> Iterator[Model]:
    """Random models of a graph with a 0/1 outcome."""
    graph = parse(drawn)
    while n:
        model = draw_model(graph, rng, levels=levels, floor=0.001, zeros=zeros)
        if model.n_levels["Y"] == 2:
            n -= 1
            yield model


def truth(model: Model, spec: ResponseProgram) -> Floats:
    """``P(Y=1 | do(x), c)`` over the program's own axes."""
    asked = spec.asked
    effect = model.effect(outcomes="Y", treatments=asked.treatments, context=asked.context).at(
        {"Y": 1}
    )
    return np.asarray(effect.align(spec.fixed + spec.set_by_hand))
