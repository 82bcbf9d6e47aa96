import numpy as np
import pytest

from boundit.checks.joining import join_rare_levels
from tests.checks.groups import lay_out


@pytest.mark.parametrize("seed", range(150))
def test_no_expected_count_stays_small_and_no_row_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 6), rng.integers(2, 12), rng.integers(2, 12)
    means = rng.gamma(0.3, float(rng.choice([3, 30, 300])), size=shape)
    strata = lay_out(rng.poisson(means))
    full = join_rare_levels(strata, 5.0)
    kept = np.isin(strata.places, full.places)

    assert (full.least_expected >= 5 - 1e-9).all()
    assert np.allclose(strata.totals[kept], full.totals)


def test_full_tables_stay_as_they_are() -> None:
    strata = lay_out(np.full((3, 2, 4), 25))

    assert join_rare_levels(strata, 5.0) is strata


def test_a_variable_with_common_levels_keeps_them() -> None:
    counts = np.array([[[500, 500], [400, 400], [1, 2], [1, 1], [2, 1]]])
    full = join_rare_levels(lay_out(counts), 5.0)

    assert full.sizes[0].tolist() == [2]
    assert full.sizes[1].tolist() == [2]
    assert full.rows == counts.sum()


def test_many_levels_of_like_size_are_joined_to_a_few_not_to_one() -> None:
    counts = np.full((1, 400, 400), 1)
    full = join_rare_levels(lay_out(counts), 5.0)

    assert full.sizes[0][0] > 50
    assert full.sizes[1][0] > 50


def test_a_group_too_small_for_two_levels_is_left_out() -> None:
    assert len(join_rare_levels(lay_out([[[3, 2], [2, 3]]]), 5.0)) == 0
