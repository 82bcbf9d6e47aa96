"""Means that arms may have together: closed, and asked for the greatest weighted sum."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from boundit.decisions.choose.mean_set import DROPPED, MeansContradict, MeanSet
from boundit.results.bound import Arm
from boundit.results.bound_table import BoundTable

ARMS: tuple[Arm, ...] = tuple((name,) for name in "abcde")


def make_table(*, confidence: float | None = None) -> BoundTable:
    """Make a table of two arms in two contexts; one row is missing."""
    table = BoundTable.from_rows(
        [
            {"X": "a", "W": 0, "lower": 0.2, "upper": 0.5},
            {"X": "b", "W": 0, "lower": 0.3, "upper": 0.9},
            {"X": "a", "W": 1, "lower": 0.4, "upper": 0.6},
        ],
        outcome="Y",
        treatments=["X"],
        context=["W"],
        outcome_range=(0, 1),
    )
    return replace(table, confidence=confidence)


@st.composite
def sets(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, dict[Arm, dict[Arm, float]]]:
    """Draw intervals and differences around means, so that at least these fit."""
    n = draw(st.integers(2, 4))
    units = st.integers(0, 20).map(lambda number: number / 20)
    means = np.array([draw(units) for _ in range(n)])
    lowers = means * np.array([draw(units) for _ in range(n)])
    uppers = 1 - (1 - means) * np.array([draw(units) for _ in range(n)])
    contrasts: dict[Arm, dict[Arm, float]] = {}
    for one in range(n):
        for other in range(n):
            if one != other and draw(st.booleans()):
                most = means[one] - means[other] + draw(units) / 2
                contrasts.setdefault(ARMS[one], {})[ARMS[other]] = most
    return lowers, uppers, contrasts


def list_corners(
    lowers: np.ndarray, uppers: np.ndarray, contrasts: dict[Arm, dict[Arm, float]]
) -> np.ndarray:
    """List every corner of the set: where as many of its limits as arms meet, and all hold."""
    n = len(lowers)
    rows = [*np.eye(n), *-np.eye(n)]
    ends = [*uppers, *-lowers]
    for one, others in contrasts.items():
        for other, most in others.items():
            row = np.zeros(n)
            row[ARMS.index(one)], row[ARMS.index(other)] = 1, -1
            rows.append(row)
            ends.append(most)
    limits, most_of = np.array(rows), np.array(ends)
    found = []
    for chosen in map(list, combinations(range(len(rows)), n)):
        if abs(np.linalg.det(limits[chosen])) > 1e-9:
            point = np.linalg.solve(limits[chosen], most_of[chosen])
            if (limits @ point <= most_of + 1e-9).all():
                found.append(point)
    return np.array(found)


@given(sets(), st.lists(st.integers(-4, 4), min_size=4, max_size=4))
def test_the_largest_sum_is_that_of_the_best_corner(
    given_set: tuple[np.ndarray, np.ndarray, dict[Arm, dict[Arm, float]]], weights: list[int]
) -> None:
    lowers, uppers, contrasts = given_set
    arms = ARMS[: len(lowers)]
    means = MeanSet.close(arms, list(lowers), list(uppers), contrasts)
    corners = list_corners(lowers, uppers, contrasts)
    w = np.array(weights[: len(arms)], dtype=float)

    found = means.largest(dict(zip(arms, w, strict=True)))

    assert found == pytest.approx((corners @ w).max(), abs=1e-8)
    np.testing.assert_allclose(means.uppers, corners.max(axis=0), atol=1e-8)
    np.testing.assert_allclose(means.lowers, corners.min(axis=0), atol=1e-8)
    apart = corners[:, :, None] - corners[:, None, :]
    np.testing.assert_allclose(means.find_leads(), apart.max(axis=0), atol=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_the_largest_sum_is_never_below_that_of_a_point_of_the_set(seed: int) -> None:
    """Rounded outward: means on the edge of every limit at once stay inside."""
    rng = np.random.default_rng(seed)
    arms: tuple[Arm, ...] = tuple((i,) for i in range(6))
    point = rng.normal(size=6) * 10.0 ** rng.integers(-6, 6)
    contrasts = {
        arms[i]: {arms[j]: float(point[i] - point[j]) for j in range(6) if i != j}
        for i in range(6)
    }
    means = MeanSet.close(arms, list(point), list(point), contrasts)

    w = rng.normal(size=6)
    for weights in (w, w - w.mean(), np.eye(6)[0] - np.abs(w) / np.abs(w).sum(), -np.abs(w)):
        sure = means.largest(dict(zip(arms, weights, strict=True)))

        scale = float(np.abs(point).max() * np.abs(weights).sum())
        assert sure >= float(weights @ point) - 1e-15 * scale
        assert sure <= float(weights @ point) + 1e-6 * scale + 1e-8


@pytest.mark.parametrize("seed", range(20))
def test_many_arms_are_as_another_solver_has_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 8
    arms: tuple[Arm, ...] = tuple((i,) for i in range(n))
    means = rng.uniform(size=n)
    lowers, uppers = means * rng.uniform(size=n), 1 - (1 - means) * rng.uniform(size=n)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j and rng.random() < 0.5]
    most = {pair: means[pair[0]] - means[pair[1]] + rng.uniform(0, 0.2) for pair in pairs}
    contrasts: dict[Arm, dict[Arm, float]] = {}
    for (i, j), value in most.items():
        contrasts.setdefault(arms[i], {})[arms[j]] = value
    rows = np.zeros((len(pairs), n))
    for k, (i, j) in enumerate(pairs):
        rows[k, i], rows[k, j] = 1, -1
    w = rng.normal(size=n)

    solved = linprog(
        -w, A_ub=rows, b_ub=list(most.values()), bounds=list(zip(lowers, uppers, strict=True))
    )

    closed = MeanSet.close(arms, list(lowers), list(uppers), contrasts)
    assert closed.largest(dict(zip(arms, w, strict=True))) == pytest.approx(-solved.fun)


def test_the_set_of_a_table_has_its_rows_and_the_range_where_there_is_none() -> None:
    means = MeanSet.from_table(make_table(), (1,))

    assert means.arms == (("a",), ("b",))
    assert (*means.lowers, *means.uppers) == (0.4, 0.0, 0.6, 1.0)
    assert means.leads is None
    assert means.largest({("a",): 1.0, ("b",): -1.0}) == pytest.approx(0.6)


def test_differences_move_ends_and_lie_below_what_intervals_say() -> None:
    """``b`` earns .2 more than ``a`` at least, so ``a`` at most .7 and ``b`` at least .4."""
    table = replace(make_table(), contrasts={((0,), ("a",), ("b",)): -0.2})

    means = MeanSet.from_table(table, (0,))

    np.testing.assert_allclose(means.lowers, [0.2, 0.4])
    np.testing.assert_allclose(means.uppers, [0.5, 0.9])
    assert means.largest({("a",): 1.0, ("b",): -1.0}) == pytest.approx(-0.2)


def test_differences_of_arms_without_rows_are_not_looked_at() -> None:
    table = replace(make_table(), contrasts={((0,), ("a",), ("z",)): -5.0})

    assert MeanSet.from_table(table, (0,)).leads is None


def test_a_contradiction_refutes_a_table_with_a_confidence() -> None:
    table = replace(make_table(confidence=0.95), contrasts={((0,), ("b",), ("a",)): -0.3})

    with pytest.raises(MeansContradict, match=r"refute the graph: no means .* context \(0,\)"):
        MeanSet.from_table(table, (0,))


def test_without_a_confidence_a_contradiction_leaves_the_intervals() -> None:
    table = replace(make_table(), contrasts={((0,), ("b",), ("a",)): -0.3})

    means = MeanSet.from_table(table, (0,))

    assert (means.leads, means.mark) == (None, DROPPED)
    assert (*means.lowers, *means.uppers) == (0.2, 0.3, 0.5, 0.9)


def test_what_contradicts_itself_by_rounding_touches() -> None:
    arms = ARMS[:3]
    around = {
        arms[0]: {arms[1]: 0.1},
        arms[1]: {arms[2]: 0.1},
        arms[2]: {arms[0]: -0.2 - 1e-11},
    }

    means = MeanSet.close(arms, [0.0] * 3, [1.0] * 3, around)

    assert means.largest({arms[0]: 1.0, arms[1]: -1.0}) == pytest.approx(0.1)
    assert means.largest({arms[2]: 1.0, arms[0]: -1.0}) == pytest.approx(-0.2)


def test_ends_that_are_infinite_say_nothing_and_break_nothing() -> None:
    arms = ARMS[:4]
    linked = {arms[0]: {arms[1]: 0.5}}
    means = MeanSet.close(arms, [-np.inf] * 4, [np.inf] * 4, linked)

    assert means.largest({arms[0]: 1.0, arms[1]: -1.0}) == pytest.approx(0.5)
    assert means.largest({arms[0]: 1.0, arms[2]: -1.0}) == np.inf
    weights = dict(zip(arms, (1.0, -1.0, 1.0, -1.0), strict=True))
    assert means.largest(weights) == np.inf
