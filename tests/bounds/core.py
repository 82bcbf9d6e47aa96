"""Exact distributions as evidence, so that chains can be compared with a known truth."""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator, default_rng

from boundit.bounds.chain import Chain, Run
from boundit.bounds.evidence import Counts, Evidence, Probabilities
from boundit.bounds.search import find_chains
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.core.names import Nodes
from boundit.counts.memory import Workspace
from boundit.counts.named_array import Floats, NamedArray
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.simulation.scm import SCM
from tests.bounds.exact import Asked, questions

SLACK = 1e-8


def read_exact(law: NamedArray, outcome: str) -> Counts:
    """An exact distribution as counts, with a 0/1 outcome as its reward."""
    rest = tuple(axis for axis in law.axes if axis != outcome)
    n = law.marginalize(rest)
    held = outcome in law.names
    sums = law.at({outcome: 1}).align(rest).ravel() if held else None
    table = CountTable(
        variables=rest,
        levels={axis: tuple(range(k)) for axis, k in n.n_levels.items()},
        codes=np.indices(n.values.shape).reshape(len(rest), n.values.size).T,
        n=n.values.ravel().copy(),
        reward=outcome if held else None,
        sums=sums,
        squares=sums,
        lowest=None if sums is None else np.zeros_like(sums),
        highest=None if sums is None else np.ones_like(sums),
        exact=True,
    )
    return Counts(table, outcome if held else None)


def make_run(model: SCM, query: EffectQuery, tables: tuple[Nodes, ...] = ()) -> Run:
    """The exact distributions of a model's log and of some unselected tables."""
    (outcome,) = query.outcomes
    log, *others = (
        read_exact(law, outcome) for law in (model.log(), *map(model.distribution, tables))
    )
    population = tuple(others) if model.graph.selection else (log,)
    evidence = Evidence(model.graph, query, log, population, Workspace.make_default())
    return Run(Probabilities(evidence))


def state_rate(model: SCM) -> SelectionFacts:
    """The true selection rate as a stated fact; nothing without a selection node."""
    if model.graph.selection is None:
        return NOTHING_KNOWN
    return SelectionFacts((model.selection_rate(), model.selection_rate()))


def bound(chains: tuple[Chain, ...], run: Run) -> tuple[Floats, Floats]:
    """The best endpoints of all chains."""
    shape = run.numbers.evidence.shape
    ends = [chain.bound(run) for chain in chains]
    lower = np.max([np.zeros(shape), *(low for low, _ in ends)], axis=0)
    return lower, np.min([np.ones(shape), *(high for _, high in ends)], axis=0)


def find_misses(asked: Asked, facts: SelectionFacts) -> Iterator[str]:
    """List the chains of a question that miss its truth, each by itself."""
    run = make_run(asked.model, asked.query, asked.tables)
    truth = asked.truth()
    for chain in find_chains(asked.model.graph, asked.query, asked.tables, facts=facts).rules:
        low, high = chain.bound(run)
        if (low > truth + SLACK).any() or (high < truth - SLACK).any():
            yield f"{chain.name} on {asked.model.graph}: {asked.query}"


def draw_selected(n: int, seed: int) -> Iterator[tuple[Asked, Generator]]:
    """Questions on selected models, with a random stream for each."""
    streams = default_rng(seed + 1_000).spawn(n)
    yield from zip(questions(n, seed, selection=True), streams, strict=True)
