from dataclasses import replace

import numpy as np

from boundit.bandit.batch.environment import SideObservation
from boundit.bandit.batch.layout import BatchLayout
from boundit.bandit.batch.narrowing_layout import living_board
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bandit.prior.narrowing import NarrowingBounds
from boundit.terms.living import Living
from tests.bandit.living_tables import STAGE, living_table, plan

OTHER = Living(("V", "W"), ((0,), (0, 1, "high")), plan(pooled=False).pools, plan().ends)


def board(table: object) -> BatchLayout:
    policy = LinUCB(prior=table)  # type: ignore[arg-type]
    found = policy.desk.board(STAGE, living=True)
    assert found is not None
    return found


def test_every_place_of_the_board_knows_its_pair_its_pools_and_what_it_shows() -> None:
    table = living_table(plan(), OTHER)
    ends, laid = NarrowingBounds(table, 0.05), board(table)

    found = living_board(ends, laid, STAGE.shows)

    assert found is not None
    assert STAGE.shows is not None
    for here in range(16):
        arm, context = STAGE.arms[laid.target[here]], STAGE.contexts[here // 4]
        assert found.pair[here] == ends.pairs[arm, context]
        assert found.pools[:, here].tolist() == [ends.pool(i, arm, context) for i in (0, 1)]
        np.testing.assert_array_equal(
            found.shows[here], STAGE.shows.ends[here // 4, laid.target[here]]
        )
    # The second plan needs a variable that the stage does not show.
    assert found.cells.tolist() == [[0, 1, 2], [-1, -1, -1]]


def test_a_pair_without_a_plan_has_none() -> None:
    some = {key: pool for key, pool in plan().pools.items() if key[0] != (0, 0)}
    few = replace(plan(), pools=some, ends={key: plan().ends[key] for key in some})
    table = replace(living_table(), living=(few,))
    ends, laid = NarrowingBounds(table, 0.05), board(table)

    found = living_board(ends, laid, STAGE.shows)

    assert found is not None
    left = [here for here in range(16) if STAGE.arms[laid.target[here]] == (0, 0)]
    assert np.flatnonzero(found.pair == -1).tolist() == left
    assert np.flatnonzero(found.pools[0] == -1).tolist() == left


def test_what_a_policy_would_refuse_to_see_is_not_laid_out() -> None:
    table = living_table()
    strange = SideObservation(("W",), ((0, 1, 7),), np.ones((4, 4, 2, 3)))

    assert living_board(NarrowingBounds(table, 0.05), board(table), strange) is None
    assert living_board(NarrowingBounds(table, 0.05), board(table), None) is None
    assert living_board(None, board(table), STAGE.shows) is None
