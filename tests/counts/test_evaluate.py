"""Formulas evaluated, against hand formulas and against a plain recursion."""

from functools import reduce
from itertools import product
from math import isnan, nan, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.core.errors import DataError
from boundit.core.names import Nodes
from boundit.counts.errors import TooLarge
from boundit.counts.formula import NeedsPopulation, NotLogged, evaluate
from boundit.counts.log import read_log
from boundit.counts.memory import Workspace
from boundit.counts.named_array import NamedArray
from boundit.estimand.expression import ONE, CFactor, Expression, P, Product, Ratio, Sum
from tests.nodes import make_nodes
from tests.strategies import formulas

X, Y, Z, M = (make_nodes(name) for name in "XYZM")
LEVELS = {"X": 2, "Y": 3, "Z": 2}


def random_law(names: str, rng: np.random.Generator) -> NamedArray:
    shape = [LEVELS.get(name, 2) for name in names]
    return NamedArray(tuple(names), rng.dirichlet(np.ones(prod(shape))).reshape(shape))


def test_the_back_door_formula_by_hand() -> None:
    law = random_law("XYZ", np.random.default_rng(0))
    formula = Sum(Z, Product((P(Y, X | Z), P(Z))))

    p = law.values
    by_hand = np.einsum("xyz,z->xy", p / p.sum(axis=1, keepdims=True), p.sum(axis=(0, 1)))
    answer = evaluate(formula, law)

    assert answer.axes == ("X", "Y")
    assert np.allclose(answer.values, by_hand)


def test_an_inner_sum_hides_the_free_variable_of_the_same_name() -> None:
    """Front door: x is free outside and summed over inside."""
    law = random_law("XMY", np.random.default_rng(1))
    inner = Sum(X, Product((P(Y, X | M), P(X))))
    formula = Sum(M, Product((P(M, X), inner)))

    p = law.values
    m_given_x = p.sum(axis=2) / p.sum(axis=(1, 2))[:, None]
    y_given_xm = p / p.sum(axis=2, keepdims=True)
    by_hand = np.einsum("xm,amy,a->xy", m_given_x, y_given_xm, p.sum(axis=(1, 2)))
    answer = evaluate(formula, law)

    assert answer.axes == ("X", "Y")
    assert np.allclose(answer.values, by_hand)


def test_a_sum_over_what_the_body_does_not_name_counts_its_levels() -> None:
    law = random_law("XYZ", np.random.default_rng(2))

    assert float(evaluate(Sum(Y | Z, ONE), law)) == 6
    assert np.allclose(evaluate(Sum(Y, P(X)), law).values, 3 * law.marginalize("X").values)


def test_counts_give_the_same_numbers_as_their_law() -> None:
    counts = NamedArray(("X", "Y"), np.array([[3.0, 1.0], [2.0, 2.0]]))
    law = counts.condition_on(())

    for formula in (P(X), P(Y, X), P(X | Y), P(frozenset()), Ratio(P(X | Y), P(X))):
        assert evaluate(formula, counts).measure_gap(evaluate(formula, law)) < 1e-15


def test_a_shared_part_is_computed_once() -> None:
    """Computed as trees, these formulas have 2 to the 60 leaves, or more than 10 ** 12."""
    law = random_law("XY", np.random.default_rng(3))
    doubled: Expression = P(Y, X)
    for _ in range(60):
        doubled = Product((doubled, P(X), Ratio(ONE, P(X)), Ratio(doubled, doubled)))
    one: Expression = P(Y, X)
    two: Expression = Sum(Y, one)
    for _ in range(60):
        one, two = Sum(Y, Product((P(Y), one, two))), one

    assert np.allclose(evaluate(doubled, law).values, evaluate(P(Y, X), law).values)
    assert np.isfinite(evaluate(one, law).values).all()


# Where the numbers come from


