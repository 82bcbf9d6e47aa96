from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.batch.layout import BatchLayout, BatchRuns, lay_out_ridge
from boundit.bandit.kernels.score_table import POSITION, STATISTICS, UPPER
from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.policies.lin_ucb import LinUCB
from tests.bandit.all_policies import ARMS, CONTEXTS, mean, table

ENVIRONMENT = FiniteEnvironment(
    CONTEXTS,
    (*reversed(ARMS), (9, 9)),
    np.array([[mean(arm, c) for arm in (*reversed(ARMS), (9, 9))] for c in CONTEXTS]),
)
SAME_MEANS = FiniteEnvironment(CONTEXTS, ARMS, np.full((4, 4), 0.5))


def test_each_context_has_the_policys_arms_by_decreasing_cap() -> None:
    """The environment has its arms in another order, and one more."""
    policy = LinUCB(prior=table(0.1))

    layout = BatchLayout.of(policy.spec, policy.monitor.prior, ENVIRONMENT)

    assert layout is not None
    for c, context in enumerate(CONTEXTS):
        here = slice(4 * c, 4 * c + 4)
        arms = [ENVIRONMENT.arms[i] for i in layout.places[here]]
        uppers = [table(0.1)[arm, context].upper for arm in arms]
        assert (
            layout.score_table[here, UPPER].tolist() == uppers == sorted(uppers, reverse=True)
        )
        assert [ARMS[int(i)] for i in layout.score_table[here, POSITION]] == arms
        assert layout.means[here].tolist() == [mean(arm, context) for arm in arms]


def test_a_context_may_have_fewer_arms_than_another() -> None:
    """3.8: beaten arms are left out, context by context."""
    beaten = replace(table(None), contrasts={((0, 1), ARMS[0], ARMS[3]): -0.1})
    policy = LinUCB(prior=beaten)

    layout = BatchLayout.of(policy.spec, policy.monitor.prior, ENVIRONMENT)

    assert layout is not None
    assert np.diff(layout.starts).tolist() == [4, 3, 4, 4]
    assert layout.arms == ARMS
    assert [ARMS[int(i)] for i in layout.score_table[4:7, POSITION]] == list(ARMS[1:])
    assert layout.score_table[:, STATISTICS].tolist() == list(range(16))
    # The one that is left out comes last, for exploration alone.
    assert layout.starts[-1] == 15
    assert layout.pairs[15] == (ARMS[0], (0, 1))
    assert layout.rows[1].tolist() == [15, 4, 5, 6]


def test_runs_are_put_in_one_writable_piece() -> None:
    contexts: Any = np.zeros((4, 6), np.int32)
    uniforms = np.zeros((6, 4)).T
    uniforms.flags.writeable = False

    seeds: Any = np.arange(4)
    runs = BatchRuns.of(contexts, uniforms, seeds, uniforms)

    assert runs.observation_uniforms is not None
    kinds = (np.int64, np.float64, np.uint64, np.float64)
    for array, kind in zip((*runs[:3], runs.observation_uniforms), kinds, strict=True):
        assert array.dtype == kind
        assert array.flags.c_contiguous
        assert array.flags.writeable
    assert BatchRuns.of(contexts, uniforms, seeds, None).observation_uniforms is None


@pytest.mark.parametrize("shared", [False, True])
def test_rows_and_starts_are_those_of_the_models(shared: bool) -> None:
    policy = LinUCB(prior=table(0.1), shared=shared, warm_start=WarmStart(table(0.0), 3))
    models = policy.statistics
    layout = BatchLayout.of(policy.spec, policy.monitor.prior, SAME_MEANS)
    assert layout is not None

    found = lay_out_ridge(models, layout)

    assert found is not None
    assert found.stack.size == (1 if shared else 4)
    rows = found.x.reshape(4, 4, 8)
    for c, ranked_arms in enumerate(layout.ranked_arms):
        for i, ranked in enumerate(ranked_arms):
            slot = int(found.score_table[4 * c + i, STATISTICS])
            assert rows[c, i, :5].tolist() == [1.0, *CONTEXTS[c], *ranked.arm]
            theta = models.get_model(ranked.arm, 5).theta
            assert found.stack.get_model(slot).theta.tolist() == theta.tolist()
