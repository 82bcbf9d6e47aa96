"""Choices by bounds: the joint set of means, and minimax regret against brute force."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import boundit as bd
from boundit.core.interval import Interval
from boundit.decisions.choose import (
    InvalidChoice,
    bound_regret,
    choose,
    find_minimax,
    find_single,
)
from boundit.decisions.means import DROPPED, MeansContradict, MeanSet
from boundit.results.bound import Arm, Key
from boundit.results.bound_table import BoundTable

ARMS: tuple[Arm, ...] = tuple((name,) for name in "abcde")


def make_pair(*, confidence: float | None = None) -> BoundTable:
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
    np.testing.assert_allclose(means.leads, apart.max(axis=0), atol=1e-8)


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
    means = MeanSet.from_table(make_pair(), (1,))

    assert means.arms == (("a",), ("b",))
    assert (*means.lowers, *means.uppers) == (0.4, 0.0, 0.6, 1.0)
    assert not means.linked
    assert means.largest({("a",): 1.0, ("b",): -1.0}) == pytest.approx(0.6)


def test_differences_move_ends_and_lie_below_what_intervals_say() -> None:
    """``b`` earns .2 more than ``a`` at least, so ``a`` at most .7 and ``b`` at least .4."""
    table = replace(make_pair(), contrasts={((0,), ("a",), ("b",)): -0.2})

    means = MeanSet.from_table(table, (0,))

    np.testing.assert_allclose(means.lowers, [0.2, 0.4])
    np.testing.assert_allclose(means.uppers, [0.5, 0.9])
    assert means.largest({("a",): 1.0, ("b",): -1.0}) == pytest.approx(-0.2)


def test_differences_of_arms_without_rows_are_not_looked_at() -> None:
    table = replace(make_pair(), contrasts={((0,), ("a",), ("z",)): -5.0})

    assert not MeanSet.from_table(table, (0,)).linked


def test_a_contradiction_refutes_a_table_with_a_confidence() -> None:
    table = replace(make_pair(confidence=0.95), contrasts={((0,), ("b",), ("a",)): -0.3})

    with pytest.raises(MeansContradict, match=r"refute the graph: no means .* context \(0,\)"):
        MeanSet.from_table(table, (0,))


def test_without_a_confidence_a_contradiction_leaves_the_intervals() -> None:
    table = replace(make_pair(), contrasts={((0,), ("b",), ("a",)): -0.3})

    means = MeanSet.from_table(table, (0,))

    assert (means.linked, means.mark) == (False, DROPPED)
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


SetParts = tuple[np.ndarray, np.ndarray, dict[Arm, dict[Arm, float]]]


def close(parts: SetParts) -> MeanSet:
    lowers, uppers, contrasts = parts
    return MeanSet.close(ARMS[: len(lowers)], list(lowers), list(uppers), contrasts)


def find_worst(corners: np.ndarray, chances: np.ndarray) -> float:
    """Find the worst regret of a lottery over all corners of a set of means."""
    return float((corners.max(axis=1) - corners @ chances).max())


def list_lotteries(n: int, steps: int) -> np.ndarray:
    """List every lottery over ``n`` arms whose chances are multiples of one step."""
    found = [t for t in product(range(steps + 1), repeat=n) if sum(t) == steps]
    return np.array(found) / steps


@given(sets())
def test_the_promise_is_the_worst_regret_over_all_corners(parts: SetParts) -> None:
    means, corners = close(parts), list_corners(*parts)

    chances = find_minimax(means)

    assert chances.sum() == pytest.approx(1)
    regret, _ = bound_regret(means.leads, chances)
    assert regret >= find_worst(corners, chances) - 1e-12
    assert regret == pytest.approx(find_worst(corners, chances), abs=1e-7)


@given(sets())
def test_no_lottery_of_a_fine_grid_regrets_less(parts: SetParts) -> None:
    means, corners = close(parts), list_corners(*parts)
    n = len(means.arms)
    steps = {2: 200, 3: 30, 4: 10}[n]

    regret, _ = bound_regret(means.leads, find_minimax(means))

    best = min(find_worst(corners, pi) for pi in list_lotteries(n, steps))
    assert regret <= best + 1e-7
    assert best <= regret + n / steps  # the grid comes near


@pytest.mark.parametrize("n", [3, 5, 12])
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_the_least_regret_is_that_of_another_solver(seed: int, n: int, linked: bool) -> None:
    rng = np.random.default_rng(seed)
    centre = rng.uniform(size=n)
    lowers, uppers = centre * rng.uniform(size=n), 1 - (1 - centre) * rng.uniform(size=n)
    lowers[0] = uppers[0] = centre[0]  # one arm is known
    arms: tuple[Arm, ...] = tuple((i,) for i in range(n))
    contrasts: dict[Arm, dict[Arm, float]] = {}
    for i, j in product(range(n), repeat=2):
        if linked and i != j:
            lead = float(centre[i] - centre[j] + rng.uniform(0, 0.3))
            contrasts.setdefault(arms[i], {})[arms[j]] = lead
    means = MeanSet.close(arms, list(lowers), list(uppers), contrasts)
    leads = means.leads

    solved = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.column_stack([leads, -np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=[[1.0] * n + [0.0]],
        b_eq=[1.0],
        bounds=[(0, 1)] * n + [(None, None)],
    )

    regret, _ = bound_regret(leads, find_minimax(means))
    assert regret == pytest.approx(solved.fun, abs=1e-8)


@given(st.lists(st.integers(0, 10), min_size=4, max_size=4))
def test_two_arms_are_mixed_by_manskis_formula(ends: list[int]) -> None:
    """Manski (2007): the chance of an arm is how much it may earn more, as a share."""
    (l1, u1), (l2, u2) = sorted(ends[:2]), sorted(ends[2:])
    means = MeanSet.close(ARMS[:2], [l1, l2], [u1, u2], {})
    first, second = max(u1 - l2, 0), max(u2 - l1, 0)

    chances = find_minimax(means)
    regret, _ = bound_regret(means.leads, chances)

    total = first + second
    assert regret == pytest.approx(first * second / total if total else 0.0)
    if first and second:
        assert chances[0] == pytest.approx(first / total)


@given(sets())
def test_arms_that_another_beats_are_never_drawn(parts: SetParts) -> None:
    means, corners = close(parts), list_corners(*parts)

    chances = find_minimax(means)

    for one, other in product(range(len(means.arms)), repeat=2):
        if (corners[:, one] < corners[:, other] - 1e-6).all():
            assert chances[one] == 0


@given(sets())
def test_the_single_arm_is_the_best_of_all_arms(parts: SetParts) -> None:
    means, corners = close(parts), list_corners(*parts)
    each = np.eye(len(means.arms))

    found = find_single(means)

    assert sorted(found) == [0] * (len(found) - 1) + [1]
    least = min(find_worst(corners, arm) for arm in each)
    assert find_worst(corners, found) == pytest.approx(least, abs=1e-7)


def test_of_equal_arms_the_one_that_earns_more_at_least_is_taken() -> None:
    """Both regret at most .4: against each other."""
    means = MeanSet.close(ARMS[:2], [0.1, 0.2], [0.6, 0.5], {})

    np.testing.assert_array_equal(find_single(means), [0, 1])


def test_an_arm_is_taken_where_no_lottery_does_better() -> None:
    means = MeanSet.close(ARMS[:3], [0.5] * 3, [0.5] * 3, {})

    assert sorted(find_minimax(means)) == [0, 0, 1]


def test_what_may_be_infinite_is_left_to_one_arm() -> None:
    means = MeanSet.close(ARMS[:2], [0.0, 0.0], [1.0, np.inf], {})

    chances = find_minimax(means)

    assert list(chances) == [0, 1]
    assert bound_regret(means.leads, chances) == (1.0, 0)


def test_equal_intervals_make_equal_chances() -> None:
    means = MeanSet.close(ARMS[:4], [0.0] * 4, [1.0] * 4, {})

    np.testing.assert_allclose(find_minimax(means), 0.25)


A, B, C = ("A",), ("B",), ("C",)


def make_table(*ends: tuple[float, float]) -> BoundTable:
    """Make a table of arms A, B, ... without a context."""
    return BoundTable.from_rows(
        [
            {"Ad": name, "lower": low, "upper": high}
            for name, (low, high) in zip("ABCDE", ends, strict=False)
        ],
        outcome="Click",
        treatments=["Ad"],
        outcome_range=(0, 1),
    )


def test_two_arms_are_mixed_as_manski_does() -> None:
    """(.5 - .3) and (.9 - .1), so B four times as often; the regret is .2 * .8 / 1."""
    found = make_table((0.1, 0.5), (0.3, 0.9)).choose(randomize=True)[()]

    assert found.probabilities == pytest.approx({A: 0.2, B: 0.8})
    assert found.max_regret == pytest.approx(0.16)
    assert found.arm is None
    assert (found.single, found.single_against) == (B, A)
    assert found.single_regret == pytest.approx(0.2)
    assert found.floor == pytest.approx(0.2 * 0.1 + 0.8 * 0.3)


def test_one_arm_is_chosen_unless_randomized() -> None:
    found = make_table((0.1, 0.5), (0.3, 0.9)).choose(randomize=False)[()]

    assert (found.probabilities, found.arm) == ({B: 1.0}, B)
    assert found.max_regret == pytest.approx(0.2)
    assert found.against == A


def test_an_arm_that_surely_loses_is_out_with_the_one_that_beats_it() -> None:
    found = make_table((0.1, 0.2), (0.3, 0.6), (0.25, 0.5)).choose()[()]

    assert found.ruled_out == {A: B}
    assert A not in found.probabilities


def test_maximin_goes_by_what_is_sure() -> None:
    found = make_table((0.2, 0.9), (0.3, 0.4)).choose("maximin")[()]

    assert found.arm == B
    assert found.floor == pytest.approx(0.3)
    assert found.max_regret == pytest.approx(0.6)


def test_maximin_looks_at_closed_ends() -> None:
    """A earns .3 more than B at least, which earns .2 at least: A .5, more than C's .4."""
    table = replace(
        make_table((0.1, 0.9), (0.2, 0.6), (0.4, 0.8)), contrasts={((), B, A): -0.3}
    )

    assert table.choose("maximin")[()].arm == A
    assert make_table((0.1, 0.9), (0.2, 0.6), (0.4, 0.8)).choose("maximin")[()].arm == C


