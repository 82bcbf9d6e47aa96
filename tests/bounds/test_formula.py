"""Formulas in normal form: their values and derivatives against independent computations."""

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.random import default_rng

import boundit as bd
from boundit.bounds.evidence import Levels
from boundit.bounds.search import find_chains
from boundit.counts.contraction import ProductTable
from boundit.counts.formula import differentiate, evaluate, normalise
from boundit.counts.memory import Workspace
from boundit.estimand.language.expression import Expression, P, Product, Ratio, Sum
from boundit.simulation.random_models import draw_model
from tests.bounds.core import make_run

W, X, Y, Z = (frozenset(name) for name in "WXYZ")
FORMULAS: dict[str, Expression] = {
    "back door": Sum(Z, Product((P(Y, X | Z), P(Z)))),
    "front door": Sum(Z, Product((P(Z, X), Sum(X, Product((P(Y, X | Z), P(X))))))),
    "ratio": Ratio(
        Sum(Z, Product((P(Y, X | Z), P(X, Z), P(Z)))), Sum(Z, Product((P(X, Z), P(Z))))
    ),
    "unread variable": Sum(W, P(Y, X)),
}


def make_levels(names: dict[str, int]) -> Mapping[str, int]:
    return Levels(names)


class Tables:
    """Random probabilities of terms."""

    def __init__(self, seed: int) -> None:
        self.rng, self.workspace = default_rng(seed), Workspace.make_default()
        self.levels = make_levels(dict.fromkeys("WXYZ", 2))
        self.terms: dict[P, ProductTable] = {}

    def read_term(self, term: P) -> ProductTable:
        if term not in self.terms:
            axes = tuple(sorted(term.free))
            values = self.rng.uniform(0.1, 0.9, [2] * len(axes))
            self.terms[term] = ProductTable(axes, (values, values))
        return self.terms[term]


def compute(node: Expression, tables: Tables, at: dict[str, int]) -> float:
    """An expression's value cell by cell, straight from its definition."""
    match node:
        case P():
            table = tables.read_term(node)
            return float(table.arrays[0][tuple(at[axis] for axis in table.axes)])
        case Product(parts):
            return float(np.prod([compute(part, tables, at) for part in parts]))
        case Ratio(top, bottom):
            return compute(top, tables, at) / compute(bottom, tables, at)
        case Sum(over, body):
            names = sorted(over)
            cells = np.ndindex(*(2 for _ in names))
            return sum(
                compute(body, tables, at | dict(zip(names, cell, strict=True)))
                for cell in cells
            )
        case _:
            raise AssertionError


@pytest.mark.parametrize("name", FORMULAS)
def test_a_normal_form_has_the_value_of_the_expression(name: str) -> None:
    expression, tables = FORMULAS[name], Tables(1)
    axes, (low, high) = evaluate(normalise(expression), tables)
    for at, value in np.ndenumerate(low):
        expected = compute(expression, tables, dict(zip(axes, at, strict=True)))
        assert value == pytest.approx(expected, rel=1e-12)
        assert high[at] == value


@pytest.mark.parametrize("name", ["back door", "front door", "ratio"])
def test_derivatives_are_those_of_finite_differences(name: str) -> None:
    expression, tables = FORMULAS[name], Tables(2)
    formula = normalise(expression)
    rows, _ = evaluate(formula, tables)
    read = {term: ProductTable(t.axes, t.arrays[:1]) for term, t in tables.terms.items()}
    sizes = Levels(dict.fromkeys({*formula.columns, *"WXYZ"}, 2))
    slopes = {term: np.zeros((2,) * (len(rows) + len(term.free))) for term in read}
    for factor, axes, found in differentiate(formula, read, (), rows, sizes, tables.workspace):
        columns = {name: column for column, name in factor.names.items()}
        for at in np.ndindex(*(2 for _ in rows)):
            for cell in np.ndindex(*(2 for _ in axes[len(rows) :])):
                own = dict(zip(axes, (*at, *cell), strict=True))
                levels = {columns[n]: own[n] for n in columns}
                place = tuple(levels[c] for c in read[factor.body].axes)  # type: ignore[index]
                index = tuple(
                    min(i, n - 1) for i, n in zip((*at, *cell), found.shape, strict=True)
                )
                slopes[factor.body][(*at, *place)] += found[index]  # type: ignore[index]
    for term, table in tables.terms.items():
        values = table.arrays[0]
        for cell in np.ndindex(*values.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = values.copy()
                moved[cell] += step
                tables.terms[term] = ProductTable(table.axes, (moved, moved))
                ends.append(evaluate(formula, tables)[1][0])
            tables.terms[term] = table
            numeric = (ends[0] - ends[1]) / 2e-6
            assert slopes[term][(..., *cell)] == pytest.approx(numeric, abs=1e-7)


@pytest.mark.parametrize(
    ("graph", "text"),
    [
        ("Z -> X -> Y; Z -> Y", "Y | do(X)"),
        ("X -> M -> Y; X <-> Y", "Y | do(X)"),
        ("W -> R -> X -> Y; W <-> X; W <-> Y", "Y | do(X)"),
    ],
)
def test_an_identified_chain_is_the_effect(graph: str, text: str) -> None:
    query = bd.parse_query(text)
    model = draw_model(bd.parse_graph(graph), default_rng(3), levels=(2, 3), floor=0.05)
    while model.n_levels["Y"] != 2:
        model = draw_model(bd.parse_graph(graph), default_rng(4), levels=(2,), floor=0.05)
    run = make_run(model, query)
    chains = [c for c in find_chains(model.graph, query).rules if c.is_identified]
    truth = model.effect(outcomes=["Y"], treatments=["X"]).align(("X", "Y"))[:, 1]
    for chain in chains:
        assert np.stack(chain.bound(run)) == pytest.approx(np.stack([truth, truth]), abs=1e-10)
    assert chains
