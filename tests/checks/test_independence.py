import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, hypergeom, multivariate_hypergeom
from statsmodels.stats.contingency_tables import StratifiedTable

from boundit.checks import independence
from boundit.checks.independence import (
    POWER,
    Strata,
    correct_by_holm,
    judge_independence,
)
from tests.checks.groups import draw_independent, lay_out


def draw_tables(seed: int, shape: tuple[int, ...], mean: float) -> NDArray[np.int64]:
    return np.random.default_rng(seed).poisson(mean, size=shape) + 1


def judge(strata: Strata) -> independence.IndependenceTest:
    found = judge_independence(strata)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_groups", [1, 7, 60])
def test_of_two_levels_it_is_statsmodels_cochran_mantel_haenszel(
    seed: int, n_groups: int
) -> None:
    counts = draw_tables(seed, (n_groups, 2, 2), mean=200)
    theirs = StratifiedTable(np.moveaxis(counts, 0, -1)).test_null_odds()
    ours = judge(lay_out(counts))

    assert ours.df == 1
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue, rel=0.2, abs=0.01)


@pytest.mark.parametrize("seed", range(10))
def test_of_one_group_it_is_pearsons_with_n_minus_1(seed: int) -> None:
    counts = draw_tables(seed, (1, 2 + seed % 3, 4), mean=2000)
    theirs, n = chi2_contingency(counts[0], correction=False), counts.sum()
    ours = judge(lay_out(counts))

    assert ours.df == theirs.dof
    assert ours.statistic == pytest.approx(theirs.statistic * (n - 1) / n)
    assert ours.p == pytest.approx(theirs.pvalue, rel=0.2, abs=0.01)


@pytest.mark.parametrize("seed", range(10))
def test_of_more_levels_it_is_the_quadratic_form_of_the_pooled_counts(seed: int) -> None:
    """Mean and covariance of each group by SciPy's multivariate hypergeometric law."""
    counts = draw_tables(seed, (6, 3, 4), mean=9)
    away, spread = np.zeros(6), np.zeros((6, 6))
    for table in counts:
        n, rows, columns = table.sum(), table.sum(1), table.sum(0)
        away += (table - np.outer(rows, columns) / n)[:2, :3].ravel()
        one = multivariate_hypergeom(rows, 1).cov()[:2, :2]
        other = multivariate_hypergeom(columns, 1).cov()[:3, :3]
        spread += np.kron(one, other) * n**2 / (n - 1)
    ours = judge(lay_out(counts))

    assert ours.df == 6
    assert ours.statistic == pytest.approx(away @ np.linalg.solve(spread, away))


def test_levels_that_never_meet_in_a_group_cost_degrees() -> None:
    """Two blocks of levels, each with groups of its own: one degree of freedom each."""
    counts = np.zeros((2, 4, 4))
    counts[0, :2, :2] = [[90, 40], [30, 80]]
    counts[1, 2:, 2:] = [[20, 60], [70, 50]]

    assert judge(lay_out(counts)).df == 2


def fill(margins: list[tuple[int, int, int]], pooled: int) -> list[list[list[int]]]:
    """Write tables of two by two with margins (n, one, other) whose first cells add up."""
    least = [max(0, one + other - n) for n, one, other in margins]
    left, tables = pooled - sum(least), []
    for (n, one, other), low in zip(margins, least, strict=True):
        cell = min(one, other, low + left)
        left -= cell - low
        tables.append([[cell, one - cell], [other - cell, n - one - other + cell]])
    return tables


@pytest.mark.parametrize("seed", range(40))
def test_of_two_by_two_p_is_at_most_the_level_whatever_the_margins(seed: int) -> None:
    """Every pooled count of some margins, lopsided ones too, with its exact chance."""
    rng = np.random.default_rng(seed)
    margins, law = list[tuple[int, int, int]](), np.ones(1)
    for _ in range(rng.integers(1, 6)):
        n = int(rng.integers(2, 60))
        one, other = (int(rng.choice([1, n - 1, int(rng.integers(1, n))])) for _ in range(2))
        margins.append((n, one, other))
        law = np.convolve(law, hypergeom(n, one, other).pmf(np.arange(min(one, other) + 1)))
    found = {k: judge_independence(lay_out(fill(margins, k))) for k in range(len(law))}

    for level in (0.05, 0.01, 0.001, 1e-5):
        rejected = [k for k, each in found.items() if each is not None and each.p <= level]
        assert law[rejected].sum() <= level


