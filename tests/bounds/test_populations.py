"""Means over populations: against vertices of the polytope, and whatever is nearly filtered out."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from numpy.random import Generator, default_rng

import boundit as bd
from boundit.bounds.chain import require_possible
from boundit.bounds.population import Population, Reweighting
from boundit.bounds.search import find_chains
from boundit.bounds.selection_facts import NOTHING_KNOWN, FactsRefuted, SelectionFacts
from boundit.core.names import sort_names
from boundit.counts.named_array import Floats
from boundit.simulation.random_models import draw_model
from boundit.simulation.scm import SCM
from tests.bounds.core import draw_selected, find_misses, make_run, read_exact

GRAPH = bd.parse_graph("A -> B -> Y; A -> Y; M -> B; M -> [S]; B -> [S]")
QUERY = bd.parse_query("Y | do(B)")
EVERY = frozenset("ABMY")


def draw_population(seed: int, facts: SelectionFacts) -> tuple[Population, SCM]:
    model = draw_model(GRAPH, default_rng(seed), levels=(2,), floor=0.05)
    run = make_run(model, QUERY)
    return Population(Reweighting.of(GRAPH, EVERY, facts), run.numbers), model


def list_vertices(population: Population, facts: SelectionFacts) -> list[Floats]:
    """The extreme distributions of the shield: what is sure, and all the rest on one value."""
    sure = facts.least_ratio * population.logged[0]
    return [sure + (1 - sure.sum()) * one for one in np.eye(population.n_shield)]


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_the_greatest_mean_is_attained_at_a_vertex(seed: int, rate: float) -> None:
    facts = SelectionFacts((rate, rate)) if rate else NOTHING_KNOWN
    population, model = draw_population(seed, facts)
    shield = population.axes[: len(population.reweighting.shield)]
    weighed = SelectionFacts((0.5, 0.5))  # reads how often each value was logged
    reader = Population(Reweighting.of(GRAPH, EVERY, weighed), make_run(model, QUERY).numbers)
    rng, shares = default_rng(seed), population.shares[0]
    for given in ({}, {"A": 1}, {"A": 0, "M": 1}):
        names = [name for name in population.axes if name not in given]
        values = rng.uniform(size=[2] * len(names))
        tops = population.spread(values, names, given).reshape(shares.shape)
        here = population.place(given).reshape(shares.shape)
        vertices = list_vertices(reader, facts) if rate else list(np.eye(len(shares)))
        means = []
        for q in vertices:
            mass = (shares * here * q[:, None]).sum()
            if mass > 0:
                means.append((shares * tops * q[:, None]).sum() / mass)
        found = population.greatest_mean(values, names, given)
        assert found == pytest.approx(max(means), abs=1e-7), (shield, given)


def test_a_limit_keeps_values_that_were_never_logged_out() -> None:
    model = draw_model(GRAPH, default_rng(1), levels=(2,), floor=0.05)
    law = model.log()
    keep = np.moveaxis(law.values.copy(), law.axes.index("M"), 0)
    keep[1] = 0
    values = np.moveaxis(keep, 0, law.axes.index("M")) / keep.sum()
    run = make_run(model, QUERY)
    log = read_exact(replace(law, values=values), "Y")
    numbers = type(run.numbers)(replace(run.numbers.evidence, log=log))
    level = np.array([0.0, 1.0])
    ends = []
    for facts in (NOTHING_KNOWN, SelectionFacts(None, inf)):
        population = Population(Reweighting.of(GRAPH, EVERY, facts), numbers)
        ends.append(population.greatest_mean(level, ["M"], {}))
    assert ends == [1.0, pytest.approx(0.0, abs=1e-9)]


def test_facts_that_no_population_has_are_refused() -> None:
    graph = bd.parse_graph("X -> Y; Y -> [S]; X -> [S]")
    query = bd.parse_query("Y | do(X)")
    model = draw_model(graph, default_rng(0), levels=(2,), floor=0.2)
    tables, wrong = (frozenset("X"),), SelectionFacts(None, 1.0)  # nothing was selected by
    for facts, possible in ((SelectionFacts((0.01, 0.01)), True), (wrong, False)):
        run = make_run(model, query, tables)
        rules = find_chains(graph, query, tables, facts=facts).rules
        stated = [each for rule in rules for each in rule.reweightings]
        if possible:
            require_possible(stated, run)
        else:
            with pytest.raises(FactsRefuted):
                require_possible(stated, run)


def make_rare(model: SCM, rng: Generator) -> SCM:
    """Give many rows of all tables one level of probability 1e-6 to 1e-10."""
    tables = {}
    for node, table in model.tables.items():
        rows = table.values.reshape(-1, table.values.shape[-1]).copy()
        for row in rows:
            if rng.random() < 0.4:
                level = 1 if node == model.graph.selection else int(rng.integers(len(row)))
                rare = 10.0 ** -rng.uniform(6, 10)
                row[level] = 0
                row[:] = (1 - rare) * row / row.sum()
                row[level] = rare
        tables[node] = (table.axes[:-1], rows.reshape(table.values.shape))
    return SCM(model.graph, tables)


@pytest.mark.parametrize(
    ("stated", "n", "seed"),
    [
        ("nothing", 60, 1),
        ("tables", 25, 1),
        ("rate", 20, 2),
        pytest.param("nothing", 400, 3, marks=pytest.mark.full),
        pytest.param("tables", 300, 4, marks=pytest.mark.full),
        pytest.param("rate", 200, 5, marks=pytest.mark.full),
    ],
)
def test_rare_probabilities_make_no_chain_miss(stated: str, n: int, seed: int) -> None:
    misses = list[str]()
    for drawn, rng in draw_selected(n, seed):
        model = make_rare(drawn.model, rng)
        tables = drawn.tables if stated == "tables" else ()
        rate = model.selection_rate()
        facts = SelectionFacts((rate, rate)) if stated == "rate" else NOTHING_KNOWN
        misses += find_misses(replace(drawn, model=model, tables=tables), facts)
    assert not misses


def test_the_shield_separates_selection_from_the_rest() -> None:
    found = Reweighting.of(GRAPH, EVERY, NOTHING_KNOWN)
    assert sort_names(found.shield) == ["B", "M"]
    assert found.is_free
    assert not Reweighting.of(GRAPH, EVERY, SelectionFacts((0.5, 0.5))).is_free
    assert not Reweighting.of(GRAPH, EVERY, NOTHING_KNOWN, [frozenset("A")]).is_free
