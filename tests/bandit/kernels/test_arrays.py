"""How whole runs lie in arrays, shown by the simplest kernel that plays them."""

import numpy as np

from boundit.bandit.kernels.arrays import BatchArrays
from boundit.bandit.kernels.ucb import play_ucb
from tests.bandit.score_tables import make_score_table


def test_a_context_has_the_arms_between_its_starts() -> None:
    """Two arms in the first context, three in the second; the environment has them reversed."""
    target = np.array([4, 3, 2, 1, 0])
    table = make_score_table(np.arange(5), [0, 1, 0, 1, 2], 0.0, 1.0)
    visitors = np.tile([0, 1], (2, 30))
    batch = BatchArrays(
        np.array([0, 2, 5]), np.array([0.0, 1.0, 0.0, 0.0, 1.0]), target, visitors,
        np.full(visitors.shape, 0.5), np.zeros(2, np.uint64), 0.0, np.zeros((2, 3), np.int64),
    )  # fmt: skip

    pulls = play_ucb(table, 0.1, 1.0, batch)

    assert set(pulls[visitors == 0].tolist()) == {4, 3}
    assert set(pulls[visitors == 1].tolist()) == {2, 1, 0}
    # What earns is pulled in the end: the second arm of the one, the third of the other.
    assert pulls[:, -2:].tolist() == [[3, 0], [3, 0]]
