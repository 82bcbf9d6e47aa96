"""Scores of several visitors of one context."""

import numpy as np
import pytest

from boundit.bandit.kernels.score_table import SCORE
from boundit.bandit.many.score_batch import ScoreBatch
from boundit.bandit.ranked_arms import RankedArm, RankedArms
from boundit.bandit.scores import Scores

ARMS = RankedArms.of([RankedArm(("A",), 0, 0.9, 0), RankedArm(("B",), 0, 0.4, 1)])


def test_one_table_serves_all_where_nothing_is_drawn() -> None:
    shared = Scores(ARMS, (1, 0), ARMS.blank_table)
    batch = ScoreBatch(shared)

    assert batch.make(0) is batch.make(5) is shared
    assert batch.found is None
    assert batch.list_arms() == [("A",), ("B",)]


def test_each_has_a_table_where_arms_are_drawn() -> None:
    tables = np.stack([ARMS.blank_table] * 2)
    tables[:, :, SCORE] = [[0.1, 0.2], [0.4, np.nan]]
    found = np.array([[1, 0], [0, 1]])
    batch = ScoreBatch(Scores(ARMS, (1, 0), tables[0]), found, tables)
    batch.shared.allowed, batch.shared.explore = (("A",), ("B",), ("C",)), 0.3

    second = batch.make(1)

    assert batch.found is found
    assert (second.arm, second.index, second.skipped) == (("A",), {("A",): 0.4}, 1)
    assert (second.allowed, second.explore) == ((("A",), ("B",), ("C",)), 0.3)
    assert second.propensities == pytest.approx({("A",): 0.8, ("B",): 0.1, ("C",): 0.1})


def test_chances_are_worked_out_once_for_all_visitors_of_a_context() -> None:
    asked = list[Scores]()

    def find_chances(scores: Scores) -> np.ndarray:
        asked.append(scores)
        return np.array([0.3, 0.7])

    tables, found = np.stack([ARMS.blank_table] * 3), np.array([[1, 0], [0, 0], [1, 0]])
    shared = Scores(ARMS, (1, 0), tables[0], win_chances=find_chances)
    batch = ScoreBatch(shared, found, tables)

    assert [batch.make(i).propensity for i in range(3)] == [0.7, 0.3, 0.7]
    assert asked == [shared]
