from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.bounds.approximate.derivatives import OWN, FlatReader, TermDerivative
from boundit.bounds.approximate.flat_formula import FlatWriter
from boundit.counts.formulas.elimination import ProductTable
from boundit.counts.formulas.evaluation import evaluate_with
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import Expression, P, Ratio
from tests.strategies import formulas

LEVELS = {"X": 2, "Y": 2, "Z": 3}
STEP = 1e-6


class Tables:
    """Arbitrary positive numbers for every term."""

    def __init__(self, seed: int) -> None:
        self.seed, self.known = seed, dict[P, ProductTable]()

    def read(self, term: P) -> ProductTable:
        if term not in self.known:
            rng = np.random.default_rng([self.seed, len(self.known)])
            axes = tuple(sorted(term.free))
            shape = [LEVELS[axis] for axis in axes]
            self.known[term] = ProductTable(axes, (rng.uniform(0.5, 1.5, shape),))
        return self.known[term]

    def change(self, term: P, index: tuple[int, ...], by: float) -> None:
        values = self.known[term].arrays[0].copy()
        values[index] += by
        self.known[term] = ProductTable(self.known[term].axes, (values,))


def make_reader(tables: Tables, writer: FlatWriter) -> FlatReader:
    return FlatReader(tables.read, tables.read, writer.levels, Workspace.make_default())


def look_up(found: TermDerivative, cell: tuple[int, ...], rows: tuple[str, ...]) -> Floats:
    """The derivative of every row by one cell of a term."""
    at = dict(zip(sorted(found.term.free), cell, strict=True))
    index: list[Any] = [slice(None)] * len(rows)
    index += [at[axis.removeprefix(OWN)] for axis in found.axes[len(rows) :]]
    shape = tuple(LEVELS[row] for row in rows)
    values = np.broadcast_to(found.values[tuple(index)], shape).copy()
    for column, row in found.tied.items():
        level = np.arange(LEVELS[row]).reshape([-1 if r == row else 1 for r in rows])
        values = values * (level == at[column])
    return values


@settings(max_examples=60, deadline=None)
@given(formulas, st.integers(0, 100))
def test_derivatives_are_those_of_finite_differences(formula: Expression, seed: int) -> None:
    tables, writer = Tables(seed), FlatWriter(LEVELS)
    flat, rows = writer.write(formula, {}), tuple(sorted(formula.free))
    found = make_reader(tables, writer).differentiate(flat, [], rows)
    shape = [LEVELS[row] for row in rows]

    for derivative in found:
        term = derivative.term
        for index in np.ndindex(*tables.read(term).arrays[0].shape):
            ends = []
            for by in (STEP, -2 * STEP, STEP):
                tables.change(term, index, by)
                value = make_reader(tables, writer).find_least(flat, [], rows)
                ends.append(np.broadcast_to(value, shape))
            slope = (ends[0] - ends[1]) / (2 * STEP)
            scale = 1 + np.abs(slope).max() + np.abs(ends[2]).max()
            assert np.abs(slope - look_up(derivative, index, rows)).max() < 1e-4 * scale


@given(formulas, st.integers(0, 100))
def test_values_are_those_of_the_evaluator(formula: Expression, seed: int) -> None:
    tables, writer = Tables(seed), FlatWriter(LEVELS)
    flat, rows = writer.write(formula, {}), tuple(sorted(formula.free))

    found = make_reader(tables, writer).find_least(flat, [], rows)

    class Reader:
        levels: Mapping[str, int] = LEVELS
        workspace, n_arrays = Workspace.make_default(), 1

        def read_term(self, term: P) -> ProductTable:
            return tables.read(term)

        def read_c_factor(self, of: frozenset[str]) -> tuple[Floats, ...]:
            raise AssertionError(of)

        def invert(self, arrays: tuple[Floats, ...]) -> tuple[Floats, ...]:
            return tuple(1 / array for array in arrays)

    axes, (expected,) = evaluate_with(Reader(), formula)
    (aligned,) = ProductTable(axes, (expected,)).align(rows)
    np.testing.assert_allclose(found, aligned, rtol=1e-9)


def test_what_is_divided_by_something_unseen_is_nothing() -> None:
    """A lower end: the share below the line is not known where nobody was seen."""
    x, y = frozenset("X"), frozenset("Y")
    writer = FlatWriter(LEVELS)
    flat = writer.write(Ratio(P(x | y), P(x)), {})
    joint = ProductTable(("X", "Y"), (np.array([[0.2, 0.2], [0.3, 0.3]]),))
    least = {P(x | y): joint, P(x): ProductTable(("X",), (np.array([0.4, 0.0]),))}
    even = {P(x | y): joint, P(x): ProductTable(("X",), (np.array([0.4, 0.5]),))}
    reader = FlatReader(least.__getitem__, even.__getitem__, LEVELS, Workspace.make_default())

    found = reader.find_least(flat, [], ("X", "Y"))

    np.testing.assert_allclose(found, np.array([[0.5, 0.5], [0, 0]]))
