import numpy as np

from boundit.bounds.approximate.critical import (
    find_bonferroni,
    find_critical,
    widen_for_freedom,
)


def test_independent_ends_need_nearly_as_much_as_bonferroni_says() -> None:
    most = find_bonferroni(0.05, 8)

    found = find_critical(0.05, np.eye(8), 8)

    assert most - 0.1 < found <= most


def test_ends_that_move_together_need_no_more_than_one() -> None:
    found = find_critical(0.05, np.ones((8, 8)), 8)

    assert abs(found - find_bonferroni(0.05, 1)) < 0.1


def test_two_sides_of_one_estimate_need_its_two_sided_number() -> None:
    found = find_critical(0.05, np.array([[1.0, -1.0], [-1.0, 1.0]]), 2)

    assert abs(found - 1.96) < 0.06


def test_an_end_that_does_not_move_costs_what_bonferroni_says() -> None:
    assert find_critical(0.05, np.zeros((1, 1)), 1) == find_bonferroni(0.05, 1)


def test_few_degrees_of_freedom_widen() -> None:
    wide, narrow = widen_for_freedom(2.0, np.array([12.0, np.inf]))

    assert wide > 2.2 > 2.0 + 1e-5 > narrow
