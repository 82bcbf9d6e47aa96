import numpy as np
import pytest

from boundit.bounds.approximate.term_counts import RewardBehindTheBar, align_to
from boundit.counts.formulas.errors import NeedsPopulation
from boundit.counts.read import read_log
from boundit.estimand.language.expression import P
from tests.bounds.approximate.logs import BACK_DOOR, read_counts, read_evidence

LOG = read_log({"Z": [0, 0, 1, 1, 1], "X": [0, 1, 0, 0, 0], "Y": [1, 0, 1, 1, 0]})
TABLE = LOG.count(["Z", "X"], reward="Y")
TERM = P(frozenset("Y"), frozenset("XZ"))


def test_counts_of_a_term_are_its_rows_and_the_rows_of_what_is_given() -> None:
    counts = read_counts(read_evidence(BACK_DOOR, TABLE)).read(TERM)

    k = align_to(counts.axes, counts.k, {}, ("Z", "X", "Y"))
    assert k.tolist() == [[[0, 1], [1, 0]], [[1, 2], [0, 0]]]
    assert align_to(counts.axes, counts.n, {}, ("Z", "X", "Y"))[..., 0].tolist() == [
        [1, 1],
        [3, 0],
    ]


def test_shares_that_nobody_saw_are_nothing_or_even() -> None:
    counts = read_counts(read_evidence(BACK_DOOR, TABLE)).read(TERM)

    for hole, expected in ((0.0, 0.0), (None, 0.5)):
        shares = counts.find_shares(hole)
        found = align_to(shares.axes, shares.arrays[0], {}, ("Z", "X", "Y"))
        assert found[1, 1].tolist() == [expected, expected]
    smoothed = align_to(counts.axes, counts.smooth_shares(), {}, ("Z", "X", "Y"))
    np.testing.assert_allclose(smoothed.sum(axis=-1), 1)
    assert smoothed[1, 0, 1] == 3 / 5
    assert counts.invert_rows().min() == 0


def test_rewards_between_vary_less_than_successes_and_failures() -> None:
    log = read_log({"Z": [0, 0], "X": [0, 0], "Y": [0.5, 0.5]}).count(["Z", "X"], reward="Y")
    counts = read_counts(read_evidence(BACK_DOOR, log, declared=(0, 1)))

    found = counts.read(TERM)

    assert found.overstated is not None
    assert found.overstated.sum() == 1.0 - 0.5
    with pytest.raises(RewardBehindTheBar, match="not 0/1"):
        counts.read(P(frozenset("Z"), frozenset("Y")))


def test_a_term_of_everyone_needs_a_table_that_covers_it() -> None:
    counts = read_counts(read_evidence(BACK_DOOR, TABLE))

    with pytest.raises(NeedsPopulation):
        counts.read(P(frozenset("V"), logged=False))
    assert counts.order_columns(frozenset("XZ")) == ["Z", "X"]
