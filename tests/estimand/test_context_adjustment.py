"""Adjustment in context, against subsets one by one and against exact models."""

from collections.abc import Iterator
from itertools import chain, combinations
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from boundit.core.errors import OverlappingRoles
from boundit.core.names import Nodes
from boundit.counts.formula import evaluate
from boundit.estimand.adjustment import (
    ContextAdjustment,
    adjusts,
    adjusts_in_context,
    find_context_adjustment,
    write_context_adjustment,
)
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_graph, draw_model
from tests.nodes import make_nodes


class Question(NamedTuple):
    graph: CausalGraph
    treatments: Nodes
    outcomes: Nodes
    context: Nodes
    table: Nodes

    def roles(self) -> dict[str, Nodes]:
        return {r: getattr(self, r) for r in ("treatments", "outcomes", "context")}

    def candidates(self) -> Iterator[Nodes]:
        rest = sorted(self.graph.observed.difference(*self.roles().values()))
        sizes = (combinations(rest, k) for k in range(len(rest) + 1))
        return map(frozenset, chain.from_iterable(sizes))


def random_questions(n: int, seed: int) -> Iterator[Question]:
    drawn, rng = np.random.default_rng(seed), Random(seed)
    for _ in range(n):
        dense, confounded = rng.choice([0.2, 0.4]), rng.choice([0.0, 0.1, 0.25])
        graph = draw_graph(
            rng.randint(3, 5),
            drawn,
            directed=dense,
            bidirected=confounded,
            selection=rng.random() < 0.9,
        )
        names = sorted(graph.observed)
        rng.shuffle(names)
        parts: list[set[str]] = [{names[0]}, {names[1]}, set(), set()]
        for name in names[2:]:
            rng.choice([parts[0], parts[2], parts[3], parts[3]]).add(name)
        x, y, c, _ = map(frozenset, parts)
        table = frozenset(v for v in names if rng.random() < 0.7)
        yield Question(graph, x, y, c, rng.choice([make_nodes(), table | c]))


def test_a_yes_gives_the_effect_in_every_context() -> None:
    """The formula is the model's own P(y | do(x), c), weights from the log or from a table."""
    yes, tabled, rng = 0, 0, np.random.default_rng(1)
    for q in random_questions(500, seed=1):
        model = draw_model(q.graph, rng, levels=(2,))
        truth = model.effect(**q.roles())
        for z in q.candidates():
            for table in {make_nodes(), q.table}:
                if adjusts_in_context(q.graph, covariates=z, **q.roles(), table=table):
                    used = table if z | q.context <= table else make_nodes()
                    formula = write_context_adjustment(ContextAdjustment(z, used), **q.roles())
                    numbers = evaluate(
                        formula, model.log(), external=[model.distribution(q.table)]
                    )

                    assert numbers.measure_gap(truth) < 1e-9, (str(q.graph), q.roles(), z)
                    yes, tabled = yes + 1, tabled + bool(used and z)
    assert yes > 200
    assert tabled > 20


def test_two_conditions_are_one_separation() -> None:
    """Selection causes nothing, so (a) and (b) are (Y _||_ X, S | C, Z) in G cut out of X."""
    for q in random_questions(1500, seed=2):
        g, x, y, c = q.graph, q.treatments, q.outcomes, q.context
        s = make_nodes(g.selection) if g.selection else make_nodes()
        for z in q.candidates():
            if not (z | c) & g.descendants(x):
                a = open_walk(g.without_edges_into(x), y, s, given=x | c | z) is None
                b = open_walk(g.without_edges_out_of(x), y, x, given=c | z | s) is None
                one = open_walk(g.without_edges_out_of(x), y, x | s, given=c | z) is None

                assert one == (a and b), (str(g), x, y, c, z)


def test_one_is_found_exactly_when_there_is_one_and_none_can_be_spared() -> None:
    for q in random_questions(1000, seed=3):
        good = {
            z: min(
                (
                    t
                    for t in (make_nodes(), q.table)
                    if adjusts_in_context(q.graph, covariates=z, **q.roles(), table=t)
                ),
                key=len,
                default=None,
            )
            for z in q.candidates()
        }
        good = {z: table for z, table in good.items() if table is not None}

        found = find_context_adjustment(q.graph, **q.roles(), tables=[q.table])

        assert (found is not None) == bool(good), (str(q.graph), q.roles())
        if found is not None:
            assert found.covariates in good
            assert not [z for z, t in good.items() if z < found.covariates and t == found.table]


def test_a_context_that_causes_the_treatment_is_no_obstacle() -> None:
    """Adjusting for the joint effect on Y and C has no chance here, whatever the covariates."""
    graph = parse("C -> X -> Y; C -> Y; C -> [S]")

    assert find_context_adjustment(graph, treatments="X", outcomes="Y", context="C") == (
        make_nodes(),
        make_nodes(),
    )
    assert not adjusts(graph, covariates=(), treatments="X", outcomes=["Y", "C"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("X -> Z -> Y", "no, by adjustment in context: the treatments cause Z [Z]"),
        (
            "X -> Y -> [S]; Z",
            "no, by adjustment in context (a): selection depends on the outcome [Y -> S]",
        ),
        (
            "X <-> Y; Z -> [S]",
            "no, by adjustment in context (b): a back-door path stays open [Y <-> X]",
        ),
        (
            "Z -> X -> Y; Z -> Y; Z -> [S]",
            "no, by adjustment in context (c): selection depends on a covariate [Z -> S]",
        ),
    ],
)
def test_a_no_says_which_condition_fails(text: str, said: str) -> None:
    verdict = adjusts_in_context(parse(text), covariates="Z", treatments="X", outcomes="Y")

    assert str(verdict) == said


def test_a_variable_plays_one_role() -> None:
    with pytest.raises(OverlappingRoles, match="'X' is a treatment and context"):
        find_context_adjustment(parse("X -> Y"), treatments="X", outcomes="Y", context="X")