def test_population_terms_are_read_from_the_smallest_table_that_covers_them() -> None:
    rng = np.random.default_rng(4)
    log, wide, narrow = (random_law(names, rng) for names in ("XYZ", "XZ", "Z"))
    formula = Sum(Z, Product((P(Y, X | Z), P(Z, logged=False))))

    answer = evaluate(formula, log, external=[wide, narrow])

    by_hand = np.einsum("xyz,z->xy", log.condition_on({"X", "Z"}).values, narrow.values)
    assert np.allclose(answer.values, by_hand)
    conditional = evaluate(P(Z, X, logged=False), log, external=[narrow, wide])
    assert conditional.measure_gap(wide.condition_on("X")) < 1e-15


def test_one_formula_may_speak_of_the_log_and_of_the_population() -> None:
    rng = np.random.default_rng(9)
    log, external = random_law("XZ", rng), random_law("Z", rng)

    reweighting = evaluate(Ratio(P(Z, logged=False), P(Z)), log, external=[external])

    assert np.allclose(reweighting.values, external.values / log.values.sum(axis=0))


def test_an_external_table_may_have_variables_the_log_lacks() -> None:
    rng = np.random.default_rng(5)
    log, external = random_law("X", rng), random_law("ZM", rng)

    answer = evaluate(Product((P(X), P(M, logged=False))), log, external=[external])

    assert answer.axes == ("M", "X")
    assert np.allclose(answer.values.T, np.outer(log.values, external.values.sum(axis=0)))


def test_a_population_term_is_never_read_from_the_log() -> None:
    """The log has P(c given S = 1), which is another thing (deviation D-7)."""
    log = random_law("XYZ", np.random.default_rng(6))

    with pytest.raises(
        NeedsPopulation, match=r"P\(Y \| X\) is of the whole population"
    ) as caught:
        evaluate(Sum(X, P(Y, X, logged=False)), log, external=[log.marginalize("X")])
    assert caught.value.term == P(Y, X, logged=False)
    assert str(caught.value).endswith("give an external table over X, Y (given: X)")


def test_without_selection_the_log_is_passed_as_both() -> None:
    log = random_law("XYZ", np.random.default_rng(7))

    for term in (P(Y, X), P(X | Z)):
        unlogged = P(term.of, term.given, logged=False)
        assert evaluate(unlogged, log, external=[log]).measure_gap(evaluate(term, log)) == 0


def test_what_has_no_numbers_is_refused() -> None:
    log = random_law("XY", np.random.default_rng(8))

    with pytest.raises(DataError, match=r"Q\[X, Y\] is a symbol without numbers"):
        evaluate(Sum(X, Product((P(X), CFactor(X | Y)))), log)
    with pytest.raises(NotLogged, match=r"no variable 'Z'\. It has X, Y"):
        evaluate(P(Y, X | Z), log)
    with pytest.raises(NotLogged, match="no variable 'Z'"):
        evaluate(Sum(Z, P(Y)), log)
    with pytest.raises(DataError, match="'X'"):
        evaluate(P(Y), log, external=[NamedArray(("X",), np.ones(3) / 3)])


# Division by zero


def test_what_was_never_seen_is_nan_and_stays_nan() -> None:
    """P(Y | X = 1) is unknown when X = 1 is never logged, also when it is weighted by zero."""
    log = NamedArray(("X", "Y"), np.array([[0.25, 0.75], [0.0, 0.0]]))
    conditional = evaluate(P(Y, X), log)

    assert conditional.at({"X": 0}).values.tolist() == [0.25, 0.75]
    assert np.isnan(conditional.at({"X": 1}).values).all()
    assert np.isnan(evaluate(Sum(X, Product((P(Y, X), P(X)))), log).values).all()
    assert np.isnan(evaluate(Ratio(ONE, P(X)), log).at({"X": 1}).values)


# Any formula at all: a recursion that carries the value of every variable


def numbers(node: Expression, at: dict[str, int], log: NamedArray) -> float:
    match node:
        case P(of, given):
            return over(mass(log, at, of | given), mass(log, at, given))
        case Sum(names, body):
            order = sorted(names)
            return sum(
                numbers(body, at | dict(zip(order, values, strict=True)), log)
                for values in product(*(range(LEVELS[name]) for name in order))
            )
        case Product(factors):
            return reduce(lambda one, part: one * numbers(part, at, log), factors, 1.0)
        case Ratio(top, bottom):
            return over(numbers(top, at, log), numbers(bottom, at, log))
        case CFactor():
            raise AssertionError


