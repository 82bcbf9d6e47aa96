"""Chances to win, against sums over many places of SciPy's densities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.win_probability import (
    compute_win_probabilities,
    tabulate_beta_densities,
    tabulate_normal_densities,
)
from tests.bandit.plain_laws import CutBeta, CutNormal, chances
from tests.bandit.score_tables import make_score_table

ends = st.one_of(st.just([0.0, 1.0]), st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted))
wide = ends.filter(lambda cut: cut[1] - cut[0] > 1e-3)
wins = st.integers(0, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
beliefs = st.tuples(st.floats(-1, 2), st.floats(0.01, 3))


def make_table(own: list[tuple[float, float]], cuts: list[list[float]]) -> Floats:
    lower, upper = np.transpose(cuts)
    return make_score_table(0, np.arange(len(own)), lower, upper, own=own)


def compute_all(densities: Floats) -> list[float]:
    found: list[float] = compute_win_probabilities(densities).tolist()
    return found


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(wins, wide), min_size=1, max_size=5))
def test_betas_win_as_often_as_scipys(
    arms: list[tuple[tuple[float, float], list[float]]],
) -> None:
    found = compute_all(
        tabulate_beta_densities(make_table(*map(list, zip(*arms, strict=True))), 0.0, 1.0)
    )

    densities = [CutBeta(1 + w, 1 + n - w, *cut) for (w, n), cut in arms]
    assert sum(found) == pytest.approx(1, abs=1e-12)
    assert found == pytest.approx(chances(densities, np.linspace(0, 1, 20_001)), abs=2e-4)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(beliefs, wide), min_size=1, max_size=5), st.booleans())
def test_normals_win_as_often_as_scipys(
    arms: list[tuple[tuple[float, float], list[float]]], bounded: bool
) -> None:
    cuts = [cut if bounded else [-np.inf, np.inf] for _, cut in arms]
    own = [belief for belief, _ in arms]

    found = compute_all(tabulate_normal_densities(make_table(own, cuts)))

    densities = [CutNormal(*belief, *cut) for belief, cut in zip(own, cuts, strict=True)]
    places = np.linspace(0, 1, 20_001) if bounded else np.linspace(-30, 30, 60_001)
    assert sum(found) == pytest.approx(1, abs=1e-12)
    assert found == pytest.approx(chances(densities, places), abs=2e-3)


def test_the_scale_of_the_rewards_changes_no_chance() -> None:
    own, cuts = [(2.0, 5.0), (3.0, 4.0)], [[0.25, 0.75], [0.5, 1.0]]
    wider = [[-2 + 8 * end for end in cut] for cut in cuts]

    one = compute_all(tabulate_beta_densities(make_table(own, cuts), 0.0, 1.0))

    assert compute_all(
        tabulate_beta_densities(make_table(own, wider), -2.0, 6.0)
    ) == pytest.approx(one)


@pytest.mark.parametrize(("own", "cuts", "expected"), [
    # B is uniform on [0, 0.8], A on [0.6, 0.9], C below: B wins with chance 1/4 x 1/3.
    ([(0, 0), (0, 0), (0, 0)], [[0.6, 0.9], [0.0, 0.8], [0.0, 0.5]], [11 / 12, 1 / 12, 0.0]),
    ([(0, 0)] * 4, [[0.0, 1.0]] * 4, [0.25] * 4),
    # x^3 against a uniform: it is below it with chance 1/5.
    ([(3, 3), (0, 0)], [[0.0, 1.0]] * 2, [0.8, 0.2]),
    # Known to four digits, between a uniform below and one above.
    ([(5e7, 1e8), (0, 0)], [[0.0, 1.0], [0.0, 1.0]], [0.5, 0.5]),
    ([(3, 7)], [[0.2, 0.3]], [1.0]),
])  # fmt: skip
def test_chances_that_can_be_worked_out_by_hand(
    own: list[tuple[float, float]], cuts: list[list[float]], expected: list[float]
) -> None:
    found = compute_all(tabulate_beta_densities(make_table(own, cuts), 0.0, 1.0))

    assert found == pytest.approx(expected, abs=1e-6)


def test_normals_far_apart_and_far_in_a_tail() -> None:
    """Thirty spreads beyond the bulk both are exponential, one of twice the rate."""
    own = [(0.0, 1.0), (0.0, 0.5**0.5)]

    found = compute_all(tabulate_normal_densities(make_table(own, [[300.0, 400.0]] * 2)))

    assert found == pytest.approx([2 / 3, 1 / 3], abs=1e-4)
    unbounded = [[-np.inf, np.inf]] * 2
    apart = compute_all(
        tabulate_normal_densities(make_table([(0.0, 1.0), (30.0, 1.0)], unbounded))
    )
    assert apart == pytest.approx([0.0, 1.0], abs=1e-12)
    narrow = compute_all(
        tabulate_normal_densities(make_table([(0.0, 1.0), (1.0, 1e-9)], unbounded))
    )
    assert narrow == pytest.approx([0.158655254, 0.841344746], abs=1e-7)


POINTS = [
    ([[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0]),
    ([[0.4, 0.4], [0.5, 0.5]], [0.0, 1.0]),
    ([[0.6, 0.6], [0.0, 0.5]], [1.0, 0.0]),
    ([[0.25, 0.25], [0.0, 1.0]], [0.25, 0.75]),
    ([[0.0, 1.0], [0.25, 0.25]], [0.75, 0.25]),
    ([[0.5, 0.5], [0.0, 1.0], [0.2, 0.2]], [0.5, 0.5, 0.0]),
]


@pytest.mark.parametrize(("cuts", "expected"), POINTS)
def test_points_win_where_they_are_and_ties_go_to_the_first(
    cuts: list[list[float]], expected: list[float]
) -> None:
    table = make_table([(0.0, 0.0)] * len(cuts), cuts)
    assert compute_all(tabulate_beta_densities(table, 0.0, 1.0)) == pytest.approx(
        expected, abs=1e-9
    )

    turned = table[::-1].copy()
    backwards = compute_all(tabulate_beta_densities(turned, 0.0, 1.0))[::-1]
    assert backwards == pytest.approx(expected, abs=1e-9)


def test_a_normal_without_spread_is_a_point_within_its_bound() -> None:
    own = [(0.3, 0.0), (9.0, 0.0), (9.0, 0.0)]
    table = make_table(own, [[0.0, 1.0], [0.0, 0.2], [0.0, 0.4]])

    assert compute_all(tabulate_normal_densities(table)) == [0.0, 0.0, 1.0]


def test_what_may_win_has_a_chance_and_what_bounds_rule_out_has_none() -> None:
    """Hardly a success against nothing else; a third lies below the second."""
    own, cuts = [(1.0, 1e4), (1e4, 1e4), (0.0, 0.0)], [[0.0, 1.0], [0.5, 1.0], [0.0, 0.4]]

    found = compute_all(tabulate_beta_densities(make_table(own, cuts), 0.0, 1.0))

    assert 0 < found[0] < 1e-12
    assert found[2] == 0


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.floats(0, 1e12), st.sampled_from([0.0, 1e-300, 5e-324])),
            st.one_of(st.floats(0, 1e12), st.sampled_from([0.0, 1e-300, 5e-324])),
            ends,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_it_always_comes_to_an_end_with_a_chance(
    arms: list[tuple[float, float, list[float]]],
) -> None:
    own = [(w, w + losses) for w, losses, _ in arms]
    cuts = [cut for *_, cut in arms]

    found = compute_all(tabulate_beta_densities(make_table(own, cuts), 0.0, 1.0))

    assert all(0 <= chance <= 1 for chance in found)
    assert sum(found) == pytest.approx(1, abs=1e-12)
