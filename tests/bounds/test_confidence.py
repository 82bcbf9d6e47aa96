from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.confidence import (
    ConfidentNumbers,
    NoConfidence,
    bound_mean,
    bound_share,
    collect_extremes,
    collect_terms,
    require_confidence,
)
from boundit.bounds.derive import derive_bounds
from boundit.bounds.intervals.time_uniform import (
    bound_mean_adaptively,
    bound_share_adaptively,
)
from boundit.counts.named_array import NamedArray
from boundit.counts.read import read_log
from boundit.estimand.language.expression import Expression, P, Product, Ratio, Sum
from boundit.graph.text import parse
from boundit.simulation.worlds import paper_world
from tests.oracles.dense_intervals import multiply_out
from tests.strategies import formulas

X, Y, Z = frozenset("X"), frozenset("Y"), frozenset("Z")


@given(st.integers(0, 60), st.integers(0, 60), st.sampled_from([0.2, 0.05, 1e-4]))
def test_shares_get_the_exact_interval(k: int, more: int, alpha: float) -> None:
    """Clopper-Pearson, as scipy computes it."""
    n = k + more
    low, high = bound_share(np.array(float(k)), np.array(float(n)), alpha)
    if n == 0:
        assert (float(low), float(high)) == (0, 1)
    else:
        peer = binomtest(k, n).proportion_ci(confidence_level=1 - alpha, method="exact")
        assert (float(low), float(high)) == pytest.approx((peer.low, peer.high), abs=1e-9)


def test_means_are_covered_as_often_as_they_should() -> None:
    """A skewed reward in [0, 1]: 2,000 samples of each size, alpha = 0.2."""
    rng = np.random.default_rng(0)
    for n in (2, 20, 500):
        rewards = rng.beta(0.3, 2.0, (2_000, n))
        sums, squares = rewards.sum(axis=1), (rewards**2).sum(axis=1)
        low, high = bound_mean(sums, squares, np.full(2_000, float(n)), 0.2)

        assert np.mean((low <= 0.3 / 2.3) & (high >= 0.3 / 2.3)) > 0.8
    low, high = bound_mean(np.zeros(1), np.zeros(1), np.zeros(1), 0.05)
    assert (float(low[0]), float(high[0])) == (0, 1)


def test_terms_are_found_in_every_corner_of_a_formula() -> None:
    formula = Ratio(Sum(Z, Product((P(Y, X | Z), P(Z)))), P(X))

    assert collect_terms([formula, P(X)]) == {P(Y, X | Z), P(Z), P(X)}


def test_the_error_is_shared_by_cells_and_unseen_cells_cost_nothing() -> None:
    """Two seen cells of three: each gets half of the term's share."""
    table = read_log({"X": [0, 0, 1, 1], "Y": [0, 1, 1, 1]}).count(["X"], reward="Y")
    source = BinaryReward(table.add_levels({"X": [2]}), "Y", 0, 1)
    numbers = ConfidentNumbers(source, (), {P(Y, X): frozenset()}, confidence=0.9)
    low, high = numbers.read_ends(P(Y, X), ("X", "Y"))
    expected = bound_share(np.array([1.0, 2.0]), np.array([2.0, 2.0]), 0.1 / 2)

    assert low[:2, 1] == pytest.approx(expected[0])
    assert high[:2, 1] == pytest.approx(expected[1])
    assert (low[2, 1], high[2, 1]) == (0, 1)


def test_a_row_of_which_only_the_extremes_matter_costs_as_much_as_one_cell() -> None:
    """Four cells of (X, Z); over Z only the least and the greatest are taken."""
    rows = {"X": [0, 0, 1, 1], "Z": [0, 1, 0, 1], "Y": [0, 1, 1, 1]}
    source = BinaryReward(read_log(rows).count(["X", "Z"], reward="Y"), "Y", 0, 1)
    term = P(Y, X | Z)

    sparing = ConfidentNumbers(source, (), {term: Z}, confidence=0.9).read_ends(
        term, ("X", "Z", "Y")
    )
    every = ConfidentNumbers(source, (), {term: frozenset()}, confidence=0.9)
    one = np.array(1.0)

    assert sparing[0][1, 1, 1] == pytest.approx(bound_share(one, one, 0.1 / 2)[0])
    assert every.read_ends(term, ("X", "Z", "Y"))[0][1, 1, 1] == pytest.approx(
        bound_share(one, one, 0.1 / 4)[0]
    )