def mass(log: NamedArray, at: dict[str, int], names: Nodes) -> float:
    total = 0.0
    for values in product(*(range(n) for n in log.values.shape)):
        point = dict(zip(log.axes, values, strict=True))
        if all(point[name] == at[name] for name in names):
            total += float(log.values[values])
    return total


def over(top: float, bottom: float) -> float:
    return nan if bottom == 0 else top / bottom


@given(formulas, st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]))
@settings(max_examples=150, deadline=None)
def test_any_formula_is_what_plain_recursion_gives(
    formula: Expression, seed: int, holes: float
) -> None:
    rng = np.random.default_rng(seed)
    whole = random_law("XYZ", rng)
    struck = np.where(rng.random(whole.values.shape) < holes, 0, whole.values)
    log = NamedArray(whole.axes, struck)

    answer = evaluate(formula, log)

    for values in product(*(range(n) for n in LEVELS.values())):
        at = dict(zip(LEVELS, values, strict=True))
        expected = numbers(formula, at, log)
        found = float(answer.at({name: at[name] for name in answer.axes}))
        assert found == pytest.approx(expected, rel=1e-9) or (isnan(found) and isnan(expected))


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

    found = evaluate(formula, table)

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
    table, room = read_log(rows).count(list(levels)), Workspace(2**22)
    c, every = make_nodes("C"), frozenset(levels) - {"C"}
    inner = Sum(c, Product((P(c), *(P(make_nodes(a), c) for a in sorted(every)))))
    formula = Sum(every, Product((inner, *(P(make_nodes(a)) for a in sorted(every)))))

    found = float(evaluate(formula, table, workspace=room))

    by_hand = 0.0
    for level in range(2):
        part = float(evaluate(P(c), table).values[level])
        for a in every:
            of = make_nodes(a)
            given = evaluate(P(of, c), table).align((a, "C"))[:, level]
            part *= float(given @ evaluate(P(of), table).values)
        by_hand += part
    assert found == pytest.approx(by_hand, rel=1e-12)


def test_a_bottom_of_independent_parts_is_not_multiplied_out() -> None:
    names = [f"V{i}" for i in range(24)]
    rows = {name: [0, 1, 1] for name in names}
    table, room = read_log(rows).count(names), Workspace(2**20)
    bottom = Product(tuple(P(make_nodes(name)) for name in names))
    formula = Sum(frozenset(names), Ratio(bottom, bottom))

    assert float(evaluate(formula, table, workspace=room)) == pytest.approx(2.0**24)


def test_constant_columns_take_no_room() -> None:
    names = [f"V{i}" for i in range(70)]
    rows = {name: [5, 5, 5] for name in names} | {"Y": [0, 1, 1]}
    table = read_log(rows).count([*names, "Y"])
    formula = Sum(frozenset(names), Product(tuple(P(make_nodes(n)) for n in names)))

    assert float(evaluate(formula, table)) == 1
    assert evaluate(P(make_nodes("Y"), make_nodes("V0")), table).axes == ("V0", "Y")


def test_a_formula_that_cannot_be_small_is_refused() -> None:
    names = [f"V{i}" for i in range(22)]
    rows = {name: [0, 1] for name in names}
    table, room = read_log(rows).count(names), Workspace(2**20)
    with pytest.raises(TooLarge, match="memory_limit"):
        evaluate(Product(tuple(P(make_nodes(name)) for name in names)), table, workspace=room)


def test_a_variable_of_a_sum_never_meets_one_of_the_same_name() -> None:
    table = read_log({"X": [0, 1, 1], "X'": [0, 0, 1]}).count(["X", "X'"])
    x, prime = make_nodes("X"), make_nodes("X'")
    found = evaluate(Product((Sum(x, P(x, prime)), P(prime))), table)

    assert found.axes == ("X'",)
    assert found.values == pytest.approx([2 / 3, 1 / 3])
