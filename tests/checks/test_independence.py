import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator
from scipy.stats import chi2, chi2_contingency, poisson

from boundit.checks import independence
from boundit.checks.independence import (
    ENOUGH_OF_MANY,
    PLENTY,
    Calibration,
    correct_by_holm,
    judge_exact_law,
    judge_independence,
)
from boundit.checks.shuffles import WORK
from boundit.checks.strata import Strata
from tests.checks.groups import draw_independent, lay_out


def judge(strata: Strata, draws: int, rng: Generator) -> independence.TestOutcome | None:
    return judge_independence(strata, Calibration(draws, PLENTY, WORK), rng)


@pytest.mark.parametrize("seed", range(10))
def test_of_one_full_group_p_is_that_of_pearsons_test(seed: int) -> None:
    counts = np.random.default_rng(seed).poisson(200, size=(3, 4))
    found = judge(lay_out([counts]), 100, np.random.default_rng(0))

    assert found is not None
    assert found.decisive_answer.draws == 0
    assert found.p == pytest.approx(chi2_contingency(counts, correction=False).pvalue, rel=0.02)


FEW, FULL = 1999, 20_000
CASES = {
    "one full group": (1, 400, [0.5, 0.5], [0.3, 0.3, 0.4], 800, FEW),
    "one lopsided group": (1, 300, [0.95, 0.05], [0.9, 0.1], 600, FEW),
    "few rows in few groups": (15, 10, [0.6, 0.3, 0.1], [0.5, 0.5], 150, FEW),
    "three rows in each of many groups": (120, 3, [0.5, 0.5], [0.4, 0.6], 150, FEW),
    "more small groups than can be shuffled": (3000, 12, [0.5, 0.5], [0.6, 0.4], 300, FULL),
    "a great many groups with a rare level": (
        2000,
        30,
        [0.7, 0.29, 0.01],
        [0.5, 0.5],
        150,
        FULL,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_p_is_as_small_as_it_says_no_more_often(case: str) -> None:
    """At 0.2, 0.05 and 0.01, of a few hundred logs; margin 3.5 standard errors."""
    n_groups, n, one, other, logs, draws = CASES[case]
    rng = np.random.default_rng(sum(map(ord, case)))
    found = [
        judge(draw_independent(rng, n_groups, n, one, other), draws, rng) for _ in range(logs)
    ]
    p = np.array([1.0 if outcome is None else outcome.p for outcome in found])

    for level in (0.2, 0.05, 0.01):
        assert (p <= level).mean() <= level + 3.5 * np.sqrt(level * (1 - level) / logs)


def test_where_nothing_is_discrete_p_is_uniform() -> None:
    """The mean of 600 uniform p-values, and their share below 0.5; margin 3.5 errors."""
    rng = np.random.default_rng(5)
    drawn = (draw_independent(rng, 1, 900, [0.3, 0.7], [0.2] * 5) for _ in range(600))
    found = [judge(strata, 9, rng) for strata in drawn]
    p = np.array([outcome.p for outcome in found if outcome is not None])

    assert len(p) == 600
    assert p.mean() == pytest.approx(0.5, abs=3.5 * 0.289 / np.sqrt(600))
    assert (p < 0.5).mean() == pytest.approx(0.5, abs=3.5 * 0.5 / np.sqrt(600))


def test_full_tables_need_no_shuffles_and_small_ones_get_them() -> None:
    rng = np.random.default_rng(0)
    full = judge(lay_out(np.full((2, 2, 2), 50)), 999, rng)
    small = judge(lay_out(np.full((2, 2, 2), 5)), 999, rng)

    assert full is not None
    assert small is not None
    assert full.decisive_answer.draws == 0
    assert small.decisive_answer.draws > 0


def test_a_steady_association_over_many_thin_groups_is_found() -> None:
    """Forty per cent against sixty, three rows in each of 2,000 groups."""
    rng = np.random.default_rng(1)
    law = np.array([0.3, 0.2, 0.2, 0.3])
    strata = lay_out(rng.multinomial(3, law, size=2000).reshape(-1, 2, 2))
    found = judge(strata, 50_000, rng)

    assert found is not None
    assert found.decisive_answer.pattern == "steady"
    assert found.p < 1e-10


def test_an_association_that_turns_around_is_found() -> None:
    counts = np.tile([[[60, 40], [40, 60]], [[40, 60], [60, 40]]], (5, 1, 1))
    found = judge(lay_out(counts), 999, np.random.default_rng(0))

    assert found is not None
    assert found.decisive_answer.pattern == "any"
    assert found.p < 1e-8


def test_with_two_questions_the_smaller_p_counts_double() -> None:
    counts = np.full((3, 2, 2), 50) + np.array([[9, 0], [0, 9]])
    found = judge(lay_out(counts), 9, np.random.default_rng(0))

    assert found is not None
    assert len(found.answers) == 2
    assert found.p == 2 * min(answer.p for answer in found.answers)


def test_where_nothing_varies_there_is_nothing_to_judge() -> None:
    nothing = lay_out([[[4, 5], [0, 0]]])

    assert judge(nothing, 9, np.random.default_rng(0)) is None
    assert judge_exact_law(nothing) is None


@pytest.mark.parametrize(
    "calibration", [Calibration(9, PLENTY, 0), Calibration(0, 180.0, WORK)]
)
def test_groups_too_thin_for_either_question_are_not_judged(calibration: Calibration) -> None:
    strata = lay_out([[[2, 1], [1, 2]]])

    assert judge_independence(strata, calibration, np.random.default_rng(0)) is None


def test_p_by_shuffles_could_always_contradict() -> None:
    """Even as one of two answers, among as many statements as are shuffled at all."""
    for n in (1, 2, 10, 100, 1000, 1250, 1251, 10_000):
        calibration = Calibration.for_statements(n, 0.05)

        assert not calibration.draws or 2 * n / (calibration.draws + 1) <= 0.05
        assert bool(calibration.draws) == (n <= 1250)


@pytest.mark.parametrize("n", [1, 30, 100, 1250, 4000, 20_000])
def test_the_far_tail_of_chi_square_holds_where_counts_are_plenty(n: int) -> None:
    """A cell that varies like Poisson's law, at the level that Holm asks of the first."""
    calibration, level = Calibration.for_statements(n, 0.05), 0.05 / n / 2
    mean, away = calibration.plenty, np.sqrt(chi2.isf(level, 1) * calibration.plenty)
    beyond = poisson.sf(np.ceil(mean + away) - 1, mean) + poisson.cdf(
        np.floor(mean - away), mean
    )

    assert beyond < 2 * level


def test_what_is_plenty_shrinks_with_the_cells_that_are_added_up() -> None:
    few, many = (Calibration.for_statements(n, 0.05) for n in (10, 10_000))

    assert [few.find_least(n) for n in (1, 50, 200, 10**6)] == [PLENTY, PLENTY, 5, 5]
    assert many.find_least(1) == many.plenty
    assert many.find_least(10**6) == ENOUGH_OF_MANY


def test_what_turns_around_is_not_called_detectable_when_groups_are_too_thin() -> None:
    rng = np.random.default_rng(2)
    strata = draw_independent(rng, 3000, 3, [0.5, 0.5], [0.5, 0.5])
    found = judge(strata, 50_000, rng)

    assert found is not None
    assert found.find_detectable(0.05) < 0.1
    assert found.find_detectable(0.05, any_pattern=True) == float("inf")


def test_an_exact_law_is_independent_or_it_is_not() -> None:
    law = np.multiply.outer([0.4, 0.6], np.outer([0.1, 0.9], [0.3, 0.7]))
    other = law + 1e-4 * np.multiply.outer([1, 0], [[1, -1], [-1, 1]])
    holds, fails = judge_exact_law(lay_out(law)), judge_exact_law(lay_out(other))

    assert holds is not None
    assert fails is not None
    assert (holds.p, fails.p) == (1, 0)
    assert holds.find_detectable(0.05) == 0


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_rejects_what_stepping_down_rejects(p_values: list[float]) -> None:
    """Corrected p <= a exactly when p and all smaller ones pass a / (number left)."""
    corrected, level = correct_by_holm(p_values), 0.05
    in_turn = sorted(range(len(p_values)), key=p_values.__getitem__)
    going = True
    for left, place in zip(range(len(p_values), 0, -1), in_turn, strict=True):
        going = going and left * p_values[place] <= level
        assert (corrected[place] <= level) == going