def test_the_error_of_an_adaptive_log_is_shared_by_all_cells_seen_or_not() -> None:
    """Which cells are seen hangs on rewards; the least of several still costs one."""
    rows = {"X": [0, 0, 1, 1], "Z": [0, 1, 0, 0], "Y": [0, 1, 1, 1]}
    table = read_log(rows, adaptive=True).count(["X", "Z"], reward="Y")
    source = BinaryReward(table.add_levels({"X": [2]}), "Y", 0, 1)
    term, axes = P(Y, X | Z), ("X", "Z", "Y")
    k, n = np.array(2.0), np.array(2.0)
    for extremes, cells in ((frozenset[str](), 6), (Z, 3)):
        numbers = ConfidentNumbers(source, (), {term: extremes}, confidence=0.9)
        low, high = numbers.read_ends(term, axes)
        expected = bound_share_adaptively(k, n, 0.1 / cells)
        assert low[1, 0, 1] == pytest.approx(expected[0])
        assert (low[2, 0, 1], high[2, 0, 1]) == (0, 1)


def test_means_of_an_adaptive_log_get_intervals_by_sums_and_squares() -> None:
    rows = {"X": [0, 0, 1, 1], "Y": [0.2, 0.4, 0.4, 0.9]}
    table = read_log(rows, adaptive=True).count("X", reward="Y")
    source = BinaryReward(table, "Y", 0, 1, binary=False)
    numbers = ConfidentNumbers(source, (), {P(Y, X): frozenset()}, confidence=0.9)
    low, high = numbers.read_ends(P(Y, X), ("X", "Y"))
    expected = bound_mean_adaptively(
        np.array([0.6, 1.3]), np.array([0.2, 0.97]), np.array([2.0, 2.0]), 0.1 / 2
    )
    assert low[:, 1] == pytest.approx(expected[0])
    assert high[:, 1] == pytest.approx(expected[1])


def test_extremes_are_only_taken_of_a_term_that_every_rule_takes_extremes_of() -> None:
    """Elsewhere in a formula, or in another rule, all cells of the term must hold."""
    alone, shared = P(Y, X | Z), P(Y, Z)
    pure = Reading((alone,), Z)
    inside = Reading((Sum(Z, Product((alone, shared))),), Z)

    assert collect_extremes([pure]) == {alone: Z}
    assert collect_extremes([inside]) == {alone: frozenset(), shared: frozenset()}
    assert collect_extremes([pure, inside])[alone] == frozenset()


@dataclass(frozen=True)
class Reading:
    """What a rule reads."""

    formulas: tuple[Expression, ...]
    extremes: frozenset[str]


@given(formulas, st.integers(0, 2**32 - 1), st.sampled_from([4, 12, 200]))
@settings(max_examples=150, deadline=None)
def test_any_formula_has_the_ends_of_multiplying_everything_out(
    formula: Expression, seed: int, n: int
) -> None:
    """Small logs leave cells without rows: these keep their meaning, whatever the order."""
    rng = np.random.default_rng(seed)
    rows = {name: rng.integers(0, 3, n).tolist() for name in "XZ"}
    rows["Y"] = rng.integers(0, 2, n).tolist()
    table = read_log(rows).count(["X", "Z"], reward="Y").add_levels({"X": [0, 1, 2]})
    source = BinaryReward(table, "Y", 0, 1)
    terms = dict.fromkeys(collect_terms([formula]), frozenset[str]())
    numbers = ConfidentNumbers(source, (), terms or {P(X): frozenset()}, confidence=0.9)

    def read(term: P) -> tuple[NamedArray, NamedArray]:
        found = numbers.read_term(term)
        low, high = found.arrays
        return NamedArray(found.axes, low), NamedArray(found.axes, high)

    wanted = ("X", "Y", "Z")
    low, high = numbers.read_ends(formula, wanted)
    by_hand = multiply_out(formula, read, numbers.levels)

    expected = np.nan_to_num(by_hand[0].align(wanted), nan=0.0, posinf=0.0).clip(0, 1)
    assert np.allclose(low, expected, rtol=1e-12, atol=1e-12)
    expected = np.nan_to_num(by_hand[1].align(wanted), nan=1.0).clip(0, 1)
    assert np.allclose(high, expected, rtol=1e-12, atol=1e-12)


