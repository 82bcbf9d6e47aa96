import numpy as np
import pytest

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.batch.layout import BatchLayout
from boundit.bandit.batch.ridge_layout import laid_out
from boundit.bandit.kernels.score_table import STATISTICS
from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.policies.lin_ucb import LinUCB
from tests.bandit.players import ARMS, CONTEXTS, table

STAGE = FiniteEnvironment(CONTEXTS, ARMS, np.full((4, 4), 0.5))


@pytest.mark.parametrize("shared", [False, True])
def test_rows_and_starts_are_those_of_the_book(shared: bool) -> None:
    policy = LinUCB(prior=table(0.1), shared=shared, warm_start=WarmStart(table(0.0), 3))
    book = policy.desk.book
    board = BatchLayout.of(policy.desk.scene, policy.desk.guard.prior, STAGE)
    assert board is not None

    found = laid_out(book, board)

    assert found is not None
    assert found.stack.size == (1 if shared else 4)
    rows = found.x.reshape(4, 4, 8)
    for c, lineup in enumerate(board.lineups):
        for i, entrant in enumerate(lineup):
            slot = int(found.sheet[4 * c + i, STATISTICS])
            assert rows[c, i, :5].tolist() == [1.0, *CONTEXTS[c], *entrant.arm]
            theta = book.model(entrant.arm, 5).theta
            assert found.stack.at(slot).theta.tolist() == theta.tolist()
