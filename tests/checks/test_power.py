import numpy as np
import pytest
from scipy.stats import chi2, ncx2

from boundit.checks.association import Statistic
from boundit.checks.power import POWER, find_detectable_excess, find_weakest_detectable


@pytest.mark.parametrize("df", [1, 4, 30, 1000, 10**5])
@pytest.mark.parametrize("level", [0.05, 0.05 / 190])
def test_the_excess_is_found_as_often_as_is_said(df: int, level: float) -> None:
    found = ncx2.sf(chi2.isf(level, df), df, find_detectable_excess(df, level))

    assert found == pytest.approx(POWER, abs=1e-6)


def test_more_rows_show_weaker_association_and_more_shapes_hide_it() -> None:
    rows = [
        find_weakest_detectable(Statistic(0.0, 1, n), 0.01) for n in (100.0, 1000.0, 10_000.0)
    ]
    shapes = [find_weakest_detectable(Statistic(0.0, df, 1000.0), 0.01) for df in (1, 10, 100)]

    assert rows == sorted(rows, reverse=True)
    assert shapes == sorted(shapes)


def test_what_is_detectable_is_detected_in_8_logs_of_10() -> None:
    """A 2 x 2 law of just that strength, 4,000 logs; margin 4 standard errors."""
    n, level = 800, 0.01
    v = find_weakest_detectable(Statistic(0.0, 1, n), level)
    law = np.array([1 + v, 1 - v, 1 - v, 1 + v]) / 4
    a, b, c, d = np.random.default_rng(0).multinomial(n, law, size=4000).T
    pearson = n * (a * d - b * c) ** 2 / ((a + b) * (c + d) * (a + c) * (b + d))

    assert (pearson > chi2.isf(level, 1)).mean() == pytest.approx(POWER, abs=0.025)
