"""Exact distributions of random models as evidence, for programs and for what checks them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from boundit.bounds.chain import Run
from boundit.bounds.evidence import Evidence, Probabilities
from boundit.bounds.program.rule import ProgramEndpoints, find_program
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.core.names import Nodes
from boundit.counts.memory import Workspace
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from boundit.simulation.scm import SCM
from tests.bounds.core import read_exact


@dataclass(frozen=True)
class Case:
    """A model and a question; ``graph`` may be a larger class of models than the model's own."""

    graph: CausalGraph
    query: EffectQuery
    model: SCM
    tables: tuple[Nodes, ...] = ()

    def run(self) -> Run:
        distributions = [self.model.log(), *map(self.model.distribution, self.tables)]
        return make_run(self.graph, self.query, distributions)

    def know_rate(self) -> SelectionFacts:
        rate = self.model.selection_rate()
        return SelectionFacts((rate, rate))

    def solve(self, facts: SelectionFacts = NOTHING_KNOWN) -> ProgramEndpoints:
        program = find_program(self.graph, self.query, self.tables, facts)
        assert program is not None
        return program.solve(self.run())

    @property
    def truth(self) -> Floats:
        query = self.query
        effect = self.model.effect(
            outcomes=query.outcomes, treatments=query.treatments, context=query.context
        )
        return effect.at({query.outcomes[0]: 1}).align(query.treatments + query.context)


def make_run(
    graph: CausalGraph,
    query: EffectQuery,
    distributions: Sequence[NamedArray],
    *,
    exact: bool = True,
) -> Run:
    (outcome,) = query.outcomes
    read = (read_exact(law, outcome) for law in distributions)
    log, *external = (replace(c, table=replace(c.table, exact=exact)) for c in read)
    population = tuple(external) if graph.selection else (log,)
    evidence = Evidence(graph, query, log, population, Workspace.make_default())
    return Run(Probabilities(evidence))


def draw_case(graph: str, query: str, rng: Generator, **options: object) -> Case:
    drawn, asked = parse(graph), parse_query(query)
    options = {"levels": (2,), **options}
    return Case(drawn, asked, draw_model(drawn, rng, **options))  # type: ignore[arg-type]


def assert_inside(found: ProgramEndpoints, truth: Floats) -> None:
    assert not found.empty.any()
    seen = ~np.isnan(truth)
    assert (found.lower <= truth + 1e-9)[seen].all(), (found.lower, truth)
    assert (truth <= found.upper + 1e-9)[seen].all(), (truth, found.upper)