CASES = {
    "one full group": (1, 400, [0.5, 0.5], [0.3, 0.3, 0.4], 800),
    "one lopsided group": (1, 300, [0.95, 0.05], [0.9, 0.1], 600),
    "rare levels": (1, 300, [0.8, 0.1, 0.05, 0.05], [0.8, 0.17, 0.03], 600),
    "very many levels": (2, 1000, [0.02] * 50, [0.6, 0.3, 0.1], 150),
    "few rows in few groups": (15, 10, [0.6, 0.3, 0.1], [0.5, 0.5], 600),
    "three rows in each of many groups": (120, 3, [0.5, 0.5], [0.4, 0.6], 600),
    "a great many groups with a rare level": (2000, 30, [0.7, 0.29, 0.01], [0.5, 0.5], 150),
}


@pytest.mark.parametrize("case", CASES)
def test_p_is_as_small_as_it_says_no_more_often(case: str) -> None:
    """At 0.05 and 0.01, of a few hundred logs; margin 3.5 standard errors."""
    n_groups, n, one, other, logs = CASES[case]
    rng = np.random.default_rng(sum(map(ord, case)))
    found = [
        judge_independence(draw_independent(rng, n_groups, n, one, other)) for _ in range(logs)
    ]
    p = np.array([1.0 if outcome is None else outcome.p for outcome in found])

    for level in (0.05, 0.01):
        assert (p <= level).mean() <= level + 3.5 * np.sqrt(level * (1 - level) / logs)


def test_a_dependence_alike_in_many_thin_groups_is_found() -> None:
    """Forty per cent against sixty, three rows in each of 2,000 groups."""
    rng = np.random.default_rng(1)
    law = np.array([0.3, 0.2, 0.2, 0.3])

    assert judge(lay_out(rng.multinomial(3, law, size=2000).reshape(-1, 2, 2))).p < 1e-10


def test_a_rare_level_does_not_hide_what_the_common_ones_show() -> None:
    counts = np.array([[[60, 40], [40, 60], [1, 0]]])
    without = judge(lay_out(counts[:, :2]))

    assert judge(lay_out(counts)).p == pytest.approx(without.p, rel=0.5)


def test_where_nothing_varies_there_is_nothing_to_judge() -> None:
    nothing = lay_out([[[4, 5], [0, 0]]])

    assert judge_independence(nothing) is None
    assert judge_independence(nothing, exact=True) is None


@pytest.mark.parametrize(("n_groups", "n"), [(1, 200), (1, 2000), (40, 20)])
@pytest.mark.parametrize("level", [0.05, 0.001])
def test_what_is_detectable_is_detected_in_about_8_logs_of_10(
    n_groups: int, n: int, level: float
) -> None:
    """Tables of two by two of just that strength, 1,000 logs."""
    rng = np.random.default_rng(0)
    v = judge(lay_out(np.full((n_groups, 2, 2), n / 4))).find_detectable(level)
    law = np.array([1 + v, 1 - v, 1 - v, 1 + v]) / 4
    drawn = rng.multinomial(n, law, size=(1000, n_groups)).reshape(1000, n_groups, 2, 2)

    assert np.mean([judge(lay_out(each)).p <= level for each in drawn]) == pytest.approx(
        POWER, abs=0.06
    )


def test_less_is_detectable_of_fewer_rows_and_of_more_levels() -> None:
    rows = [judge(lay_out(np.full((1, 2, 2), n))).find_detectable(0.01) for n in (9, 99, 999)]
    shapes = [
        judge(lay_out(np.full((1, k, 2), 480 / k))).find_detectable(0.01) for k in (2, 4, 8)
    ]

    assert rows == sorted(rows, reverse=True)
    assert shapes == sorted(shapes)
    assert judge(lay_out([[[2, 1], [1, 2]]])).find_detectable(0.01) == float("inf")


def test_strength_is_1_where_one_tells_the_other_and_0_by_chance() -> None:
    assert judge(lay_out([[[5000, 0], [0, 5000]]])).strength == pytest.approx(1, abs=1e-3)
    assert judge(lay_out([[[2500, 2500], [2500, 2500]]])).strength == 0


def test_an_exact_distribution_is_independent_or_it_is_not() -> None:
    law = np.multiply.outer([0.4, 0.6], np.outer([0.1, 0.9], [0.3, 0.7]))
    turned = np.multiply.outer([0.6, -0.4], [[1e-4, -1e-4], [-1e-4, 1e-4]])
    holds, fails = (
        judge_independence(lay_out(each), exact=True) for each in (law, law + turned)
    )

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