@pytest.mark.parametrize(("optimism", "arm"), [(0.0, B), (0.1, B), (0.2, A), (1.0, A)])
def test_optimism_weighs_the_ends(optimism: float, arm: tuple[str]) -> None:
    """.2 + .7 h against .3 + .1 h: they meet at one sixth."""
    table = make_table((0.2, 0.9), (0.3, 0.4))

    assert table.choose("optimism", optimism=optimism)[()].arm == arm


def test_arms_that_do_as_well_are_said() -> None:
    found = make_table((0.2, 0.4), (0.2, 0.4), (0.1, 0.3)).choose("maximin")[()]

    assert (found.arm, found.ties) == (A, (B,))


def test_one_shared_unknown_can_settle_what_intervals_cannot() -> None:
    apart = make_table((0.1, 0.5), (0.3, 0.9))
    found = replace(apart, contrasts={((), A, B): -0.05}).choose()[()]

    assert (found.arm, found.max_regret, found.ruled_out) == (B, 0.0, {A: B})
    assert found.by_differences
    assert not apart.choose()[()].by_differences


def test_differences_and_the_intervals_beside_them_are_chosen_by_at_the_stated_confidence() -> (
    None
):
    """Closed, A has a mean of .35 at least by way of B."""
    table = replace(
        make_table((0.1, 0.9), (0.3, 0.9)), contrasts={((), B, A): -0.05}, confidence=0.95
    )
    wider = dict[Key, Interval]()
    wider[A, ()], wider[B, ()] = Interval(0.05, 0.95), Interval(0.2, 0.95)

    assert table.choose()[()].floor == pytest.approx(0.35)
    assert table.choose()[()].ruled_out == {B: A}
    assert table.choose().sure == "95% confidence that all regrets are valid"
    assert replace(table, compared=wider).choose()[()].floor == pytest.approx(0.25)