def test_formulas_take_the_worst_case_of_their_terms() -> None:
    rng = np.random.default_rng(1)
    rows = {name: rng.integers(0, 2, 300).tolist() for name in "XYZ"}
    source = BinaryReward(read_log(rows).count(["X", "Z"], reward="Y"), "Y", 0, 1)
    formula = Sum(Z, Product((P(Y, X | Z), P(Z))))
    numbers = ConfidentNumbers(
        source, (), dict.fromkeys(collect_terms([formula]), frozenset[str]()), confidence=0.9
    )
    order = ("X", "Y", "Z")
    of_y, of_z = numbers.read_term(P(Y, X | Z)), numbers.read_term(P(Z))
    low, high = numbers.read_ends(formula, ("X", "Y"))
    by_hand = [
        (end_of_y * end_of_z).sum(axis=2)
        for end_of_y, end_of_z in zip(of_y.align(order), of_z.align(order), strict=True)
    ]

    assert low == pytest.approx(by_hand[0])
    assert high == pytest.approx(np.minimum(by_hand[1], 1))


@pytest.mark.full
def test_the_whole_table_holds_at_least_as_often_as_stated() -> None:
    """The paper's world, 60 logs at confidence 0.8: conservative, so all but a few hold."""
    world, held = paper_world(), 0
    domain = {name: [0, 1] for name in ("X1", "X2", "U1", "U2", "I1")}
    for seed in range(60):
        log = world.log(1_500, seed=seed)
        table = derive_bounds(world.graph, world.query, log, confidence=0.8, domain=domain)
        held += all(
            table.bounds[key].lower <= mean <= table.bounds[key].upper
            for key, mean in world.means().items()
        )
    assert held >= 48


def test_confident_ends_lie_outside_the_estimates() -> None:
    world = paper_world()
    table = derive_bounds(world.graph, world.query, world.log(20_000, seed=0))

    assert table.confidence == 0.95
    for bound in table.bounds.values():
        assert bound.lower <= bound.lower_estimate <= bound.upper_estimate <= bound.upper


def test_numeric_rewards_get_intervals_for_means() -> None:
    rng = np.random.default_rng(2)
    arms = rng.integers(0, 2, 4_000)
    prices = rng.uniform(0, 10, 4_000) * (0.5 + 0.5 * arms)
    log = {"X": arms.tolist(), "Y": prices.tolist()}
    table = derive_bounds(parse("X -> Y"), "Y | do(X)", log, outcome_range=(0, 10))

    assert 2.5 in table[0, ()]
    assert 5.0 in table[1, ()]
    assert table[0, ()].width < 1


def test_a_0_1_reward_with_a_wider_range_is_a_mean_and_not_a_share() -> None:
    """Y is 1 in all 30 rows of each arm, of a range up to 2: each mean is one half."""
    log = {"X": [0, 1] * 30, "Y": [1] * 60}
    table = derive_bounds(parse("X -> Y"), "Y | do(X)", log, outcome_range=(0, 2))
    n = np.array(30.0)
    low, high = bound_mean(n / 2, n / 4, n, 0.05 / 2)

    assert table[0, ()].lower == pytest.approx(2 * float(low))
    assert table[0, ()].upper == pytest.approx(2 * float(high))


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.1, "0.95", float("nan")])
def test_what_is_no_chance_is_refused(confidence: float) -> None:
    with pytest.raises(NoConfidence, match="must be a chance such as"):
        require_confidence(confidence)


def test_an_exact_law_has_no_sampling_error() -> None:
    world = paper_world()
    with pytest.raises(NoConfidence, match="pass confidence=None"):
        derive_bounds(world.graph, world.query, world.exact_log())


def test_hundreds_of_millions_of_rows_have_intervals_in_order() -> None:
    """The library's inverse is off by a factor at some counts; neighbours must agree."""
    k = np.arange(990.0, 1011.0)
    low, high = bound_share(k, np.full_like(k, 1e9), 0.01)

    assert (low < k / 1e9).all()
    assert (k / 1e9 < high).all()
    assert (np.diff(low) > 0).all()
    assert (np.diff(high) > 0).all()
    np.testing.assert_allclose(high - low, 5.15e-9 * np.sqrt(k), rtol=0.02)


@pytest.mark.parametrize(
    ("graph", "query", "joint"),
    [
        ("W -> X -> Y; W -> Y", "Y | do(X)", True),
        ("W -> X -> M -> Y; W -> Y; M <-> Y; M -> [S]", "Y | do(X), W", False),
    ],
)
def test_a_table_tells_whether_its_differences_hold_all_at_once(
    graph: str, query: str, joint: bool
) -> None:
    """Where M decides who is logged, nothing but the extremes over M is paid for."""
    rng = np.random.default_rng(1)
    log = {name: rng.integers(0, 2, 400) for name in "WXMY"}

    assert derive_bounds(parse(graph), query, log).joint is joint
    assert derive_bounds(parse(graph), query, log, confidence=None).joint
