import math
from itertools import product

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.ranking import is_ahead, mark_unscored
from boundit.bandit.kernels.score_table import SCORE


@compile_kernel
def compare(final: float, free: float, place: int, other: tuple[float, float, int]) -> bool:
    return is_ahead(final, free, place, other[0], other[1], other[2])


@compile_kernel
def mark(table: Floats, start: int, stop: int) -> None:
    mark_unscored(table, start, stop)


def test_the_rule_is_an_order_by_index_free_index_and_position() -> None:
    """The same rule as contest's: larger, larger before the prior, first."""
    for one, two in product(product((0.0, 0.5), (0.5, 2.0, float("inf")), (0, 1)), repeat=2):
        before = (one[0], one[1], -one[2]) > (two[0], two[1], -two[2])
        assert compare(*one, two) == before


def test_arms_that_were_not_scored_have_no_index() -> None:
    table = np.ones((4, 8))

    mark(table, 2, 4)

    assert np.isnan(table[2:, SCORE]).all()
    assert np.isnan(table).sum() == 2
    assert math.isfinite(table[1, SCORE])
