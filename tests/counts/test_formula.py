"""Formulas in normal form: their values and derivatives against independent computations."""

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.random import default_rng

from boundit.counts.formula import ProductTable, differentiate, evaluate_endpoints, normalise
from boundit.counts.memory import Workspace
from boundit.estimand.expression import Expression, P, Product, Ratio, Sum

W, X, Y, Z = (frozenset(name) for name in "WXYZ")
FORMULAS: dict[str, Expression] = {
    "back door": Sum(Z, Product((P(Y, X | Z), P(Z)))),
    "front door": Sum(Z, Product((P(Z, X), Sum(X, Product((P(Y, X | Z), P(X))))))),
    "ratio": Ratio(
        Sum(Z, Product((P(Y, X | Z), P(X, Z), P(Z)))), Sum(Z, Product((P(X, Z), P(Z))))
    ),
    "unread variable": Sum(W, P(Y, X)),
    "ratio of ratios": Ratio(Ratio(P(Y, X), P(Z)), Ratio(Sum(W, P(W, X)), P(Y))),
}
SHARED = Sum(Z, Product((P(Y, X | Z), P(Z))))
FORMULAS["shared part"] = Product((SHARED, Sum(W, Product((P(W, X), SHARED))), SHARED))


class Tables:
    """Random probabilities of terms."""

    levels: Mapping[str, int]

    def __init__(self, seed: int) -> None:
        self.rng, self.workspace = default_rng(seed), Workspace.make_default()
        self.levels = dict.fromkeys("WXYZ", 2)
        self.terms: dict[P, ProductTable] = {}

    def read_term(self, term: P) -> ProductTable:
        if term not in self.terms:
            axes = tuple(sorted(term.free))
            low, high = np.sort(self.rng.uniform(0.1, 0.9, [2, *[2] * len(axes)]), axis=0)
            self.terms[term] = ProductTable(axes, (low, high))
        return self.terms[term]


def compute(node: Expression, tables: Tables, at: dict[str, int], end: int = 0) -> float:
    """An endpoint of an expression cell by cell, straight from its definition."""
    match node:
        case P():
            table = tables.read_term(node)
            return float(table.arrays[end][tuple(at[axis] for axis in table.axes)])
        case Product(parts):
            return float(np.prod([compute(part, tables, at, end) for part in parts]))
        case Ratio(top, bottom):
            return compute(top, tables, at, end) / compute(bottom, tables, at, 1 - end)
        case Sum(over, body):
            names = sorted(over)
            cells = np.ndindex(*(2 for _ in names))
            return sum(
                compute(body, tables, at | dict(zip(names, cell, strict=True)), end)
                for cell in cells
            )
        case _:
            raise AssertionError


@pytest.mark.parametrize("name", FORMULAS)
def test_a_normal_form_has_both_endpoints_of_the_expression(name: str) -> None:
    expression, tables = FORMULAS[name], Tables(1)
    axes, pair = evaluate_endpoints(normalise(expression), tables)
    for end in range(2):
        for at, value in np.ndenumerate(pair[end]):
            expected = compute(expression, tables, dict(zip(axes, at, strict=True)), end)
            assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["back door", "front door", "ratio"])
def test_derivatives_are_those_of_finite_differences(name: str) -> None:
    expression, tables = FORMULAS[name], Tables(2)
    formula = normalise(expression)
    rows, _ = evaluate_endpoints(formula, tables)
    tables.terms = {
        term: ProductTable(t.axes, t.arrays[:1]) for term, t in tables.terms.items()
    }
    read = dict(tables.terms)
    sizes = dict.fromkeys({*formula.columns, *"WXYZ"}, 2)
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
    for term, table in read.items():
        values = table.arrays[0]
        for cell in np.ndindex(*values.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = values.copy()
                moved[cell] += step
                tables.terms[term] = ProductTable(table.axes, (moved,))
                ends.append(evaluate_endpoints(formula, tables)[1][0])
            tables.terms[term] = table
            numeric = (ends[0] - ends[1]) / 2e-6
            assert slopes[term][(..., *cell)] == pytest.approx(numeric, abs=1e-7)
