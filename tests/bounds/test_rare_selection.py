"""Whatever selection nearly filters out, and whatever rounding leaves of it, bounds hold."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

import boundit as bd
from boundit.core.interval import Interval
from boundit.counts.log import read_log
from boundit.results.bound_table import BoundTable
from boundit.simulation.scm import SCM
from tests.bounds.exact import Asked, as_log, questions

SLACK = 1e-8


def make_rare(model: SCM, rng: np.random.Generator, nodes: frozenset[str]) -> SCM:
    """Give many rows of some nodes' tables one level of chance 1e-6 to 1e-10.

    Of the selection node it is that of being logged.
    """
    tables = {}
    for node, table in model.tables.items():
        rows = table.values.reshape(-1, table.values.shape[-1]).copy()
        for row in rows if node in nodes else ():
            if rng.random() < 0.4:
                level = 1 if node == model.graph.selection else int(rng.integers(len(row)))
                chance = 10.0 ** -rng.uniform(6, 10)
                row[level] = 0
                row[:] = (1 - chance) * row / row.sum()
                row[level] = chance
        tables[node] = (table.axes[:-1], rows.reshape(table.values.shape))
    return SCM(model.graph, tables)


def find_misses(asked: Asked, table: BoundTable) -> Iterator[str]:
    """List the means and the differences of the model that a table misses."""
    means = dict(zip(table.bounds, asked.truth().ravel().tolist(), strict=True))
    for (arm, context), mean in means.items():
        interval = table[arm, context]
        if not interval.lower - SLACK <= mean <= interval.upper + SLACK:
            yield f"{asked.model.graph}: {arm} {context} {mean} not in {interval}"
    for (one, context), (other, elsewhere) in permutations(means, 2):
        gap = means[one, context] - means[other, elsewhere]
        if (
            context == elsewhere
            and gap > table.find_largest_difference(one, other, context) + SLACK
        ):
            yield f"{asked.model.graph}: {one} - {other} {context} {gap}"


@pytest.mark.parametrize("exact", [True, False])
def test_rare_rows_rule_out_no_population_where_nothing_is_stated(exact: bool) -> None:
    """That everybody was kept is possible, and arm 1 then earns .6; any other law is too."""
    counts = [4, 4, 2 * 10**10, 8, 2, 3]
    cells = {"Z": [0, 0, 1, 1, 1, 1], "X": [0, 0, 0, 0, 1, 1], "Y": [0, 1, 0, 1, 0, 1]}
    weights = [n / sum(counts) for n in counts] if exact else counts
    log = read_log(cells | {"n": weights}, weight="n", exact=exact)
    table = bd.derive_bounds("Z -> X -> Y; Z -> Y; Y -> [S]", "Y | do(X)", log, confidence=None)
    assert [table[x, ()] for x in (0, 1)] == [Interval(0, 1)] * 2


@pytest.mark.parametrize(
    ("stated", "everywhere", "n", "seed"),
    [
        ("nothing", True, 40, 3),
        ("rate", True, 10, 3),
        pytest.param("nothing", True, 200, 1, marks=pytest.mark.full),
        pytest.param("tables", True, 200, 1, marks=pytest.mark.full),
        pytest.param("tables", False, 200, 2, marks=pytest.mark.full),
        pytest.param("rate", True, 60, 2, marks=pytest.mark.full),
    ],
)
def test_rare_chances_make_no_bound_miss_and_no_graph_refuted(
    stated: str, everywhere: bool, n: int, seed: int
) -> None:
    """Random models with chances of 1e-6 to 1e-10, of being logged or of anything."""
    rng, misses = np.random.default_rng(seed), list[str]()
    for drawn in questions(n, seed, selection=True):
        nodes = frozenset(
            drawn.model.tables if everywhere else [str(drawn.model.graph.selection)]
        )
        model = make_rare(drawn.model, rng, nodes)
        asked = replace(drawn, model=model)
        (outcome,) = asked.query.outcomes
        table = bd.derive_bounds(
            model.graph,
            asked.query,
            as_log(model.log()),
            confidence=None,
            external=[as_log(model.distribution(names)) for names in asked.tables]
            if stated == "tables"
            else (),
            selection_rate=model.selection_rate() if stated == "rate" else None,
            domain={v: range(model.n_levels[v]) for v in model.graph.observed - {outcome}},
        )
        misses += find_misses(asked, table)
    assert not misses


@pytest.mark.parametrize(
    ("n", "at_least", "seed"),
    [
        (12, 3, 12),
        *(pytest.param(40, 11, seed, marks=pytest.mark.full) for seed in (10, 11, 14)),
    ],
)
def test_limits_on_confounding_hold_for_random_selected_models(
    n: int, at_least: int, seed: int
) -> None:
    """No odds of a model differ by more than 49 squared: no chance is below .02."""
    tried, misses = 0, list[str]()
    for asked in questions(n, seed, selection=True):
        graph, (outcome,) = asked.model.graph, asked.query.outcomes
        edges = [
            edge
            for edge in graph.bidirected
            if graph.selection not in edge and {*edge}.intersection(asked.query.treatments)
        ]
        if edges:
            levels = asked.model.n_levels
            table = bd.derive_bounds(
                graph,
                asked.query,
                as_log(asked.model.log()),
                confidence=None,
                confounding_limit={" <-> ".join(edge): 49.0**2 for edge in edges},
                selection_rate=asked.model.selection_rate(),
                domain={v: range(levels[v]) for v in graph.observed - {outcome}},
            )
            misses += find_misses(asked, table)
            tried += 1
    assert tried >= at_least
    assert not misses
