"""Comparisons of two policies: ends against a program over everything, and verdicts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

import boundit as bd
from boundit.decisions.compare.compare import compare
from boundit.decisions.compare.one_context import AnswersContradict
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable
from tests.decisions.compare.tables import draw_policy, draw_table, make_table

Lotteries = dict[Context, dict[Arm, float]]


def solve_largest(
    table: BoundTable, new: Lotteries, old: Lotteries, shares: dict[Context, float]
) -> float:
    """The greatest difference over all means of all contexts at once, by one program."""
    keys = list(table.bounds)
    place = {key: i for i, key in enumerate(keys)}
    costs = np.zeros(len(keys))
    for (arm, where), i in place.items():
        costs[i] = shares[where] * (new[where].get(arm, 0) - old[where].get(arm, 0))
    rows, ends = [], []
    for (where, one, other), most in table.contrasts.items():
        row = np.zeros(len(keys))
        row[place[one, where]], row[place[other, where]] = 1, -1
        rows.append(row)
        ends.append(most)
    found = linprog(
        -costs,
        A_ub=np.array(rows) if rows else None,
        b_ub=ends or None,
        bounds=[(bound.lower, bound.upper) for bound in table.bounds.values()],
    )
    return float(-found.fun)


@pytest.mark.parametrize("seed", range(12))
def test_ends_are_those_of_one_program_over_all_means(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = draw_table(rng, int(rng.integers(2, 5)), int(rng.integers(1, 4)))
    new, old = draw_policy(rng, table), draw_policy(rng, table)
    shares = dict(
        zip(table.contexts, rng.dirichlet(np.ones(len(table.contexts))).tolist(), strict=True)
    )
    found = compare(table, new, old, contexts=shares).interval
    assert found.upper == pytest.approx(solve_largest(table, new, old, shares), abs=1e-8)
    assert found.lower == pytest.approx(-solve_largest(table, old, new, shares), abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_the_shares_are_the_worst_context_decides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = draw_table(rng, 3, 3)
    new, old = draw_policy(rng, table), draw_policy(rng, table)
    found = compare(table, new, old, contexts="any").interval
    corners = [
        solve_largest(table, new, old, {c: float(c == where) for c in table.contexts})
        for where in table.contexts
    ]
    assert found.upper == pytest.approx(max(corners), abs=1e-8)


def test_a_policy_is_no_better_than_itself() -> None:
    table = make_table()
    found = compare(table, {0: "a", 1: "b"}, {0: "a", 1: "b"})
    assert found.interval.width == pytest.approx(0, abs=1e-12)
    assert found.verdict == "not told"


def test_verdicts_are_turned_with_their_sides() -> None:
    table = make_table()
    better = compare(table, "b", "a", contexts={0: 1})
    worse = compare(table, "a", "b", contexts={0: 1})
    assert better.verdict == "surely better"
    assert better
    assert better.by == pytest.approx(0.1)
    assert worse.verdict == "surely worse"
    assert not worse
    assert worse.by == pytest.approx(0.1)
    assert compare(table, "b", "a").verdict == "not told"


def test_what_the_bounds_know_of_differences_is_shared() -> None:
    table = make_table()
    told = replace(table, contrasts={((1,), ("a",), ("b",)): -0.05})
    assert not compare(table, "b", "a")
    found = compare(told, "b", "a")
    assert found
    assert [each.shared for each in found.differences] == [False, True]
    assert "one shared unknown in 1 of 2 contexts" in str(found)
    assert "the ends of intervals were subtracted" in str(found)


def test_differences_hold_at_the_confidence_of_the_table() -> None:
    told = replace(make_table(), contrasts={((1,), ("a",), ("b",)): -0.05}, confidence=0.95)
    found = compare(told, "b", "a")
    assert found
    assert found.confidence == 0.95


def test_a_measured_value_is_subtracted_and_its_error_counts() -> None:
    table = replace(make_table(), confidence=0.95)
    measured = bd.Measured(0.2, error=0.05, confidence=0.97)
    found = compare(table, "b", measured, contexts={0: 1})
    assert found.interval.lower == pytest.approx(0.15)
    assert found.interval.upper == pytest.approx(0.45)
    assert found.confidence == pytest.approx(0.92)
    turned = compare(table, measured, "b", contexts={0: 1})
    assert turned.verdict == "surely worse"
    assert turned.interval.lower == pytest.approx(-0.45)


def test_a_sample_of_contexts_costs_confidence() -> None:
    table = replace(make_table(), confidence=0.95)
    visitors = {"C": [0] * 900 + [1] * 100}
    sure = compare(table, "b", "a", contexts=visitors, confidence=0.98)
    assert sure.confidence == pytest.approx(0.93)
    plain = compare(table, "b", "a", contexts=visitors, confidence=None)
    assert plain.confidence == 0.95
    assert sure.interval.lower < plain.interval.lower
    assert plain.interval.upper < sure.interval.upper


def test_the_contexts_that_decide_come_first() -> None:
    found = compare(make_table(), "b", "a", contexts={0: 0.5, 1: 0.5})
    assert found.deciding[0] == (1,)
    sure = compare(make_table(), "b", "a", contexts={0: 0.95, 1: 0.05})
    assert sure.deciding[0] == (0,)
    worse = compare(make_table(), "a", "b", contexts={0: 0.95, 1: 0.05})
    assert worse.verdict == "surely worse"
    assert worse.deciding[0] == (0,)
    assert compare(make_table(), "b", "a").deciding[0] == (1,)


def make_trial(n: int, seed: int = 0) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    c = rng.integers(2, size=n)
    chance = np.where(c == 1, 0.75, 0.25)
    x = (rng.random(n) < chance).astype(int)
    y = (rng.random(n) < 0.2 + 0.3 * x + 0.2 * c).astype(int)
    p = np.where(x == 1, chance, 1 - chance)
    columns = {"C": c, "X": x, "Y": y, "p": p}
    return {name: column.tolist() for name, column in columns.items()}


GRAPH = bd.parse_graph("C -> X -> Y; C -> Y")


def test_propensities_narrow_what_bounds_say() -> None:
    log = make_trial(4_000)
    table = bd.derive_bounds(GRAPH, "Y | do(X), C", log)
    without = compare(table, 1, 0, log=log, graph=GRAPH)
    found = compare(table, 1, 0, log=log, graph=GRAPH, propensity="p")
    assert 0.3 in found.interval
    assert found.confidence == pytest.approx(0.94)
    wide = compare(make_open(table), 1, 0, log=log, graph=GRAPH, propensity="p")
    assert wide.interval.width < 0.2
    assert without.verdict == found.verdict == "surely better"
    assert "Weighted rewards of the log" in str(found)


def test_without_a_chance_propensities_give_an_estimate() -> None:
    log = make_trial(300)
    table = make_open(bd.derive_bounds(GRAPH, "Y | do(X), C", log))
    found = compare(table, 1, 0, log=log, graph=GRAPH, propensity="p", confidence=None)
    assert found.interval.width < 0.2
    assert found.confidence is None


def make_open(table: BoundTable) -> BoundTable:
    """The same arms and contexts, of which nothing is known."""
    rows = [{"X": arm[0], "C": where[0], "lower": 0, "upper": 1} for arm, where in table.bounds]
    return BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0, 1)
    )


def test_bounds_and_propensities_that_contradict_are_an_error() -> None:
    log = make_trial(4_000)
    rows = [
        {"X": x, "C": c, "lower": 0.9 * (1 - x), "upper": 1 - 0.9 * x}
        for x in (0, 1)
        for c in (0, 1)
    ]
    wrong = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0, 1)
    )
    with pytest.raises(AnswersContradict, match="the propensities"):
        compare(wrong, 1, 0, log=log, propensity="p")


def test_rows_that_contradict_the_arms_are_an_error() -> None:
    """What the log did lies between the arms where nothing else moves the reward."""
    log = make_trial(4_000)
    rows = [{"X": x, "C": c, "lower": 0.95, "upper": 1.0} for x in (0, 1) for c in (0, 1)]
    wrong = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0, 1)
    )
    with pytest.raises(AnswersContradict, match="the rows of the log"):
        compare(wrong, 1, bd.LOGGED, log=log, graph=GRAPH)
    assert compare(wrong, 1, bd.LOGGED, log=log, graph=GRAPH, confidence=None)


def test_what_the_log_did_is_compared_with_a_confidence_of_its_own() -> None:
    log = make_trial(4_000)
    table = bd.derive_bounds(GRAPH, "Y | do(X), C", log)
    found = compare(table, 1, bd.LOGGED, log=log, graph=GRAPH, confidence=0.98)
    truth = 0.5 * 0.3 * 0.75 + 0.5 * 0.3 * 0.25
    assert truth in found.interval
    assert found
    assert found.confidence == pytest.approx(0.93)
    turned = compare(table, "log", 1, log=log, graph=GRAPH, confidence=0.98)
    assert turned.interval.lower == pytest.approx(-found.interval.upper)
    assert turned.interval.upper == pytest.approx(-found.interval.lower)


def test_an_estimator_that_is_none_is_refused_though_nothing_is_estimated() -> None:
    with pytest.raises(bd.BounditError, match="estimator must be one of ips, dr, found 'foo'"):
        compare(make_table(), "a", "b", estimator="foo")  # type: ignore[arg-type]