def test_what_contradicts_itself_without_a_confidence_is_marked() -> None:
    table = replace(make_table((0.1, 0.5), (0.3, 0.9)), contrasts={((), B, A): -0.5})

    found = table.choose()

    assert found[()].marks == (DROPPED,)
    assert DROPPED in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"rule": "minimax"},
            "is not a rule. Use one of 'minimax-regret', 'maximin', 'optimism'",
        ),
        ({"rule": "optimism"}, "optimism=None is not a number"),
        ({"rule": "optimism", "optimism": 1.5}, "optimism=1.5 is not"),
        ({"rule": "optimism", "optimism": float("nan")}, "optimism=nan is not"),
        ({"rule": "optimism", "optimism": True}, "optimism=True is not"),
        ({"rule": "maximin", "randomize": True}, "is for rule='minimax-regret' only"),
        ({"costs": {"A": float("nan")}}, "Write a finite number"),
        ({"optimism": 0.5}, "is for rule='optimism' only"),
    ],
)
def test_a_way_to_choose_that_is_none_is_refused(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidChoice, match=message):
        choose(make_table((0, 1), (0, 1)), **options)  # type: ignore[arg-type]


def test_a_table_without_rows_has_nothing_to_choose() -> None:
    with pytest.raises(InvalidChoice, match="no rows"):
        choose(make_table())


def test_the_paper_s_world_is_decided_and_the_truth_keeps_the_promise() -> None:
    world = bd.simulation.paper_environment()
    table = bd.derive_bounds(world.graph, world.query, world.log(1000, seed=1))

    for found in table.choose(randomize=True).values():
        means = np.array([world.mean(arm, found.context) for arm in table.arms])
        chances = np.array([found.probabilities.get(arm, 0.0) for arm in table.arms])
        assert means.max() - chances @ means <= found.max_regret


