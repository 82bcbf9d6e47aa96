from dataclasses import replace
from typing import Any

import numpy as np

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.kernels.score_table import POSITION, STATISTICS, UPPER
from boundit.bandit.policies.lin_ucb import LinUCB
from tests.bandit.players import ARMS, CONTEXTS, mean, table

STAGE = FiniteEnvironment(
    CONTEXTS,
    (*reversed(ARMS), (9, 9)),
    np.array([[mean(arm, c) for arm in (*reversed(ARMS), (9, 9))] for c in CONTEXTS]),
)


def test_each_context_has_the_policys_arms_by_decreasing_cap() -> None:
    """The stage has its arms in another order, and one more."""
    policy = LinUCB(prior=table(0.1))

    board = BatchLayout.of(policy.desk.scene, policy.desk.guard.prior, STAGE)

    assert board is not None
    for c, context in enumerate(CONTEXTS):
        here = slice(4 * c, 4 * c + 4)
        arms = [STAGE.arms[i] for i in board.target[here]]
        uppers = [table(0.1)[arm, context].upper for arm in arms]
        assert board.sheet[here, UPPER].tolist() == uppers == sorted(uppers, reverse=True)
        assert [ARMS[int(i)] for i in board.sheet[here, POSITION]] == arms
        assert board.means[here].tolist() == [mean(arm, context) for arm in arms]


def test_a_context_may_have_fewer_arms_than_another() -> None:
    """3.8: beaten arms are left out, context by context."""
    beaten = replace(table(None), contrasts={((0, 1), ARMS[0], ARMS[3]): -0.1})
    policy = LinUCB(prior=beaten)

    board = BatchLayout.of(policy.desk.scene, policy.desk.guard.prior, STAGE)

    assert board is not None
    assert np.diff(board.starts).tolist() == [4, 3, 4, 4]
    assert board.arms == ARMS
    assert [ARMS[int(i)] for i in board.sheet[4:7, POSITION]] == list(ARMS[1:])
    assert board.sheet[:, STATISTICS].tolist() == list(range(15))


def test_runs_are_put_in_one_writable_piece() -> None:
    visitors: Any = np.zeros((4, 6), np.int32)
    luck = np.zeros((6, 4)).T
    luck.flags.writeable = False

    seeds: Any = np.arange(4)
    runs = BatchRuns.of(visitors, luck, seeds, luck)

    assert runs.seeing is not None
    kinds = (np.int64, np.float64, np.uint64, np.float64)
    for array, kind in zip((*runs[:3], runs.seeing), kinds, strict=True):
        assert array.dtype == kind
        assert array.flags.c_contiguous
        assert array.flags.writeable
    assert BatchRuns.of(visitors, luck, seeds, None).seeing is None
