"""Draws inside their bounds, with the law that rejection would give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from boundit.bandit.laws import CutBeta, CutNormal, Law, win_chance

GRID = (np.arange(400) + 0.5) / 400
ends = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted)
CASES = [CutBeta(3, 5, 0.2, 0.5), CutBeta(2, 1), CutNormal(0.3, 0.2, 0.25, 1.0),
         CutNormal(0.0, 1.0, -np.inf, 0.5), CutNormal(-0.4, 0.5)]  # fmt: skip

TAILS = [CutBeta(90, 10, 0.1, 0.5), CutBeta(10, 90, 0.5, 0.9), CutNormal(9, 0.5, 0, 1)]


@pytest.mark.parametrize("law", CASES, ids=str)
def test_quantiles_are_those_of_rejection_sampling(law: Law) -> None:
    rng = np.random.default_rng(0)
    free = law.free(rng.random(60_000))
    kept = free[(free >= law.lower) & (free <= law.upper)]

    assert stats.kstest(kept, law.share_below).pvalue > 0.01
    assert stats.kstest(law.quantile(rng.random(5_000)), law.share_below).pvalue > 0.01


@given(st.floats(1, 3000), st.floats(1, 3000), ends)
def test_a_beta_draw_never_leaves_its_bound(a: float, b: float, cut: list[float]) -> None:
    """Also where the bound contradicts what was seen, and hardly any mass is left."""
    law = CutBeta(a, b, *cut)
    draws = law.quantile(GRID)

    assert np.isfinite(draws).all()
    assert (draws >= cut[0]).all()
    assert (draws <= cut[1]).all()
    assert (np.diff(draws) >= -1e-12).all()


@given(st.floats(-30, 30), st.floats(0, 3), ends)
def test_a_normal_draw_never_leaves_its_bound(m: float, s: float, cut: list[float]) -> None:
    draws = CutNormal(m, s, *cut).quantile(GRID)

    assert np.isfinite(draws).all()
    assert (draws >= cut[0]).all()
    assert (draws <= cut[1]).all()
    assert (np.diff(draws) >= -1e-9).all()


@pytest.mark.parametrize("law", [*CASES, *TAILS], ids=str)
def test_share_and_quantile_undo_each_other(law: Law) -> None:
    np.testing.assert_allclose(law.share_below(law.quantile(GRID)), GRID, atol=1e-6)


def test_far_in_the_tail_the_law_is_still_right() -> None:
    """Thirty spreads away: the tail falls off like an exponential, as theory has it."""
    for law, sign in ((CutNormal(0, 1, 30, 40), 1), (CutNormal(0, 1, -40, -30), -1)):
        excess = sign * law.quantile(GRID) - 30
        expected = stats.truncnorm(30, 40).ppf(GRID if sign > 0 else 1 - GRID) - 30
        np.testing.assert_allclose(np.sort(excess), np.sort(expected), rtol=1e-6)


def test_a_bound_that_cuts_nothing_off_changes_no_draw() -> None:
    np.testing.assert_array_equal(CutBeta(3, 4, 0, 1).quantile(GRID), CutBeta(3, 4).free(GRID))
    np.testing.assert_array_equal(CutNormal(1, 2).quantile(GRID), CutNormal(1, 2).free(GRID))


def test_without_width_there_is_one_value() -> None:
    for law in (CutBeta(3, 4, 0.3, 0.3), CutNormal(9, 1, 0.3, 0.3), CutNormal(0.3, 0)):
        assert set(law.quantile(GRID)) == {0.3}
        assert law.share_below(np.array([0.29, 0.3, 0.31])).tolist() == [0.0, 1.0, 1.0]


def test_the_chance_to_win_is_the_share_of_wins() -> None:
    laws: dict[tuple[object, ...], Law] = {
        ("A",): CutBeta(3, 5, 0.2, 0.5),
        ("B",): CutBeta(2, 2),
        ("C",): CutBeta(9, 20),
    }
    rng = np.random.default_rng(4)
    draws = np.array([law.quantile(rng.random(40_000)) for law in laws.values()])
    shares = np.bincount(draws.argmax(axis=0), minlength=3) / 40_000

    chances = [win_chance(laws, arm) for arm in laws]

    assert sum(chances) == pytest.approx(1, abs=1e-3)
    np.testing.assert_allclose(chances, shares, atol=0.01)


def test_ties_of_points_go_to_the_first() -> None:
    laws: dict[tuple[object, ...], Law] = {
        ("A",): CutBeta(1, 1, 0.5, 0.5),
        ("B",): CutBeta(1, 1, 0.5, 0.5),
    }

    assert [win_chance(laws, arm) for arm in laws] == [1.0, 0.0]
