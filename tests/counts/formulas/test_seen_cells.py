"""Sums over seen cells, against multiplying everything out with what was not seen filled in."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.bounds.binary_reward import BinaryReward
from boundit.counts.errors import TooLarge
from boundit.counts.formulas.evaluate import Evaluator, evaluate
from boundit.counts.formulas.seen_cells import list_terms, order_terms
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import NamedArray
from boundit.counts.read import read_log
from boundit.estimand.language.expression import Expression, P, Product, Ratio, Sum
from tests.nodes import make_nodes

X, Y, Z, M = (make_nodes(name) for name in "XYZM")
BACK_DOOR = Sum(Z, Product((P(Y, X | Z), P(Z))))
FRONT_DOOR = Sum(M, Product((P(M, X), Sum(X, Product((P(Y, M | X), P(X)))))))
TWO_STEP = Sum(Z | M, Product((P(Y, X | Z | M), P(M, X | Z), P(Z))))
FORMULAS = (BACK_DOOR, FRONT_DOOR, TWO_STEP, P(Y, X | Z), Product((P(Y, X), P(X))))


def draw_counts(seed: int, rows: int) -> NamedArray:
    rng = np.random.default_rng(seed)
    counts = np.zeros((2, 3, 2, 2))
    np.add.at(counts, tuple(rng.integers(0, (2, 3, 2, 2), (rows, 4)).T), 1)
    return NamedArray(("X", "Z", "M", "Y"), counts)


@given(st.sampled_from(FORMULAS), st.integers(0, 2**32 - 1), st.integers(2, 200))
@settings(max_examples=120, deadline=None)
def test_where_every_cell_was_seen_it_is_the_formula(
    formula: Expression, seed: int, rows: int
) -> None:
    counts = draw_counts(seed, rows)
    ends = Evaluator(counts).find_ends_over_seen(formula)
    dense = evaluate(formula, counts)

    assert ends is not None
    for end in ends:
        assert end.axes == dense.axes
        defined = ~np.isnan(dense.values)
        assert np.allclose(end.values[defined], dense.values[defined], rtol=1e-12)


@given(st.sampled_from(FORMULAS), st.integers(0, 2**32 - 1), st.integers(2, 12))
@settings(max_examples=120, deadline=None)
def test_what_was_not_seen_is_anything_with_its_weight(
    formula: Expression, seed: int, rows: int
) -> None:
    """Laws with a row spread over every cell, ever thinner: they fill in what was not seen."""
    counts = draw_counts(seed, rows)
    ends = Evaluator(counts).find_ends_over_seen(formula)
    assert ends is not None
    rng = np.random.default_rng(seed)
    for _ in range(20):
        spread = 1e-9 * rng.dirichlet(np.full(counts.values.size, 0.05))
        filled = NamedArray(counts.axes, counts.values + spread.reshape(counts.values.shape))
        found = evaluate(formula, filled).values
        inside = ~np.isnan(found)
        assert (ends[0].values[inside] - 1e-6 <= found[inside]).all()
        assert (ends[1].values[inside] + 1e-6 >= found[inside]).all()


def test_both_ends_are_attained() -> None:
    """One stratum has no row of X=1: its weight is what the ends differ by."""
    rows = {"X": [0, 1, 0, 0], "Z": [0, 0, 1, 1], "Y": [1, 1, 0, 1]}
    table = read_log(rows).count(["X", "Z", "Y"])
    ends = Evaluator(table).find_ends_over_seen(BACK_DOOR)
    assert ends is not None

    low, high = (end.align(("X", "Y")) for end in ends)
    assert low.tolist() == [[0.25, 0.75], [0, 0.5]]
    assert high.tolist() == [[0.25, 0.75], [0.5, 1]]


def test_correlated_columns_of_many_levels_are_no_matter() -> None:
    """Zip code, city and state: 8 thousand million cells, 2,000 of them seen."""
    rng = np.random.default_rng(1)
    zips = rng.integers(0, 2000, 20_000)
    rows = {"Zip": zips, "City": zips // 2, "State": zips // 500}
    rows["X"] = rng.integers(0, 2, 20_000)
    rows["Y"] = (rng.random(20_000) < 0.2 + 0.3 * rows["X"] + 0.1 * rows["State"]).astype(int)
    names = make_nodes("Zip", "City", "State")
    table = read_log({n: c.tolist() for n, c in rows.items()}).count(list(rows))
    formula = Sum(names, Product((P(Y, X | names), P(names))))
    evaluator = Evaluator(table)

    with pytest.raises(TooLarge):
        evaluator(formula)
    ends = evaluator.find_ends_over_seen(formula)
    by_zip = Sum(make_nodes("Zip"), Product((P(Y, X | {"Zip"}), P(make_nodes("Zip")))))
    same = Evaluator(table).find_ends_over_seen(by_zip)

    assert ends is not None
    assert same is not None
    for one, other in zip(ends, same, strict=True):
        assert np.allclose(one.values, other.values, rtol=1e-12)
    assert (ends[1].values - ends[0].values < 0.01).all()


def test_independent_covariates_are_read_where_the_reward_was_seen() -> None:
    """Three columns of 1,000 levels each have 10^9 cells, and no two of them a shared term."""
    rng = np.random.default_rng(2)
    rows = {name: rng.integers(0, 1000, 3000) for name in "ABC"}
    rows |= {"X": rng.integers(0, 2, 3000), "Y": rng.integers(0, 2, 3000)}
    table = read_log({n: c.tolist() for n, c in rows.items()}).count(list(rows))
    covariates = [make_nodes(name) for name in "ABC"]
    every = frozenset("ABC")
    formula = Sum(every, Product((P(Y, X | every), *map(P, covariates))))

    ends = Evaluator(table).find_ends_over_seen(formula)

    assert ends is not None
    low, high = (end.align(("X", "Y")) for end in ends)
    weights = np.prod([np.bincount(rows[n], minlength=1000)[rows[n]] / 3000 for n in "ABC"], 0)
    for x in range(2):
        of = rows["X"] == x
        _, first = np.unique(np.stack([rows[n][of] for n in "ABC"]), axis=1, return_index=True)
        known = weights[of][first].sum()
        assert low[x].sum() == pytest.approx(known)
        assert (high - low)[x] == pytest.approx(1 - known)


def test_formulas_that_cannot_be_read_term_after_term_are_left() -> None:
    circle = Sum(Z | M, Product((P(Z, M), P(M, Z))))
    twice = Sum(Z, Product((P(Z), P(Z, X))))
    for formula in (Ratio(P(X), P(Y)), circle, twice):
        assert order_terms(formula) is None
    assert Evaluator(draw_counts(0, 9)).find_ends_over_seen(circle) is None


def test_sums_of_the_same_variable_get_names_of_their_own() -> None:
    terms = list_terms(FRONT_DOOR)
    assert terms is not None
    assert sorted("".join(sorted(each.of)) for each in terms) == ["M", "X'", "Y"]


def test_lines_that_would_not_fit_are_refused() -> None:
    counts = draw_counts(3, 60)
    small = Evaluator(counts, workspace=Workspace(8 * 4 * 15))
    with pytest.raises(TooLarge, match="memory_limit"):
        small.find_ends_over_seen(FRONT_DOOR)


def test_every_order_of_columns_gives_the_same_ends() -> None:
    counts = draw_counts(4, 15)
    found = []
    for order in (("X", "Z", "M", "Y"), ("Y", "M", "Z", "X")):
        moved = NamedArray(order, counts.align(order))
        ends = Evaluator(moved).find_ends_over_seen(TWO_STEP)
        assert ends is not None
        found.append([end.align(("X", "Y")) for end in ends])
    for one, other in product(*found):
        assert one.shape == other.shape
    assert np.allclose(found[0], found[1], rtol=1e-12)


def test_a_reward_that_a_cell_never_had_divides_nothing() -> None:
    """Every reward is 1: given the reward 0 nothing was seen, and all is possible."""
    rows = {"A": [0, 1, 0, 1], "Y": [1, 1, 1, 1], "V": [0, 1, 1, 0]}
    table = read_log(rows).count(["A", "V"], reward="Y")
    source = BinaryReward(table, "Y", 0, 1)
    a, v = make_nodes("A"), make_nodes("V")
    ends = Evaluator(source, [source]).find_ends_over_seen(Sum(a, Product((P(v, Y | a), P(a)))))

    assert ends is not None
    low, high = (end.align(("Y", "V")) for end in ends)
    assert low.tolist() == [[0, 0], [0.5, 0.5]]
    assert high.tolist() == [[1, 1], [0.5, 0.5]]
