"""Formulas of many variables, which nobody could multiply out."""

import numpy as np
import pytest

from boundit.counts.errors import TooLarge
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.formulas.evaluation import FormulaEvaluation, find_shared_parts
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.read import read_log
from boundit.estimand.language.expression import (
    Expression,
    P,
    Product,
    Ratio,
    Sum,
)
from tests.nodes import make_nodes


def draw_chain(n: int, rows: int) -> dict[str, list[int]]:
    rng = np.random.default_rng(0)
    columns = {"V0": rng.integers(0, 2, rows)}
    for i in range(1, n):
        flipped = rng.random(rows) < 0.3
        columns[f"V{i}"] = np.where(flipped, 1 - columns[f"V{i - 1}"], columns[f"V{i - 1}"])
    return {name: column.tolist() for name, column in columns.items()}


def test_a_sum_over_eighty_variables_is_the_product_of_their_tables() -> None:
    n = 80
    table = read_log(draw_chain(n, 400)).count([f"V{i}" for i in range(n)])
    terms = [P(make_nodes(f"V{i}"), make_nodes(f"V{i - 1}")) for i in range(1, n)]
    formula = Sum(frozenset(f"V{i}" for i in range(1, n - 1)), Product(tuple(terms)))

    found = Evaluator(table)(formula)

    by_hand = np.eye(2)
    for i in range(1, n):
        joint = table.marginalize({f"V{i - 1}", f"V{i}"}).values
        by_hand = by_hand @ (joint / joint.sum(axis=1, keepdims=True))
    assert found.axes == ("V0", f"V{n - 1}")
    assert np.allclose(found.values, by_hand, rtol=1e-12)


def test_sums_within_a_sum_are_taken_in_one_order() -> None:
    """Inner sums alone would make a table of thirty variables; in one order none is large."""
    n = 30
    levels = {"C": 2} | {f"A{i}": 2 for i in range(n)}
    rng = np.random.default_rng(1)
    rows = {name: rng.integers(0, 2, 300).tolist() for name in levels}
    reader = Evaluator(read_log(rows).count(list(levels)), workspace=Workspace(2**22))
    c, every = make_nodes("C"), frozenset(levels) - {"C"}
    inner = Sum(c, Product((P(c), *(P(make_nodes(a), c) for a in sorted(every)))))
    formula = Sum(every, Product((inner, *(P(make_nodes(a)) for a in sorted(every)))))

    found = float(reader(formula))

    by_hand = 0.0
    for level in range(2):
        part = float(reader(P(c)).values[level])
        for a in every:
            of = make_nodes(a)
            given = reader(P(of, c)).align((a, "C"))[:, level]
            part *= float(given @ reader(P(of)).values)
        by_hand += part
    assert found == pytest.approx(by_hand, rel=1e-12)


def test_parts_in_several_places_are_found_once_and_shared() -> None:
    x, y = make_nodes("X"), make_nodes("Y")
    shared = Sum(x, Product((P(y, x), P(x))))
    formula: Expression = Ratio(shared, Sum(y, shared))

    assert find_shared_parts(formula) == {id(shared)}
    assert not find_shared_parts(Ratio(P(x), P(x)))


def test_a_bottom_of_independent_parts_is_not_multiplied_out() -> None:
    names = [f"V{i}" for i in range(24)]
    rows = {name: [0, 1, 1] for name in names}
    reader = Evaluator(read_log(rows).count(names), workspace=Workspace(2**20))
    bottom = Product(tuple(P(make_nodes(name)) for name in names))
    formula = Sum(frozenset(names), Ratio(bottom, bottom))

    assert float(reader(formula)) == pytest.approx(2.0**24)


def test_constant_columns_take_no_room() -> None:
    names = [f"V{i}" for i in range(70)]
    rows = {name: [5, 5, 5] for name in names} | {"Y": [0, 1, 1]}
    reader = Evaluator(read_log(rows).count([*names, "Y"]))
    formula = Sum(frozenset(names), Product(tuple(P(make_nodes(n)) for n in names)))

    assert float(reader(formula)) == 1
    assert reader(P(make_nodes("Y"), make_nodes("V0"))).axes == ("V0", "Y")


def test_a_formula_that_cannot_be_small_is_refused() -> None:
    names = [f"V{i}" for i in range(22)]
    rows = {name: [0, 1] for name in names}
    reader = Evaluator(read_log(rows).count(names), workspace=Workspace(2**20))
    with pytest.raises(TooLarge, match="memory_limit"):
        reader(Product(tuple(P(make_nodes(name)) for name in names)))


def test_a_variable_of_a_sum_never_meets_one_of_the_same_name() -> None:
    table = read_log({"X": [0, 1, 1], "X'": [0, 0, 1]}).count(["X", "X'"])
    x, prime = make_nodes("X"), make_nodes("X'")
    evaluation = FormulaEvaluation(Evaluator(table), Product((Sum(x, P(x, prime)), P(prime))))

    axes, (values,) = evaluation.compute()

    assert axes == ("X'",)
    assert values == pytest.approx([2 / 3, 1 / 3])
