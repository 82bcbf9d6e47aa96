import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from boundit.checks.association import PooledGroups, measure_any_association, pool_groups
from tests.checks.groups import lay_out


def draw_tables(seed: int, shape: tuple[int, ...], mean: float = 6.0) -> NDArray[np.int64]:
    return np.random.default_rng(seed).poisson(mean, size=shape) + 1


@pytest.mark.parametrize("seed", range(20))
def test_of_one_group_it_is_pearsons_statistic_with_n_minus_1(seed: int) -> None:
    counts = draw_tables(seed, (1, 2 + seed % 3, 3))
    pearson = chi2_contingency(counts[0], correction=False)
    n = counts.sum()

    ours = measure_any_association(lay_out(counts))

    assert ours.df == pearson.dof
    assert ours.value == pytest.approx(pearson.statistic * (n - 1) / n)


@pytest.mark.parametrize("seed", range(20))
def test_any_association_adds_up_the_groups(seed: int) -> None:
    counts = draw_tables(seed, (5, 3, 2))
    whole = measure_any_association(lay_out(counts))
    parts = [measure_any_association(lay_out(counts[i : i + 1])) for i in range(5)]

    assert whole.value == pytest.approx(sum(part.value for part in parts))
    assert whole.df == sum(part.df for part in parts) == 10


@pytest.mark.parametrize("seed", range(20))
def test_of_one_group_both_measures_agree(seed: int) -> None:
    strata = lay_out(draw_tables(seed, (1, 3, 4)))
    steady = PooledGroups(strata).make_statistic()

    assert steady.value == pytest.approx(measure_any_association(strata).value)
    assert steady.df == measure_any_association(strata).df


@pytest.mark.parametrize("seed", range(10))
def test_of_two_levels_the_steady_one_is_cochran_mantel_haenszels(seed: int) -> None:
    counts = draw_tables(seed, (7, 2, 2)).astype(float)
    n, rows, columns = counts.sum((1, 2)), counts.sum(2), counts.sum(1)
    away = counts[:, 0, 0] - rows[:, 0] * columns[:, 0] / n
    variance = rows.prod(1) * columns.prod(1) / (n**2 * (n - 1))

    steady = PooledGroups(lay_out(counts)).make_statistic()

    assert steady.value == pytest.approx(away.sum() ** 2 / variance.sum())
    assert steady.df == 1


def test_the_last_level_does_not_matter() -> None:
    """Leaving out the last level of each variable is a matter of writing, not of content."""
    counts = draw_tables(3, (4, 3, 3))
    turned = counts[:, ::-1, ::-1]

    one, other = PooledGroups(lay_out(counts)), PooledGroups(lay_out(turned))

    assert one.make_statistic().value == pytest.approx(other.make_statistic().value)


def test_levels_that_never_meet_in_a_group_cost_degrees() -> None:
    """Two blocks of levels, each with groups of its own: one degree of freedom each."""
    counts = np.zeros((2, 4, 4))
    counts[0, :2, :2] = [[9, 4], [3, 8]]
    counts[1, 2:, 2:] = [[2, 6], [7, 5]]

    assert PooledGroups(lay_out(counts)).df == 2


def test_association_that_turns_around_is_not_steady() -> None:
    strata = lay_out([[[40, 10], [10, 40]], [[10, 40], [40, 10]]])

    assert measure_any_association(strata).value == pytest.approx(72 * 99 / 100)
    assert PooledGroups(strata).make_statistic().value == pytest.approx(0)


def test_strength_is_1_where_one_tells_the_other_and_0_by_chance() -> None:
    perfect = measure_any_association(lay_out([[[5000, 0], [0, 5000]]]))
    nothing = measure_any_association(lay_out([[[2500, 2500], [2500, 2500]]]))

    assert perfect.find_strength() == pytest.approx(1, abs=1e-3)
    assert nothing.find_strength() == 0


def test_pooling_leaves_out_levels_too_rare_to_judge() -> None:
    counts = np.full((5, 3, 3), 30)
    counts[:, 2] = 1
    total = pool_groups(lay_out(counts), least=20)

    assert total is not None
    assert total.levels == ([0, 1], [0, 1, 2])
    assert (total.expected >= 20).all()
    assert pool_groups(lay_out([[[1, 2], [2, 1]]]), least=20) is None


def test_pooling_keeps_the_commonest_of_very_many_levels() -> None:
    counts = np.arange(1, 51)[:, None] * np.full((2, 50, 2), 20)
    total = pool_groups(lay_out(counts))

    assert total is not None
    assert total.levels[0] == list(range(30, 50))
