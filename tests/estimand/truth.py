"""What the engine is measured against: labels, exact models, and random questions."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from boundit.core.names import Nodes
from boundit.counts.formula import evaluate
from boundit.estimand.derivation import Identification
from boundit.estimand.expression import Expression
from boundit.estimand.identify import identify
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.random_models import draw_model
from tests.strategies import random_graph

LABELS = Path(__file__).parents[1] / "verdicts"


class Case(NamedTuple):
    """A graph, a question, the unbiased tables at hand, and the agreed verdict if any."""

    graph: CausalGraph
    outcomes: Nodes
    treatments: Nodes
    context: Nodes
    external: tuple[Nodes, ...] = ()
    answer: bool | None = None
    name: str = ""


def labelled(file: str) -> Iterator[Case]:
    """Read labelled graphs; a variable of the question may have no edge."""
    for line in (LABELS / f"{file}.jsonl").read_text().splitlines():
        record = json.loads(line)
        y, x, c = (frozenset(record["query"][key]) for key in ("y", "do", "given"))
        external = tuple(map(frozenset, record.get("external", ())))
        graph = CausalGraph.of(
            (y | x | c).union(*external),
            directed=map(tuple, record["directed"]),
            bidirected=map(tuple, record["bidirected"]),
            selection=record.get("selection"),
        )
        yield Case(graph, y, x, c, external, record["answer"], record["name"])


def random_cases(
    n: int,
    seed: int,
    *,
    sizes: Sequence[int] = (3, 4, 5),
    selection: bool = True,
    tables: int = 0,
) -> Iterator[Case]:
    """Draw graphs with a question each, and up to ``tables`` unbiased tables."""
    rng = Random(seed)
    for _ in range(n):
        size = rng.choice(sizes)
        graph = random_graph(rng, size, arcs=rng.choice([0.1, 0.25]), selection=selection)
        names = rng.sample(sorted(graph.observed), size)
        n_y, n_x = rng.choice([1, 1, 2]), rng.choice([0, 1, 1, 2])
        y, x, c = names[:n_y], names[n_y : n_y + n_x], names[n_y + n_x :][: rng.randrange(3)]
        external = tuple(
            frozenset(rng.sample(names, rng.randrange(1, 4)))
            for _ in range(rng.randint(0, tables))
        )
        yield Case(graph, frozenset(y), frozenset(x), frozenset(c), external)


def recover_sets(
    graph: CausalGraph,
    *,
    outcomes: Nodes,
    treatments: Nodes = frozenset(),
    context: Nodes = frozenset(),
    external: Iterable[Nodes] = (),
) -> Identification:
    """Recover an effect whose variables are given as sets."""
    asked = EffectQuery(*(tuple(sorted(part)) for part in (outcomes, treatments, context)))
    return identify(graph, asked, external=external)


def gap(
    case: Case, formula: Expression, seed: int = 0, *, levels: tuple[int, ...] = (2, 3)
) -> float:
    """How far a formula is from the effect in one random model, at worst over all values."""
    model = draw_model(case.graph, np.random.default_rng(seed), levels=levels)
    tables = (
        [model.distribution(t) for t in case.external]
        if case.graph.selection
        else [model.distribution()]
    )
    value = evaluate(formula, model.log(), external=tables)
    truth = model.effect(
        outcomes=case.outcomes, treatments=case.treatments, context=case.context
    )
    axes = tuple(dict.fromkeys([*value.axes, *truth.axes]))
    return float(np.abs(value.align(axes) - truth.align(axes)).max())
