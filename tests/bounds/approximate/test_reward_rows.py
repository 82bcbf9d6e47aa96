import numpy as np

from boundit.bounds.approximate.flat_rule import flatten_rule
from boundit.bounds.approximate.formula_ends import FormulaEnds
from boundit.bounds.approximate.reward_rows import RewardRows
from boundit.counts.read import read_log
from tests.bounds.approximate.logs import BACK_DOOR, read_counts, read_evidence


def test_rows_that_weigh_alike_count_in_full_and_uneven_ones_as_fewer() -> None:
    log = read_log(
        {
            "Z": [0, 0, 0, 0, 1, 1, 1],
            "X": [0, 0, 1, 1, 0, 0, 1],
            "Y": [0, 1, 0, 1, 0, 1, 1],
            "n": [20, 20, 20, 20, 40, 40, 10],
        },
        weight="n",
    )
    counts = read_counts(read_evidence(BACK_DOOR, log.count(["Z", "X"], reward="Y")))
    flat = flatten_rule(BACK_DOOR.rules[0].rule, counts.levels)
    assert flat is not None

    found = FormulaEnds(flat, counts, 0.01).find(upper=False)

    shares = np.array([80, 90]) / 170
    for arm, n in ((0, np.array([40, 80])), (1, np.array([40, 10]))):
        assert np.isclose(found.rewards.rows[arm], 1 / (shares**2 / n).sum())
    assert found.rewards.failures[1] == 20
    assert found.rewards.unseen.tolist() == [0, 0]
    again = RewardRows.of(found.derivatives, counts, "Y", 1, found.value.shape)
    np.testing.assert_allclose(again.successes, found.rewards.successes)


def test_the_weight_of_strata_without_an_arm_is_unseen() -> None:
    log = read_log({"Z": [0, 0, 1, 1], "X": [0, 1, 0, 0], "Y": [0, 1, 0, 1]})
    counts = read_counts(read_evidence(BACK_DOOR, log.count(["Z", "X"], reward="Y")))
    flat = flatten_rule(BACK_DOOR.rules[0].rule, counts.levels)
    assert flat is not None

    found = FormulaEnds(flat, counts, 0.01).find(upper=False)

    assert found.rewards.unseen.tolist() == [0, 0.5]