def test_an_arm_is_not_ruled_out_by_rounding() -> None:
    table = BoundTable.from_rows(
        [
            {"X": "a", "lower": 0.3, "upper": 0.3},
            {"X": "b", "lower": 0.1 + 0.2, "upper": 0.1 + 0.2},
        ],
        outcome="Y",
        treatments=["X"],
        outcome_range=(0, 1),
    )

    assert not choose(table).choices[()].ruled_out


def test_arms_are_chosen_by_a_table_of_bounds() -> None:
    with pytest.raises(InvalidChoice, match="by a BoundTable, not by int"):
        choose(5)  # type: ignore[arg-type]


def test_a_draw_over_many_arms_is_said_in_a_few_words() -> None:
    ends = {f"a{i}": (0.1 + 0.001 * i, 0.6 + 0.001 * i) for i in range(40)}
    table = BoundTable.from_rows(
        [{"Ad": name, "lower": low, "upper": high} for name, (low, high) in ends.items()],
        outcome="Click",
        treatments=["Ad"],
        outcome_range=(0, 1),
    )
    choice = table.choose(randomize=True)
    found, (row,) = choice[()], choice.rows()

    assert len(found.probabilities) == 32
    assert "Draw with probabilities a39 0.0" in found.summary
    assert "and one of 27 more 0." in found.summary
    assert max(map(len, str(choice).splitlines()[:2])) < 120
    assert str(row["arm"]).count(",") == 31


def test_with_less_being_better_choices_turn_and_numbers_stay() -> None:
    """The choice of the outcome's complement where more is better."""
    turned = replace(make_table((0.1, 0.5), (0.3, 0.9), (0.85, 0.95)), goal="min")
    mirrored = make_table((0.5, 0.9), (0.1, 0.7), (0.05, 0.15))
    found, expected = (t.choose(randomize=True)[()] for t in (turned, mirrored))

    assert found.probabilities == pytest.approx(expected.probabilities)
    assert found.max_regret == pytest.approx(expected.max_regret)
    assert found.floor == pytest.approx(1 - expected.floor)
    assert turned.ruled_out() == mirrored.ruled_out() == {("C",): ("A",)}
    assert turned.choose(goal="max")[()].single == ("C",)
    assert turned["A", ()] == Interval(0.1, 0.5)
    assert "C is ruled out: A is better." in found.summary
    assert not bd.compare(turned, "C", "A")
    assert bd.compare(turned, "A", "C")


def test_a_goal_is_max_or_min() -> None:
    with pytest.raises(bd.BounditError, match=r"goal must be 'max' or 'min', found 'less'"):
        make_table((0.1, 0.5), (0.3, 0.9)).choose(goal="less")  # type: ignore[arg-type]


def test_costs_count_against_arms_whichever_way_the_goal_points() -> None:
    """B is better by .1 at least: not worth a cost of .2, whether more or less is better."""
    table = make_table((0.1, 0.3), (0.4, 0.5))
    fewer = replace(make_table((0.7, 0.9), (0.5, 0.6)), goal="min")

    for each in (table, fewer):
        assert each.choose()[()].arm == B
        found = each.choose(costs={"B": 0.5})[()]
        assert (found.arm, found.ruled_out) == (A, {B: A})
    assert table.choose(costs={"B": 0.2})[()].max_regret == pytest.approx(0.1)
    assert table.choose("maximin", costs={"B": 0.2})[()].floor == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "B; maximum regret 0.2, if A is best."),
        (
            {"randomize": True},
            "Draw with probabilities A 0.2 and B 0.8; maximum regret 0.16, if A is best. "
            "Without drawing: B; maximum regret 0.2, if A is best.",
        ),
        (
            {"rule": "maximin"},
            "B has the best guaranteed mean, at least 0.3; maximum regret 0.2, if A is best.",
        ),
        (
            {"rule": "optimism", "optimism": 1.0},
            "B is best by optimism 1; maximum regret 0.2, if A is best.",
        ),
    ],
)
def test_a_choice_is_said_with_its_maximum_regret(
    options: dict[str, object], said: str
) -> None:
    found = make_table((0.1, 0.5), (0.3, 0.9)).choose(**options)  # type: ignore[arg-type]
    assert found[()].summary == said
    assert said in str(found)


def test_a_choice_shows_its_arms_and_its_largest_regret() -> None:
    choice = make_table((0.1, 0.5), (0.3, 0.9), (0.0, 0.05)).choose()
    assert repr(choice) == "<Choice by minimax regret, maximize Click: B (max regret 0.2)>"
    assert choice[()].summary.endswith("C is ruled out: B is better.")
